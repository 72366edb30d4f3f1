"""The keeper of one agent: a small process that starts its program, and leaves nothing of it behind.

It holds one end of a pipe. A byte in it asks the program to end; when it closes, as it does with the machine's process
however that ends, all processes of the program are killed. If the keeper is killed, the program is too. Run as a
program.
"""

import os
import selectors
import signal
import sys
from collections.abc import Sequence

from hubbub.node.commands import process_tree
from hubbub.node.commands.signal_wakeup import SignalWakeup
from hubbub.node.system import kernel

NOT_STARTED = 127  # the exit code, as in a shell
AGAIN = 0.2  # seconds until surviving processes are killed again
ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)  # meant for the program; we stay until it has ended


def monitor(control: int, folder: int, words: Sequence[str]) -> int:
    """Run the program in the folder of that descriptor, end it by the pipe `control`, and return its exit code.

    After a signal the code is 128 and its number, as in shells.
    """
    for each in ENDING:
        signal.signal(each, signal.SIG_IGN)
    kernel.adopt_orphans()
    wakening = SignalWakeup(signal.SIGCHLD)
    os.fchdir(folder)
    os.close(folder)
    os.set_inheritable(control, False)
    pid = _start(words)
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        selector.register(wakening.end, selectors.EVENT_READ)
        while (status := _ended(pid)) is None:
            ready = {key.fd for key, _ in selector.select()}
            wakening.taken()
            if control in ready and os.read(control, 1):
                process_tree.send(signal.SIGTERM, [pid])
            elif control in ready:
                process_tree.kill_descendants(os.getpid())
                selector.unregister(control)
        _clear(selector)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _start(words: Sequence[str]) -> int:
    """Start the program's process, which is killed with this one, and return its id."""
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)  # one that comes before the handlers would be lost
    keeper, pid = os.getpid(), os.fork()
    if pid:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        return pid
    try:
        for each in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(each, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        kernel.end_with_parent(keeper, signal.SIGKILL)
        os.execvp(words[0], list(words))  # noqa: S606  # our own words
    except OSError as error:
        os.write(2, f"{words[0]!r} cannot be started: {error.strerror}\n".encode())
    finally:
        os._exit(NOT_STARTED)


def _ended(program: int) -> int | None:
    """Return the program's exit status if it has ended; all other ended processes beneath us are reaped."""
    found = None
    try:
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == program:
                found = ended[1]
    except ChildProcessError:
        pass
    return found


def _clear(selector: selectors.BaseSelector) -> None:
    """Kill the program's remaining processes, until none is left."""
    try:
        while True:
            process_tree.kill_descendants(os.getpid())
            selector.select(AGAIN)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
    except ChildProcessError:
        return


if __name__ == "__main__":
    sys.exit(monitor(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
