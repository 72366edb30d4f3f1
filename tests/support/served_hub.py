"""A hub that is served by a thread of the test's own process."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from hubbub.app import Hub


@contextmanager
def serving(hub: Hub) -> Iterator[None]:
    """Have the hub answer calls until the context ends."""
    thread = threading.Thread(target=hub.serve)
    thread.start()
    try:
        hub.wait_until_ready()
        yield
    finally:
        hub.stop()
        thread.join()
