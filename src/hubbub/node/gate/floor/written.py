"""Scripts that a program writes before it runs them: what is in them is read, if the text tells it."""

from collections.abc import Iterator
from posixpath import basename, normpath

from hubbub.node.gate.floor import inputs
from hubbub.node.gate.floor.deeds import Deed, Scene, Shell, Verdict
from hubbub.node.gate.floor.programs import name_of
from hubbub.node.gate.floor.usage import names
from hubbub.node.gate.floor.verdicts import ask
from hubbub.node.gate.floor.words import joined, plain
from hubbub.node.gate.shell.program import SimpleCommand, Word

_DECODERS = names("base64 base32 xxd openssl rev gunzip zcat uudecode gpg")
_UNSEEN = ask("F9", "It runs what it has just fetched or decoded, unseen.")


def run(script: Word, scene: Scene) -> Iterator[Deed]:
    """What comes of running a script that the same program writes."""
    if script.value is None:
        return
    path = normpath(scene.world.absolute(script.value, scene.here))
    for command in (*scene.around, *scene.program.commands):
        name = name_of(command.name.value or "") if command.name else ""
        if not _writes(command, name, path, scene):
            continue
        before = command.reads_from
        if name in inputs.FETCHERS | _DECODERS or (before is not None and _is_fetched(before)):
            yield Verdict(_UNSEEN)
        elif (text := _text(command)) is not None:
            yield Shell(text, is_guess=True)


def _text(command: SimpleCommand) -> Word | None:
    said = inputs.printed(command)
    if said is not None:
        return joined(*(piece for word in said for piece in (word, plain(" "))))
    return inputs.text(command)


def _is_fetched(command: SimpleCommand | None) -> bool:
    while command is not None:
        if command.name is not None and name_of(command.name.value or "") in inputs.FETCHERS | _DECODERS:
            return True
        command = command.reads_from
    return False


def _writes(command: SimpleCommand, name: str, path: str, scene: Scene) -> bool:
    here = command.cwd or scene.world.cwd

    def is_it(value: str | None) -> bool:
        return value is not None and normpath(scene.world.absolute(value, here)) == path

    if any(
        each.writes and each.target is not None and is_it(each.target.value) for each in command.redirects
    ):
        return True
    values = [word.value or "" for word in command.words[1:]]
    if name in inputs.FETCHERS:
        return any(is_it(value) or ("://" in value and basename(value) == basename(path)) for value in values)
    return name == "tee" and any(is_it(value) for value in values)
