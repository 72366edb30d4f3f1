"""Signals as a descriptor, to be waited for together with other descriptors."""

import os
import signal
from contextlib import suppress


class SignalWakeup:
    """Makes each of the signals do nothing but turn `end` readable."""

    def __init__(self, *numbers: signal.Signals) -> None:
        self.end, begin = os.pipe()
        os.set_blocking(self.end, False)
        os.set_blocking(begin, False)
        signal.set_wakeup_fd(begin, warn_on_full_buffer=False)
        for number in numbers:
            signal.signal(number, lambda *_: None)

    def taken(self) -> bytes:
        """Return the numbers of the signals since the last call, a byte each."""
        with suppress(BlockingIOError):
            return os.read(self.end, 4096)
        return b""
