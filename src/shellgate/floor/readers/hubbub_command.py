"""The product's own command line: F8, a policy changes only by a person's hand."""

from collections.abc import Iterator

from shellgate.floor.arguments.actions import (
    Action,
    Concern,
    FloorVerdict,
    OnlyReads,
    ProgramCall,
    TouchPath,
    Use,
)
from shellgate.floor.arguments.usage_tables import names
from shellgate.verdicts import ask, deny

# Acts of people: answering approvals, making people and tokens, admitting machines, replacing the database.
_OF_PEOPLE = names(
    "approve deny trust user token open node install restore migrate up down serve agent import"
)
_LOOKS = names("agents tasks log watch why inbox wait doctor completion audit gate")
_LOOKS_BELOW = frozenset(["list", "show", "verify", "check"])
_FIRST = 3  # words among which the name of the command is, and what of it
_VALUED = ("--url", "--token", "--data", "--config")


def hubbub(call: ProgramCall) -> Iterator[Action]:
    """Read `hubbub`: it acts with the owner's token, so that an agent would be a person."""
    words = _bare(call)
    name = words[0] if words else ""
    yield from (TouchPath(word, Use.EITHER) for word in call.arguments)
    if any(word.value is None for word in call.arguments[:_FIRST]):
        yield FloorVerdict(
            ask("F8", "Only running it tells which command of hubbub it is, and some are for people.")
        )
    if not name or {"--help", "-h", "--version"} & {word.value for word in call.arguments}:
        yield OnlyReads()
    elif (name in _OF_PEOPLE and words[1:2] != ["list"]) or (name == "mcp" and "--config" in _flags(call)):
        yield FloorVerdict(
            deny("F8", f"`hubbub {name}` is for people: a policy changes only by a person's hand.")
        )
    elif name in _LOOKS or (words[1:2] and words[1] in _LOOKS_BELOW):
        yield Concern("it reads from the hub with the owner's token")
    else:
        yield FloorVerdict(ask("F8", f"`hubbub {name}` acts with the owner's token, as a person."))


def _bare(call: ProgramCall) -> list[str]:
    words: list[str] = []
    rest = list(call.arguments)
    while rest:
        word = rest.pop(0)
        if word.value in _VALUED and rest:
            rest.pop(0)
        elif not word.known_start.startswith("-"):
            words.append(word.value or "")
    return words


def _flags(call: ProgramCall) -> set[str]:
    return {word.known_start.partition("=")[0] for word in call.arguments}


READERS = {"hubbub": hubbub}
