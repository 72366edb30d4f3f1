"""GolemXV: 15 tools for agents that declare the files they touch. Their contract: docs/dialects/golemxv.md.

`vocabulary` translates the hub's records into GolemXV's terms, `tool_set` has its forms of success and refusal and
finds the project and the check-in of a call; the tools are in `coordination_tools`, `message_tools`, `task_tools` and
`query_tools`. An *agent session* is a presence, its *token* the secret that proves it; the integer *id* of a task or a
message is its number in the project.
"""

from hubbub.dialects.golemxv import coordination_tools, message_tools, query_tools, task_tools
from hubbub.dialects.golemxv.tool_set import DIALECT

__all__ = ["DIALECT", "coordination_tools", "message_tools", "query_tools", "task_tools"]
