"""Reads of `git` subcommands that only look: present and past files, and settings with secrets."""

import re
from collections.abc import Iterator
from posixpath import dirname, join, normpath

from shellgate import paths, protected_names
from shellgate.floor.arguments import usage_tables as usages
from shellgate.floor.arguments.actions import Action, CommandContext, Concern, ProgramCall, TouchPath, Use
from shellgate.floor.arguments.shell_words import plain, without
from shellgate.floor.arguments.usage_tables import Arguments
from shellgate.floor.git import git_files
from shellgate.floor.git.git_settings import MOST
from shellgate.floor.programs import read_only_options
from shellgate.shell.program import Glob, Word

_PRINTS_SETTINGS = usages.names("--get --get-all --get-regexp --get-urlmatch --list -l get list")
_SCOPES = usages.names(
    "--global --local --system --worktree --show-origin --show-scope --null -z --name-only --includes --no-includes"
)
_STAGE = re.compile(r":(?:[0-3]:)?(?![/(!^:])")  # before a path in the index
_MAGIC = re.compile(r":(?:/|\([^)]*\))")  # before a path behind `--`
_EXCLUDES = re.compile(r":(?:[!^]|\([^)]*exclude)")
_RANGE = re.compile(r"(?:[^:]|\\:)*:(?=[^:]*$)")  # before the file of `-L`
_SECRET_KEYS = re.compile(r"(?i).*(token|passw|secret|extraheader|cookie|api-?key|oauth|smtppass|userpass).*")
_SECRET_ADDRESS = re.compile(r"://[^/\s@:]*:[^/\s@]+@|://[^/\s@:]{16,}@")
_ADDRESSES = re.compile(r"(?i)remote\..+\.(push)?url|url\..+\.(push)?insteadof")
_INCLUDES = re.compile(r"(?i)include(if\..+)?\.path")
_INDEX = 8 * 1024 * 1024  # bytes of an index that is read
_PER_INDEX = 400  # words of a command that take as long to read as an index
_FILES = 20_000  # files that are checked if there is no index
_HOLD_SECRETS = "it searches files that may hold secrets"


def looked_at(name: str, words: list[Word], found: Arguments, call: ProgramCall) -> Iterator[Action]:
    """Yield the reads of a subcommand that only reads: paths after `--`, and past versions of files."""
    if clause := read_only_options.concern(f"git {name}", words):
        yield Concern(clause)
    at = next((place for place, word in enumerate(words) if word.value == "--"), len(words))
    behind = [_of_pathspec(word) for word in words[at + 1 :] if not _EXCLUDES.match(word.known_start)]
    yield from (TouchPath(word, Use.READ) for word in behind)
    if name not in ("rev-parse", "check-ignore"):
        yield from (TouchPath(word, Use.READ) for operand in found.operands for word in _once(operand))
    for word in found.of("L"):
        if ranged := _RANGE.match(word.known_start):
            yield TouchPath(without(word, ranged.end()), Use.READ)
    if name == "grep":
        yield from _searched(found, behind, call.scene)
    elif name == "diff" and found.has(("no-index",)):
        yield from (TouchPath(word, Use.READ, descends=True) for word in found.operands)
    elif name == "cat-file" and found.has(("batch", "batch-command")):
        yield Concern("only running it tells which files it reads")
    elif name == "var" and found.has(("l",)):
        yield from _secrets(call.scene, [])


def _of_pathspec(word: Word) -> Word:
    """Return a path behind `--`, without its magic; a wildcard becomes a pattern."""
    magic = _MAGIC.match(word.known_start)
    path = without(word, magic.end()) if magic else word
    value = path.value
    return Word((Glob(value),), word.source) if value is not None and set(value) & set("*?[") else path


def _once(word: Word) -> Iterator[Word]:
    """Yield the path in `REVISION:PATH`, `:PATH` and `:2:PATH`."""
    if stage := _STAGE.match(word.known_start):
        yield without(word, stage.end())
        return
    revision, colon, path = word.known_start.partition(":")
    if colon and revision and path:
        yield without(word, len(revision) + 1)


