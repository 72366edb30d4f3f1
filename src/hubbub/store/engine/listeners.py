"""Functions to be called when something has happened."""

import logging
from collections.abc import Callable

log = logging.getLogger(__name__)


class Listeners:
    """Functions to call, from any thread, when there may be new activities. A wake-up is a hint, not news."""

    def __init__(self) -> None:
        self._wakes: list[Callable[[], None]] = []

    def add(self, wake: Callable[[], None]) -> None:
        """Have `wake` called from now on; it should return at once."""
        self._wakes.append(wake)

    def wake(self) -> None:
        for wake in self._wakes:
            try:
                wake()
            except Exception:  # the store goes on, whatever is wrong with one of its listeners
                log.exception("a listener to activities failed")
