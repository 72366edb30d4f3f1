"""The operating system's sandbox around a command: bubblewrap where it works, else Landlock, else none.

The gate is a guard rail, the sandbox a wall: it stops acts of a command that nobody foresaw. Inside it the machine can
be read but not changed, except for the folders that agents work in; keys and the product's own folders are invisible.
Each line of the audit log names the kind of sandbox.
"""

from functools import cache

from hubbub.node.sandbox import bubblewrap
from hubbub.node.sandbox.landlock import Landlock
from hubbub.node.sandbox.launch import Launch, Sandbox
from hubbub.node.sandbox.no_sandbox import NoSandbox
from hubbub.node.system.kernel import landlock_abi

__all__ = ["Launch", "Sandbox", "choose"]


def choose(*, network: bool = True) -> Sandbox:
    """Return the best sandbox of this machine, with or without the network in it.

    The machine's abilities are tried once, by using them; that takes some milliseconds.
    """
    program, abi = _found()
    if program is not None:
        return bubblewrap.Bubblewrap(program, network=network)
    return Landlock(abi, network=network) if abi else NoSandbox()


@cache
def _found() -> tuple[str | None, int]:
    """Return the path of bubblewrap, if it works here; and the kernel's version of Landlock, 0 if none."""
    program = bubblewrap.find()
    return program, 0 if program else landlock_abi()
