"""The operating system's wall around a command: bubblewrap where it works, else Landlock, else none.

The gate is a guard rail, this is the wall: what a command does that nobody foresaw ends here. Inside it the machine can
be read but not changed, except for the folders that agents work in; keys and the product's own folders are not to be
seen. Which of the kinds it is, is said in each line of the audit log.
"""

from functools import cache

from hubbub.node.sandbox import bubblewrap
from hubbub.node.sandbox.landlock import Landlock
from hubbub.node.sandbox.launch import Launch, Sandbox
from hubbub.node.sandbox.no_sandbox import NoSandbox
from hubbub.node.system.kernel import landlock_abi

__all__ = ["Launch", "Sandbox", "choose"]


def choose(*, network: bool = True) -> Sandbox:
    """The best wall of this machine, with or without the network behind it.

    What the machine has is tried once, by using it; that takes some milliseconds.
    """
    program, abi = _found()
    if program is not None:
        return bubblewrap.Bubblewrap(program, network=network)
    return Landlock(abi, network=network) if abi else NoSandbox()


@cache
def _found() -> tuple[str | None, int]:
    """Where bubblewrap is, if it works here; and what the kernel knows of Landlock, 0 if nothing."""
    program = bubblewrap.find()
    return program, 0 if program else landlock_abi()
