"""The targets of `cd` and its kind."""

import re
from collections.abc import Sequence
from posixpath import join, normpath

from shellgate.shell.known_state import ShellState
from shellgate.world import World

_OPTION = re.compile(r"-[LPe@]+|--")
_MOVES = ("cd", "pushd")


def moved(words: Sequence[str | None], state: ShellState, world: World) -> tuple[str, ...] | None:
    """Return the folders that a `cd` may lead to; None if they are known only when it runs."""
    if words[0] not in _MOVES or "CDPATH" in state.variables or state.folders is None:
        return _absolute(words, state, world)
    targets = _targets(words[1:], state)
    if targets is None or (words[0] == "pushd" and len(words) == 1):
        return None
    found: list[str] = []
    for folder in state.folders:
        for target in targets:
            found += _led(folder, target, world)
    return tuple(dict.fromkeys(found))


def _absolute(words: Sequence[str | None], state: ShellState, world: World) -> tuple[str, ...] | None:
    targets = _targets(words[1:], state) if words[0] in _MOVES else None
    if targets is None or not all(target.startswith("/") for target in targets):
        return None
    return tuple(place for target in targets for place in _led("/", target, world))


def _targets(words: Sequence[str | None], state: ShellState) -> tuple[str, ...] | None:
    words = list(words)
    while words and words[0] is not None and _OPTION.fullmatch(words[0]):
        words.pop(0)
    if len(words) > 1:
        return None
    if not words:
        home = state.value("HOME")
        return None if home is None else ("".join(part.text for part in home),)
    if words[0] == "-":
        return state.previous
    return None if words[0] is None or words[0][:1] in ("-", "+") else (words[0],)


def _led(folder: str, target: str, world: World) -> list[str]:
    """Return where a path leads: by its text, and by its links too where `..` makes these two places."""
    written = normpath(join(folder, target))
    written = "/" + written.lstrip("/")
    if ".." not in target.split("/"):
        return [written]
    linked = world.files.resolve(join(folder, target))
    return [written] if world.files.resolve(written) == linked else [written, linked]
