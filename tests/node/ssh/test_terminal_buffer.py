"""A shell's output that nobody has read yet."""

import pytest

from hubbub.node.ssh.terminal_buffer import TerminalBuffer

pytestmark = pytest.mark.anyio


async def test_it_is_read_once() -> None:
    """A second read gives what came since the first."""
    output = TerminalBuffer()
    output.feed(b"one")
    assert output.take() == "one"
    assert output.take() == ""
    output.feed(b"two")
    assert output.take() == "two"


async def test_the_oldest_goes_where_it_is_too_much() -> None:
    """The newest is kept, and a mark says how much is missing, once."""
    output = TerminalBuffer(most=4)
    for chunk in (b"ab", b"cdef", b"ghijkl"):
        output.feed(chunk)
    assert output.take() == "[… 8 bytes were cut here …]\nijkl"
    output.feed(b"m")
    assert output.take() == "m"


async def test_a_character_may_come_in_two_pieces() -> None:
    """It is told when it is whole; what never will be is replaced."""
    output = TerminalBuffer()
    output.feed("a代".encode()[:-1])
    assert output.take() == "a"
    output.feed("代".encode()[-1:])
    assert output.take() == "代"
    output.feed(b"\xe4")
    output.end()
    assert output.take() == "\ufffd"


async def test_waiting_ends_with_the_shell() -> None:
    """Nobody waits for what will not come."""
    output = TerminalBuffer()
    output.end()
    await output.settled()
    assert output.take() == ""
