"""Versions of the link protocol (`model/fleet/link_protocol.py`), and the one that both ends speak, if any.

A machine names its versions in its hello, and the hub names the chosen one in its welcome. An end that names none
speaks the first, which is older than this agreement.
"""

from collections.abc import Collection, Mapping

from hubbub.model.errors import Invalid

VERSIONS = (1, 2, 3, 4, 5)  # of this end
FIRST = 1
LENDS = 2  # from which a machine may ask for a token to lend
METERS = 3  # from which it may report its agent's use
LIMITS = 4  # from which it may ask whether its agent may use more, and report limits
SIGNS = 5  # from which the hub may ask it to sign statements


def versions_of(said: Mapping[str, object]) -> tuple[int, ...]:
    """Decode the versions that the other end speaks. Raises `Invalid`."""
    found = said.get("versions", [FIRST])
    if not isinstance(found, list) or not found or not all(type(each) is int for each in found):
        raise Invalid("versions: must be a list of whole numbers")
    return tuple(found)


def agreed(theirs: Collection[int]) -> int | None:
    """Return the newest version that both ends speak; None if there is none."""
    return max({*VERSIONS}.intersection(theirs), default=None)


def disagreement(*, hub: Collection[int], machine: Collection[int]) -> str:
    """Say why a hub and a machine do not understand each other, and which of them to update."""
    older = "hub" if max(hub) < max(machine) else "machine"
    hubs, machines = (", ".join(map(str, sorted(each))) for each in (hub, machine))
    return f"the hub speaks version {hubs} of the link, and this machine {machines}: upgrade the {older}"
