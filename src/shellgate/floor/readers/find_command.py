"""`find`: its folders, its matches, and its actions on them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from shellgate import globs, paths
from shellgate.floor.arguments.actions import (
    Action,
    FloorVerdict,
    OnlyReads,
    ProgramCall,
    RunCommand,
    TouchPath,
    Use,
)
from shellgate.floor.arguments.shell_words import beneath, filled, plain, unknown
from shellgate.shell.program import Glob, Text, Word
from shellgate.verdicts import ask

_NAMES = ("-name", "-iname")
_PATHS = ("-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex")
_READS = ("-newer", "-anewer", "-cnewer", "-samefile", "-files0-from")
_WRITES = ("-fprint", "-fprint0", "-fls", "-fprintf")
_RUNS = ("-exec", "-execdir", "-ok", "-okdir")
_SHARED = ("/tmp", "/var/tmp", "/private/tmp")  # noqa: S108, everybody's: one clears up after oneself there
_KEYS = ("shadow", "gshadow", "passwd", "sudoers", "id_rsa", "id_ed25519", "id_ecdsa", "authorized_keys")
_OF_GIT = ("config", "HEAD", "index", "hooks", "objects", "refs")  # in a folder of git's own
FOUND = "{}"


@dataclass(slots=True)
class Search:
    """One use of `find`: its starts, its conditions, and its actions on the matches."""

    starts: list[Word] = field(default_factory=list)
    names: list[Word] = field(default_factory=list)  # patterns; one must match
    paths: list[Word] = field(default_factory=list)  # likewise, of whole paths
    deepest: int | None = None  # levels below the start, with `-maxdepth`
    is_below: bool = False  # not the start itself
    is_bare: bool = False  # only what has nothing in it: empty files and folders, links
    is_wide: bool = False  # one of several choices has no pattern
    follows: bool = False  # links on the way, too
    leaves_hidden: bool = False  # whatever is hidden is left out
    deletes: bool = False
    runs: list[tuple[Word, ...]] = field(default_factory=list)
    touches: list[TouchPath] = field(default_factory=list)

    @property
    def is_narrow(self) -> bool:
        return bool(self.names or self.paths or self.is_bare) and not self.is_wide

    def finds(self) -> list[Word]:
        """Return words that stand for all possible matches."""
        if self.is_narrow:
            names = [beneath(start, _as_pattern(name)) for start in self.starts for name in self.names]
            return names + [beneath(start, _as_name(path)) for start in self.starts for path in self.paths]
        below = [beneath(start, self._anything()) for start in self.starts]
        return below if self.is_below or self.leaves_hidden else [*self.starts, *below]

    def everything(self) -> list[Word]:
        """Return words that stand for all visited paths."""
        return [beneath(start, self._anything()) for start in self.starts]

    def keys(self, call: ProgramCall) -> list[Word]:
        """Yield keys and passwords that are searched for by their very names in their usual places."""
        sought = [name for name in self.names if name.value in _KEYS]
        return [beneath(plain(folder), name) for folder in self._closed(call) for name in sought]

    def perhaps(self, call: ProgramCall) -> list[Word]:
        """Yield possible matches in folders that are closed to agents."""
        sought = [*self.names, *map(_last, self.paths)]
        return [beneath(plain(folder), _as_pattern(name)) for folder in self._closed(call) for name in sought]

    def _closed(self, call: ProgramCall) -> list[str]:
        world = call.scene.world
        starts = {
            world.files.resolve(world.absolute(start.value or "/", call.scene.here)) for start in self.starts
        }
        closed = ["/etc", *(f"{home}/.ssh" for home in (world.home, *world.homes))]
        return [
            folder
            for folder in closed
            if any(self._comes_to(folder, start.rstrip("/") + "/") for start in starts)
        ]

    def _comes_to(self, folder: str, start: str) -> bool:
        """Tell whether the search from the start reaches a folder's content."""
        levels = folder.removeprefix(start).count("/") + 2
        return folder.startswith(start) and (self.deepest is None or levels <= self.deepest)

    def _anything(self) -> Word:
        pattern = "[!.]*" if self.leaves_hidden else "*"
        return Word((Glob(pattern),), pattern)


