"""The demo as the story test of the whole, and its checker: what it would find, if there were something to find."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from click.testing import CliRunner

from demo import run as run_module
from demo.check import Books, PartOfTask, complaints
from demo.gate import Gate
from demo.jobs import JOBS
from demo.jobs.__main__ import perform
from demo.jobs.desk import Desk, Unable
from demo.ledger import Execution, Ledger, digest
from demo.orders import Letter
from demo.planner import Note
from demo.run import main
from hubbub.client import ActivityReply
from tests.support.waiting import patience

ROOT = Path(__file__).resolve().parents[2]
PROCESSES = Path("/proc")
PRINTED = "42 lines"
# As `python -m demo.run`, which starts the program 28 times, and five that need as much of it; that it does start them
# the interrupted play tells.
FORKING = """
import subprocess
from demo.run import main
from tests.support import zygote
subprocess.Popen = zygote.Popen
main()
"""


@pytest.fixture(params=[["-m", "demo.run"]])
def play(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A play of the demo that has just begun, for a user with an empty home; all it makes is in `tmp_path`."""
    (tmp_path / "home").mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path)}
    environment["LANG"] = "C.UTF-8"
    command = [sys.executable, *request.param]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


def leftovers(folder: Path) -> list[str]:
    """Return the files that a play left in its folder, and, where the system tells, its processes."""
    files = [str(path) for path in folder.rglob("*") if path != folder / "home"]
    return files + [str(path.parent) for path in PROCESSES.glob("[0-9]*/environ") if _stays(path, folder)]


def _stays(environment: Path, folder: Path) -> bool:
    """Tell whether a process that knows the folder is there to stay, rather than about to end."""
    try:
        process = os.pidfd_open(int(environment.parent.name))
        if str(folder) not in environment.read_bytes().decode(errors="replace"):
            return False
    except OSError:  # somebody else's, or gone meanwhile
        return False
    is_gone, _, _ = select.select([process], [], [], patience())
    return not is_gone


@pytest.mark.long
@pytest.mark.system
@pytest.mark.parametrize("play", [["-c", FORKING]], ids=["forking"], indirect=True)
def test_the_demo_plays_to_the_end_and_finds_nothing_wrong(
    play: subprocess.Popen[str], tmp_path: Path
) -> None:
    """Agents work alone, as a team, behind gates, on other machines; one of them, twice the hub, and a machine die."""
    story, errors = play.communicate()

    assert (play.returncode, errors) == (0, ""), story + errors
    assert "nothing lost, nothing done twice, nothing left open" in story
    assert story.count("killed with SIGKILL") == 4
    assert "which is attempt 2" in story
    assert "critic reviews it: changes requested" in story
    assert "planner finds what it had noted: 'waiting for the middle of the plan'" in story
    told = " ".join(story.split())  # however its lines are broken
    assert "may come, and is told: emil is at src/hubbub/core/work/tasks.py" in told
    assert "faye wants src/hubbub/core/work/*.py again, and is refused: the scope overlaps" in told
    assert "gus tries rm -rf /, and is denied: It would change or remove all of `/`" in story
    assert "and report.md is written" in story
    assert "the log is sound, and as the hub remembers it" in story
    assert "attic: 3 boxes, 1 trunk; cellar: 12 bottles" in story
    assert "and 1 jug is added, once" in story
    assert "connect list shows cellar offline" in story
    assert "cellar is started again, without a code, and is back" in story
    assert str(ROOT) not in story
    assert str(tmp_path) not in story
    assert leftovers(tmp_path) == []


def test_who_asks_how_to_play_is_told_and_nothing_is_played() -> None:
    """`--help` says what the program does and takes, and ends; so does what it does not know, with a sentence."""
    for asked, code, told in (("--help", 0, "--encore"), ("--again", 2, "No such option")):
        ended = CliRunner().invoke(main, [asked])
        assert (ended.exit_code, told in ended.output) == (code, True)


