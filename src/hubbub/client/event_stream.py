"""Server-sent events, read from the bytes of an answer."""

from collections.abc import Iterator
from dataclasses import dataclass

from hubbub.client.transport import Unreachable

STREAM = "text/event-stream"
LARGEST = 1024 * 1024  # bytes of an event


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its content, and the last id that the stream has said."""

    id: str
    data: str


class EventReader:
    """Reads one stream, of the content type `kind`. Raises `Unreachable` for another, and for too large an event."""

    def __init__(self, kind: str, largest: int = LARGEST) -> None:
        if kind.partition(";")[0].strip().lower() != STREAM:
            raise Unreachable(f"what answers there sends {kind!r}, not events")
        self._largest = largest
        self._id = ""
        self._data: list[str] = []
        self._line: list[bytes] = []  # the parts of one that has not ended
        self._size = 0  # bytes of the event so far
        self._is_after_return = False

    def events(self, chunk: bytes) -> Iterator[Event]:
        """Yield the events that end in the next piece of the stream, if they hold anything."""
        if self._is_after_return:
            chunk = chunk.removeprefix(b"\n")
        self._is_after_return = chunk.endswith(b"\r")
        first, *more = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._grow(first)
        for start in more:
            line, self._line = b"".join(self._line), []
            if line:
                self._note(line.decode(errors="replace"))
            else:
                yield from self._ended()
            self._grow(start)

    def _grow(self, part: bytes) -> None:
        self._line.append(part)
        self._size += len(part)
        if self._size > self._largest:
            raise Unreachable(f"what answers there sent an event of more than {self._largest:,} bytes")

    def _note(self, line: str) -> None:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "id" and "\0" not in value:
            self._id = value
        elif not field:  # a comment, which belongs to no event
            self._size -= len(line.encode())

    def _ended(self) -> Iterator[Event]:
        data, self._data, self._size = "\n".join(self._data), [], 0
        if data:
            yield Event(self._id, data)
