"""Ids sort in the order in which they were made, and nothing that is no id is taken for one."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from uuid import RFC_4122, UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.model import ids
from hubbub.model.ids import new_id, parse_id
from tests.support.each_row import each_row


def test_ids_sort_as_they_were_made() -> None:
    """Each id is greater than the one before it, as a number, as bytes and as text, however fast they come."""
    made = [new_id() for _ in range(5_000)]

    assert all(one < other for one, other in pairwise(made))
    assert all(one.bytes < other.bytes for one, other in pairwise(made))
    assert all(str(one) < str(other) for one, other in pairwise(made))


def test_an_id_is_a_uuid_of_version_7(monkeypatch: pytest.MonkeyPatch) -> None:
    """An id has the version and the variant of RFC 9562, and begins with the milliseconds of its making."""
    monkeypatch.setattr(ids, "_last", 0)
    monkeypatch.setattr(time, "time_ns", lambda: 1_800_000_000_123 * 1_000_000)
    made = new_id()

    assert made.version == 7
    assert made.variant == RFC_4122
    assert made.int >> 80 == 1_800_000_000_123


def test_ids_go_on_after_those_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids are greater than one that another clock made later, and than all that were made with it."""
    monkeypatch.setattr(ids, "_last", 0)
    monkeypatch.setattr(time, "time_ns", lambda: 1_800_000_060_000 * 1_000_000)
    ahead = [new_id() for _ in range(300)]
    monkeypatch.setattr(ids, "_last", 0)
    monkeypatch.setattr(time, "time_ns", lambda: 1_800_000_000_000 * 1_000_000)

    assert new_id() < ahead[0]
    ids.continue_after(ahead[0])
    assert ahead[-1] < new_id() < new_id()


def test_threads_never_make_the_same_id() -> None:
    """Ids made by many threads at once are all different, and rise within each thread."""
    barrier = threading.Barrier(8)

    def make(_thread: int) -> list[UUID]:
        barrier.wait()
        return [new_id() for _ in range(2_000)]

    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(make, range(8)))

    assert len({each for thread in made for each in thread}) == 8 * 2_000
    assert all(thread == sorted(thread) for thread in made)


def test_ids_rise_when_the_clock_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that is set back does not set the order back."""
    before = new_id()
    monkeypatch.setattr(time, "time_ns", lambda: 0)

    assert before < new_id() < new_id()


def test_ids_cannot_be_guessed() -> None:
    """The lower 62 bits are random: of many ids, no two have them in common."""
    low = {new_id().int & (1 << 62) - 1 for _ in range(1_000)}
    assert len(low) == 1_000


@pytest.mark.parametrize("spell", [str, lambda made: str(made).upper(), lambda made: made.hex])
def test_an_id_is_read_as_it_is_written(spell: "type[str]") -> None:
    """An id is recognised in its usual form, in capitals, and without its hyphens."""
    made = uuid4()
    assert parse_id(spell(made)) == made


@each_row(
    "nonsense",
    [
        "",
        "7",
        "count the lines",
        "x" * 32,
        "x" * 36,
        "0x" + "1" * 30,
        "+" + "1" * 31,
        "1_1_" * 8,
        " " + "1" * 31,
        "１" * 32,
        "{" + "1" * 32 + "}--",
        "urn:uuid:" + "1" * 27,
        "1-1-1-1-" + "1" * 28,
        "\ud800" * 32,
        "\0" * 36,
        "12345678-1234-1234-1234-123456789012 ",
    ],
)
def test_nonsense_is_no_id(nonsense: str) -> None:
    """A text that is not written as an id is none, and nothing worse."""
    assert parse_id(nonsense) is None


@settings(derandomize=True, database=None)
@given(st.text(max_size=40))
def test_any_text_is_an_id_or_none(text: str) -> None:
    """Whatever the text, reading it as an id gives the id that is written there, or none."""
    found = parse_id(text)
    assert found is None or text.lower() in (str(found), found.hex)
