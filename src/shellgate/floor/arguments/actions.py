"""Actions of a command, in the few terms that the floor judges: it touches paths, and it runs other things.

A reader turns the words of one program into actions; it does not say what is allowed. `judgement` does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from shellgate.decision import Decision
from shellgate.shell.program import Program, SimpleCommand, Word
from shellgate.world import World


class Use(Enum):
    """The meaning of a word to a program; the value is its letter in the tables of programs."""

    TEXT = "t"  # never a path: a message, a pattern, a number, a host
    READ = "r"
    LIST = "l"  # only listed: its name, size, times
    WRITE = "w"  # made, changed or linked
    DELETE = "d"  # deleted, or moved away
    MODE = "m"  # its owner or permissions are changed
    EITHER = "e"  # unknown
    SHELL = "s"  # shell code
    CODE = "c"  # code in the program's own language
    RUN = "x"  # the name of a command, whose words follow


REMOVES = frozenset({Use.DELETE, Use.MODE})  # the subject of F1, when it descends
CHANGES = frozenset({Use.WRITE, Use.DELETE, Use.MODE})


@dataclass(frozen=True, slots=True)
class TouchPath:
    """A path is used."""

    word: Word
    use: Use
    descends: bool = False  # with all that is beneath it
    must_be_known: bool = False  # F9 asks about a path known only when it runs
    is_swept: bool = False  # by a search: see `RunCommand`
    is_guess: bool = False  # it may not be a path at all
    follows: bool = False  # links that are beneath it, too


@dataclass(frozen=True, slots=True)
class RunCommand:
    """Another command is run, given by its words.

    If found or read texts become a part of it, `instances` are the possible resulting commands.
    """

    words: tuple[Word, ...]
    instances: tuple[tuple[Word, ...], ...] = ()
    is_swept: bool = False  # once for each file of whole folders: hidden ones too, and all content
    is_guess: bool = False  # it is unknown whether it runs
    only: frozenset[str] | None = None  # the clauses that count in it
    cwd: Word | None = None  # the folder that it is run in, if another
    variables: tuple[tuple[str, Word], ...] = ()  # additional variables of its environment


@dataclass(frozen=True, slots=True)
class RunShell:
    """A piece of shell is run."""

    text: Word
    is_guess: bool = False
    only: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class RunCode:
    """A piece of another language is run."""

    text: Word


@dataclass(frozen=True, slots=True)
class FloorVerdict:
    """The floor's own verdict on the command."""

    decision: Decision


@dataclass(frozen=True, slots=True)
class Concern:
    """A concern of the shipped policy: one clause."""

    clause: str


@dataclass(frozen=True, slots=True)
class OnlyReads:
    """The command itself changes nothing; the paths and commands in it may still be of concern."""


Action = TouchPath | RunCommand | RunShell | RunCode | FloorVerdict | Concern | OnlyReads


@dataclass(slots=True)
class ReadingBudget:
    """The rest of the reading budget of one call: commands in commands multiply, and reading must come to an end."""

    left: int  # words
    listed: dict[str, list[str]] = field(default_factory=dict)  # names in folders

    def spend(self, words: int) -> bool:
        """Take a command of so many words on; False if that is too much."""
        self.left -= 1 + words
        return self.left >= 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandContext:
    """The context of a command: the machine, the folder, the program around it."""

    world: World
    program: Program
    command: SimpleCommand  # as the shell's text has it; wrappers and what they wrap share one
    cwd: str | None  # None where nobody can tell
    effort: ReadingBudget
    around: tuple[SimpleCommand, ...] = ()  # the commands of the programs that run this one as their code
    environment: tuple[tuple[str, Word], ...] = ()  # variables that the whole program begins with
    variables: tuple[tuple[str, Word], ...] = ()  # that wrappers put into it on the way: `env x=y`
    sets: frozenset[str] = frozenset()  # names of variables that the program sets, or one around it
    links: tuple[tuple[str, str], ...] = ()  # that the program makes: where they are, where they lead
    is_swept: bool = False  # see `RunCommand`
    is_guess: bool = False  # see `RunCommand`
    shows_hidden: bool = False  # patterns fit hidden names too, by an option of the shell
    depth: int = 0  # of code in code

    @property
    def here(self) -> str:
        """The folder in which relative paths are looked up: where that is unknown, the call's own."""
        return self.cwd or self.world.cwd


@dataclass(frozen=True, slots=True)
class ProgramCall:
    """A program with its arguments, about to run."""

    name: str  # without its folder and version, in small letters
    arguments: tuple[Word, ...]
    scene: CommandContext
