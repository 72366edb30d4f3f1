"""cmdop: 27 tools for agents that work on a machine. What they promise: docs/dialects/cmdop.md.

`gated_dialect` takes every call past the gate of a machine, `definition` says yes and no and whom a call comes from,
`vocabulary` says what the hub keeps in cmdop's terms. What `terminal_tools`, `file_tools` and half of `remote_tools`
and `meta_tools` declare is done by the machine; `board_tools` and the rest by the hub. A *machine* is a node, a
*workspace* a project, an *issue* a task.
"""

from hubbub.dialects.cmdop import board_tools, file_tools, meta_tools, remote_tools, terminal_tools
from hubbub.dialects.cmdop.definition import DIALECT

__all__ = ["DIALECT", "board_tools", "file_tools", "meta_tools", "remote_tools", "terminal_tools"]
