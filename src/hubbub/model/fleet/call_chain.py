"""The chain of a call: its first caller, then the machines whose agents were asked on their behalf, in order.

It is empty while no agent of a machine has been asked. It travels with every call of such an agent: over links, in the
`_meta` of calls and in the environment of programs, so that questions come to an end: agents ask agents only to a
certain depth, and none that is waiting for the answer. A caller may claim a chain, which can only make it longer; the
rights of a call never depend on it. Tokens that the hub lends to such a program hold the chain, so that the program
cannot leave it out.
"""

import json
from collections.abc import Mapping

from hubbub.model.errors import Invalid
from hubbub.model.visible_text import visible

DEEPEST = 3  # machines' agents, one asked by the other
META = "hubbub/chain"  # in `_meta` of a call, as a list of texts
VARIABLE = "HUBBUB_CHAIN"  # in the environment of a program that is an agent, as the same list in JSON
MOST = 32  # names in a claimed chain
LONGEST_NAME = 200

CallChain = tuple[str, ...]


def longer(chain: CallChain, caller: str, node: str) -> CallChain:
    """Return the chain for the agent of `node`, which a call of `caller` with this chain has asked."""
    return (*(chain or (caller,)), node)


def at_least(said: CallChain, known: CallChain) -> CallChain:
    """Return the chain that was claimed if it continues the known one, else the known one."""
    return said if said[: len(known)] == known else known


def too_deep(chain: CallChain) -> str | None:
    """Say why no further agent is asked; None if one may be."""
    if len(chain) <= DEEPEST:
        return None
    return f"agents ask agents at most {DEEPEST} deep: {shown(chain)}"


def why_not(chain: CallChain, node: str) -> str | None:
    """Return why a call with this chain cannot ask the agent of `node`; None if it can."""
    return looping(chain, node) or too_deep(chain)


def looping(chain: CallChain, node: str) -> str | None:
    """Say why the agent of `node` is not asked, if it waits for the outcome of this very call."""
    if node.casefold() not in {each.casefold() for each in chain[1:]}:
        return None
    return f"{shown((*chain, node))}: {visible(node)}'s agent is already at work on this"


def shown(chain: CallChain) -> str:
    """Format a chain for people: `ada → web1 → db1`."""
    return " → ".join(map(visible, chain))


def written(chain: CallChain) -> str:
    """Encode a chain for a variable of the environment."""
    return json.dumps(chain)


def read(variable: str | None) -> CallChain:
    """Decode the chain in a variable of the environment; empty if there is none. Raises `Invalid`."""
    if not variable:
        return ()
    try:
        found = json.loads(variable)
    except (ValueError, RecursionError):
        found = None
    return checked(found, VARIABLE)


def checked(found: object, where: str) -> CallChain:
    """Check a claimed chain; `where` names its place in a refusal. Raises `Invalid`."""
    if not isinstance(found, list | tuple) or len(found) > MOST or not all(map(_is_name, found)):
        raise Invalid(f"{where}: must be a list of at most {MOST} names, the caller's and those of machines")
    return tuple(found)


def of_call(meta: Mapping[str, object], known: CallChain) -> CallChain:
    """Read the chain of a call from its `_meta`; `known` is that of its token. Raises `Invalid`."""
    return at_least(checked(meta.get(META, ()), f"_meta: {META}"), known)


def _is_name(found: object) -> bool:
    return isinstance(found, str) and 0 < len(found) <= LONGEST_NAME
