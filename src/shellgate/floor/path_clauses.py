"""The floor's decisions on a path that a command touches: F1, F3, F4, F5, and F9 for a path known only when it runs."""

import re
from collections.abc import Iterator
from dataclasses import replace

from shellgate import paths
from shellgate.decision import Decision
from shellgate.floor.arguments.actions import CHANGES, REMOVES, CommandContext, TouchPath, Use
from shellgate.floor.arguments.shell_words import has_pattern, is_known, plain, without
from shellgate.floor.dataflow import hints, substitutions
from shellgate.floor.dataflow.path_resolution import PathLead, PathLeads, leads
from shellgate.paths import Access
from shellgate.shell.program import Word
from shellgate.verdicts import ask, deny

_ACCESS = {Use.READ: Access.READ, Use.LIST: Access.LIST}
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")  # an address, unless it is of a file
_SETTERS = frozenset({"export", "declare", "typeset", "readonly", "local"})
_LEADS = frozenset({"CDPATH", "OLDPWD"})  # variables that direct `cd`
_LINKS_LOOKED_AT = 20_000  # names in a folder that is read with the targets of its links
_GUARDED = (".git", ".env*")  # names that are lost with a folder


def judge(touch: TouchPath, scene: CommandContext) -> Iterator[Decision]:
    """Yield the floor's decisions on one touch."""
    if touch.use is Use.TEXT:
        yield from _listed(touch, scene)
        return
    if scene.cwd is None and not touch.word.known_start.startswith("/") and _is_led_away(scene):
        yield ask("F9", f"Only running it tells which folder `{touch.word.source}` is in.")
    if touch.use is Use.EITHER:
        said = _either(touch, scene)
        yield from (ask(each.rule_id, each.reason) for each in said) if touch.is_guess else said
        return
    if touch.use in CHANGES:
        touch = replace(touch, word=substitutions.told(touch.word, scene))
    found = leads(touch.word, scene)
    only_modes = touch.use is Use.MODE and scene.is_swept and not _is_meant(touch.word, scene)
    for lead in found.paths:
        yield from (each for each in _at(lead, touch.use, scene) if not (only_modes and each.rule_id == "F4"))
    yield from _unclear(touch, found, scene)
    if touch.follows:
        yield from _followed(found, scene)
    if touch.descends:
        yield from _beneath(touch, found, scene)


def _followed(found: PathLeads, scene: CommandContext) -> Iterator[Decision]:
    """Yield the questions about a folder that is read with all targets of its links."""
    files = scene.world.files
    for lead in found.paths:
        for path in files.beneath(files.resolve(lead.path), _LINKS_LOOKED_AT) or ():
            if files.resolve(path) != path and (said := paths.protected(path, Access.READ, scene.world)):
                yield ask(said.rule_id, f"It follows links. {said.reason}")
                return


def _listed(touch: TouchPath, scene: CommandContext) -> Iterator[Decision]:
    """Yield the decisions on a pattern that is only printed: the matching names are read."""
    if not has_pattern(touch.word) or not touch.word.known_start.startswith(("/", "~", ".")):
        return
    for lead in leads(touch.word, scene).paths:
        if (said := paths.protected(lead.path, Access.LIST, scene.world)) is not None:
            yield ask(said.rule_id, f"It would list names there. {said.reason}")
            return


def _is_led_away(scene: CommandContext) -> bool:
    """Tell whether the program sets the variables that direct `cd`."""
    commands = (*scene.around, *scene.program.commands)
    return any(each.name in _LEADS for command in commands for each in command.assignments) or any(
        word.known_start.partition("=")[0] in _LEADS
        for command in commands
        if command.name is not None and command.name.value in _SETTERS
        for word in command.words[1:]
    )


def _is_meant(word: Word, scene: CommandContext) -> bool:
    """Tell whether a protected path is named, rather than met on the way through a folder."""
    path = scene.world.absolute(word.known_start, scene.here)
    return paths.protected(path, Access.WRITE, scene.world) is not None


def _at(lead: PathLead, use: Use, scene: CommandContext) -> Iterator[Decision]:
    climbs = re.match(r"(/proc/[^/]+/[^/]+)/(.*/)?\.\.(/|$)", lead.path)  # out of another's folder, by a link
    access = _ACCESS.get(use, Access.WRITE)
    said = paths.protected(lead.path, access, scene.world)
    if said is None and climbs:
        said = paths.protected(climbs[1], access, scene.world)
    if said is None and use in CHANGES and paths.is_block_device(lead.path):
        said = deny("F3", f"It would write to a block device, {lead.path}.")
    if said is not None:
        yield (
            said
            if lead.is_sure
            else ask(said.rule_id, f"When it runs, this may be a protected path. {said.reason}")
        )


