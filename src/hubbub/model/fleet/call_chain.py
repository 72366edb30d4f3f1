"""The chain of a call: who asked first, then the machines whose agents were asked on their behalf, one by the next.

It is empty while no agent of a machine has been asked. It travels with every call that such an agent makes, over links,
in the `_meta` of calls and in the environment of programs, so that questions come to an end: agents ask agents only so
deep, and none that is waiting for the answer. Whoever calls may say that there is a chain, which can only make it
longer; what a call may do never depends on it. What the hub lends such a program has the chain in it, so that whoever
acts by that cannot leave it out.
"""

import json
from collections.abc import Mapping

from hubbub.model.errors import Invalid
from hubbub.model.visible_text import visible

DEEPEST = 3  # machines' agents, one asked by the other
META = "hubbub/chain"  # in `_meta` of a call, as a list of texts
VARIABLE = "HUBBUB_CHAIN"  # in the environment of a program that is an agent, as the same list in JSON
MOST = 32  # names that anybody may say there are
LONGEST_NAME = 200

CallChain = tuple[str, ...]


def longer(chain: CallChain, caller: str, node: str) -> CallChain:
    """The chain of what the agent of `node` does, which was asked by a call of `caller` with this chain."""
    return (*(chain or (caller,)), node)


def at_least(said: CallChain, known: CallChain) -> CallChain:
    """Return what is said to be the chain, where that goes on from the one that is known; else that one."""
    return said if said[: len(known)] == known else known


def too_deep(chain: CallChain) -> str | None:
    """Why no further agent is asked, if that is so."""
    if len(chain) <= DEEPEST:
        return None
    return f"agents ask agents at most {DEEPEST} deep: {shown(chain)}"


def why_not(chain: CallChain, node: str) -> str | None:
    """Why the agent of `node` is not asked by a call with this chain, if that is so."""
    return looping(chain, node) or too_deep(chain)


def looping(chain: CallChain, node: str) -> str | None:
    """Why the agent of `node` is not asked, if it waits for what comes of this very call."""
    if node.casefold() not in {each.casefold() for each in chain[1:]}:
        return None
    return f"{shown((*chain, node))}: {visible(node)}'s agent is already at work on this"


def shown(chain: CallChain) -> str:
    """For people: `ada → web1 → db1`."""
    return " → ".join(map(visible, chain))


def written(chain: CallChain) -> str:
    """As a variable of the environment."""
    return json.dumps(chain)


def read(variable: str | None) -> CallChain:
    """The chain that a variable of the environment tells; empty where there is none. Raises `Invalid`."""
    if not variable:
        return ()
    try:
        found = json.loads(variable)
    except (ValueError, RecursionError):
        found = None
    return checked(found, VARIABLE)


def checked(found: object, where: str) -> CallChain:
    """The chain that somebody says there is, `where` they say it. Raises `Invalid`."""
    if not isinstance(found, list | tuple) or len(found) > MOST or not all(map(_is_name, found)):
        raise Invalid(f"{where}: must be a list of at most {MOST} names, the caller's and those of machines")
    return tuple(found)


def of_call(meta: Mapping[str, object], known: CallChain) -> CallChain:
    """The chain of a call, by its `_meta`; `known` is that of the token that it came with. Raises `Invalid`."""
    return at_least(checked(meta.get(META, ()), f"_meta: {META}"), known)


def _is_name(found: object) -> bool:
    return isinstance(found, str) and 0 < len(found) <= LONGEST_NAME
