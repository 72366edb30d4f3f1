"""cmdop: 27 tools for agents that work on a machine. What they promise: docs/dialects/cmdop.md.

`gated` takes every call past the gate of a machine, `tongue` says yes and no and whom a call comes from, `words` says
what the hub keeps in cmdop's terms. What `terminal`, `files` and half of `remote` and `meta` declare is done by the
machine; `board` and the rest by the hub. A *machine* is a node, a *workspace* a project, an *issue* a task.
"""

from hubbub.dialects.cmdop import board, files, meta, remote, terminal
from hubbub.dialects.cmdop.tongue import DIALECT

__all__ = ["DIALECT", "board", "files", "meta", "remote", "terminal"]
