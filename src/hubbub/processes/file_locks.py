"""Locks of open files: the kernel's (`flock`), so that each ends with its process in any case."""

import fcntl


def wait(file: int, *, shared: bool = False) -> None:
    """Take the lock as soon as nobody else has it; `shared` with others who only look."""
    fcntl.flock(file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)


def take(file: int) -> bool:
    """Take the lock, unless another process has it."""
    return _try(file, fcntl.LOCK_EX)


def is_free(file: int) -> bool:
    """Tell whether nobody has the lock; then it is shared with others who only look, until the file is closed."""
    return _try(file, fcntl.LOCK_SH)


def _try(file: int, how: int) -> bool:
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
