"""cmdop: 27 tools for agents that work on a machine. Their contract: docs/dialects/cmdop.md.

`gated_dialect` passes every call through the gate of a machine, `tool_set` has the forms of success and refusal and
determines the caller, `vocabulary` translates the hub's records into cmdop's terms. The machine does the tools of
`terminal_tools`, `file_tools` and half of `remote_tools` and `meta_tools`; the hub does those of `board_tools` and
the rest. A *machine* is a node, a *workspace* a project, an *issue* a task.
"""

from hubbub.dialects.cmdop import board_tools, file_tools, meta_tools, remote_tools, terminal_tools
from hubbub.dialects.cmdop.tool_set import DIALECT

__all__ = ["DIALECT", "board_tools", "file_tools", "meta_tools", "remote_tools", "terminal_tools"]
