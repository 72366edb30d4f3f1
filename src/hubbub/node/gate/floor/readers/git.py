"""`git`: exempt from F4, but not from what it runs for others: aliases, hooks, pagers, helpers, remotes."""

import re
from collections.abc import Iterator

from hubbub.node.gate import paths
from hubbub.node.gate.floor.deeds import Call, Concern, Deed, OnlyReads, Run, Shell, Touch, Use, Verdict
from hubbub.node.gate.floor.programs import USAGES
from hubbub.node.gate.floor.readers import by_table
from hubbub.node.gate.floor.usage import Arguments, Usage, arguments, names, table
from hubbub.node.gate.floor.verdicts import ask, deny
from hubbub.node.gate.floor.words import plain, without
from hubbub.node.gate.shell.program import Word

_BEFORE = table("""
git | x* | c=t C=l git-dir=l work-tree=l namespace=t exec-path?=r config-env=t super-prefix=t |
""")["git"]
_ELSEWHERE = ("C", "git-dir", "work-tree", "exec-path")

# Settings that git takes for commands, and those that it takes for files with more settings.
_COMMANDS = re.compile(
    r"core\.(pager|editor|sshcommand|gitproxy|askpass|fsmonitor|alternaterefscommand)|pager\..+|sequence\.editor"
    r"|diff\.external|interactive\.difffilter|gpg(\..+)?\.program|credential(\..+)?\.helper|web\.browser|instaweb\..+"
    r"|(diff|merge|filter|difftool|mergetool|browser|man|guitool|trailer)\..+\.(command|textconv|driver|clean|smudge"
    r"|process|cmd|path)|uploadpack\.packobjectshook|remote\..+\.(uploadpack|receivepack|vcs)|sendemail\..*cmd"
    r"|submodule\..+\.update|receive\..*hook",
    re.IGNORECASE,
)
_FILES = re.compile(
    r"include(if\..+)?\.path|core\.(hookspath|worktree|attributesfile|excludesfile)|init\.templatedir",
    re.IGNORECASE,
)

# Subcommands that only read if all their words are like these.
_LOOKS = {
    "branch": r"-[avrl]+|--list|--show-current|--all|--remotes|--(no-)?(contains|merged).*|--sort.*|--format.*|",
    "tag": r"-l|--list|-n\d*|--contains.*|--sort.*|--points-at.*|",
    "remote": r"-v|--verbose|show|get-url|origin|upstream|",
    "stash": r"list|show|-p|--stat|stash@\{\d+\}",
    "worktree": r"list|--porcelain|-v",
    "submodule": r"status|summary|--recursive|",
    "notes": r"list|show|",
    "bisect": r"log|view",
    "reflog": r"show|HEAD|-n\d*|-\d+|",
}
_PRINTS_SETTINGS = names("--get --get-all --get-regexp --get-urlmatch --list -l get list")
_HISTORY = names(
    "rebase reset commit push merge cherry-pick revert am filter-branch filter-repo replace update-ref gc prune reflog"
    " tag branch stash clean rm"
)
_FETCHES = names("clone fetch pull submodule remote")


def git(call: Call) -> Iterator[Deed]:
    """`git [option…] SUBCOMMAND …`."""
    before = arguments(call.arguments, _BEFORE)
    yield from by_table.by_options(before, _BEFORE)
    for word in before.of("c"):
        yield Concern("it changes git's configuration for this call")
        yield from _setting_of(word)
    if before.has(_ELSEWHERE):
        yield Concern("it works on another repository")
    if not before.operands:
        yield OnlyReads()
    elif (name := before.operands[0].value) is None:
        yield Verdict(ask("F9", "Only running it tells which command of git it is."))
    else:
        yield from _subcommand(name, before, call)


def _subcommand(name: str, before: Arguments, call: Call) -> Iterator[Deed]:
    words = before.operands[1:]
    usage = USAGES.get(f"git {name}", Usage(every=Use.TEXT))
    found = arguments(words, usage)
    yield from by_table.by_usage(found, usage, call)
    yield from (deed for word in found.operands for deed in _remote(word))
    match name:
        case "config":
            yield from _config(found)
        case "clone":
            yield from (deed for word in found.of("c") for deed in _setting_of(word))
        case "submodule" if found.operands and found.operands[0].value == "foreach":
            yield Shell(by_table.spaced(words[words.index(found.operands[0]) + 1 :]))
        case "bisect" if words and words[0].value == "run":
            yield Run(tuple(words[1:]))
        case "clean":
            yield from _clean(before, call)
    if _only_looks(name, words):
        yield OnlyReads()
    else:
        yield from _concern(name, usage)


def _setting_of(word: Word) -> Iterator[Deed]:
    """What comes of `KEY=VALUE`."""
    key, equals, _ = word.known_start.partition("=")
    yield from _setting(key, without(word, len(key) + 1) if equals else plain("true"))


def _setting(key: str, value: Word) -> Iterator[Deed]:
    """What comes of a setting: many are commands that git will run."""
    if value.known_start.startswith("!"):
        yield Shell(without(value, 1))
    elif key.lower().startswith("alias."):
        yield Run((plain("git"), *map(plain, (value.value or "").split())), is_guess=True)
    elif _COMMANDS.fullmatch(key):
        yield Shell(value)
    elif _FILES.fullmatch(key):
        yield Touch(value, Use.READ)
    elif key.lower() == "protocol.ext.allow":
        yield Verdict(ask("F9", "It lets git run commands that addresses of remotes name."))


def _config(found: Arguments) -> Iterator[Deed]:
    """`git config`: a setting, in a file that is git's own or any other."""
    yield from (Touch(word, Use.WRITE) for word in found.of("f") if ".git" not in (word.value or ""))
    verbs = ("set", "get", "unset", "list", "edit")
    operands = found.operands[1:] if found.operands and found.operands[0].value in verbs else found.operands
    if len(operands) > 1:
        yield from _setting(operands[0].known_start, operands[1])


def _clean(before: Arguments, call: Call) -> Iterator[Deed]:
    """`git clean` where everything in the folder is unknown to git: F1."""
    world = call.scene.world
    for folder in before.of("C", "work-tree") or [plain(call.scene.here)]:
        if why := paths.vital(world.absolute(folder.value or "", call.scene.here), world):
            yield Verdict(deny("F1", f"It would remove what git does not know in `{folder.source}`: {why}."))


def _remote(word: Word) -> Iterator[Deed]:
    """`ext::COMMAND` as an address: git would run it."""
    text = word.known_start
    if text.startswith("ext::"):
        pieces = text.removeprefix("ext::").replace("% ", "\0").split(" ")
        yield Run(tuple(plain(piece.replace("\0", " ").replace("%%", "%")) for piece in pieces))
        yield Verdict(ask("F9", "The address of the remote is a command."))
    elif text.startswith("file://"):
        yield Touch(without(word, len("file://")), Use.READ)


def _only_looks(name: str, words: list[Word]) -> bool:
    """Whether a subcommand that can change something is only asked what there is."""
    values = [word.value for word in words]
    if name == "config":
        return bool(_PRINTS_SETTINGS.intersection(filter(None, values[:3])))
    pattern = _LOOKS.get(name)
    if pattern is None or None in values:
        return False
    return all(re.fullmatch(pattern, value or "") for value in values or [""])


def _concern(name: str, usage: Usage) -> Iterator[Deed]:
    if name == "config":
        yield Concern("it changes git's configuration")
    elif name in _FETCHES:
        yield Concern("it fetches code from elsewhere")
    elif name in _HISTORY and not usage.is_harmless:
        yield Concern("it changes history")


READERS = {"git": git}
