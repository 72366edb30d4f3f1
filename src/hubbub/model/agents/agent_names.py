"""What an agent may be called by whoever makes it.

Agents of the documented tool sets name themselves, by the rules of these. A person who makes an agent chooses a name
that every shell, address and file takes as it is.
"""

import re

LONGEST = 64
HARMLESS = re.compile(r"\w[\w.@+-]*")


def is_choosable(name: str) -> bool:
    """Return whether a person may call an agent so."""
    return len(name) <= LONGEST and HARMLESS.fullmatch(name) is not None
