"""Names that a person may choose for an agent.

Agents of the documented tool sets name themselves, by the rules of these. A person who makes an agent chooses a name
that every shell, address and file takes as it is.
"""

import re

LONGEST = 64
HARMLESS = re.compile(r"\w[\w.@+-]*")


def is_choosable(name: str) -> bool:
    """Tell whether a person may give an agent this name."""
    return len(name) <= LONGEST and HARMLESS.fullmatch(name) is not None
