"""`git`: exempt from F4, but not for the programs it runs: aliases, hooks, pagers, helpers, remotes."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from shellgate import paths
from shellgate.floor.arguments.actions import (
    Action,
    Concern,
    FloorVerdict,
    OnlyReads,
    ProgramCall,
    RunCommand,
    RunShell,
    TouchPath,
    Use,
)
from shellgate.floor.arguments.shell_words import beneath, is_known, joined, plain, without
from shellgate.floor.arguments.usage_tables import Arguments, Usage, arguments, names, table
from shellgate.floor.dataflow import inherited_environment, unpacking
from shellgate.floor.git import git_reads, git_settings
from shellgate.floor.programs import USAGES
from shellgate.floor.programs import git_subcommands as git_programs
from shellgate.floor.readers import by_table, copying
from shellgate.shell.program import Unknown, Word
from shellgate.verdicts import ask, deny

_BEFORE = table("""
git | x* | c=t C=l git-dir=l work-tree=t namespace=t exec-path?=t config-env=t super-prefix=t attr-source=t |
""")["git"]
_BEFORE_READING = names(
    "C P no-pager no-optional-locks literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs version v"
    " no-replace-objects no-lazy-fetch html-path man-path info-path c"
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
_HISTORY = names(
    "rebase reset commit push merge cherry-pick revert am filter-branch filter-repo replace update-ref gc prune reflog"
    " tag branch stash clean rm"
)
_FETCHES = names("clone fetch pull submodule remote")
_KEEPS_FILES = names(  # they leave the work tree as it is
    "status diff log show shortlog whatchanged rev-list rev-parse ls-files ls-tree cat-file add commit branch tag"
    " remote config fetch push describe blame annotate grep notes reflog diff-tree diff-index diff-files range-diff"
    " for-each-ref show-ref symbolic-ref update-ref update-index hash-object write-tree commit-tree gc fsck prune"
    " count-objects init bundle archive format-patch var version help check-ignore check-attr name-rev merge-base"
    " cherry ls-remote clone"
)


_VERBS = names("set get unset list edit rename-section remove-section")
_ASKS = names("get list")
_ASKS_OPTIONS = names("get get-all get-regexp get-urlmatch list l get-color get-colorbool")
_TAKES_AWAY = names("unset rename-section remove-section edit")
_TAKES_AWAY_OPTIONS = names("unset unset-all rename-section remove-section edit e")
_OWN_FILES = re.compile(r"(.*/)?(\.git/(.+/)?config(\.worktree)?|\.gitmodules|\.lfsconfig)")


def git(call: ProgramCall) -> Iterator[Action]:
    """`git [option…] SUBCOMMAND …`."""
    before = arguments(call.arguments, _BEFORE)
    yield from by_table.by_options(before)
    inside = _in_folder(before.of("C"), call)
    folder = _joined(before.of("C"))
    yield from (_led(deed, folder) for deed in _settings(before, inside))
    if not before.operands:
        yield OnlyReads()
    elif (name := before.operands[0].value) is None:
        yield FloorVerdict(ask("F9", "Only running it tells which command of git it is."))
    else:
        yield from (_led(deed, folder) for deed in _subcommand(name, before, inside))


def direct(call: ProgramCall) -> Iterator[Action]:
    """Read `git-SUBCOMMAND`, the form of git's own programs."""
    yield from git(
        replace(call, name="git", arguments=(plain(call.name.removeprefix("git-")), *call.arguments))
    )


def _settings(before: Arguments, call: ProgramCall) -> Iterator[Action]:
    """Yield the actions of git's settings and places, given by its options and by variables."""
    for word in before.of("c"):
        yield Concern("it changes git's configuration for this call")
        yield from git_settings.pair(word, call.scene)
    for word in before.of("config-env"):
        yield from git_settings.of_variable(word, call.scene)
    for word in before.of("exec-path"):
        yield from git_settings.programs(word)
    for word in before.of("git-dir"):
        yield from git_settings.repository(word, call.scene)
    yield from git_settings.around(call.scene)
    yield from git_settings.of_home(call.scene)
    if not before.flags | {option.name for option, _ in before.values} <= _BEFORE_READING:
        yield Concern("it works on another repository, or in another way than usual")


def _in_folder(folders: list[Word], call: ProgramCall) -> ProgramCall:
    """The call as one in the folder that `-C` names."""
    cwd = call.scene.cwd
    for word in folders:
        cwd = None if word.value is None or cwd is None else call.scene.world.absolute(word.value, cwd)
    return replace(call, scene=replace(call.scene, cwd=cwd)) if folders else call


