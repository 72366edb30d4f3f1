"""CommHub: 17 tools for a fleet of agents with inboxes. What they promise: docs/dialects/commhub.md.

`vocabulary` says what the hub keeps in CommHub's terms, `definition` how it says yes and no; the tools are in
`reporting_tools`, `sending_tools` and `query_tools`. A *network* is a project, a *session* the presence of an agent,
an *alias* its name.
"""

from hubbub.dialects.commhub import query_tools, reporting_tools, sending_tools
from hubbub.dialects.commhub.definition import DIALECT

__all__ = ["DIALECT", "query_tools", "reporting_tools", "sending_tools"]
