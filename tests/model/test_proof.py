"""Verdicts on sightings: each row is a story of work and the state of one demand after it."""

from uuid import UUID

import pytest

from hubbub.model.work.proof import (
    MOST_MOVES,
    REASONS,
    Deed,
    Known,
    ProofRules,
    Sighting,
    Tree,
    judge,
    reason,
)

RULES = ProofRules(tests="make test", test_files=("tests/",))
A, B, C, D = ("a" * 40, "b" * 40, "c" * 40, "d" * 40)
SINCE = 1_000_000
NOBODY = UUID(int=0)


def tree(
    name: str,
    *,
    dirty: tuple[str, ...] = (),
    moves: object = (),
    commits: object = (),
    cut: bool = False,
    remotes: tuple[str, ...] = (),
) -> Tree:
    return Tree(
        tree=name, head=C, head_tree=name, branch="x", pushed=bool(remotes), dirty=dirty, is_cut=cut,
        moves=moves, commits=commits, remotes=remotes,  # type: ignore[arg-type]
    )  # fmt: skip


def seen(
    at: int, found: Tree | None, command: str | None = None, code: int | None = 0, **more: object
) -> Sighting:
    facts = {"began_at": SINCE + at, "deed": Deed.SHELL, "place": "here", **more}
    return Sighting(
        id=NOBODY, project_id=NOBODY, agent="bob", at=SINCE + at, client=None, host=None, worktree=None,
        repository=None, command=command, code=code if command else None, tree=found, **facts,  # type: ignore[arg-type]
    )  # fmt: skip


def told(demand: str, *sightings: Sighting) -> tuple[str, str]:
    known = Known(since=SINCE, has_artifact=False, is_reviewed=False)
    (finding,) = judge([demand], RULES, sightings, known)
    return str(finding.verdict), finding.why


RUN = "make test"
LATER = SINCE // 1000 + 5
MADE = [(C, LATER, "commit")]
HOLDS = [(C, B, ["src/a.py"]), (A, A, ["tests/t.py"])]


@pytest.mark.parametrize(
    ("story", "demand", "verdict"),
    [
        ([], "clean", "not seen"),
        ([seen(1, None)], "clean", "not seen"),
        ([seen(1, tree(A)), seen(2, None)], "clean", "not seen"),
        ([seen(1, tree(A, dirty=("x",)))], "clean", "missing"),
        ([seen(1, tree(A, dirty=("x",))), seen(2, tree(A), place="there")], "clean", "missing"),
        ([seen(1, tree(A), RUN)], "tests", "met"),
        ([seen(1, tree(A), RUN, code=2)], "tests", "missing"),
        ([seen(1, tree(A), RUN, code=None)], "tests", "not seen"),
        ([seen(1, tree(A), "make test || true")], "tests", "missing"),
        ([seen(1, tree(A), "make\ntest")], "tests", "missing"),
        ([seen(1, tree(A), RUN), seen(2, tree(B))], "tests", "missing"),
        ([seen(1, tree(A), RUN), seen(2, tree(B)), seen(3, tree(A))], "tests", "met"),
        ([seen(1, tree(A), RUN), seen(2, tree(A), RUN, code=1)], "tests", "missing"),
        ([seen(1, tree(A)), seen(2, tree(B), RUN)], "tests", "missing"),
        ([seen(1, tree(B)), seen(2, tree(A), None), seen(9, tree(B), RUN, began_at=SINCE + 1)], "tests", "missing"),
        ([seen(1, tree(A), RUN, place="there"), seen(2, tree(B), deed=Deed.EDIT)], "tests", "missing"),
        ([seen(1, tree(A), "make lint")], "ran make lint", "met"),
        ([seen(1, tree(A, moves=MADE, commits=HOLDS))], "commit", "met"),
        ([seen(1, tree(A, moves=[(C, 3, "commit")], commits=HOLDS))], "commit", "missing"),
        ([seen(1, tree(A, moves=[(C, LATER, "pull")], commits=HOLDS))], "commit", "missing"),
        ([seen(1, tree(A, moves=[(C, LATER, "cherry-pick")], commits=HOLDS))], "commit", "missing"),
        ([seen(1, tree(A, moves=[(D, LATER, "commit")], commits=HOLDS))], "commit", "missing"),
        ([seen(1, tree(A, moves=[(C, LATER, "commit")], commits=[(C, A, [])]))], "commit", "missing"),
        ([seen(1, tree(A, moves=[(D, LATER, "commit"), (C, LATER, "rebase (pick)")], commits=HOLDS))], "commit", "met"),
        ([seen(1, tree(A, moves=[(C, LATER, "rebase (pick)")], commits=HOLDS))], "commit", "missing"),
        ([seen(1, tree(A))], "commit", "missing"),
        ([seen(1, tree(A, moves=MADE, commits=HOLDS))], "tests-kept", "met"),
        ([seen(1, tree(A, dirty=("tests/t.py",)))], "tests-kept", "missing"),
        ([seen(1, tree(A, moves=MADE, commits=HOLDS))], "within src/", "met"),
        ([seen(1, tree(A, moves=MADE, commits=HOLDS))], "within docs/", "missing"),
        ([seen(1, tree(A, cut=True))], "within docs/", "not seen"),
        ([seen(1, tree(A, moves=MADE * MOST_MOVES, commits=HOLDS))], "within src/", "not seen"),
        ([seen(-5, tree(A), RUN)], "tests", "not seen"),
        ([seen(1, tree(A))], "pushed", "missing"),
        ([seen(1, tree(A, remotes=("origin/x",)))], "pushed origin/x", "met"),
        ([seen(1, tree(A, remotes=("origin/x",)))], "pushed origin/main", "missing"),
        ([seen(1, tree(A))], "review", "missing"),
    ],
)  # fmt: skip
def test_what_follows_from_what_was_seen(story: list[Sighting], demand: str, verdict: str) -> None:
    """A demand is met by what was seen in the task's time and holds now; what nobody saw is never a pass."""
    assert told(demand, *story)[0] == verdict


def test_the_reason_says_what_to_do() -> None:
    """A refusal names the files and the command that are meant."""
    assert (
        told("clean", seen(1, tree(A, dirty=("a", "b", "c", "d"))))[1]
        == "a, b, c and 1 more are not committed"
    )
    assert (
        told("tests", seen(1, tree(A), RUN), seen(2, tree(B)))[1]
        == "`make test` has not run since the last change"
    )


@pytest.mark.parametrize("key", REASONS)
def test_a_reason_is_known_by_its_sentence(key: str) -> None:
    """A finding is kept as a sentence, by which its reason is known again, with what it names, for any language."""
    values = {"paths": "a.py, b.py", "more": "3", "command": "make `x` test", "code": "2", "branch": "o/x"}
    named = {name: each for name, each in values.items() if f"{{{name}}}" in REASONS[key]}
    assert reason(REASONS[key].format(**values)) == (key, named)


def test_a_sentence_of_others_is_no_reason() -> None:
    """A sentence that is none of the hub's has no words in other languages."""
    assert reason("it felt right") is None