def _joined(folders: list[Word]) -> Word | None:
    """The way that several `-C` go, with a slash at its end."""
    way: Word | None = None
    for word in folders:
        way = word if way is None or word.known_start.startswith("/") else beneath(way, word)
    return None if way is None else joined(way, plain("/"))


def _led(deed: Action, folder: Word | None) -> Action:
    """Return an action with its path seen from the folder of `-C`."""
    if folder is None or not isinstance(deed, TouchPath) or deed.word.known_start.startswith(("/", "~")):
        return deed
    if deed.use is Use.TEXT or not deed.word.parts:
        return deed
    return replace(deed, word=replace(joined(folder, deed.word), source=deed.word.source))


def _subcommand(name: str, before: Arguments, call: ProgramCall) -> Iterator[Action]:
    words = before.operands[1:]
    usage = USAGES.get(f"git {name}", Usage(every=Use.EITHER))
    found = arguments(words, usage)
    yield from by_table.by_usage(found, call)
    yield from (deed for word in found.operands for deed in git_settings.remote(word))
    yield from _work_tree(name, before, call)
    if name in _ACTS:
        yield from _ACTS[name](found, words, call)
    if name == "clean":
        yield from _clean(before, call)
    if _only_looks(name, words):
        yield OnlyReads()
    else:
        yield from _concern(name, usage)
    if usage.is_harmless:
        yield from git_reads.looked_at(name, words, found, call)
    elif name in ("config", "remote"):
        yield from git_reads.printed(name, words, call)


def _work_tree(name: str, before: Arguments, call: ProgramCall) -> Iterator[Action]:
    """Yield the actions of a given work tree: most subcommands write files there."""
    held = inherited_environment.word("GIT_WORK_TREE", call.scene)
    given = [*before.of("work-tree"), *([held] if held is not None else [])]
    given += [without(word, len("core.worktree=")) for word in before.of("c") if _is_work_tree(word)]
    for word in given:
        yield TouchPath(word, Use.READ if name in _KEEPS_FILES else Use.WRITE)
        if name not in _KEEPS_FILES:
            yield from unpacking.into(word, call.scene)


def _is_work_tree(word: Word) -> bool:
    return word.known_start.lower().startswith("core.worktree=")


def _clone(found: Arguments, _words: list[Word], call: ProgramCall) -> Iterator[Action]:
    """`git clone URL [FOLDER]`: a folder is made, if need be by the last name of the address."""
    yield from (deed for word in found.of("c") for deed in git_settings.pair(word, call.scene))
    yield from _new_repository(found, _words, call)
    yield from _filled(found.operands, call)


def _filled(operands: list[Word], call: ProgramCall) -> Iterator[Action]:
    """Yield the actions of `URL [FOLDER]`: files with unknown names are put into the folder."""
    folder = operands[1] if len(operands) > 1 else _named_by(operands)
    if folder is not None:
        yield TouchPath(folder, Use.WRITE)
        yield from unpacking.into(folder, call.scene)


def _named_by(operands: list[Word]) -> Word | None:
    address = (operands[0].value or "" if operands else "").rstrip("/").removesuffix("/.git").rstrip("/")
    name = re.split(r"[/:]", address)[-1].removesuffix(".git")
    return plain(name) if name not in ("", ".", "..") else None


def _new_repository(found: Arguments, _words: list[Word], call: ProgramCall) -> Iterator[Action]:
    for word in found.of("template"):
        yield from git_settings.template(word, call.scene)


def _submodule(found: Arguments, words: list[Word], call: ProgramCall) -> Iterator[Action]:
    """`git submodule foreach COMMAND`, `git submodule add URL [FOLDER]`."""
    verb = found.operands[0].value if found.operands else None
    if verb == "foreach":
        yield RunShell(by_table.spaced(words[words.index(found.operands[0]) + 1 :]))
    elif verb == "add":
        yield from _filled(found.operands[1:], call)


def _moved(found: Arguments, _words: list[Word], call: ProgramCall) -> Iterator[Action]:
    """`git mv`: it renames first, and refuses what must not be in its index after that."""
    sources, target = copying.ends(found)
    yield from (TouchPath(word, Use.DELETE, descends=True) for word in sources)
    yield from copying.arrivals(sources, target, call)


def _bisect(_found: Arguments, words: list[Word], _call: ProgramCall) -> Iterator[Action]:
    """`git bisect run COMMAND`."""
    if words and words[0].value == "run":
        yield RunCommand(tuple(words[1:]))


