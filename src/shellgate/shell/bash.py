"""bash itself: how checked text is run, and whether bash refuses to parse it."""

import shutil
import subprocess
from functools import lru_cache

_BASH = "/bin/bash"
_PATIENCE = 5  # seconds; reading 64 KiB takes some milliseconds


def argv(command: str) -> tuple[str, ...]:
    """Return the command line that runs exactly the checked text: no start-up file is read, nothing is added."""
    return (_BASH, "--norc", "--noprofile", "-c", command)


@lru_cache(maxsize=256)
def refuses(command: str) -> bool:
    """Tell whether bash rejects this as a program. False if there is no bash to ask."""
    if shutil.which(_BASH) is None:
        return False
    try:
        done = subprocess.run(  # noqa: S603
            (_BASH, "--norc", "--noprofile", "-n", "-c", command),
            env={"LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return True
    return done.returncode != 0 or bool(done.stderr)