@pytest.mark.system
def test_an_interrupted_demo_leaves_nothing_behind(play: subprocess.Popen[str], tmp_path: Path) -> None:
    """Ctrl-C in the middle of the story ends every process and takes the data away."""
    assert play.stdout is not None
    next(line for line in play.stdout if "comes last, and is done first" in line)
    assert list(tmp_path.glob("hubbub-demo-*"))

    play.send_signal(signal.SIGINT)
    play.communicate()

    assert play.returncode == 130
    assert leftovers(tmp_path) == []


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A clock that is looked at all the time, and let go of afterwards."""
    monkeypatch.setattr(run_module, "LOOK", 0.01)
    before = signal.getsignal(signal.SIGALRM)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("hurried")
def test_a_scene_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the time of a scene is over, the play ends with a sentence."""
    monkeypatch.setattr(run_module, "LIMIT", 0)

    def scene() -> None:
        run_module.watch_scene()
        signal.pause()

    with pytest.raises(run_module.Overdue, match=r"^a scene has not ended after \d+ s$"):
        scene()


@pytest.mark.usefixtures("hurried")
def test_a_scene_that_takes_long_says_once_that_it_goes_on(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """On a busy machine a scene outlives the time after which it says so."""
    monkeypatch.setattr(run_module, "SILENCE", -1)
    run_module.watch_scene()
    for _ in range(3):
        signal.pause()
    assert capfd.readouterr().out == "this machine is busy: the scene goes on ...\n"


def task(**changes: Any) -> PartOfTask:
    whole = {"id": "t1", "number": 1, "title": "count", "status": "completed", "sender": "commander"}
    return cast("PartOfTask", {**whole, "assignee": "ada", "parent_id": None, "depends_on": [], **changes})


def activity(
    number: int, kind: str, task_id: str = "t1", *, agent: str = "ada", **detail: Any
) -> ActivityReply:
    return cast(
        "ActivityReply",
        {"id": number, "kind": kind, "task_id": task_id, "agent": agent, "detail": {"attempt": 1, **detail}},
    )


def letter(subject: str = "t1", content: str = PRINTED, about: str = "status") -> Letter:
    return cast("Letter", {"context": f"in_reply_to: {subject}, {about}: replied", "content": content})


def note(subject: str = "t1", content: str = PRINTED) -> Note:
    return cast("Note", {"seq": 1, "from_agent": "rhea", "thread_id": subject, "content": content})


def run(**changes: Any) -> Execution:
    done = Execution(
        task="t1", attempt=1, agent="ada", pid=7, began_at=1, ended_at=2, exit_code=0, digest=digest(PRINTED)
    )
    return replace(done, **changes)


KILLED = {"ended_at": None, "exit_code": None, "digest": None}
LOG = [activity(1, "task.sent"), activity(2, "task.started"), activity(3, "task.completed")]
GOOD = Books(
    tasks=[task()],
    completions=[{"task_id": "t1", "result": PRINTED}],
    activities=LOG,
    followed=LOG,
    executions=[run()],
    commander="commander",
    planner="planner",
    team=["rhea"],
    promised=["t1"],
    letters=[letter()],
    notes=[],
    unread={"ada": 0},
    exits={"hub": 0},
)
AGAIN = [
    *LOG[:2],
    activity(3, "task.released", attempt=2),
    activity(4, "task.started", attempt=2),
    activity(5, "task.completed"),
]
KILLED_ONCE = replace(
    GOOD,
    activities=AGAIN,
    followed=AGAIN,
    executions=[run(**KILLED), run(attempt=2, pid=8)],
)
PART_LOG = [
    *LOG,
    activity(4, "task.started", "t2", agent="bob"),
    activity(5, "task.completed", "t2", agent="bob"),
]
PART = replace(
    GOOD,
    tasks=[task(), task(id="t2", number=2, sender="ada", parent_id="t1")],
    completions=[*GOOD.completions, {"task_id": "t2", "result": "a part"}],
    activities=PART_LOG,
    followed=PART_LOG,
    executions=[run(), run(task="t2", digest=digest("a part"))],
    letters=[letter(), letter(content="a part", about="child_task_id: t2, child_status")],
)
PLAN_LOG = [
    *LOG,
    activity(4, "review.requested", agent="rhea", review_id="r1"),
    activity(5, "review.submitted", agent="rhea", review_id="r1"),
    activity(6, "task.started", "t2", agent="rhea"),
    activity(7, "task.completed", "t2", agent="rhea"),
]
PLANNED = replace(
    GOOD,
    tasks=[
        task(sender="planner"),
        task(id="t2", number=2, sender="planner", assignee="rhea", depends_on=["t1"], result="a part"),
    ],
    activities=PLAN_LOG,
    followed=PLAN_LOG,
    executions=[run(), run(task="t2", agent="rhea", digest=digest("a part"))],
    letters=[],
    notes=[note(), note("t2", "a part")],
)


@pytest.mark.parametrize(
    "books", [GOOD, KILLED_ONCE, PART, PLANNED], ids=["plain", "killed once", "with a part", "planned"]
)
def test_books_in_order_are_not_complained_of(books: Books) -> None:
    """Work that was done once and told once is well, also after an attempt that was cut short and said to be."""
    assert complaints(books) == []


@pytest.mark.parametrize(
    "books",
    [
        replace(GOOD, tasks=[]),
        replace(GOOD, tasks=[], promised=[]),
        replace(GOOD, executions=[]),
        replace(GOOD, executions=[run(exit_code=1)]),
        replace(GOOD, completions=[]),
        replace(GOOD, completions=[{"task_id": "t1", "result": "41 lines"}]),
        replace(GOOD, letters=[]),
        replace(GOOD, letters=[letter(content="41 lines")]),
        replace(GOOD, letters=[letter(subject="t9")]),
        replace(GOOD, followed=LOG[:2]),
        replace(PART, letters=[letter(), letter()]),
        replace(PLANNED, notes=[note()]),
        replace(PLANNED, notes=[note(), note("t2", "another part")]),
        replace(PLANNED, tasks=[*PLANNED.tasks[:1], {**PLANNED.tasks[1], "result": "another part"}]),
    ],
    ids=[
        "a promised task", "a task that was worked at", "the work", "work that failed", "the completion",
        "the words of the completion", "the answer", "the words of the answer", "what it answers",
        "a live event", "the answer of a part", "a result of the plan", "the words of a result",
        "the result that a task keeps",
    ],
)  # fmt: skip
def test_a_planted_loss_is_found(books: Books) -> None:
    """Whatever of a task, its work or its answer is missing, the checker says that it is lost."""
    assert any(sentence.startswith("lost:") for sentence in complaints(books))


@pytest.mark.parametrize(
    ("books", "sentence"),
    [
        (replace(GOOD, executions=[run(), run(pid=8)]), "done twice: T-1 'count' was done 2 times"),
        (
            replace(KILLED_ONCE, executions=[run(**KILLED), run(**KILLED, pid=9), run(attempt=2, pid=8)]),
            "done twice: attempt 1 of T-1 'count' was run 2 times",
        ),
        (
            replace(GOOD, executions=[run(exit_code=1), run(attempt=2, pid=8)]),
            "done silently: the log knows nothing of attempt 2 of T-1 'count'",
        ),
        (
            replace(GOOD, completions=[*GOOD.completions, *GOOD.completions]),
            "done twice: the hub has 2 completions of T-1 'count'",
        ),
        (replace(GOOD, letters=[letter(), letter()]), "the commander got 2 letters, and should have got 1"),
        (
            replace(PLANNED, notes=[*PLANNED.notes, note()]),
            "done twice: the planner got 2 results of T-1 'count'",
        ),
    ],
    ids=["the work", "an attempt", "without a word", "the completion", "the answer", "a result of the plan"],
)
def test_a_planted_repetition_is_found(books: Books, sentence: str) -> None:
    """Whatever was done more often than the log says is named."""
    assert sentence in complaints(books)


def test_work_out_of_order_is_found() -> None:
    """A task that was begun before what it needs was done is named, with what it did not wait for."""
    too_early = [activity(1, "task.started", "t2", agent="rhea"), *PLAN_LOG]
    sentence = "out of order: T-2 'count' was begun before T-1 'count' was done"
    assert sentence in complaints(replace(PLANNED, activities=too_early, followed=too_early))


@pytest.mark.parametrize(
    ("books", "sentence"),
    [
        (replace(GOOD, tasks=[task(status="working")]), "left open: T-1 'count' is working"),
        (replace(GOOD, tasks=[task(status="failed")]), "left open: T-1 'count' is failed"),
        (
            replace(GOOD, executions=[run(**KILLED), run(attempt=2)]),
            "left open: attempt 1 of T-1 'count' never ended",
        ),
        (replace(GOOD, unread={"ada": 2}), "left open: 2 letters to ada are unread"),
        (
            replace(PLANNED, activities=PLAN_LOG[:4]),
            "left open: of 1 review asked for, 0 given",
        ),
        (
            replace(GOOD, exits={"hub": -9}),
            "left open: the hub was asked to end, and ended with exit code -9",
        ),
    ],
    ids=[
        "a task at work",
        "a failed task",
        "a run without an end",
        "unread mail",
        "a review",
        "a process that fell over",
    ],
)
def test_whatever_is_left_open_is_found(books: Books, sentence: str) -> None:
    """A task that is not completed, a run that never ended, mail nobody read, a review not given: each is named."""
    assert sentence in complaints(books)


def test_the_ledger_tells_runs_that_ended_from_runs_that_were_killed(tmp_path: Path) -> None:
    """A run is in the ledger from its first moment on, and its end once it has one."""
    ledger = Ledger(tmp_path / "ledger")
    first = ledger.begin(task="t1", attempt=1, agent="ada")
    ledger.begin(task="t2", attempt=1, agent="ada")
    ledger.end(first, exit_code=0, output=f"{PRINTED}\n")

    ended, killed = ledger.executions()

    assert (ended.task, ended.is_done, ended.digest) == ("t1", True, digest(PRINTED))
    assert (killed.task, killed.is_done, killed.ended_at) == ("t2", False, None)


@pytest.mark.parametrize("phrase", [phrase for phrase in JOBS if phrase.endswith((" in", " of"))])
def test_each_job_reports_on_this_source_tree(phrase: str, tmp_path: Path) -> None:
    """The agents' commands do real work: what they say of this project has numbers in it, and a first line to show."""
    report = perform(Desk(tmp_path), f"{phrase} src/hubbub/core")
    first = report.splitlines()[0]
    assert any(character.isdigit() for character in first)
    assert [path.read_text("utf-8") for path in tmp_path.glob("*.txt")] == [report]


@pytest.mark.parametrize(
    "text", ["rank functions in ../..", "rank functions in nowhere", "bind reports on x", "sing"]
)
def test_a_job_that_cannot_be_done_says_why(text: str, tmp_path: Path) -> None:
    """A folder outside of the project, a report that is not there, an unknown job: each is refused in words."""
    with pytest.raises(Unable, match=r"there is no|I do not know how"):
        perform(Desk(tmp_path), text)


def test_the_gate_holds_a_command_until_it_is_let_go(tmp_path: Path) -> None:
    """A command with the gate in its context ends after it was let go, and its end is noticed."""
    gate = Gate()
    environment = {
        **os.environ, "DEMO_GATE": gate.address, "DEMO_DESK": str(tmp_path), "HUBBUB_AGENT": "ada",
        "HUBBUB_TASK_ID": "t1", "HUBBUB_TASK_ATTEMPT": "3", "HUBBUB_TASK_CONTEXT": "stop halfway until you are let go",
    }  # fmt: skip
    command = [sys.executable, "-m", "demo.jobs"]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as job:
        assert job.stdin is not None
        job.stdin.write(b"count lines in demo")
        job.stdin.close()
        halt = gate.arrival("t1")
        assert (halt.task, halt.attempt, job.poll()) == ("t1", 3, None)
        halt.let_go()
        halt.wait_until_gone()
        assert job.wait() == 0
    gate.close()
    assert [run.exit_code for run in Ledger(tmp_path / "ledger.jsonl").executions()] == [0]
