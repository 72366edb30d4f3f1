"""GolemXV: 15 tools for agents that say which files they touch. What they promise: docs/dialects/golemxv.md.

`words` says what the hub keeps in GolemXV's terms, `tongue` how it says yes and no and which project and stay are
meant; the tools are in `coordinating`, `messaging`, `working` and `querying`. An *agent session* is a presence, its
*token* the secret that proves it; the integer *id* of a task or a message is its number in the project.
"""

from hubbub.dialects.golemxv import coordinating, messaging, querying, working
from hubbub.dialects.golemxv.tongue import DIALECT

__all__ = ["DIALECT", "coordinating", "messaging", "querying", "working"]
