"""A program's output in bounded memory: its beginning and its end, with a mark at the cut."""

import codecs

CONTINUED = range(0x80, 0xC0)  # bytes of UTF-8 that are not the first of their character


class OutputEnds:
    """A stream of bytes as its two ends, of a fixed number of bytes each."""

    def __init__(self, beginning: int, end: int) -> None:
        self._room, self._most = beginning, end
        self._head, self._tail = bytearray(), bytearray()
        self._dropped = 0

    def feed(self, chunk: bytes) -> None:
        """Add bytes."""
        taken = chunk[: self._room - len(self._head)]
        self._head += taken
        self._tail += chunk[len(taken) :]
        if len(self._tail) > 2 * self._most:
            self._trim()

    @property
    def missing(self) -> int:
        """Return the number of bytes dropped."""
        self._trim()
        return self._dropped

    def text(self) -> str:
        """Return the text so far, with a replacement for each byte that is not UTF-8."""
        if not self.missing:
            return (self._head + self._tail).decode("utf-8", "replace")
        mark = f"[… {self._dropped} bytes were cut here …]"
        return f"{self.beginning()}\n{mark}\n{_from_a_character(self._tail)}"

    def beginning(self) -> str:
        """Return the beginning, up to a whole character."""
        is_all = not self._tail and not self._dropped
        return codecs.getincrementaldecoder("utf-8")("replace").decode(bytes(self._head), final=is_all)

    def last(self, most: int) -> str:
        """Return its last bytes as text, from a whole character on."""
        self._trim()
        kept = self._tail if self._dropped else self._head + self._tail
        is_cut = self._dropped or len(kept) > most
        return _from_a_character(kept[-most:]) if is_cut else kept.decode("utf-8", "replace")

    def _trim(self) -> None:
        excess = len(self._tail) - self._most
        if excess > 0:
            del self._tail[:excess]
            self._dropped += excess


def _from_a_character(end: bytes | bytearray) -> str:
    """Decode text whose beginning was cut off, perhaps within a character."""
    begin = next((at for at, byte in enumerate(end[:4]) if byte not in CONTINUED), 0)
    return end[begin:].decode("utf-8", "replace")
