"""CommHub: 17 tools for a fleet of agents with inboxes. What they promise: docs/dialects/commhub.md.

`words` says what the hub keeps in CommHub's terms, `tongue` how it says yes and no; the tools are in `reporting`,
`sending` and `looking`. A *network* is a project, a *session* the presence of an agent, an *alias* its name.
"""

from hubbub.dialects.commhub import looking, reporting, sending
from hubbub.dialects.commhub.tongue import DIALECT

__all__ = ["DIALECT", "looking", "reporting", "sending"]
