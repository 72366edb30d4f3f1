"""CommHub: 17 tools for a fleet of agents with inboxes. Their contract: docs/dialects/commhub.md.

`vocabulary` translates the hub's records into CommHub's terms, `tool_set` has its forms of success and refusal; the
tools are in `reporting_tools`, `sending_tools` and `query_tools`. A *network* is a project, a *session* the presence
of an agent, an *alias* its name.
"""

from hubbub.dialects.commhub import query_tools, reporting_tools, sending_tools
from hubbub.dialects.commhub.tool_set import DIALECT

__all__ = ["DIALECT", "query_tools", "reporting_tools", "sending_tools"]
