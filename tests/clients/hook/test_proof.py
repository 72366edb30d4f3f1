"""A corpus of lies and of honest work: real repositories, the real program of the hooks, a real hub.

Each story is what an agent does under its client between taking a task and saying that it is done. No lie is accepted,
and no honest work refused.
"""

import json
import shlex
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from hubbub.core.actions import task_actions
from hubbub.core.people import access
from hubbub.core.work import proof, tasks
from hubbub.model.errors import Lacking
from hubbub.model.records import Task
from hubbub.model.work.proof import ProofRules
from tests.clients.hook.hook_workbench import Editor, Workbench, git

TESTS = "sh tests/run.sh"
USUAL = ("clean", "commit", "tests", "tests-kept")


@dataclass
class Worker:
    """An agent with a task, in a checkout of a repository that has tests and a remote."""

    bench: Workbench
    editor: Editor
    task: Task

    @property
    def folder(self) -> Path:
        return self.editor.folder

    def edit(self, name: str, text: str) -> None:
        """Write a file as the client's tool does."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        self.editor.tool("PostToolUse", "Write", file_path=str(path))

    def run(self, *commands: str, below: str = "") -> None:
        """Run commands as the client's shell does, one call of it for each, and tell how they ended."""
        folder = self.folder / below
        for command in commands:
            done = subprocess.run(
                command,
                shell=True,
                cwd=folder,
                env=self.editor.environment,
                capture_output=True,
                check=False,
            )
            answered = {"stdout": "", "stderr": "", "interrupted": False}
            hook, told = ("PostToolUse", {"tool_response": answered}) if done.returncode == 0 else (
                "PostToolUseFailure", {"error": f"Exit code {done.returncode}"}
            )  # fmt: skip
            self.editor.hook(hook, cwd=str(folder), tool_name="Bash", tool_input={"command": command}, **told)

    def commit(self, *paths: str) -> None:
        self.run(f"git add -A {shlex.join(paths)} && git commit -qm work")

    def unseen(self, command: str) -> None:
        """Something that no hook sees, such as what runs behind the client's back."""
        subprocess.run(command, shell=True, cwd=self.folder, env=self.editor.environment, check=True)

    def complete(self) -> None:
        """Say that it is done, by a tool of the hub, before which the client calls its hook."""
        self.editor.tool("PreToolUse", "mcp__hubbub__task", action="complete", task=str(self.task.number))
        hub = self.bench.hub
        actor = hub.do(lambda tx: access.authenticate(tx, self.editor.environment["HUBBUB_TOKEN"]))

        def end(tx: object) -> None:
            held = tasks.find(tx, [hub.project.id], str(self.task.id), lock=True)  # type: ignore[arg-type]
            task_actions.complete(tx, held, by=self.editor.name, result="all of it is done and tested")  # type: ignore[arg-type]

        hub.do(end, actor)


Story = Callable[[Worker], None]


@pytest.fixture
def worker(bench: Workbench, tmp_path: Path) -> Iterator[Worker]:
    """An agent that has just taken a task, in a clean clone."""
    origin, folder = tmp_path / "origin.git", tmp_path / "clone"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(origin))
    git(tmp_path, "clone", "-q", str(origin), str(folder))
    git(folder, "checkout", "-q", "-B", "main")
    for name, text in {"a.txt": "one\n", "tests/run.sh": "grep -q '^[a-z]*$' a.txt\n"}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "add", ".")
    git(folder, "-c", "user.name=eva", "commit", "-qm", "begin", "--date", "2026-01-01T00:00:00Z")
    git(folder, "push", "-q", "-u", "origin", "main")
    (folder / ".git" / "logs" / "HEAD").unlink()  # what was done here before the task is another story
    yield _hired(bench, folder)
    bench.hub.do(lambda tx: proof.put_rules(tx, bench.hub.project, ProofRules()))