def search(words: Sequence[Word]) -> Search:
    """The words of a `find`, read."""
    found = Search()
    rest = list(words)
    while rest and (rest[0].value or "")[:2] in ("-H", "-L", "-P", "-O", "-D"):
        found.follows |= rest[0].value == "-L"
        del rest[: 2 if rest[0].value == "-D" else 1]
    while rest and not (rest[0].known_start.startswith("-") or rest[0].value in ("(", ")", "!", ",")):
        found.starts.append(rest.pop(0))
    found.starts = found.starts or [plain(".")]
    _Expression(found).read(rest)
    return found


class _Expression:
    """The conditions and actions of `find`, in their order."""

    def __init__(self, found: Search) -> None:
        self.found = found
        self.is_negated = False
        self.depth = 0
        self.last: Word | None = None  # the pattern before
        self.has_pattern = False  # since the last choice
        self.has_choice = False  # what stands now is one of several

    def read(self, rest: list[Word]) -> None:
        while rest:
            test = rest.pop(0).value or ""
            if test in _NAMES + _PATHS and rest:
                self._pattern(test, rest.pop(0))
            elif test in _RUNS:
                self.found.runs.append(_until_end(rest))
            elif test in _WRITES + _READS and rest:
                self.found.touches.append(TouchPath(rest.pop(0), Use.WRITE if test in _WRITES else Use.READ))
            else:
                self._operator(test, rest)
            self.is_negated = test in ("!", "-not") or (self.is_negated and test == "(")

    def _pattern(self, test: str, pattern: Word) -> None:
        self.last = pattern
        self.has_pattern = True
        if self.is_negated:
            self.found.leaves_hidden |= _is_hidden(pattern)
        elif not _is_everything(pattern):
            (self.found.names if test in _NAMES else self.found.paths).append(pattern)

    def _operator(self, test: str, rest: list[Word]) -> None:
        if test == "-prune" and self.last is not None:
            self.found.leaves_hidden |= _is_hidden(self.last)
        if test in ("-o", "-or", ",") and self.depth == 0:  # what follows is for what the rest did not find
            self.found.names, self.found.paths, self.found.is_bare = [], [], False
        if test in ("-o", "-or", "(", ")", ","):
            if self.depth and self.has_choice | (test == "-o") and not self.has_pattern and test != "(":
                self.found.is_wide = True
            self.has_choice = test == "-o"
            self.has_pattern = test == ")"
        self.depth += {"(": 1, ")": -1}.get(test, 0)
        self.found.deletes |= test == "-delete"
        self.found.follows |= test == "-follow"
        is_link = test in ("-type", "-xtype") and bool(rest) and rest[0].value == "l"
        self.found.is_bare |= (test == "-empty" or is_link) and not self.is_negated
        if test == "-maxdepth" and rest and (rest[0].value or "").isdigit():
            self.found.deepest = int(rest[0].value or "")
        self.found.is_below |= test == "-mindepth" and bool(rest) and rest[0].value != "0"


def _is_hidden(pattern: Word) -> bool:
    return (pattern.value or "").replace("*", "").strip("/.").startswith("git") or "/." in (
        pattern.value or ""
    )


def _is_everything(pattern: Word) -> bool:
    return not any(isinstance(part, Text) and part.text.strip("*?./") for part in pattern.parts)


def _until_end(rest: list[Word]) -> tuple[Word, ...]:
    command: list[Word] = []
    while rest:
        word = rest.pop(0)
        if word.value == ";" or (word.value == "+" and command and command[-1].value == FOUND):
            break
        command.append(word)
    return tuple(command)


def _as_pattern(name: Word) -> Word:
    """The name as the pattern that it is to `find`, whatever quotes it had for the shell."""
    return Word(
        tuple(Glob(part.text) if isinstance(part, Text) else part for part in name.parts), name.source
    )


