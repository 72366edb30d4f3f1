"""A process between ours and a program that it started: it ends the program when our process is gone.

A process of its own, which leads the program's group and holds the other end of a pipe. The pipe closes with the
process that started it, however that ends; then the whole group is killed, so that nothing goes on unseen.
"""

import os
import signal
import sys
import threading
from collections.abc import Sequence

NOT_STARTED = 127  # the exit code, as in a shell
ASKED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)  # meant for the program; we stay until it has ended


def _watch(lifeline: int) -> None:
    os.read(lifeline, 1)
    os.killpg(0, signal.SIGKILL)


def run(lifeline: int, words: Sequence[str]) -> int:
    """Return the exit code of the program; after a signal, this process ends by the same."""
    for each in ASKED:
        signal.signal(each, signal.SIG_IGN)
    os.set_inheritable(lifeline, False)
    try:
        pid = os.posix_spawnp(words[0], list(words), os.environ, setsigdef=[*ASKED, signal.SIGPIPE])
    except OSError as error:
        os.write(2, f"{words[0]!r} cannot be started: {error.strerror}\n".encode())
        return NOT_STARTED
    threading.Thread(target=_watch, args=(lifeline,), daemon=True).start()
    _pid, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        if -code in ASKED:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


if __name__ == "__main__":
    sys.exit(run(int(sys.argv[1]), sys.argv[2:]))
