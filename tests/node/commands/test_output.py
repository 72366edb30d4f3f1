import pytest

from hubbub.node.commands.output import Recent, Stream


def fed(sink: Stream | Recent, *chunks: bytes) -> str:
    for chunk in chunks:
        sink.feed(chunk)
    return sink.text()


@pytest.mark.parametrize(
    "chunks", [(), (b"",), (b"0123456789",), (b"01234", b"56789"), tuple(b"%d" % n for n in range(10))]
)
def test_what_fits_is_kept_as_it_is(chunks: tuple[bytes, ...]) -> None:
    """A stream within its limit is whole, in however many pieces it came."""
    assert fed(Stream(10), *chunks) == b"".join(chunks).decode()


@pytest.mark.parametrize("size", [1, 3, 4, 7, 1000])
def test_what_is_longer_keeps_its_two_ends_and_says_how_much_is_gone(size: int) -> None:
    """Of a stream past its limit half is its beginning and half its end, with the number of bytes between them."""
    whole = b"begin" + b"x" * 1000 + b"close"
    chunks = [whole[at : at + size] for at in range(0, len(whole), size)]

    assert fed(Stream(10), *chunks) == "begin\n[… 1000 bytes were cut here …]\nclose"


def test_what_is_no_text_is_replaced() -> None:
    """Bytes that are not UTF-8 become the sign for that, and what is beside them stays."""
    assert fed(Stream(), b"a\xff\xfeb", b"\xe2\x82", b"\xac") == "a\ufffd\ufffdb€"


def test_a_cut_goes_through_no_character() -> None:
    """A character of which only a part is left is left out, at both sides of the cut."""
    assert fed(Stream(10), ("€" * 100).encode()) == "€\n[… 290 bytes were cut here …]\n€"


def test_recent_output_is_the_end_of_what_came() -> None:
    """What a command in the background printed last is kept, up to a limit, from a whole character on."""
    assert fed(Recent(4), b"ab") == "ab"
    assert fed(Recent(4), b"abc", b"def") == "cdef"
    assert fed(Recent(4), b"x" * 10, "a€".encode()) == "a€"
    assert fed(Recent(4), "€€".encode()) == "€"
