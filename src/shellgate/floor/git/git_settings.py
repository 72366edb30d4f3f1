"""Settings of git from any source: those that are commands, and those that name files with more settings.

Options, variables, `git config` and files that git reads all come here: a setting means the same in each.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from posixpath import dirname, join, normpath

from shellgate import paths, protected_names
from shellgate.floor.arguments.actions import (
    Action,
    CommandContext,
    FloorVerdict,
    RunCommand,
    RunShell,
    TouchPath,
    Use,
)
from shellgate.floor.arguments.shell_words import is_known, plain, without
from shellgate.floor.dataflow import inherited_environment, written_scripts
from shellgate.floor.git import git_files
from shellgate.paths import Access
from shellgate.shell.program import Text, Unknown, Word
from shellgate.verdicts import ask

# Settings that are commands for git, that name a file to read, and that name one to write.
_COMMANDS = re.compile(
    r"core\.(pager|editor|sshcommand|gitproxy|askpass|fsmonitor|alternaterefscommand)|pager\..+|sequence\.editor"
    r"|diff\.external|interactive\.difffilter|gpg(\..+)?\.(program|defaultkeycommand)|credential(\..+)?\.helper"
    r"|web\.browser|help\.browser|instaweb\..+|imap\.tunnel|man\.viewer|gui\..*tool\..*"
    r"|(diff|merge|filter|difftool|mergetool|browser|man|guitool|trailer|hook|tar|lfs\.extension|lfs\.customtransfer)"
    r"\..+\.(command|textconv|driver|clean|smudge|process|cmd|path)|uploadpack\.packobjectshook"
    r"|remote\..+\.(uploadpack|receivepack|vcs)|sendemail\..*(cmd|smtpserver)|submodule\..+\.update|receive\..*hook"
    r"|annex\..*-(command|hook)",
    re.IGNORECASE,
)
_READ = re.compile(
    r"core\.(attributesfile|excludesfile)|diff\.orderfile|commit\.template|mailmap\.file|blame\.ignorerevsfile"
    r"|gpg\.ssh\.(allowedsigners|revocation)file",
    re.IGNORECASE,
)
_WRITTEN = re.compile(r"core\.worktree|trace2\..+target|format\.outputdirectory", re.IGNORECASE)
_INCLUDES = re.compile(r"include(if\..+)?\.path", re.IGNORECASE)
_REMOTES = re.compile(r"remote\..+\.(push)?url", re.IGNORECASE)
_REPLACED = re.compile(r"url\.(.+)\.(push)?insteadof", re.IGNORECASE)

_INNOCENT = frozenset(
    {"branch", "user", "http", "https", "color", "author", "committer", "push", "pull"}
)  # sections
MOST = 64 * 1024  # bytes of a file with settings, or of a hook
_PER_WORD = 4  # settings that take as long to read as a word of a command
_DEPTH = 8  # files with settings that include one another
_FILES = 200  # in the template folder of new repositories
_NO_F9 = frozenset(f"F{number}" for number in range(1, 9))
_SCRIPT = re.compile(r"#!\s*(/usr)?/bin/(env\s+)?(ba|da|z|k)?sh\b|(?!#!)")
_UNSEEN = "Only running it tells which settings git obeys"


def pair(word: Word, scene: CommandContext) -> Iterator[Action]:
    """Yield the actions of `KEY=VALUE`."""
    key, value = "", None
    for place, part in enumerate(word.parts):
        head, equals, rest = ("_", "", "") if isinstance(part, Unknown) else part.text.partition("=")
        key += head
        if equals:
            value = replace(word, parts=(*((Text(rest),) if rest else ()), *word.parts[place + 1 :]))
            break
    is_told = is_known(word) or (value is not None and "_" not in key)
    yield from named(key, value or plain("true"), word, scene, is_told=is_told or "=" in word.known_start)


def named(key: str, value: Word, word: Word, scene: CommandContext, *, is_told: bool) -> Iterator[Action]:
    """Yield the actions of a setting whose key may have unknown parts; each stands as `_` there."""
    if is_told or key.partition(".")[0].lower() in _INNOCENT:
        yield from setting(key, value, scene)
    else:
        yield FloorVerdict(ask("F9", f"Only running it tells which setting of git `{word.source}` is."))


def of_variable(word: Word, scene: CommandContext) -> Iterator[Action]:
    """Yield the actions of `KEY=NAME`, where a variable of that name holds the value."""
    key, equals, name = (word.value or "").rpartition("=")
    held = inherited_environment.word(name, scene) if name else None
    if held is None and name in scene.world.variables:
        held = plain(scene.world.variables[name])
    if not equals:
        yield FloorVerdict(ask("F9", f"{_UNSEEN}: `{word.source}` may be any of them."))
    elif held is not None:
        yield from setting(key, held, scene)
    elif matters(key):
        yield FloorVerdict(ask("F9", "Only running it tells a setting of git, which may be a command."))


def matters(key: str) -> bool:
    """Tell whether a setting may run something, or lead to more settings."""
    others = (_READ, _WRITTEN, _INCLUDES, _REMOTES, _REPLACED)
    return (
        key.lower().startswith(("alias.", "protocol."))
        or key.lower() in ("core.hookspath", "init.templatedir")
        or _COMMANDS.fullmatch(key) is not None
        or any(each.fullmatch(key) for each in others)
    )


def setting(
    key: str, value: Word, scene: CommandContext, depth: int = 0, folder: str | None = None
) -> Iterator[Action]:
    """Yield the actions of a setting; `folder` is that of its file."""
    if value.known_start.startswith("!"):
        yield RunShell(without(value, 1))
    elif key.lower().startswith("alias."):
        yield from _alias(value)
    elif _COMMANDS.fullmatch(key):
        yield RunShell(value)
    elif _INCLUDES.fullmatch(key):
        yield from file(_from(folder, value, scene), scene, depth + 1)
    elif key.lower() == "core.hookspath":
        yield from hooks(value, scene)
    elif key.lower() == "init.templatedir":
        yield from template(value, scene)
    else:
        yield from _plain_setting(key, value)


def _plain_setting(key: str, value: Word) -> Iterator[Action]:
    """Yield the actions of a setting that is neither a command nor names more settings."""
    if key.lower() in ("protocol.ext.allow", "protocol.allow") and value.value not in ("never", "user"):
        yield FloorVerdict(ask("F9", "It lets git run commands that addresses of remotes name."))
    elif _REMOTES.fullmatch(key):
        yield from remote(value)
    elif replaced := _REPLACED.fullmatch(key):
        yield from remote(plain(replaced[1]))
    elif _READ.fullmatch(key):
        yield TouchPath(value, Use.READ)
    elif _WRITTEN.fullmatch(key):
        yield TouchPath(value, Use.WRITE)


def _alias(value: Word) -> Iterator[Action]:
    if not is_known(value):
        yield FloorVerdict(ask("F9", f"Only running it tells what the alias `{value.source}` runs."))
        return
    try:
        words = shlex.split(value.value or "")
    except ValueError:
        words = (value.value or "").split()
    yield RunCommand((plain("git"), *map(plain, words)), is_guess=True)


def remote(word: Word) -> Iterator[Action]:
    """Yield the actions of a remote's address: `ext::COMMAND` is one that git would run."""
    text = word.known_start
    if text.startswith("ext::"):
        pieces = text.removeprefix("ext::").replace("% ", "\0").split(" ")
        yield RunCommand(tuple(plain(piece.replace("\0", " ").replace("%%", "%")) for piece in pieces))
        yield FloorVerdict(ask("F9", "The address of the remote is a command."))
    elif text.startswith("file://"):
        yield TouchPath(without(word, len("file://")), Use.READ)


