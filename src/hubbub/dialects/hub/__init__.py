"""hub: the hub's own eight tools, few enough to be remembered. Their contract: docs/dialects/hub.md.

`mail_notice` has the parts common to all of them, `tool_set` their forms of success and refusal and the caller,
`short_ids` ids such as M-9, T-4 and A-3, `vocabulary` the rows. The tools are in `join_tool`, `mail_tools`,
`task_tool`, `board_tool`, `files_tool`, `share_tool` and `ask_tool`.
"""

from hubbub.dialects.hub import ask_tool, board_tool, files_tool, join_tool, mail_tools, share_tool, task_tool
from hubbub.dialects.hub.tool_set import DIALECT

# The order in which an agent comes to need them; they are registered in that of the modules.
ORDER = ("join", "inbox", "send", "task", "board", "files", "share", "ask")
DIALECT.tools = {name: DIALECT.tools[name] for name in ORDER}

__all__ = [
    "DIALECT",
    "ask_tool",
    "board_tool",
    "files_tool",
    "join_tool",
    "mail_tools",
    "share_tool",
    "task_tool",
]
