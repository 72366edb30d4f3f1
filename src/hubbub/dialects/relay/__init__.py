"""Relay: 23 tools for a team that works through a graph of tasks. What they promise: docs/dialects/relay.md.

`words` says what the hub keeps in Relay's terms, `tongue` how it says yes and no and which run is meant; the tools
are in `beginning`, `talking`, `working`, `showing` and `remembering`. A *session* is a run, an *agent_id* the name of
an agent. `live` is what those are told who watch.
"""

from hubbub.dialects.relay import beginning, remembering, showing, talking, working
from hubbub.dialects.relay.tongue import DIALECT

__all__ = ["DIALECT", "beginning", "remembering", "showing", "talking", "working"]
