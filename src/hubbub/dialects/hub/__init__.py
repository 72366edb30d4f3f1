"""hub: the hub's own eight tools, small enough to be kept in mind. What they promise: docs/dialects/hub.md.

`telling` is what all of them have in common, `tongue` how they say yes and no and who calls, `refs` what M-9, T-4 and
A-3 mean, `words` the rows. The tools are in `joining`, `mailing`, `working`, `boarding`, `claiming`, `sharing` and
`asking`.
"""

from hubbub.dialects.hub import asking, boarding, claiming, joining, mailing, sharing, working
from hubbub.dialects.hub.tongue import DIALECT

# The order in which an agent comes to need them; registered, they are in that of the modules.
ORDER = ("join", "inbox", "send", "task", "board", "files", "share", "ask")
DIALECT.tools = {name: DIALECT.tools[name] for name in ORDER}

__all__ = ["DIALECT", "asking", "boarding", "claiming", "joining", "mailing", "sharing", "working"]