def _as_name(path: Word) -> Word:
    """Return a path that fits the pattern: the names written out are the ones that matter."""
    text = (path.value or "").replace("\\", "")
    return plain("".join("_" if each in "*?" else each for each in text).lstrip("/."))


def find(call: ProgramCall) -> Iterator[Action]:
    """Read `find`: F1 and F4 for its deletions, or those by its commands."""
    found = search(call.arguments)
    if not found.deletes and not any(touch.use is Use.WRITE for touch in found.touches):
        yield OnlyReads()
    yield from (TouchPath(start, Use.LIST) for start in found.starts)
    yield from found.touches
    if found.deletes:
        all_of_it = found.finds() + _too_high(found, call) + _guarded(found, call)
        yield from (TouchPath(word, Use.DELETE, descends=True, is_swept=True) for word in all_of_it)
        if any(_holds_own(start, call) for start in found.starts):
            yield FloorVerdict(ask("F8", "It would delete from folders in which hubbub keeps its own."))
    for command in found.runs:
        yield from executed(command, found, call)
    if found.follows and found.runs:
        yield from (TouchPath(start, Use.READ, follows=True) for start in found.starts)


def _guarded(found: Search, call: ProgramCall) -> list[Word]:
    """Return the paths in a `.git`, or environment files, that the patterns match without naming them."""
    world = call.scene.world
    words: list[Word] = []
    for path in found.paths:
        text = (path.value or path.pattern or "").replace("\\", "")
        sought = re.findall(r"(?<![\w])\.(?:git|env)(?![\w.])", text.lower())
        words += [beneath(start, plain(name)) for start in found.starts for name in sought]
    for start in found.starts:
        if start.value is None or found.leaves_hidden:
            continue
        if world.files.matches(world.absolute(start.value, call.scene.here), ".git"):
            fits = [globs.component(name.pattern or "*") for name in [*found.names, *map(_last, found.paths)]]
            words += [
                beneath(start, plain(f".git/{each}")) for each in _OF_GIT if any(fit(each) for fit in fits)
            ]
    return words


def _last(path: Word) -> Word:
    text = (path.value or path.pattern or "").rpartition("/")[2]
    return Word((Glob(text),), text)


def _holds_own(start: Word, call: ProgramCall) -> bool:
    """Tell whether the product's own folder is beneath one that holds little else than settings."""
    world = call.scene.world
    path = world.files.resolve(world.absolute(start.value or "/", call.scene.here))
    return path.startswith(f"{world.home}/") and any(own.startswith(f"{path}/") for own in world.own)


def executed(command: tuple[Word, ...], found: Search, call: ProgramCall) -> Iterator[Action]:
    shown = filled(command, FOUND, unknown(FOUND, many=True))

    def each_of(words: list[Word]) -> tuple[tuple[Word, ...], ...]:
        return tuple(filled(command, FOUND, word) for word in words)

    yield RunCommand(shown, each_of(found.finds() + found.keys(call)), is_swept=True)
    if perhaps := found.perhaps(call):
        yield RunCommand(shown, each_of(perhaps), is_swept=True, is_guess=True)
    if guarded := _guarded(found, call):
        yield RunCommand(shown, each_of(guarded), is_swept=True, is_guess=True)
    if high := _too_high(found, call):
        yield RunCommand(shown, each_of(high), is_swept=True, only=frozenset({"F1"}))


def _too_high(found: Search, call: ProgramCall) -> list[Word]:
    """Return all visited paths, if their folder is vital: there a name is no limit."""
    world = call.scene.world
    vital = [
        paths.vital(world.absolute(start.value or "/", call.scene.here), world) for start in found.starts
    ]
    return [
        word
        for word, why in zip(found.everything(), vital, strict=True)
        if found.is_narrow and why and word.known_start.rstrip("/") not in _SHARED
    ]


READERS = {"find": find, "gfind": find}
