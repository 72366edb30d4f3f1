"""Tables of the programs' uses of their words, without code. A program in none of them is a stranger."""

import re

from shellgate.floor.arguments.usage_tables import Usage, names
from shellgate.floor.programs import (
    development_tools,
    file_tools,
    git_subcommands,
    read_only,
    system_tools,
    wrappers,
)

USAGES: dict[str, Usage] = (
    read_only.USAGES
    | file_tools.USAGES
    | git_subcommands.USAGES
    | wrappers.USAGES
    | system_tools.USAGES
    | development_tools.USAGES
)

_VERSION = re.compile(r"(?<=[a-z])-?[0-9]+(\.[0-9]+)*[a-z]?$")
_GNU = names(  # prefixed with `g` on some systems
    "rm mv ln chmod chown chgrp dd shred truncate rmdir unlink tee mkdir cat head tail sort cut tac nl od cksum"
)
_FAMILIES = ("mkfs.", "fsck.", "mount.", "umount.")


def name_of(path: str) -> str:
    """Return the name by which a program is known here: without its folder and version, in small letters."""
    name = path.rpartition("/")[2].lower().removesuffix(".exe")
    if name in USAGES:
        return name
    if name[:1] == "g" and name[1:] in _GNU:
        return name[1:]
    for family in _FAMILIES:
        if name.startswith(family):
            return family.rstrip(".")
    return _VERSION.sub("", name)


def usage_of(name: str, subcommand: str | None = None) -> Usage | None:
    """Return how a program, or one of its subcommands, takes its arguments; None for an unknown program."""
    return USAGES.get(f"{name} {subcommand}") or USAGES.get(name)
