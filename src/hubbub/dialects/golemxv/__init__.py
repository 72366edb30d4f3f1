"""GolemXV: 15 tools for agents that say which files they touch. What they promise: docs/dialects/golemxv.md.

`vocabulary` says what the hub keeps in GolemXV's terms, `definition` how it says yes and no and which project and
stay are meant; the tools are in `coordination_tools`, `message_tools`, `task_tools` and `query_tools`. An *agent
session* is a presence, its *token* the secret that proves it; the integer *id* of a task or a message is its number
in the project.
"""

from hubbub.dialects.golemxv import coordination_tools, message_tools, query_tools, task_tools
from hubbub.dialects.golemxv.definition import DIALECT

__all__ = ["DIALECT", "coordination_tools", "message_tools", "query_tools", "task_tools"]
