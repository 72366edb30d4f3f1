"""Files that a program writes before it uses them: a script is read, if the text contains it."""

from collections.abc import Iterator
from posixpath import basename, normpath

from shellgate.floor.arguments.actions import Action, CommandContext, FloorVerdict, RunShell
from shellgate.floor.arguments.shell_words import joined, plain
from shellgate.floor.arguments.usage_tables import names
from shellgate.floor.dataflow import standard_input
from shellgate.floor.programs import name_of
from shellgate.shell.program import Place, SimpleCommand, Word
from shellgate.verdicts import ask

_DECODERS = names("base64 base32 xxd openssl rev gunzip zcat uudecode gpg")
_STILL = names(  # they write no file, unless their output goes to one
    "cd pushd popd mkdir echo printf ls cat head tail wc grep test [ true false : pwd export set sleep which type date"
)
_UNSEEN = ask("F9", "It runs code that it has just fetched or decoded, unseen.")


def scripts_run(script: Word, scene: CommandContext) -> Iterator[Action]:
    """Yield the actions of running a script that the same program writes."""
    if script.value is None:
        return
    path = normpath(scene.world.absolute(script.value, scene.here))
    for command in (*scene.around, *scene.program.commands):
        name = name_of(command.name.value or "") if command.name else ""
        if not _writes(command, name, path, scene):
            continue
        before = command.reads_from
        if name in standard_input.FETCHERS | _DECODERS or (before is not None and _is_fetched(before)):
            yield FloorVerdict(_UNSEEN)
        elif (text := _text(command)) is not None:
            yield RunShell(text, is_guess=True)


def may_be_changed(scene: CommandContext) -> bool:
    """Tell whether a file may change before the command runs: any command not known to write none may write it."""
    before: list[SimpleCommand] = list(scene.around)
    is_anywhere = scene.command.is_looped or scene.command.place is not Place.PLAIN
    for command in scene.program.commands:
        is_itself = command == scene.command or command.source == scene.command.source
        if is_itself and not is_anywhere:
            break
        if not is_itself:
            before.append(command)
    return not all(map(_is_still, before))


def _is_still(command: SimpleCommand) -> bool:
    name = name_of(command.name.value or "") if command.name else ":"
    goes_on = (each.target.value if each.target else "1" for each in command.redirects if each.writes)
    return name in _STILL and all(target in ("1", "2", "/dev/null") for target in goes_on)


def _text(command: SimpleCommand) -> Word | None:
    said = standard_input.printed(command)
    if said is not None:
        return joined(*(piece for word in said for piece in (word, plain(" "))))
    return standard_input.text(command)


def _is_fetched(command: SimpleCommand | None) -> bool:
    while command is not None:
        if (
            command.name is not None
            and name_of(command.name.value or "") in standard_input.FETCHERS | _DECODERS
        ):
            return True
        command = command.reads_from
    return False


def _writes(command: SimpleCommand, name: str, path: str, scene: CommandContext) -> bool:
    here = command.cwd or scene.world.cwd

    def is_it(value: str | None) -> bool:
        return value is not None and normpath(scene.world.absolute(value, here)) == path

    if any(
        each.writes and each.target is not None and is_it(each.target.value) for each in command.redirects
    ):
        return True
    values = [word.value or "" for word in command.words[1:]]
    if name in standard_input.FETCHERS:
        return any(is_it(value) or ("://" in value and basename(value) == basename(path)) for value in values)
    return name == "tee" and any(is_it(value) for value in values)
