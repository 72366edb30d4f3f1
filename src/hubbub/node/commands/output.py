"""What a command prints, up to a limit: the beginning and the end of it, and a mark where something was cut."""

import codecs

MOST = 1024 * 1024  # bytes of a stream that are kept
RECENT = 4096  # bytes that tell what a command in the background is doing

CONTINUED = range(0x80, 0xC0)  # bytes of UTF-8 that are not the first of their character


class Stream:
    """One stream, as its two ends."""

    def __init__(self, most: int = MOST) -> None:
        self._room = most // 2
        self._tail_length = most - self._room
        self._head, self._tail = bytearray(), bytearray()
        self._dropped = 0

    def feed(self, chunk: bytes) -> None:
        """More of it has come."""
        taken = chunk[: self._room - len(self._head)]
        self._head += taken
        self._tail += chunk[len(taken) :]
        if len(self._tail) > 2 * self._tail_length:
            self._trim()

    def text(self) -> str:
        """What there is so far; what is not UTF-8 is replaced."""
        self._trim()
        if not self._dropped:
            return (self._head + self._tail).decode("utf-8", "replace")
        head = codecs.getincrementaldecoder("utf-8")("replace").decode(bytes(self._head))
        return f"{head}\n[… {self._dropped} bytes were cut here …]\n{_from_a_character(self._tail)}"

    def _trim(self) -> None:
        excess = len(self._tail) - self._tail_length
        if excess > 0:
            del self._tail[:excess]
            self._dropped += excess


def _from_a_character(end: bytes | bytearray) -> str:
    """Text of which the beginning was cut off, perhaps within a character."""
    begin = next((at for at, byte in enumerate(end[:4]) if byte not in CONTINUED), 0)
    return end[begin:].decode("utf-8", "replace")


class Recent:
    """The last of what came, of all streams."""

    def __init__(self, most: int = RECENT) -> None:
        self._most, self._kept, self._is_cut = most, b"", False

    def feed(self, chunk: bytes) -> None:
        """More has come."""
        longer = self._kept + chunk[-self._most :]
        self._is_cut |= len(self._kept) + len(chunk) > self._most
        self._kept = longer[-self._most :]

    def text(self) -> str:
        return _from_a_character(self._kept) if self._is_cut else self._kept.decode("utf-8", "replace")
