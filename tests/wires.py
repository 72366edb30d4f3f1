"""Whose turn it is: tests that change the machine's network, and tests in which a browser uses it.

A browser gives up whatever it has under way when an interface appears or goes, also one that it does not use.
"""

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK = Path(tempfile.gettempdir(), "hubbub-tests-network.lock")


@contextmanager
def left_alone() -> Iterator[None]:
    """Nobody changes the network until the context ends."""
    with LOCK.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        yield


@contextmanager
def changed() -> Iterator[None]:
    """No browser runs until the context ends."""
    with LOCK.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
