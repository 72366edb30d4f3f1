"""What the child of a fork must leave alone: the connections to SQLite that other threads had.

Before it becomes another program, a child lets go of all that the other threads kept to themselves. A connection among
it would be closed there, and to close one takes a lock of SQLite: where another thread held that at the moment of the
fork, the child waits for ever, and so does whoever waits for it to start.
"""

import os
from weakref import WeakValueDictionary

_connections: WeakValueDictionary[int, object] = WeakValueDictionary()
_held: list[list[object]] = []  # while a fork is made, and in its child for as long as that lives


def keep(connection: object) -> None:
    """Have children of this process not close it."""
    _connections[id(connection)] = connection


def _hold() -> None:
    _held.append([each() for each in _connections.valuerefs()])


def _let_go() -> None:
    _held.pop()


os.register_at_fork(before=_hold, after_in_parent=_let_go)
