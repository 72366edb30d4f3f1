"""Relay: 23 tools for a team that works through a graph of tasks. Their contract: docs/dialects/relay.md.

`vocabulary` translates the hub's records into Relay's terms, `tool_set` has its forms of success and refusal and
finds the run of a call; the tools are in `team_tools`, `message_tools`, `task_tools`, `artifact_tools` and
`memory_tools`. A *session* is a run, an *agent_id* the name of an agent. `live_view` makes the messages for watchers.
"""

from hubbub.dialects.relay import artifact_tools, memory_tools, message_tools, task_tools, team_tools
from hubbub.dialects.relay.tool_set import DIALECT

__all__ = ["DIALECT", "artifact_tools", "memory_tools", "message_tools", "task_tools", "team_tools"]
