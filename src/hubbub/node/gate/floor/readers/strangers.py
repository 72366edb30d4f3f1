"""Programs that nobody here knows, and functions of the program itself: each of their words may be anything."""

from collections.abc import Iterator

from hubbub.node.gate.floor.deeds import Call, Deed, Run, Shell, Touch, Use, Verdict
from hubbub.node.gate.floor.programs import name_of
from hubbub.node.gate.floor.usage import names
from hubbub.node.gate.floor.verdicts import ask

# Commands that the floor has something to say about: one of them in the words of a stranger may be what it runs.
GATED = names(
    "rm dd mv cp ln tee shred chmod chown chgrp chattr truncate install find rsync mkfs mke2fs mkswap "
    "wipefs blkdiscard fdisk sfdisk parted sh bash dash zsh ksh fish eval source exec sudo doas su env "
    "xargs hubbub cat head tail less cut sort tar zip scp curl wget python perl ruby node php awk sed nc "
    "ncat socat busybox rimraf unlink rmdir kill nohup setsid timeout"
)

GUESSES = 8  # commands in the words of one stranger that are looked at


def read(call: Call) -> Iterator[Deed]:
    """The deeds of a stranger: it may use each word as a path, and run those that name a gated command."""
    for word in call.arguments:
        yield Touch(word, Use.EITHER)
    yield from guess(call)


def guess(call: Call) -> Iterator[Deed]:
    """What may be run from later words: F9."""
    if call.scene.is_guess:  # all the later words are guessed at already
        return
    gated = 0
    for place, word in enumerate(call.arguments):
        first, _, rest = (word.value or "").strip().partition(" ")
        if name_of(first) in GATED:
            gated += 1
            if gated > GUESSES:
                yield Verdict(ask("F9", "It may run any of too many commands that its words name."))
                return
            yield Shell(word, is_guess=True) if rest else Run(call.arguments[place:], is_guess=True)


def function(call: Call) -> Iterator[Deed]:
    """The deeds of a call of a function: its body is read where it stands, with arguments that nobody knows there."""
    yield from (Touch(word, Use.EITHER) for word in call.arguments)
