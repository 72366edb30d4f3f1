"""Throttles, with a clock of the test's own."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from hubbub.serve.live.throttle import Throttle

PAUSE = timedelta(seconds=5)


class Alarms:
    """Timers that go off when the test says so."""

    def __init__(self) -> None:
        self.set: list[tuple[float, Callable[..., Any], tuple[Any, ...]]] = []
        self.cancelled = 0

    def later(self, delay: float, callback: Callable[..., Any], /, *args: Any) -> Any:
        self.set.append((delay, callback, args))
        return self

    def cancel(self) -> None:
        self.cancelled += 1

    def go_off(self) -> None:
        """Let the first timer that was set go off."""
        _delay, callback, args = self.set.pop(0)
        callback(*args)


@pytest.fixture
def alarms() -> Alarms:
    return Alarms()


@pytest.fixture
def told() -> list[str]:
    """Return the released items."""
    return []


@pytest.fixture
def throttle(alarms: Alarms, told: list[str]) -> Throttle:
    return Throttle(PAUSE, told.append, alarms.later)


def test_the_first_goes_through_at_once(throttle: Throttle, alarms: Alarms, told: list[str]) -> None:
    """The first item on a subject is released at once, and a pause begins."""
    throttle.offer("a", "1")
    assert told == ["1"]
    assert [delay for delay, _callback, _args in alarms.set] == [5.0]


def test_the_last_wins(throttle: Throttle, alarms: Alarms, told: list[str]) -> None:
    """The last item offered during the pause is released when it is over, and the next pause begins."""
    for each in ("1", "2", "3"):
        throttle.offer("a", each)
    alarms.go_off()
    assert told == ["1", "3"]
    throttle.offer("a", "4")
    assert told == ["1", "3"]
    alarms.go_off()
    assert told == ["1", "3", "4"]


def test_after_a_quiet_pause_nothing_is_kept(throttle: Throttle, alarms: Alarms, told: list[str]) -> None:
    """A pause in which nothing was offered ends with nothing; then the next goes through at once."""
    throttle.offer("a", "1")
    alarms.go_off()
    assert (told, alarms.set) == (["1"], [])
    throttle.offer("a", "2")
    assert told == ["1", "2"]


def test_subjects_do_not_wait_for_each_other(throttle: Throttle, told: list[str]) -> None:
    """Each subject has a pause of its own."""
    for subject, content in (("a", "1"), ("b", "2"), ("a", "3"), ("c", "4")):
        throttle.offer(subject, content)
    assert told == ["1", "2", "4"]


def test_a_closed_one_sets_no_alarm_off(throttle: Throttle, alarms: Alarms, told: list[str]) -> None:
    """Closing cancels every timer, and forgets what was held."""
    throttle.offer("a", "1")
    throttle.offer("a", "2")
    throttle.offer("b", "3")
    throttle.close()
    assert alarms.cancelled == 2
    alarms.go_off()
    assert told == ["1", "3"]


@pytest.mark.anyio
async def test_it_works_with_an_event_loop() -> None:
    """The timers of an event loop will do."""
    told: asyncio.Queue[str] = asyncio.Queue()
    throttle = Throttle(timedelta(0), told.put_nowait, asyncio.get_running_loop().call_later)
    throttle.offer("a", "1")
    throttle.offer("a", "2")
    assert [await told.get(), await told.get()] == ["1", "2"]