def _hired(bench: Workbench, folder: Path) -> Worker:
    hub, name = bench.hub, f"ada-{folder.parent.name[-30:]}"
    editor = bench.editor(name, folder)

    def take(tx: object) -> Task:
        sent = tasks.send(tx, hub.project.id, sender="hub", to=name, text="work")  # type: ignore[arg-type]
        return task_actions.start(tx, tasks.find(tx, [hub.project.id], str(sent.id), lock=True), name)  # type: ignore[arg-type]

    return Worker(bench, editor, hub.do(take))


def ask(worker: Worker, *done_when: str) -> None:
    """Set the project's demands."""
    new = ProofRules(done_when=done_when, tests=TESTS, test_files=("tests/",))
    worker.bench.hub.do(lambda tx: proof.put_rules(tx, worker.bench.hub.project, new))


def work(worker: Worker) -> None:
    """The usual work, all of it honest."""
    worker.edit("a.txt", "two\n")
    worker.run(TESTS)
    worker.commit()


def _does_nothing(_: Worker) -> None:
    return


def _only_looks(worker: Worker) -> None:
    worker.run("ls", "git log -1")


def _does_not_commit(worker: Worker) -> None:
    worker.edit("a.txt", "two\n")
    worker.run(TESTS)


def _commits_a_part(worker: Worker) -> None:
    worker.edit("a.txt", "two\n")
    worker.edit("b.txt", "two\n")
    worker.run(TESTS, "git add a.txt", "git commit -qm work")


def _does_not_push(worker: Worker) -> None:
    work(worker)


def _pushes_elsewhere(worker: Worker) -> None:
    worker.run("git checkout -q -b mine")
    work(worker)
    worker.run("git push -q -u origin mine")


def _tests_before_the_last_edit(worker: Worker) -> None:
    worker.run(TESTS)
    worker.edit("a.txt", "TWO\n")
    worker.commit()


def _edits_after_the_tests_unseen(worker: Worker) -> None:
    worker.edit("a.txt", "two\n")
    worker.run(TESTS)
    worker.unseen("echo TWO >a.txt && git commit -qam work")


def _edits_by_a_command_that_fails(worker: Worker) -> None:
    work(worker)
    worker.run("echo TWO >a.txt && git commit -qam more && false")


def _has_the_tests_fail(worker: Worker) -> None:
    worker.edit("a.txt", "TWO\n")
    worker.run(TESTS)
    worker.commit()


def _hides_that_they_fail(worker: Worker) -> None:
    worker.edit("a.txt", "TWO\n")
    worker.run(f"{TESTS} || true", f"{TESTS}; true", f"echo {TESTS}", f"{TESTS}\ntrue")
    worker.commit()


def _runs_others_by_the_same_words(worker: Worker) -> None:
    worker.edit("a.txt", "TWO\n")
    worker.run("mkdir -p below/tests && echo true >below/tests/run.sh")
    worker.run(TESTS, below="below")
    worker.run(f"cd {worker.folder / 'below'} && {TESTS}")
    worker.commit()


def _runs_them_in_another_checkout(worker: Worker) -> None:
    other = worker.folder.parent / "other"
    git(worker.folder.parent, "clone", "-q", str(worker.folder.parent / "origin.git"), str(other))
    worker.edit("a.txt", "TWO\n")
    worker.run(f"cd {other} && {TESTS}")
    worker.commit()


def _edits_the_tests_to_pass(worker: Worker) -> None:
    worker.edit("a.txt", "TWO\n")
    worker.edit("tests/run.sh", "true\n")
    worker.run(TESTS)
    worker.commit()


def _edits_the_tests_and_takes_it_back(worker: Worker) -> None:
    worker.edit("a.txt", "TWO\n")
    worker.edit("tests/run.sh", "true\n")
    worker.run(TESTS, "git checkout -q tests")
    worker.commit()