def _searched(found: Arguments, behind: list[Word], scene: CommandContext) -> Iterator[Action]:
    """Yield the reads of `git grep`: files known to git, and with `--no-index` or `--untracked` all files."""
    operands = found.operands if found.has(("e", "f")) else found.operands[1:]
    world = scene.world
    within = [
        word for word in operands if word.value and world.files.look(world.absolute(word.value, scene.here))
    ]
    places = [*within, *behind] or [plain(".")]
    if found.has(("no-index", "untracked", "no-exclude-standard")):
        yield from (TouchPath(word, Use.READ, descends=True) for word in places)
        return
    known = _known(scene) if scene.effort.spend(_PER_INDEX) else None
    if known is None:
        yield Concern(_HOLD_SECRETS)
        return
    for word in places:
        place = normpath(world.absolute(word.pattern or ".", scene.here))
        if any(
            protected_names.may_be_secret(protected_names.components(path))
            for path in known
            if _is_in(path, place)
        ):
            yield Concern(_HOLD_SECRETS)


def _is_in(path: str, place: str) -> bool:
    return path == place or path.startswith(place.rstrip("/") + "/")


def _known(scene: CommandContext) -> list[str]:
    """Return the files known to git, from its index; if that cannot be read, all files there."""
    folder = normpath(scene.here)
    while paths.is_inside(folder, scene.world):
        if scene.world.files.look(join(folder, ".git")) is not None:
            data = scene.world.files.contents(join(folder, ".git", "index"), _INDEX)
            listed = None if data is None else git_files.index(data)
            if listed is not None:
                return [join(folder, name) for name in listed]
            break
        folder = dirname(folder)
    return scene.world.files.beneath(normpath(scene.here), _FILES) or []


def prints_settings(values: list[str]) -> bool:
    """Tell whether `git config` only prints settings."""
    return next((value for value in values if value not in _SCOPES), "") in _PRINTS_SETTINGS


def printed(name: str, words: list[Word], call: ProgramCall) -> Iterator[Action]:
    """Yield the questions about printed settings with secrets in them."""
    values = [word.value or "" for word in words]
    if name == "config" and prints_settings(values):
        given = [
            following.value
            for value, following in zip(values, words[1:], strict=False)
            if value in ("-f", "--file") and following.value
        ]
        given += [value.partition("=")[2] for value in values if value.startswith("--file=")]
        asked = [value for value in values if not value.startswith("-") and value not in ("get", "list")]
        is_one = bool({"--get", "--get-all", "get"}.intersection(values)) and "--all" not in values
        yield from _secrets(call.scene, given, asked[0].lower() if is_one and asked else None)
    elif name == "remote" and (not values or values[0] in ("-v", "--verbose", "get-url", "show")):
        yield from _secrets(call.scene, [], only=_ADDRESSES)


def _secrets(
    scene: CommandContext, given: list[str], key: str | None = None, only: re.Pattern[str] | None = None
) -> Iterator[Action]:
    """Yield a concern if settings with secrets would be printed: all of them, one, or some by their names."""
    for name, value in _settings(scene, given):
        if (key is not None and name.lower() != key) or (only is not None and not only.fullmatch(name)):
            continue
        if _SECRET_KEYS.fullmatch(name) or _SECRET_ADDRESS.search(value) or _SECRET_ADDRESS.search(name):
            yield Concern("it prints settings that hold secrets")
            return


def _settings(scene: CommandContext, given: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the settings that git would find here, or in the given files, with those that they include."""
    waiting = [scene.world.absolute(path, scene.here) for path in given] or [*_usual_files(scene)]
    for path in waiting:
        data = scene.world.files.contents(path, MOST)
        for name, value in git_files.settings((data or b"").decode("utf-8", "replace")) or ():
            yield name, value
            if _INCLUDES.fullmatch(name) and len(waiting) < 20:
                waiting.append(join(dirname(path), paths.with_home(value, scene.world)))


def _usual_files(scene: CommandContext) -> Iterator[str]:
    yield "/etc/gitconfig"
    yield join(scene.world.home, ".gitconfig")
    yield join(scene.world.home, ".config/git/config")
    folder = normpath(scene.here)
    while paths.is_inside(folder, scene.world):
        if scene.world.files.look(join(folder, ".git")) is not None:
            yield join(folder, ".git/config")
            yield join(folder, ".git/config.worktree")
            return
        folder = dirname(folder)
