"""JSON of large values, in pieces."""

import json
import weakref
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.model import json_chunks
from hubbub.model.json_chunks import (
    SENT,
    SOME,
    Chunk,
    EncodedChunk,
    EncodedRow,
    EncodedRows,
    LazyRows,
    complete,
    cut,
    encoded,
    gathered,
    is_large,
    whole,
)

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=4), inner, max_size=6),
    max_leaves=20,
)


class Row:
    """A row of which can be known whether it is there still."""

    def __init__(self, number: int) -> None:
        self.number = number


def encode(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


@pytest.mark.system
@settings(max_examples=200)
@given(ANYTHING)
def test_the_pieces_are_the_json(value: object) -> None:
    """All pieces together are the JSON of the value, whatever it is and however it is cut."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_chunks, "SOME", 2)
        patch.setattr(json_chunks, "LONG", 3)
        assert b"".join(encoded(value, encode)) == encode(value)


def test_rows_are_there_while_they_are_encoded() -> None:
    """No more rows exist at once than are encoded at once."""
    there: weakref.WeakSet[Row] = weakref.WeakSet()

    def rows() -> Iterator[Row]:
        for number in range(20 * SOME):
            row = Row(number)
            there.add(row)
            yield row

    def encode_some(value: object) -> bytes:
        assert len(there) <= SOME + 1
        return json.dumps(value, separators=(",", ":"), default=lambda row: row.number).encode()

    pieces = list(encoded({"ok": True, "rows": LazyRows(rows())}, encode_some))

    assert b"".join(pieces) == encode({"ok": True, "rows": [*range(20 * SOME)]})
    assert len(pieces) >= 20


def test_what_is_encoded_at_once_is_small() -> None:
    """No part of a value has more than some members of a list, of an object or of a text."""
    value = {
        "list": [*range(1000)],
        "object": {str(n): n for n in range(1000)},
        "text": "x" * (3 * json_chunks.LONG),
    }
    parts = [each.value for each in cut(value) if isinstance(each, Chunk)]

    assert is_large(value)
    assert max(len(each) for each in parts if isinstance(each, list | dict)) == SOME
    assert max(len(each) for each in parts if isinstance(each, str)) == json_chunks.LONG


@pytest.mark.parametrize(
    "value", [{}, {"a": 1, "b": "text", "c": [1] * SOME, "d": {"e": None}}, [1] * SOME, "text", 7]
)
def test_what_is_small_is_encoded_at_once(value: object) -> None:
    """A value with few members is not large."""
    assert not is_large(value)


@pytest.mark.parametrize(
    "value", [{"a": {"b": [1] * (SOME + 1)}}, {"a": LazyRows([])}, {"a": "x" * (json_chunks.LONG + 1)}]
)
def test_what_holds_much_is_large(value: object) -> None:
    """A value is large by what it holds, however deep in objects."""
    assert is_large(value)


def test_rows_can_be_had_at_once() -> None:
    """A value that is needed whole gets its rows as a list; the rest is unchanged."""
    assert complete({"ok": True, "in": {"rows": LazyRows(iter([1, 2]))}}) == {
        "ok": True,
        "in": {"rows": [1, 2]},
    }


def test_pieces_are_gathered_for_sending() -> None:
    """Many pieces become few, none much larger than what is sent at once."""
    pieces = gathered([b"x" * 1000] * 1000)

    assert b"".join(pieces) == b"x" * 1_000_000
    assert max(map(len, pieces)) < SENT + 1000
    assert len(pieces) == 4


def test_a_piece_that_is_large_already_is_sent_as_it_is() -> None:
    """A piece of the size that is sent at once is not copied."""
    large = b"x" * SENT
    pieces = gathered([b"a", b"b", large, b"c"])

    assert pieces == [b"ab", large, b"c"]
    assert pieces[1] is large


@given(st.lists(st.text("x", max_size=9)), st.integers(1, 40))
def test_encoded_rows_go_out_by_size(texts: list[str], size: int) -> None:
    """Encoded rows are joined up to the size that is sent at once; each stands in one piece, in order."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_chunks, "SENT", size)
        parts = list(cut(EncodedRows(EncodedRow.of(json.dumps(text)) for text in texts)))

    groups = [[row.json for row in part.rows] for part in parts if isinstance(part, EncodedChunk)]
    assert b"".join(part.encoded(encode) for part in parts) == encode(texts)
    assert all(sum(map(len, group[:-1])) < size for group in groups)
    assert all(sum(map(len, group)) >= size for group in groups[:-1])


def test_rows_that_were_encoded_go_out_again() -> None:
    """Rows that are JSON already take their place, in the words of the encoder: also what that writes otherwise."""
    value = {"a": EncodedRows(map(EncodedRow.of, ['{"é":1}', '"\x7f"', "2"]))}

    assert b"".join(encoded(value, encode)) == encode({"a": [{"é": 1}, "\x7f", 2]})
    assert whole(value) == {"a": [{"é": 1}, "\x7f", 2]}
    assert complete(value) == value