def _behind(found: Arguments, _words: list[Word], call: ProgramCall) -> Iterator[Action]:
    """`git checkout-index --prefix=START`, `git read-tree --prefix=START`: each file is written behind that start."""
    for word in found.of("prefix"):
        yield TouchPath(word, Use.WRITE)
        folder = (word.value or "").rpartition("/")
        if folder[1]:
            yield from unpacking.into(plain(folder[0] or "/"), call.scene)


def _worktree(found: Arguments, _words: list[Word], call: ProgramCall) -> Iterator[Action]:
    """`git worktree add FOLDER`, `git worktree move FROM TO`."""
    verb = found.operands[0].value if found.operands else None
    if verb in ("add", "move"):
        for word in found.operands[1 : 2 if verb == "add" else 3]:
            yield TouchPath(word, Use.WRITE)
            yield from unpacking.into(word, call.scene)


def _bundle(found: Arguments, _words: list[Word], _call: ProgramCall) -> Iterator[Action]:
    """`git bundle create FILE`."""
    if found.operands and found.operands[0].value == "create":
        yield from (TouchPath(word, Use.WRITE) for word in found.operands[1:2])


def _apply(found: Arguments, _words: list[Word], call: ProgramCall) -> Iterator[Action]:
    """`git apply`, `git am`: below `--directory`, with `--unsafe-paths` also outside of the work tree."""
    for word in found.of("directory"):
        yield TouchPath(word, Use.WRITE)
        yield from unpacking.into(word, call.scene)
    if found.has(("unsafe-paths",)):
        yield FloorVerdict(
            ask("F9", "Only running it tells which files the patch changes, in the work tree or elsewhere.")
        )


def _hook(found: Arguments, _words: list[Word], _call: ProgramCall) -> Iterator[Action]:
    """`git for-each-repo … COMMAND`: git again."""
    if found.operands:
        yield RunCommand((plain("git"), *found.operands), is_guess=True)


def _config(found: Arguments, _words: list[Word], call: ProgramCall) -> Iterator[Action]:
    """`git config`: a setting, in a file that is git's own or any other."""
    first = found.operands[0].value if found.operands else None
    if first in _ASKS or found.has(_ASKS_OPTIONS):
        return
    for word in found.of("f"):
        if not _OWN_FILES.fullmatch(word.value or ""):
            yield TouchPath(word, Use.WRITE)
    operands = found.operands[1:] if first in _VERBS else found.operands
    if len(operands) > 1 and first not in _TAKES_AWAY and not found.has(_TAKES_AWAY_OPTIONS):
        key, is_told = operands[0], is_known(operands[0])
        text = "".join("_" if isinstance(part, Unknown) else part.text for part in key.parts)
        yield from git_settings.named(text, operands[1], key, call.scene, is_told=is_told)


def _clean(before: Arguments, call: ProgramCall) -> Iterator[Action]:
    """`git clean` where everything in the folder is unknown to git: F1."""
    world = call.scene.world
    for folder in before.of("work-tree") or [plain(call.scene.here)]:
        if why := paths.vital(world.absolute(folder.value or "", call.scene.here), world):
            yield FloorVerdict(
                deny("F1", f"It would remove what git does not know in `{folder.source}`: {why}.")
            )


_ACTS: Mapping[str, Callable[[Arguments, list[Word], ProgramCall], Iterator[Action]]] = {
    "am": _apply,
    "apply": _apply,
    "bisect": _bisect,
    "bundle": _bundle,
    "checkout-index": _behind,
    "clone": _clone,
    "config": _config,
    "for-each-repo": _hook,
    "init": _new_repository,
    "mv": _moved,
    "read-tree": _behind,
    "submodule": _submodule,
    "worktree": _worktree,
}


def _only_looks(name: str, words: list[Word]) -> bool:
    """Tell whether a subcommand that can change something is only asked for a list."""
    values = [word.value or "" for word in words]
    if not all(map(is_known, words)):
        return False
    if name == "config":
        return git_reads.prints_settings(values)
    if name not in _LOOKS:
        return False
    if name == "tag" or (name == "branch" and "--list" in values):
        values = [value for value in values if value.startswith("-") or not _LISTS.intersection(values)]
    first, others = _LOOKS[name]
    return re.fullmatch(first, next(iter(values), "")) is not None and all(
        re.fullmatch(others, value) for value in values[1:]
    )


def _concern(name: str, usage: Usage) -> Iterator[Action]:
    if name == "config":
        yield Concern("it changes git's configuration")
    elif name in _FETCHES:
        yield Concern("it fetches code from elsewhere")
    elif name in _HISTORY and not usage.is_harmless:
        yield Concern("it changes history")


READERS = {"git": git, **{name.replace(" ", "-"): direct for name in git_programs.USAGES}}
