"""Relay: 23 tools for a team that works through a graph of tasks. What they promise: docs/dialects/relay.md.

`vocabulary` says what the hub keeps in Relay's terms, `definition` how it says yes and no and which run is meant; the
tools are in `team_tools`, `message_tools`, `task_tools`, `artifact_tools` and `memory_tools`. A *session* is a run, an
*agent_id* the name of an agent. `live_view` is what those are told who watch.
"""

from hubbub.dialects.relay import artifact_tools, memory_tools, message_tools, task_tools, team_tools
from hubbub.dialects.relay.definition import DIALECT

__all__ = ["DIALECT", "artifact_tools", "memory_tools", "message_tools", "task_tools", "team_tools"]
