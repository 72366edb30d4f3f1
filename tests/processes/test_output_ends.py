"""The kept part of a program's output."""

import pytest

from hubbub.processes.output_ends import OutputEnds


def fed(ends: OutputEnds, *chunks: bytes) -> OutputEnds:
    for chunk in chunks:
        ends.feed(chunk)
    return ends


@pytest.mark.parametrize(
    "chunks", [(), (b"",), (b"0123456789",), (b"01234", b"56789"), tuple(b"%d" % n for n in range(10))]
)
def test_what_fits_is_kept_as_it_is(chunks: tuple[bytes, ...]) -> None:
    """A stream within its limit is whole, in however many pieces it came."""
    assert fed(OutputEnds(5, 5), *chunks).text() == b"".join(chunks).decode()


@pytest.mark.parametrize("size", [1, 3, 4, 7, 1000])
def test_what_is_longer_keeps_its_two_ends_and_says_how_much_is_gone(size: int) -> None:
    """Half of a stream past its limit is its beginning and half its end, with the number of bytes between them."""
    whole = b"begin" + b"x" * 1000 + b"close"
    chunks = [whole[at : at + size] for at in range(0, len(whole), size)]

    assert fed(OutputEnds(5, 5), *chunks).text() == "begin\n[… 1000 bytes were cut here …]\nclose"


def test_what_is_no_text_is_replaced() -> None:
    """Bytes that are not UTF-8 become the sign for that, and what is beside them stays."""
    assert fed(OutputEnds(9, 9), b"a\xff\xfeb", b"\xe2\x82", b"\xac").text() == "a\ufffd\ufffdb€"


def test_a_cut_goes_through_no_character() -> None:
    """A character of which only a part is left is left out, at both sides of the cut."""
    assert fed(OutputEnds(5, 5), ("€" * 100).encode()).text() == "€\n[… 290 bytes were cut here …]\n€"


def test_the_beginning_ends_with_a_whole_character() -> None:
    """A kept beginning never ends within a character, and the number of lost bytes is known."""
    ends = fed(OutputEnds(4, 0), "a€".encode(), "€€".encode())

    assert (ends.beginning(), ends.missing) == ("a€", 6)
    assert fed(OutputEnds(4, 0), b"a\xe2").beginning() == "a\ufffd"


def test_recent_output_is_the_end_of_what_came() -> None:
    """The last output of a command in the background is kept, up to a limit, from a whole character on."""
    assert fed(OutputEnds(0, 4), b"ab").last(4) == "ab"
    assert fed(OutputEnds(0, 4), b"abc", b"def").last(4) == "cdef"
    assert fed(OutputEnds(0, 4), b"x" * 10, "a€".encode()).last(4) == "a€"
    assert fed(OutputEnds(0, 4), "€€".encode()).last(4) == "€"
