"""The forker: a small process that forks into keepers, so that a keeper need not be loaded each time.

It takes orders over a line that its machine's process holds; the line ends with that process, and the forker with its
last keeper. Run as a program.
"""

import gc
import os
import selectors
import signal
import socket
import struct
from contextlib import suppress

from hubbub.node.commands import process_tree
from hubbub.node.commands.command_monitor import TAKEN, CommandMonitor
from hubbub.node.commands.command_spec import CommandSpec
from hubbub.node.commands.job_folder import remove
from hubbub.node.commands.signal_wakeup import SignalWakeup
from hubbub.node.system import kernel

TEMPORARY = "/tmp"  # noqa: S108  # a folder with a name that nobody guesses is made in it
ORDERS = 3  # the descriptor of the line for orders: a byte, with a line and a folder
NOBODY_ASKS = 2  # the exit code of a keeper that was not needed any more
PID = struct.Struct("@i")


class ForkServer:
    """The living keepers. One more always waits for an order, so that no order waits for a new process."""

    def __init__(self, orders: socket.socket) -> None:
        self._orders = orders
        self._is_asked = True  # whether orders may still come
        self._keepers: set[int] = set()
        self._temporary = f"{os.environ.get('TMPDIR', TEMPORARY)}/hubbub-{os.urandom(8).hex()}"
        self._wakening = SignalWakeup(signal.SIGCHLD)
        self._begun, self._begins = os.pipe()  # the ids of keepers that have taken an order
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._begun, selectors.EVENT_READ, self._note_begun)
        self._selector.register(self._wakening.end, selectors.EVENT_READ, self._note_ended)
        self._spare = self._fork()

    def serve(self) -> None:
        """Serve until no order can come and no keeper is left."""
        while self._is_asked or self._keepers:
            for key, _ in self._selector.select():
                key.data()
        remove(self._temporary)

    def _fork(self) -> int:
        forker, pid = os.getpid(), os.fork()
        if pid == 0:
            self._keep(forker)
        return pid

    def _keep(self, forker: int) -> None:
        """Wait for an order, and keep its command. Runs in a process of its own, which ends here."""
        try:
            kernel.end_with_parent(forker, signal.SIGTERM)
            kernel.adopt_orphans()
            byte, descriptors, _flags, _address = socket.recv_fds(self._orders, 1, 2)
            if not byte:
                os._exit(NOBODY_ASKS)
            os.write(self._begins, PID.pack(os.getpid()))
            self._orders.close()
            for each in descriptors:
                os.set_inheritable(each, False)
            line, cwd = descriptors
            with socket.socket(fileno=line) as waiting:
                work = CommandSpec.read_from(waiting)
                waiting.sendall(TAKEN)
                CommandMonitor(work, cwd, waiting, f"{self._temporary}/{os.getpid()}").keep()
            os._exit(0)
        finally:
            os._exit(1)

    def _note_begun(self) -> None:
        for (pid,) in PID.iter_unpack(os.read(self._begun, PID.size)):
            if pid == self._spare:  # else it has ended meanwhile, and is replaced
                self._keepers.add(pid)
                self._spare = self._fork()

    def _note_ended(self) -> None:
        """Reap keepers; the command of a killed one has become ours."""
        self._wakening.taken()
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                if pid in self._keepers or pid == self._spare:
                    self._let_go(pid, os.waitstatus_to_exitcode(status))

    def _let_go(self, pid: int, code: int) -> None:
        self._keepers.discard(pid)
        if code == NOBODY_ASKS:
            self._is_asked = False
        elif pid == self._spare:
            self._spare = self._fork()
        if code not in (0, NOBODY_ASKS):
            process_tree.kill_descendants(os.getpid(), spared=self._keepers | {self._spare})
            remove(f"{self._temporary}/{pid}")


def main() -> None:
    os.setsid()
    os.chdir("/")
    os.closerange(ORDERS + 1, os.sysconf("SC_OPEN_MAX"))  # not meant for a keeper
    kernel.adopt_orphans()
    gc.freeze()  # so that keepers share this memory
    with socket.socket(fileno=ORDERS) as orders:
        os.set_inheritable(ORDERS, False)
        ForkServer(orders).serve()


if __name__ == "__main__":
    main()
