"""Loading of many modules: nothing of them is garbage, and each look for some takes longer than the one before."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def at_once() -> Iterator[None]:
    """Load without collections of garbage, and exclude what is loaded from later ones."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
