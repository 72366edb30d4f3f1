"""Listeners: functions that are called when activities were committed."""

import logging
from collections.abc import Callable

log = logging.getLogger(__name__)


class Listeners:
    """Functions to call, from any thread, when there may be new activities. A wake-up is a hint, not news."""

    def __init__(self) -> None:
        self._wakes: list[Callable[[], None]] = []

    def add(self, wake: Callable[[], None]) -> None:
        """Register `wake`; it should return at once."""
        self._wakes.append(wake)

    def wake(self) -> None:
        for wake in self._wakes:
            try:
                wake()
            except Exception:  # the store goes on, however a listener fails
                log.exception("a listener to activities failed")
