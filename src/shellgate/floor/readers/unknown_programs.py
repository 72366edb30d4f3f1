"""Unknown programs, and functions of the program itself: each of their words may be anything."""

import re
from collections.abc import Iterator

from shellgate.floor.arguments.actions import (
    Action,
    FloorVerdict,
    ProgramCall,
    RunCommand,
    RunShell,
    TouchPath,
    Use,
)
from shellgate.floor.arguments.shell_words import is_known
from shellgate.floor.arguments.usage_tables import names
from shellgate.floor.programs import name_of
from shellgate.shell.program import Place, SimpleCommand
from shellgate.verdicts import ask

# Commands that the floor judges: one of them in the words of an unknown program may be run by it.
GATED = names(
    "rm dd mv cp ln tee shred chmod chown chgrp chattr truncate install find rsync mkfs mke2fs mkswap "
    "wipefs blkdiscard fdisk sfdisk parted sh bash dash zsh ksh fish eval source exec sudo doas su env "
    "xargs hubbub cat head tail less cut sort tar zip scp curl wget python perl ruby node php awk sed nc "
    "ncat socat busybox rimraf unlink rmdir kill nohup setsid timeout"
)

DESTROYS = names(
    "rm dd mkfs sudo doas su chmod chown chgrp shred wipefs blkdiscard fdisk parted chattr rmdir"
)
_SHELLS = names("sh bash dash zsh ksh fish")
_TAKES = names(
    "shift set eval source . read mapfile getopts"
)  # what gives arguments another name, or runs them

_SAYS = names("echo printf return exit shift true false : local")
GUESSES = 8  # commands in the words of one unknown program that are checked


def read(call: ProgramCall) -> Iterator[Action]:
    """Yield the actions of an unknown program: any word may be a path, or a gated command that it runs."""
    for word in call.arguments:
        yield TouchPath(word, Use.EITHER)
    yield from guess(call)
    yield from _runs(call)


def _runs(call: ProgramCall) -> Iterator[Action]:
    """Yield F9's question if an unknown program, as a wrapper, would destroy, raise privilege or run a shell."""
    values = [word.value for word in call.arguments]
    for value, following in zip(values, [*values[1:], None], strict=False):
        if value in DESTROYS and (following is not None or value in ("sudo", "su")):
            yield FloorVerdict(ask("F9", f"`{call.name}` is not known here, and may run `{value}`."))
            return
        if value in _SHELLS and following is not None and re.fullmatch(r"-\w*c", following):
            yield FloorVerdict(ask("F9", f"`{call.name}` is not known here, and may run a shell."))
            return


def guess(call: ProgramCall) -> Iterator[Action]:
    """Yield the commands that may be run from later words: F9."""
    if call.scene.is_guess:  # all the later words are guessed at already
        return
    gated = 0
    for place, word in enumerate(call.arguments):
        first, _, rest = (word.value or "").strip().partition(" ")
        if name_of(first) in GATED:
            gated += 1
            if gated > GUESSES:
                yield FloorVerdict(ask("F9", "It may run any of too many commands that its words name."))
                return
            yield RunShell(word, is_guess=True) if rest else RunCommand(call.arguments[place:], is_guess=True)


def function(call: ProgramCall) -> Iterator[Action]:
    """Yield the actions of a function call: its body is read where it stands, with unknown arguments."""
    if _only_prints(call):
        return
    yield from (TouchPath(word, Use.EITHER) for word in call.arguments)


def _only_prints(call: ProgramCall) -> bool:
    """Tell whether a function only prints its unknown arguments, where only people read them."""
    program, command = call.scene.program, call.scene.command
    body = [each for each in program.commands if each.function == call.name]
    is_read_on = any(each.is_piped and each.reads_from in (None, command) for each in program.commands)
    if not body or is_read_on or command.redirects or command.place is not Place.PLAIN:
        return False
    return all(not each.is_piped and (_prints(each) or _is_told(each)) for each in body)


def _prints(command: SimpleCommand) -> bool:
    """Tell whether it prints its words and does no more."""
    name = command.name.value if command.name else None
    goes_on = any((each.target is None or each.target.value not in ("1", "2")) for each in command.redirects)
    return name in _SAYS and not command.assignments and not goes_on


def _is_told(command: SimpleCommand) -> bool:
    """Tell whether the text determines all of its words."""
    words = [*command.words, *(each.value for each in command.assignments)]
    words += [word for each in command.redirects for word in (each.target, each.body) if word is not None]
    return all(map(is_known, words)) and (command.name is None or command.name.value not in _TAKES)
