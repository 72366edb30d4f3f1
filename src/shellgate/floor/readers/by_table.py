"""Actions of a program by its line in a table."""

from collections.abc import Iterator

from shellgate.floor.arguments.actions import (
    REMOVES,
    Action,
    FloorVerdict,
    OnlyReads,
    ProgramCall,
    RunCode,
    RunCommand,
    RunShell,
    TouchPath,
    Use,
)
from shellgate.floor.arguments.shell_words import is_known, joined, may_be_option, plain
from shellgate.floor.arguments.usage_tables import Arguments, Usage, arguments
from shellgate.floor.programs import usage_of
from shellgate.floor.readers import unknown_programs
from shellgate.shell.program import Word
from shellgate.verdicts import ask


def read(call: ProgramCall, usage: Usage) -> Iterator[Action]:
    """Yield the actions of a program, by its usage."""
    words = call.arguments
    if words and usage_of(f"{call.name} {words[0].value}") is usage:
        words = words[1:]
    yield from by_usage(arguments(words, usage), call)


def by_usage(found: Arguments, call: ProgramCall) -> Iterator[Action]:
    """Yield the actions of parsed arguments."""
    usage = found.usage
    if usage.is_harmless and not found.has(usage.unless):
        yield OnlyReads()
    yield from by_options(found)
    descends = goes_down(found, call)
    yield from _options_unknown(found, call)
    must_be_known = usage.always_descends or call.scene.is_swept or found.has(usage.descends)
    follows = found.has(usage.follows)
    uses = usage.uses(found)
    if follows and not {Use.READ} & {*uses}:  # it reads where it is
        yield TouchPath(plain("."), Use.READ, follows=True)
    shell = [word for word, use in zip(found.operands, uses, strict=True) if use is Use.SHELL]
    if shell:
        yield RunShell(spaced(shell))
        yield from (RunShell(word) for word in shell[1:] if " " in (word.value or ""))
    for place, (word, use) in enumerate(zip(found.operands, uses, strict=True)):
        if use is Use.RUN:
            yield from runs(found.operands[place:], call)
            return
        if use is Use.CODE:
            yield RunCode(word)
        elif use is not Use.SHELL:
            yield TouchPath(
                word, use, descends, must_be_known=must_be_known and use in REMOVES, follows=follows
            )


def _options_unknown(found: Arguments, call: ProgramCall) -> Iterator[Action]:
    """Yield F9's question: a deletion may include everything beneath, if running adds an option to that effect."""
    usage = found.usage
    if Use.DELETE in usage.uses(found) and usage.descends and not found.has(usage.descends):
        for word in call.arguments:
            if word.known_start.startswith("-") and not is_known(word):
                yield FloorVerdict(ask("F9", f"Only running it tells which options `{word.source}` is."))


def runs(words: list[Word], call: ProgramCall) -> Iterator[Action]:
    """Yield the command after the words of another; if options of that one come first, its beginning is a guess."""
    if words[0].value in ("-c", "--command") and len(words) > 1:
        yield RunShell(words[1])
    elif words[0].known_start.startswith("-"):
        yield from unknown_programs.guess(call)
    else:
        yield RunCommand(tuple(words))


def by_options(found: Arguments) -> Iterator[Action]:
    """Yield the actions of the options alone."""
    usage = found.usage
    for option, word in found.values:
        yield from _by_option(option.use, word)
    if usage.every is not None and usage.every is not Use.TEXT and not {*usage.before} & {Use.TEXT, Use.CODE}:
        yield from (TouchPath(word, Use.EITHER, is_guess=True) for word in found.doubtful)
    if not _only_says(usage):
        yield from (TouchPath(word, Use.EITHER) for word in found.strays)


def _by_option(use: Use, word: Word) -> Iterator[Action]:
    match use:
        case Use.SHELL | Use.RUN:
            yield RunShell(word)
        case Use.CODE:
            yield RunCode(word)
        case _:
            yield TouchPath(word, use)


def goes_down(found: Arguments, call: ProgramCall) -> bool:
    """Tell whether folders are descended into; if running may add an option to that effect, they are."""
    usage = found.usage
    if usage.always_descends or call.scene.is_swept:
        return True
    return bool(usage.descends) and (found.has(usage.descends) or any(map(may_be_option, found.operands)))


def spaced(words: list[Word]) -> Word:
    """Join words with a blank between them, as `eval` does."""
    blank = plain(" ")
    return joined(*(piece for word in words for piece in (blank, word)))


def _only_says(usage: Usage) -> bool:
    return usage.every is Use.TEXT and not usage.before and not usage.options
