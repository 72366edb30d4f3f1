"""Recognition of two tasks as the same job, by their texts."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from hubbub.model.work.duplicates import Job, Likeness, SameBy, alike, job, marks

PAIRS = Path(__file__).parents[2] / "data" / "jobs"


@dataclass
class Judged:
    """The results of the measure: its number of correct answers, and its mistakes."""

    same: int = 0
    told: int = 0
    right: int = 0
    wrong: str = ""


def read(text: str) -> Job:
    title, _, rest = text.replace("\\n", "\n").partition("\n")
    return job(title, f"{title}\n{rest}")


def pairs(name: str) -> Iterator[tuple[str, str]]:
    """The pairs that people have called the same, or different: two texts in a line, which have | between them."""
    for line in (PAIRS / f"{name}.txt").read_text("utf-8").splitlines():
        one, two = line.split(" | ")
        yield one, two


def is_found(one: Job, other: Job) -> bool:
    """Tell whether the hub would report them: it compares only tasks that have a mark in common."""
    return not {*marks(one)}.isdisjoint(marks(other)) and alike(one, other) is not None


def test_the_pairs() -> None:
    """Precision is at least 0.95, and recall 0.9, on 300 labelled pairs."""
    judged, number = Judged(), 0
    for name in ("same", "different"):
        for one, two in pairs(name):
            number += 1
            found = is_found(read(one), read(two))
            assert found == is_found(read(two), read(one)), (one, two)
            judged.same += name == "same"
            judged.told += found
            judged.right += found and name == "same"
            judged.wrong += "" if found == (name == "same") else f"\n  {name}: {one} | {two}"
    precision, recall = judged.right / judged.told, judged.right / judged.same
    told = f"{number} pairs: precision {precision:.3f}, recall {recall:.3f}; wrong:{judged.wrong}"
    print(told)  # noqa: T201  # what it holds, to whoever runs it with -s
    assert number >= 300, told
    assert precision >= 0.95, told
    assert recall >= 0.9, told


@pytest.mark.parametrize(
    ("one", "two", "name"),
    [
        ("Fix #12", "Solve issue 12", "#12"),
        ("Fix octo/parser#12", "PR 12 is red", "octo/parser#12"),
        ("Look at https://github.com/octo/parser/pull/12", "octo/parser#12", "octo/parser#12"),
        ("Do ABC-12", "ABC-12 is still open", "abc-12"),
        ("Finish branch feat/a", "Rebase the `feat/a` branch", "feat/a"),
        ("处理合并请求 12", "修复 #12", "#12"),
    ],
)
def test_names(one: str, two: str, name: str) -> None:
    """Tasks are the same job that are about one issue, pull request or branch, however it is written."""
    assert alike(read(one), read(two)) == Likeness(SameBy.NAME, name)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Fix octo/parser#12", "Fix octo/site#12"),
        ("Fix #12", "Review #12"),
        ("Do this after #12 is merged", "Fix #12"),
        ("Part 1 of #12", "Part 2 of #12"),
        ("Start on branch main", "Go back to branch main"),
    ],
)
def test_other_work_with_the_same_name(one: str, two: str) -> None:
    """A task of another repository, other work, another part, or a mere mention, is another job."""
    assert alike(read(one), read(two)) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It is chapter 3.", "It is chapter 4."),
        ("That is the Second part.", "That is the third part."),
        ("It is in hall B.", "It is in hall C."),
        ("It is in guide.md.", "It is in notes.md."),
        ("It is of readFile.", "It is of writeFile."),
        ("这是第3章", "这是第4章"),
    ],
)
def test_numbers_and_names_in_a_text(one: str, other: str) -> None:
    """Numbers, and names in code, keep two tasks apart that stand in their texts, not in their titles."""
    title = "Translate the next chapter of the manual"
    assert alike(read(f"{title}\n{one}"), read(f"{title}\n{one}")) is not None
    assert alike(read(f"{title}\n{one}"), read(f"{title}\n{other}")) is None


def test_an_issue_that_is_said_beside() -> None:
    """The issue that a task is said to be about counts as if it stood in its text."""
    one, two = job("Broken links", "", "octo/site#5"), job("See to octo/site#5", "")
    assert alike(one, two) == Likeness(SameBy.NAME, "octo/site#5")


def test_marks_lie_side_by_side() -> None:
    """All marks but one that are made of a task's words begin alike, so that the store keeps them on one page."""
    found = marks(read("Fix the login timeout of Safari on old telephones"))
    begins = Counter(mark >> 40 for mark in found)
    assert sorted(begins.values()) == [1, len(found) - 1]
    assert len({*found}) == 4


def test_a_long_text_costs_little() -> None:
    """Only the beginning of a text is read, so a long one is judged like a short one."""
    text = "Fix the login timeout on Safari"
    assert job(text, text + "\n" + " branch #" * 20_000).words == job(text, text).words