def file(
    word: Word, scene: CommandContext, depth: int = 0, *, may_be_missing: bool = False
) -> Iterator[Action]:
    """Yield the actions of a file of settings that git obeys; one that cannot be read is asked about."""
    if word.value in ("", "/dev/null"):
        return
    yield TouchPath(word, Use.READ)
    path = _path(word, scene)
    if path is None or depth > _DEPTH:
        yield FloorVerdict(ask("F9", f"{_UNSEEN}: those in `{word.source}`."))
        return
    if paths.protected(path, Access.READ, scene.world):  # the touch is refused
        return
    is_changed = written_scripts.may_be_changed(scene)
    if may_be_missing and not is_changed and scene.world.files.look(path) is None:
        return
    data = None if is_changed else scene.world.files.contents(path, MOST)
    found = None if data is None else git_files.settings(data.decode("utf-8", "replace"))
    if found is None or not scene.effort.spend(len(found) // _PER_WORD):
        yield FloorVerdict(ask("F9", f"{_UNSEEN}: those in `{word.source}` cannot be read beforehand."))
        return
    for key, value in found:
        yield from setting(key, plain(value), scene, depth, dirname(path))


def hooks(word: Word, scene: CommandContext) -> Iterator[Action]:
    """Yield the actions for a folder of git hooks: inside the roots as scripts there; others are asked about."""
    if word.value in ("", "/dev/null"):
        return
    path = _path(word, scene)
    if path is None or not paths.is_inside(path, scene.world):
        yield FloorVerdict(
            ask("F9", f"Git would run the programs in `{word.source}`, which is no folder of the project.")
        )
        return
    yield TouchPath(word, Use.LIST)
    for name in scene.world.files.matches(path, "*")[:_FILES]:
        text = scene.world.files.contents(join(path, name), MOST)
        if text is not None and not name.endswith(".sample") and _SCRIPT.match(text[:100].decode("latin-1")):
            yield RunShell(plain(text.decode("utf-8", "replace")), is_guess=True, only=_NO_F9)


def template(word: Word, scene: CommandContext) -> Iterator[Action]:
    """Yield the actions of a template folder, whose hooks and settings new repositories would get."""
    if word.value == "":
        return
    path = _path(word, scene)
    found = None
    if path is not None and scene.world.files.is_folder(path) and not written_scripts.may_be_changed(scene):
        found = scene.world.files.beneath(path, _FILES)
    if path is None or found is None:
        yield FloorVerdict(
            ask("F9", f"Only running it tells which hooks a new repository gets from `{word.source}`.")
        )
        return
    yield TouchPath(word, Use.READ)
    if any(not each.endswith((".sample", "/description", "/info/exclude")) for each in found):
        yield FloorVerdict(ask("F9", f"A new repository would get hooks or settings from `{word.source}`."))


def programs(word: Word) -> Iterator[Action]:
    """Yield the actions of a folder in which git looks for its own programs."""
    if word.value != "":
        yield FloorVerdict(ask("F9", f"Git would take its own programs from `{word.source}`."))


def repository(word: Word, scene: CommandContext) -> Iterator[Action]:
    """Yield the actions of a named repository: without F4's protection, its settings and hooks may be anybody's."""
    path = _path(word, scene)
    if path is None:
        yield FloorVerdict(ask("F9", f"{_UNSEEN}: those of the repository `{word.source}`."))
    elif not protected_names.unwritten(protected_names.components(path)):
        yield from _kept_by_nobody(path, word, scene)


def _kept_by_nobody(path: str, word: Word, scene: CommandContext) -> Iterator[Action]:
    files = scene.world.files
    if files.look(join(path, "commondir")) is not None:
        yield FloorVerdict(ask("F9", f"{_UNSEEN}: the repository `{word.source}` has them elsewhere."))
        return
    yield from file(_named(join(path, "config"), word), scene)
    yield from file(_named(join(path, "config.worktree"), word), scene, may_be_missing=True)
    if any(not each.endswith(".sample") for each in files.matches(join(path, "hooks"), "*")):
        yield from hooks(_named(join(path, "hooks"), word), scene)


def around(scene: CommandContext) -> Iterator[Action]:
    """Yield the actions of a bare repository that git finds by itself: a folder with all of a repository's parts."""
    folder = normpath(scene.here)
    while paths.is_inside(folder, scene.world):
        look = scene.world.files.look
        if look(join(folder, ".git")) is not None:
            return
        if all(look(join(folder, each)) is not None for each in ("HEAD", "objects", "refs")):
            yield from repository(plain(folder), scene)
            return
        folder = dirname(folder)


def of_home(scene: CommandContext) -> Iterator[Action]:
    """Yield the actions of the settings in a home that the command is given."""
    for name, path in (
        ("HOME", ".gitconfig"),
        ("HOME", ".config/git/config"),
        ("XDG_CONFIG_HOME", "git/config"),
    ):
        home = inherited_environment.word(name, scene)
        if home is not None and home.value and home.value != scene.world.home:
            yield from file(plain(join(home.value, path)), scene, may_be_missing=True)


def _path(word: Word, scene: CommandContext) -> str | None:
    """Return the absolute path of a word for git, which knows the tilde."""
    if word.value is None or (scene.cwd is None and not word.value.startswith(("/", "~"))):
        return None
    return scene.world.absolute(paths.with_home(word.value, scene.world), scene.here)


def _named(path: str, word: Word) -> Word:
    return Word(plain(path).parts, word.source)


def _from(folder: str | None, value: Word, scene: CommandContext) -> Word:
    """Return the path of a file that another includes: it begins at that one's folder."""
    if folder is None or value.value is None:
        return value
    return plain(join(folder, paths.with_home(value.value, scene.world)))
