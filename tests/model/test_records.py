"""The nouns: how one text becomes a title and a description, and the two one text again."""

from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.model.ids import new_id
from hubbub.model.lifecycle import ENDED, Status
from hubbub.model.records import (
    TITLE_LENGTH,
    Condition,
    Delivery,
    Letter,
    LetterKind,
    Presence,
    Priority,
    Task,
    joined_text,
    title_of,
)
from tests.support.each_row import each_row


def a_task(**given: object) -> Task:
    values: dict[str, object] = dict.fromkeys(Task.__dataclass_fields__)
    return Task(**{**values, "status": Status.QUEUED, **given})  # type: ignore[arg-type]


def a_presence(*, expires_at: int, ended_at: int | None = None) -> Presence:
    return Presence(
        id=new_id(),
        project_id=new_id(),
        agent="ann",
        instance="first",
        condition=Condition.IDLE,
        ttl=1000,
        opened_at=0,
        seen_at=0,
        expires_at=expires_at,
        ended_at=ended_at,
        end_reason=None,
    )


@each_row(
    ("text", "title"),
    [
        ("count the lines", "count the lines"),
        ("count the lines\nof every file", "count the lines"),
        ("count the lines\r\nof every file", "count the lines"),
        ("\n\n  count the lines  \nof every file", "count the lines"),
        ("写排序算法\n用快速排序", "写排序算法"),
        ("x" * 80, "x" * 80),
        ("x" * 81, "x" * 80),
        ("x" * 79 + " y", "x" * 79),
        ("", ""),
        (" \n ", ""),
    ],
)
def test_the_title_is_the_first_line(text: str, title: str) -> None:
    """The title of one text is its first line, without the blanks around it, at most 80 characters."""
    assert title_of(text) == title


@each_row(
    ("title", "description", "text"),
    [
        ("Count", "the lines", "Count\n\nthe lines"),
        ("Count", "", "Count"),
        ("", "the lines", "the lines"),
        ("", "", ""),
        ("Count", "Count\nthe lines", "Count\nthe lines"),
        ("Count", "Count", "Count"),
        ("Count", "  Count\nthe lines", "  Count\nthe lines"),
        ("Count", "count the lines", "Count\n\ncount the lines"),
    ],
)
def test_title_and_description_are_one_text(title: str, description: str, text: str) -> None:
    """One text is the title, a blank line, the description; the description alone when it begins with the title."""
    assert joined_text(title, description) == text
    assert a_task(title=title, description=description).text == text


@settings(derandomize=True, database=None)
@given(st.text() | st.text(alphabet=" \n\r\tab", max_size=200))
def test_a_text_comes_back_as_it_was_given(text: str) -> None:
    """A task that was given as one text is shown as that text, to the letter, with a title that fits."""
    assert joined_text(title_of(text), text) == text
    assert len(title_of(text)) <= TITLE_LENGTH
    assert "\n" not in title_of(text)


def test_a_letter_is_shown_as_one_text_too() -> None:
    """A letter about a task shows title and description as the task does, and a message its body."""
    row = Delivery(
        id=new_id(),
        project_id=new_id(),
        recipient="ann",
        task_id=None,
        message_id=None,
        priority=Priority.MEDIUM,
        stored_at=0,
    )

    assert (
        Letter(delivery=row, number=1, kind=LetterKind.TASK, sender="bob", title="A", body="b").text
        == "A\n\nb"
    )
    assert (
        Letter(delivery=row, number=1, kind=LetterKind.MESSAGE, sender="bob", title="", body="b").text == "b"
    )


def test_priorities_sort_by_urgency() -> None:
    """The most urgent comes first."""
    assert sorted(Priority) == [Priority.CRITICAL, Priority.HIGH, Priority.MEDIUM, Priority.LOW]


@each_row("status", Status)
def test_a_task_knows_whether_it_has_ended(status: Status) -> None:
    """A task has ended in exactly the statuses that end it."""
    assert a_task(status=status).is_ended == (status in ENDED)


def test_a_presence_lives_until_its_time_is_up() -> None:
    """A presence is live up to the millisecond in which its time is up, unless it was ended before."""
    assert a_presence(expires_at=1000).is_live(999)
    assert not a_presence(expires_at=1000).is_live(1000)
    assert not a_presence(expires_at=1000, ended_at=500).is_live(600)


def test_records_do_not_change() -> None:
    """A record is what was read; nobody can change it in passing."""
    with pytest.raises(FrozenInstanceError):
        a_presence(expires_at=1).expires_at = 2  # type: ignore[misc]
