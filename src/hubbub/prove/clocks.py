"""Clocks of single programs, which can be set, or run faster, where libfaketime is; the machine's own is left alone.

A clock that is set differs in the time of day only: timeouts go on as before, as where an operator sets a clock.
A clock that runs faster does so in everything: timeouts and pauses pass faster, too.
"""

from collections.abc import Mapping
from pathlib import Path

LIBRARIES = ("/usr/lib*", "/usr/lib/*", "/usr/local/lib")
LIBRARY = "faketime/libfaketime.so.1"
MISSING = "no clock was set: libfaketime (Debian's package faketime) is not here"
SKEW = 20.0  # seconds that a clock is wrong at most, while agents rely on what they hold
TAKEN = 1.5  # seconds after which a program goes by what its clock was set to


def library() -> Path | None:
    """Return the library that has a program see another time; None where it is not."""
    found = (each for folder in LIBRARIES for each in sorted(Path("/").glob(f"{folder[1:]}/{LIBRARY}")))
    return next(found, None)


class Clock:
    """The clock of one program, by a file that says how far it is from the machine's."""

    def __init__(self, file: Path, preloaded: Path) -> None:
        self._file = file
        self.environment: Mapping[str, str] = {
            "LD_PRELOAD": str(preloaded),
            "FAKETIME_TIMESTAMP_FILE": str(file),
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DONT_RESET": "1",
            "FAKETIME_CACHE_DURATION": "1",
        }
        self.set(0)

    def set(self, seconds: float) -> None:
        """Set it so many seconds on, or back."""
        beside = self._file.with_suffix(".new")
        beside.write_text(f"{seconds:+.3f}\n")
        beside.replace(self._file)


def faster(times: int, preloaded: Path) -> Mapping[str, str]:
    """Return the environment of a program whose time passes so many times as fast as ours."""
    return {"LD_PRELOAD": str(preloaded), "FAKETIME": f"+0 x{times}"}
