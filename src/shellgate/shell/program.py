"""A piece of shell, read: every simple command in it, its words resolved as far as they are known.

Nothing that bash would run is missing here: an unreadable part is a `Doubt`, and a doubt must be asked about.
"""

from dataclasses import dataclass, field
from enum import Enum, auto


@dataclass(frozen=True, slots=True)
class Text:
    """A part of a word that is known: after removal of quotes, escapes and tilde, with known variables filled in."""

    text: str


@dataclass(frozen=True, slots=True)
class Glob:
    """An unquoted pattern in a word: `*`, `?`, `[…]`, as written."""

    text: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """A part of a word that is known only when it runs; `may_be_many` if it can become several words, or none."""

    source: str  # as written, for people
    may_be_many: bool = False


WordPart = Text | Glob | Unknown


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command; brace expansion has been done, so that each word is one."""

    parts: tuple[WordPart, ...]
    source: str  # as written, for people
    is_quoted: bool = False  # any of it: then an empty word counts, and an option may be data
    value: str | None = field(
        init=False, repr=False, compare=False
    )  # all of it, if it is known and no pattern

    def __post_init__(self) -> None:
        """Tell the value once: it is asked for again and again."""
        texts = [part.text for part in self.parts if isinstance(part, Text)]
        object.__setattr__(self, "value", "".join(texts) if len(texts) == len(self.parts) else None)

    @property
    def pattern(self) -> str | None:
        """Return the word with its patterns as written, if nothing in it is unknown; else None."""
        if any(isinstance(part, Unknown) for part in self.parts):
            return None
        return "".join(part.text for part in self.parts if not isinstance(part, Unknown))

    @property
    def known_start(self) -> str:
        """Return the known part of the word before any unknown one."""
        start = ""
        for part in self.parts:
            if not isinstance(part, Text):
                break
            start += part.text
        return start


@dataclass(frozen=True, slots=True)
class Assignment:
    """`NAME=value`, before a command or alone."""

    name: str
    value: Word
    appends: bool = False


@dataclass(frozen=True, slots=True)
class Redirect:
    """A redirection. Here-documents and here-strings have their text in `body`, and no target."""

    operator: str  # `>`, `>>`, `>|`, `&>`, `&>>`, `<`, `<>`, `>&`, `<&`, `<<`, `<<-`, `<<<`
    descriptor: str | None
    target: Word | None
    body: Word | None = None

    @property
    def writes(self) -> bool:
        return ">" in self.operator


class Place(Enum):
    """The place of a command in the program, as far as it matters."""

    PLAIN = auto()
    SUBSTITUTION = auto()  # `$(…)`, backquotes, `<(…)`, `>(…)`
    FUNCTION = auto()  # in the body of a function: it runs when that is called
    TRAP = auto()  # code given to `trap`, `alias`, `mapfile -C` and the like


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One simple command. `words[0]` is its name; there is none in a line of mere assignments or redirections."""

    words: tuple[Word, ...]
    source: str
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    # The folder it runs in: absolute, links in it not resolved; None where `cd` went somewhere unknown. Where a `cd`
    # before it may have failed, the command stands in the program once for each folder that it may run in.
    cwd: str | None = None
    place: Place = Place.PLAIN
    function: str | None = None  # the function whose body it is in
    # The command before it in a pipe; not compared, since pipes are longer than comparing can go deep.
    reads_from: "SimpleCommand | None" = field(default=None, compare=False)
    is_piped: bool = False  # whether its standard input is a pipe, also from a group or a loop
    is_background: bool = False
    is_looped: bool = False  # in a loop's body or condition
    loop_multiplies: bool = False  # that loop does not wait for it to end
    loop_is_endless: bool = False  # that loop's condition is constant, or cannot be told

    @property
    def name(self) -> Word | None:
        return self.words[0] if self.words else None


@dataclass(frozen=True, slots=True)
class Doubt:
    """A text that bash may understand otherwise than we do, or that is known only when it runs."""

    reason: str  # one clause for people: "it has a construct that …"
    source: str = ""


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call between functions, and its manner: the material of fork bombs."""

    caller: str
    callee: str
    is_background: bool
    is_piped: bool


@dataclass(frozen=True, slots=True)
class Program:
    """All commands of a piece of shell, in the order of its text."""

    commands: tuple[SimpleCommand, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    functions: tuple[str, ...] = ()
    calls: tuple[FunctionCall, ...] = ()
    mentioned: tuple[Word, ...] = ()  # words that are in no command: those of a loop, the operands of `[[`
    too_large: str | None = None  # over a limit: the sentence that says which
