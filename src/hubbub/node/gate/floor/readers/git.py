"""`git`: exempt from F4, but not from what it runs for others: aliases, hooks, pagers, helpers, remotes."""

import re
from collections.abc import Iterator

from hubbub.node.gate import paths
from hubbub.node.gate.floor import quiet
from hubbub.node.gate.floor.deeds import Call, Concern, Deed, OnlyReads, Run, Shell, Touch, Use, Verdict
from hubbub.node.gate.floor.programs import USAGES
from hubbub.node.gate.floor.readers import by_table
from hubbub.node.gate.floor.usage import Arguments, Usage, arguments, names, table
from hubbub.node.gate.floor.verdicts import ask, deny
from hubbub.node.gate.floor.words import is_known, plain, without
from hubbub.node.gate.shell.program import Word

_BEFORE = table("""
git | x* | c=t C=l git-dir=l work-tree=l namespace=t exec-path?=r config-env=t super-prefix=t |
""")["git"]
_BEFORE_READING = names(
    "C P no-pager no-optional-locks literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs version v"
    " no-replace-objects no-lazy-fetch html-path man-path info-path c"
)

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
_LOOKS = {  # by the first word, and by all others
    "branch": (
        _BRANCHES
        := r"-[avrl]+|-vv|--list|--show-current|--all|--remotes|--(no-)?(contains|merged).*|--sort.*"
        r"|--format.*|--points-at.*|--column.*|--no-color|--ignore-case|",
        _BRANCHES,
    ),
    "tag": (
        _TAGS := r"-l|--list|-n\d*|--(no-)?(contains|merged).*|--sort.*|--format.*|--points-at.*|--column.*|",
        _TAGS,
    ),
    "remote": (r"-v|--verbose|get-url|", r"--all|--push|[\w.][\w./-]*"),
    "stash": (r"list|show", r"-p|--stat|--name-only|--name-status|--oneline|stash@\{\d+\}|\d+|-\d+"),
    "worktree": (r"list", r"--porcelain|-v|-z"),
    "submodule": (r"status|summary|--recursive|", r"--recursive|--cached"),
    "notes": (r"list|show|", r"[\w.][\w./~^-]*"),
    "bisect": (r"log", r""),
    "reflog": (r"show|HEAD|-n\d*|-\d+|--all|", r"HEAD(@\{.*\})?|-n|-?\d+|--all|--oneline|--date=[\w:-]+"),
}
_LISTS = frozenset({"-l", "--list"})  # with which `tag` and `branch` take patterns
_PRINTS_SETTINGS = names("--get --get-all --get-regexp --get-urlmatch --list -l get list")
_SCOPES = names(
    "--global --local --system --worktree --show-origin --show-scope --null -z --name-only --includes"
)
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
    if not before.flags | {option.name for option, _ in before.values} <= _BEFORE_READING:
        yield Concern("it works on another repository, or in another way than usual")
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
    if usage.is_harmless:
        yield from _looked_at(name, words, found)


def _looked_at(name: str, words: list[Word], found: Arguments) -> Iterator[Deed]:
    """What a subcommand that only reads is to look at: paths behind `--`, and files as they once were."""
    if clause := quiet.concern(f"git {name}", words):
        yield Concern(clause)
    at = next((place for place, word in enumerate(words) if word.value == "--"), len(words))
    yield from (Touch(word, Use.READ) for word in words[at + 1 :])
    for word in found.operands:
        revision, colon, path = word.known_start.partition(":")
        if colon and revision and path and name not in ("rev-parse", "check-ignore"):
            yield Touch(without(word, len(revision) + 1), Use.READ)


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
    values = [word.value or "" for word in words]
    if not all(map(is_known, words)):
        return False
    if name == "config":
        return next((value for value in values if value not in _SCOPES), "") in _PRINTS_SETTINGS
    if name not in _LOOKS:
        return False
    if name == "tag" or (name == "branch" and "--list" in values):
        values = [value for value in values if value.startswith("-") or not _LISTS.intersection(values)]
    first, others = _LOOKS[name]
    return re.fullmatch(first, next(iter(values), "")) is not None and all(
        re.fullmatch(others, value) for value in values[1:]
    )


def _concern(name: str, usage: Usage) -> Iterator[Deed]:
    if name == "config":
        yield Concern("it changes git's configuration")
    elif name in _FETCHES:
        yield Concern("it fetches code from elsewhere")
    elif name in _HISTORY and not usage.is_harmless:
        yield Concern("it changes history")


READERS = {"git": git}
