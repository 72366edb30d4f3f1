"""Rate limit per subject: of items that come too fast only the latest is sent."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Protocol


class CallLater(Protocol):
    """The signature of an event loop's `call_later`."""

    def __call__(self, delay: float, callback: Callable[..., Any], /, *args: Any) -> asyncio.TimerHandle: ...


class Throttle:
    """Releases an item at once, unless its subject had one within `pause`; then when the pause is over."""

    def __init__(self, pause: timedelta, release: Callable[[str], None], later: CallLater) -> None:
        self._pause = pause.total_seconds()
        self._release = release
        self._later = later
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._held: dict[str, str] = {}

    def offer(self, subject: str, content: str) -> None:
        """Release `content` now or, unless something newer on the subject comes, when the pause is over."""
        if subject in self._timers:
            self._held[subject] = content
        else:
            self._timers[subject] = self._later(self._pause, self._over, subject)
            self._release(content)

    def close(self) -> None:
        """Release nothing any more."""
        for timer in self._timers.values():
            timer.cancel()
        self._held.clear()

    def _over(self, subject: str) -> None:
        del self._timers[subject]
        if subject in self._held:
            self.offer(subject, self._held.pop(subject))
