"""Analysis of calls of `ssh_session` by the gate: the machine, by each of its names, and the typed text.

Typed text is read like a command here, though less is known of it: not its folder, and its shell is at a terminal,
which treats some characters differently than a script does.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from hubbub.model.errors import Invalid
from hubbub.node.ssh import destination, host_config
from hubbub.node.ssh.not_connected import NotConnected
from shellgate.analysis import Analysis, CallPart
from shellgate.decision import Decision, Effect
from shellgate.filesystem import Elsewhere
from shellgate.floor import commands
from shellgate.verdicts import ask
from shellgate.world import World

TOOL = "ssh_session"
_ASKS = frozenset({"open", "send"})
_KEY = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")  # control characters, except the end of a line
_HISTORY = re.compile(r"(?m)^\s*\^|!(?![\s=(]|\Z)")
_KEYS = ask("F9", "It contains a key that controls the terminal, such as one that completes the typed text.")
_EARLIER = ask("F9", "A shell at a terminal may put an earlier command in the place of this.")
_FOLDER = ask("F9", "What it would delete or change depends on the folder that it is in there.")
DEPENDS_ON_FOLDER = "F1"


def analyse(arguments: Mapping[str, object], world: World) -> Analysis:
    """Read a call of the tool; the ids of open shells tell their machines."""
    operation = _text(arguments, "operation")
    given = (
        _text(arguments, "hostname")
        if operation == "open"
        else _text(arguments, "session_id").partition("/")[0]
    )
    floor: tuple[Decision, ...] = ()
    target = f"{operation}:{given}" if given else operation
    if operation == "send":
        typed = _text(arguments, "command")
        floor = tuple(_of_typed(typed, replace(world, files=Elsewhere())))
        target = f"{target} {typed}"
    called = [f"{operation}:{name}" if name else operation for name in _names(given)]
    parts = [
        CallPart(tool=TOOL, target=each, floor=floor, is_harmless=operation not in _ASKS) for each in called
    ]
    if (really := _where(given, world)) is not None:  # only deny rules see it
        parts.append(CallPart(tool=TOOL, target=f"{operation}:{really}", never_asks=True))
    return Analysis(parts=tuple(parts), target=target)


def _names(given: str) -> tuple[str, ...]:
    """Return the machine's names for rules: the host alone, and with the user and the port of the call."""
    try:
        return destination.parse(given).names
    except Invalid:  # the call will fail
        return (given,)


def _where(given: str, world: World) -> str | None:
    """Return the host's name in the SSH configuration, if it is another one."""
    try:
        wanted = destination.parse(given)
        address = host_config.find(wanted, Path(world.home), None).address.casefold().rstrip(".")
    except (Invalid, NotConnected):
        return None
    return address if address != wanted.host else None


def _of_typed(typed: str, world: World) -> Iterator[Decision]:
    """Yield the floor's decisions on the text."""
    if _KEY.search(typed):
        yield _KEYS
    if _HISTORY.search(typed):
        yield _EARLIER
    found = list(_of_command(typed, world))
    yield from found
    clauses = {each.rule_id for each in found if each.effect is Effect.DENY}
    if DEPENDS_ON_FOLDER not in clauses:
        at_the_top = _of_command(typed, replace(world, cwd="/"))
        if any(each.effect is Effect.DENY and each.rule_id == DEPENDS_ON_FOLDER for each in at_the_top):
            yield _FOLDER


def _of_command(typed: str, world: World) -> Iterator[Decision]:
    reading = commands.read(typed, world)
    yield from reading.floor
    for part in reading.parts:
        yield from part.floor


def _text(arguments: Mapping[str, object], name: str) -> str:
    value = arguments.get(name, "")
    return value if isinstance(value, str) else ""
