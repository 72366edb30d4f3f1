"""Commands that run another for each word of their input or of a list: `xargs`, `parallel`."""

from collections.abc import Iterator

from hubbub.node.gate.floor.deeds import Call, Deed, OnlyReads, Run, Shell, Verdict
from hubbub.node.gate.floor.inputs import printed
from hubbub.node.gate.floor.programs import USAGES, name_of
from hubbub.node.gate.floor.readers import by_table, finding
from hubbub.node.gate.floor.usage import arguments
from hubbub.node.gate.floor.verdicts import deny
from hubbub.node.gate.floor.words import filled, plain, unknown
from hubbub.node.gate.shell.program import Word


def xargs(call: Call) -> Iterator[Deed]:
    """`xargs`: its input becomes words of the command."""
    usage = USAGES["xargs"]
    found = arguments(call.arguments, usage)
    yield OnlyReads()
    yield from by_table.by_options(found, usage)
    words = tuple(found.operands) or (plain("echo"),)
    marks = [mark.value or finding.FOUND for mark in found.of("I", "i", "replace")]
    if not marks and found.has(("i", "replace")):
        marks = [finding.FOUND]
    shown = _with(words, marks, [unknown("words of its input", many=True)])
    given, is_swept = _input(call)
    yield Run(shown, tuple(_with(words, marks, each) for each in given), is_swept=is_swept)


def _with(words: tuple[Word, ...], marks: list[str], given: list[Word]) -> tuple[Word, ...]:
    if not marks:
        return (*words, *given)
    for each in given[:1]:
        words = filled(words, marks[-1], each)
    return words


def _input(call: Call) -> tuple[list[list[Word]], bool]:
    """Lists of words that the input may hold, if it can be told, and whether they are of a search."""
    source = call.scene.command.reads_from
    body = next((each.body for each in call.scene.command.redirects if each.body is not None), None)
    if body is not None:
        return [_split(body)], False
    if source is None or source.name is None:
        return [], False
    if name_of(source.name.value or "") in finding.READERS:
        return [[word] for word in finding.search(source.words[1:]).finds()], True
    said = printed(source)
    if said is None:
        return [], False
    pieces = [piece for word in said for piece in _split(word)]
    return [pieces, *([word] for word in dict.fromkeys([*said, *pieces]))], False


def _split(word: Word) -> list[Word]:
    value = word.value
    return [word] if value is None else [plain(piece) for piece in value.split()]


def parallel(call: Call) -> Iterator[Deed]:
    """GNU `parallel`: what stands behind `:::` becomes words of the command, which goes through a shell."""
    usage = USAGES["parallel"]
    found = arguments(call.arguments, usage)
    yield from by_table.by_options(found, usage)
    words = found.operands
    at = next((place for place, word in enumerate(words) if word.known_start.startswith(":::")), len(words))
    template, given = tuple(words[:at]), words[at + 1 :]
    if not template and not given:
        yield Verdict(deny("F6", "What is piped into it runs as commands."))
    for each in given or [unknown("words of its input")]:
        whole = filled(template, finding.FOUND, each)
        yield Shell(by_table.spaced([*whole] if whole != template else [*template, each]))


READERS = {"xargs": xargs, "gxargs": xargs, "parallel": parallel}
