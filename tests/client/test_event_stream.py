"""Reading server-sent events."""

import pytest

from hubbub.client.event_stream import LARGEST, Event, EventReader
from hubbub.client.transport import Unreachable

STREAM = (
    ": hello\r\n\r\nid: 1\r\nevent: message\r\ndata: 你好\r\n\r\n"
    "data:two\ndata:  lines\n\n"
    "id: 2\rdata: three\r\r"
    "retry: 9\ndata\n\nid: 3\n\ndata: {}\nid: \0\nelse: x\n\ndata: not ended\n"
).encode()
EVENTS = [Event("1", "你好"), Event("1", "two\n lines"), Event("2", "three"), Event("3", "{}")]


def read(*chunks: bytes) -> list[Event]:
    reader = EventReader("text/event-stream; charset=utf-8")
    return [event for chunk in chunks for event in reader.events(chunk)]


def test_events_of_a_stream() -> None:
    """Lines end in any of three ways; an event has the last id, all its lines of data, and nothing of comments."""
    assert read(STREAM) == EVENTS


def test_wherever_it_is_cut() -> None:
    """The pieces in which a stream comes make no difference."""
    for at in range(len(STREAM)):
        assert read(STREAM[:at], STREAM[at:]) == EVENTS
    assert read(*(STREAM[at : at + 1] for at in range(len(STREAM)))) == EVENTS


@pytest.mark.parametrize("kind", ["application/json", "", "text/html"])
def test_other_content(kind: str) -> None:
    """Content of another type is no stream of events."""
    with pytest.raises(Unreachable, match="not events"):
        EventReader(kind)


@pytest.mark.system
def test_too_large_an_event() -> None:
    """An event is bounded, whether it comes in one line or in many; comments and many small events are not."""
    read(*[b": ping\n\n"] * (LARGEST // 4), *[b"data: x\n\n"] * 10)
    read(*[b": ping\n"] * (LARGEST // 4))
    for part in (b"x" * 1024, b"data: x\n"):
        with pytest.raises(Unreachable, match="more than"):
            read(*[part] * (2 * LARGEST // len(part)))