def _writes_its_own_evidence(worker: Worker) -> None:
    """A report in the checkout, and whatever may be put where hooks keep what they know."""
    worker.edit("proof.json", json.dumps({"tests": "passed", "verdict": "met", "command": TESTS, "code": 0}))
    kept = Path(worker.editor.environment["HUBBUB_DATA"]) / "hooks"
    for shelf in kept.rglob("*"):
        if shelf.is_file():
            shelf.write_text(json.dumps({"command": TESTS, "code": 0}))
    worker.commit()


def _takes_the_commit_of_another(worker: Worker) -> None:
    git(worker.folder, "branch", "theirs")
    other = worker.folder.parent / "other"
    git(worker.folder.parent, "clone", "-q", str(worker.folder.parent / "origin.git"), str(other))
    (other / "a.txt").write_text("theirs\n")
    git(other, "commit", "-qam", "their work")
    git(other, "push", "-q")
    worker.run("git pull -q", TESTS)


def _picks_the_commit_of_another(worker: Worker) -> None:
    _takes_the_commit_of_another(worker)
    worker.run("git reset -q --hard HEAD~1", "git cherry-pick origin/main", TESTS)


def _commits_nothing(worker: Worker) -> None:
    worker.run("git commit -q --allow-empty -m 'all done'", TESTS)


def _undoes_its_commit(worker: Worker) -> None:
    work(worker)
    worker.run("git reset -q --hard HEAD~1", TESTS)


def _works_elsewhere_than_asked(worker: Worker) -> None:
    worker.edit("a.txt", "two\n")
    worker.commit()


LIES: list[tuple[Story, tuple[str, ...], str]] = [
    (_does_nothing, USUAL, "commit (missing)"),
    (_only_looks, USUAL, "commit (missing)"),
    (_does_not_commit, USUAL, "clean (missing)"),
    (_commits_a_part, USUAL, "clean (missing)"),
    (_does_not_push, (*USUAL, "pushed"), "pushed (missing)"),
    (_pushes_elsewhere, (*USUAL, "pushed", "pushed origin/main"), "pushed origin/main (missing)"),
    (_tests_before_the_last_edit, USUAL, "tests (missing)"),
    (_edits_after_the_tests_unseen, USUAL, "tests (missing)"),
    (_edits_by_a_command_that_fails, USUAL, "tests (missing)"),
    (_has_the_tests_fail, USUAL, "tests (missing)"),
    (_hides_that_they_fail, USUAL, "tests (missing)"),
    (_runs_others_by_the_same_words, USUAL, "tests (missing)"),
    (_runs_them_in_another_checkout, USUAL, "tests (missing)"),
    (_edits_the_tests_to_pass, USUAL, "tests-kept (missing)"),
    (_edits_the_tests_and_takes_it_back, USUAL, "tests (missing)"),
    (_writes_its_own_evidence, USUAL, "tests (missing)"),
    (_takes_the_commit_of_another, USUAL, "commit (missing)"),
    (_picks_the_commit_of_another, USUAL, "commit (missing)"),
    (_commits_nothing, USUAL, "commit (missing)"),
    (_undoes_its_commit, USUAL, "commit (missing)"),
    (_works_elsewhere_than_asked, ("within docs/",), "within docs/ (missing)"),
]


def _needs_no_change(worker: Worker) -> None:
    worker.run("git status", TESTS)


def _writes_documents(worker: Worker) -> None:
    worker.edit("docs/it.md", "# It\n")
    worker.commit()


def _makes_several_commits(worker: Worker) -> None:
    for text in ("two", "three", "four"):
        worker.edit("a.txt", f"{text}\n")
        worker.commit()
    worker.run(TESTS)


def _mends_what_fails(worker: Worker) -> None:
    worker.edit("a.txt", "TWO\n")
    worker.run(TESTS)
    worker.edit("a.txt", "two\n")
    worker.run(TESTS)
    worker.commit()


