"""Known state at a command: variables, and its possible folders."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from shellgate.shell.program import Glob, Text

Value = tuple[Text | Glob, ...] | None  # None: known only when it runs

_FOLDERS = 6  # more folders than that count as unknown

# What bash changes by itself, or does not keep as assigned.
_OF_BASH = """
_ RANDOM SRANDOM SECONDS LINENO EPOCHSECONDS EPOCHREALTIME BASHPID BASH_COMMAND BASH_SUBSHELL
BASH_ARGV0 BASH_ARGC BASH_ARGV BASH_LINENO BASH_SOURCE BASH_VERSINFO BASH_VERSION BASH_REMATCH
BASH_EXECUTION_STRING BASH_ALIASES BASH_CMDS DIRSTACK EUID UID PPID FUNCNAME GROUPS HISTCMD HOSTNAME
HOSTTYPE MACHTYPE OSTYPE OPTARG OPTIND OPTERR PIPESTATUS REPLY MAPFILE COPROC SHELLOPTS BASHOPTS
SHLVL COMP_WORDBREAKS IFS PS4 BASH_ENV ENV PROMPT_COMMAND
"""
OF_BASH = frozenset(_OF_BASH.split())


@dataclass(frozen=True, slots=True)
class ShellState:
    """One moment of a program. `folders` are those it may be in; None where that is unknown."""

    variables: Mapping[str, Value]
    folders: tuple[str, ...] | None
    previous: tuple[str, ...] | None = None  # where `cd -` goes
    splits_plainly: bool = True  # IFS is as bash starts with it
    exits_on_failure: bool = False
    is_lost: bool = False  # code has run that was not read: nothing is known from here on

    def value(self, name: str) -> Value:
        """Return the value of a variable, if it is known."""
        if name == "PWD":
            return _only(self.folders)
        if name == "OLDPWD":
            return _only(self.previous)
        if name == "IFS":
            return (Text(" \t\n"),) if self.splits_plainly else None
        return None if name in OF_BASH else self.variables.get(name)

    def assign(self, name: str, value: Value) -> "ShellState":
        """The moment after an assignment."""
        if self.is_lost:
            return self
        if name == "IFS":
            return replace(self, splits_plainly=False)
        if name in {"PWD", "OLDPWD"}:
            return replace(self, folders=self.folders if name == "OLDPWD" else None, previous=None)
        return replace(self, variables={**self.variables, name: value})

    def forget(self, names: Iterable[str]) -> "ShellState":
        """The moment when these may hold anything."""
        changed = self
        for name in names:
            changed = changed.assign(name, None)
        return changed

    def forget_all(self) -> "ShellState":
        """The moment after code that was not read."""
        return replace(self, variables={}, folders=None, previous=None, splits_plainly=False, is_lost=True)

    def go(self, folders: tuple[str, ...] | None) -> "ShellState":
        """The moment after a change of folder."""
        return self if self.is_lost else replace(self, folders=_bounded(folders), previous=self.folders)


def _only(folders: tuple[str, ...] | None) -> Value:
    return (Text(folders[0]),) if folders is not None and len(folders) == 1 else None


def _bounded(folders: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return folders if folders is None or len(folders) <= _FOLDERS else None


def either(one: ShellState | None, other: ShellState | None) -> ShellState | None:
    """Return what is known if either may have happened; None stands for an unreachable place."""
    if one is None or one is other:
        return other
    if other is None:
        return one
    variables = {
        name: value if other.variables.get(name, ...) == value else None
        for name, value in one.variables.items()
    }
    variables |= {name: None for name in other.variables if name not in one.variables}
    return ShellState(
        variables,
        _union(one.folders, other.folders),
        _union(one.previous, other.previous),
        one.splits_plainly and other.splits_plainly,
        one.exits_on_failure and other.exits_on_failure,
        one.is_lost or other.is_lost,
    )


def _union(one: tuple[str, ...] | None, other: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if one is None or other is None:
        return None
    return _bounded(tuple(dict.fromkeys(one + other)))


@dataclass(frozen=True, slots=True)
class EndStates:
    """The possible ends of a command: the states after its success and its failure, None for an impossible one."""

    success: ShellState | None
    failure: ShellState | None

    @property
    def any(self) -> ShellState | None:
        return either(self.success, self.failure)
