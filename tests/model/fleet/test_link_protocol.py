"""The protocol of hub and machines: putting a message together from its pieces."""

import tracemalloc

import pytest

from hubbub.model.errors import Invalid
from hubbub.model.fleet import link_protocol
from hubbub.model.fleet.link_protocol import END, LARGEST, MORE, MessageAssembler, MessageKind

TEXT = link_protocol.message(MessageKind.PROGRESS, order="1", text="é\r\n€" * link_protocol.PIECE)


def test_a_message_is_what_it_was_before_it_was_cut() -> None:
    """Whatever is in it, and wherever it is cut."""
    assembly = MessageAssembler()
    *some, last = link_protocol.pieces(TEXT)
    assert [assembly.add(each) for each in some] == [None] * len(some)
    assert assembly.add(last) == {"kind": "progress", "order": "1", "text": "é\r\n€" * link_protocol.PIECE}
    assert assembly.add(END + '{"kind":"welcome"}') == {"kind": "welcome"}


@pytest.mark.system
def test_small_pieces_take_no_more_than_large_ones() -> None:
    """A message sent character by character, or empty pieces again and again, fills no memory."""
    assembly, many = MessageAssembler(), 200_000
    tracemalloc.start()
    try:
        for _ in range(many):
            assembly.add(MORE + "€")
            assembly.add(MORE)
        held, _peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 16 * many


def test_a_message_has_a_longest() -> None:
    """More than that is held of none."""
    assembly, half = MessageAssembler(), "x" * (LARGEST // 2)
    for _ in range(2):
        assembly.add(MORE + half)
    with pytest.raises(Invalid, match=str(LARGEST)):
        assembly.add(END + "x")
