"""The forker: a small process that does nothing but become keepers, so that one does not have to be loaded each time.

It is asked by a line that its machine's process holds; with the process the line ends, and with its last keeper the
forker. Run as a program.
"""

import gc
import os
import selectors
import signal
import socket
from contextlib import suppress

from hubbub.node import kernel
from hubbub.node.commands import processes
from hubbub.node.commands.folder import remove
from hubbub.node.commands.keeper import Keeper
from hubbub.node.commands.wakening import Wakening
from hubbub.node.commands.work import Work

TEMPORARY = "/tmp"  # noqa: S108  # a folder with a name that nobody guesses is made in it
ORDERS = 3  # the descriptor of the line on which keepers are asked for: a byte, with a line and a folder


class Forker:
    """The keepers, as far as they live."""

    def __init__(self, orders: socket.socket) -> None:
        self._orders = orders
        self._is_asked = True  # whether somebody may still ask
        self._keepers: set[int] = set()
        self._temporary = f"{os.environ.get('TMPDIR', TEMPORARY)}/hubbub-{os.urandom(8).hex()}"
        self._wakening = Wakening(signal.SIGCHLD)
        self._selector = selectors.DefaultSelector()
        self._selector.register(orders, selectors.EVENT_READ, self._asked)
        self._selector.register(self._wakening.end, selectors.EVENT_READ, self._wakened)

    def serve(self) -> None:
        """Returns when nobody can ask any more and no keeper is left."""
        while self._is_asked or self._keepers:
            for key, _ in self._selector.select():
                key.data()
        remove(self._temporary)

    def _asked(self) -> None:
        byte, descriptors, _flags, _address = socket.recv_fds(self._orders, 1, 2)
        if not byte:
            self._is_asked = False
            self._selector.unregister(self._orders)
            return
        for each in descriptors:
            os.set_inheritable(each, False)
        line, cwd = descriptors
        forker, pid = os.getpid(), os.fork()
        if pid == 0:
            self._keep(line, cwd, forker)
        self._keepers.add(pid)
        os.close(line)
        os.close(cwd)

    def _keep(self, line: int, cwd: int, forker: int) -> None:
        try:
            self._orders.close()
            kernel.end_with_parent(forker, signal.SIGTERM)
            kernel.adopt_orphans()
            with socket.socket(fileno=line) as waiting:
                temporary = f"{self._temporary}/{os.getpid()}"
                Keeper(Work.read_from(waiting), cwd, waiting, temporary).keep()
            os._exit(0)
        finally:
            os._exit(1)

    def _wakened(self) -> None:
        """What has ended, has ended; a keeper that was killed has left its command to us."""
        self._wakening.taken()
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                if pid in self._keepers:
                    self._keepers.discard(pid)
                    if status != 0:
                        processes.kill_descendants(os.getpid(), spared=self._keepers)
                        remove(f"{self._temporary}/{pid}")


def main() -> None:
    os.setsid()
    os.chdir("/")
    os.closerange(ORDERS + 1, os.sysconf("SC_OPEN_MAX"))  # what the machine's process did not mean to pass on
    kernel.adopt_orphans()
    gc.freeze()  # so that keepers share this memory
    with socket.socket(fileno=ORDERS) as orders:
        os.set_inheritable(ORDERS, False)
        Forker(orders).serve()


if __name__ == "__main__":
    main()