def _unclear(touch: TouchPath, found: PathLeads, scene: CommandContext) -> Iterator[Decision]:
    source = touch.word.source
    if not found.is_known or (touch.descends and not is_known(touch.word)):
        yield from hints.judge(touch, scene)
    if touch.use not in CHANGES:
        return
    if not found.is_whole:
        yield ask("F9", f"`{source}` stands for more files than can be looked at.")
    if found.is_known:
        is_lost = scene.cwd is None and not touch.word.known_start.startswith("/")
        if is_lost and (touch.must_be_known or (touch.use is Use.WRITE and substitutions.is_led(scene))):
            yield ask("F9", f"Only running it tells which folder `{source}` is in.")
    elif touch.must_be_known or (touch.use is Use.WRITE and substitutions.is_untold(touch.word, scene)):
        yield ask("F9", f"Only running it tells what `{source}` is.")
    elif touch.word.known_start.startswith("/dev/"):
        yield ask("F3", f"`{source}` may be a block device.")
    if found.pattern is not None and found.pattern.startswith("/dev/"):
        yield ask("F3", f"`{source}` may be a block device.")


def _beneath(touch: TouchPath, found: PathLeads, scene: CommandContext) -> Iterator[Decision]:
    """Yield the decisions on a folder with all its content."""
    whole = [lead.path for lead in found.paths] + ([found.pattern] if found.pattern else [])
    why = next(filter(None, (paths.vital(path, scene.world) for path in whole)), None)
    if touch.use is Use.READ:
        if why:
            yield ask("F5", f"It would read all that is in `{touch.word.source}`, and keys with it: {why}.")
    elif touch.use in REMOVES:
        if why:
            yield deny("F1", f"It would change or remove all of `{touch.word.source}`: {why}.")
        if touch.use is Use.DELETE:
            for lead in found.paths:
                yield from _loses(lead.path, scene)


def _loses(path: str, scene: CommandContext) -> Iterator[Decision]:
    """Yield the losses with a folder that holds the product's own, or a root with protected files in it."""
    world = scene.world
    resolved = world.files.resolve(path)
    closed = [each for each in paths.closed_folders(world) if _is_above(resolved, each)]
    if any(each in world.own or world.files.is_folder(each) for each in closed):
        yield deny("F5", f"It would remove {closed[0]}, which is closed to agents.")
    for root in world.roots:
        if _is_above(resolved, root) and any(world.files.matches(root, name) for name in _GUARDED):
            yield deny("F4", f"It would remove or change {root} with its .git or .env.")


def _is_above(path: str, other: str) -> bool:
    return other == path or other.startswith(path.rstrip("/") + "/")


def _either(touch: TouchPath, scene: CommandContext) -> Iterator[Decision]:
    """Yield the decisions on a word that may or may not be a path, of unknown use."""
    if not is_known(touch.word) and not touch.is_guess:
        yield from hints.judge(touch, scene)
    for word in mentions(touch.word, scene):
        for lead in leads(word, scene).paths:
            written = paths.protected(lead.path, Access.WRITE, scene.world)  # unread paths are unwritten, too
            read = written and paths.protected(lead.path, Access.READ, scene.world)
            if read is not None:
                yield (
                    read
                    if lead.is_sure
                    else ask(read.rule_id, f"When it runs, this may be protected. {read.reason}")
                )
            elif written is not None:
                yield ask(written.rule_id, f"It may write here. {written.reason}")
            elif paths.is_block_device(lead.path):
                yield ask("F3", f"It may write to a block device, {lead.path}.")


def mentions(word: Word, scene: CommandContext) -> Iterator[Word]:
    """Yield the paths that a word may be or hold: `--file=/etc/x`, `-f/etc/x`, `@/etc/x`, `file:///etc/x`, `/a:b`."""
    start = word.known_start
    if start.startswith("file:"):
        yield without(word, len(start) - len(start[5:].lstrip("/")) - 1 if start[5:6] == "/" else 5)
        return
    if _ELSEWHERE.match(start):
        return
    yield _at_home(word, scene)
    for sign in re.finditer(r"[=@]", start):
        yield from mentions(without(word, sign.end()), scene)
    if start.startswith("-"):
        attached = re.search(r"[/~]|\.(?=[./a-z])", start)
        if attached:
            yield _at_home(without(word, attached.start()), scene)
    elif start[:1] in "/.~" and ":" in start:
        yield from (
            _at_home(plain(piece), scene) for piece in start.split(":") if piece[:1] in ("/", "~", ".")
        )
    elif start.startswith(":/"):
        yield without(word, 1)


def _at_home(word: Word, scene: CommandContext) -> Word:
    """Return the word as a program that knows the tilde takes it."""
    value = word.value
    if value is None or not value.startswith("~") or not is_known(word):
        return word
    return plain(paths.with_home(value, scene.world))