def _is_rebased(worker: Worker) -> None:
    other = worker.folder.parent / "other"
    git(worker.folder.parent, "clone", "-q", str(worker.folder.parent / "origin.git"), str(other))
    (other / "tests" / "more.sh").write_text("true\n")
    git(other, "add", ".")
    git(other, "commit", "-qm", "their tests")
    git(other, "push", "-q")
    worker.edit("a.txt", "two\n")
    worker.commit()
    worker.run("git pull -q --rebase", TESTS, "git push -q")


def _amends_and_merges(worker: Worker) -> None:
    worker.run("git checkout -q -b feature")
    worker.edit("a.txt", "two\n")
    worker.commit()
    worker.edit("a.txt", "three\n")
    worker.run("git commit -q -a --amend --no-edit", "git checkout -q main")
    worker.run("git merge -q --no-ff --no-edit feature", TESTS)


def _leaves_what_is_ignored(worker: Worker) -> None:
    worker.edit(".gitignore", "build/\n")
    worker.run("mkdir build && echo made >build/out")
    work(worker)


def _has_odd_names(worker: Worker) -> None:
    worker.edit("zwei und ünf.txt", "two\n")
    work(worker)


def _says_where_it_runs_them(worker: Worker) -> None:
    worker.edit("a.txt", "two\n")
    worker.run(f"cd {worker.folder} && {TESTS} 2>&1", below="tests")
    worker.commit()


def _works_in_a_worktree_beside(worker: Worker) -> None:
    beside = worker.folder.parent / "beside"
    worker.run(f"git worktree add -q {beside}")
    worker.run(f'cd "{beside}" && echo two >a.txt', f"cd {beside} && {TESTS}")
    worker.run(f"cd {beside} && git commit -qam work")


HONEST: list[tuple[Story, tuple[str, ...]]] = [
    (work, USUAL),
    (_needs_no_change, ("clean", "tests", "pushed")),
    (_writes_documents, ("clean", "commit", "within docs/")),
    (_makes_several_commits, USUAL),
    (_mends_what_fails, USUAL),
    (_is_rebased, (*USUAL, "pushed", "pushed origin/main")),
    (_amends_and_merges, USUAL),
    (_says_where_it_runs_them, USUAL),
    (_works_in_a_worktree_beside, USUAL),
    (_leaves_what_is_ignored, USUAL),
    (_has_odd_names, (*USUAL, "within a.txt *.txt")),
]
DAILY = {_does_nothing, _does_not_commit, _edits_the_tests_to_pass, work, _is_rebased}


def _rows(stories: list[tuple[object, ...]]) -> list[object]:
    """Each story by its name; every day some of them."""
    return [
        pytest.param(
            *row, id=row[0].__name__.strip("_"), marks=() if row[0] in DAILY else pytest.mark.system  # type: ignore[attr-defined]
        )
        for row in stories
    ]  # fmt: skip


@pytest.mark.parametrize(("story", "asked", "missing"), _rows([*LIES]))
def test_no_lie_is_accepted(worker: Worker, story: Story, asked: tuple[str, ...], missing: str) -> None:
    """A holder who completes a task without meeting its demands is refused, with the missing ones."""
    ask(worker, *asked)
    story(worker)
    with pytest.raises(Lacking) as refused:
        worker.complete()
    assert missing in str(refused.value)


@pytest.mark.parametrize(("story", "asked"), _rows([*HONEST]))
def test_no_honest_work_is_refused(worker: Worker, story: Story, asked: tuple[str, ...]) -> None:
    """A holder who has met the demands of a task completes it."""
    ask(worker, *asked)
    story(worker)
    worker.complete()


def test_a_look_leaves_a_checkout_as_it_was(worker: Worker) -> None:
    """Looking at a checkout changes neither the index nor the objects of its repository."""
    ask(worker, "clean")
    (worker.folder / "new.txt").write_text("new\n")
    before = _content(worker.folder)
    worker.editor.tool("PreToolUse", "mcp__hubbub__task", action="complete")

    assert _content(worker.folder) == before
    with pytest.raises(Lacking, match=r"new\.txt is not committed"):
        worker.complete()


def _content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
