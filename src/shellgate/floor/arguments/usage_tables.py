"""Usage tables: the language of the tables in `programs`, and argument lists read by it.

A line of a table has four columns, `names | operands | options | marks`, and may go on in lines that begin with blanks:

- names: several that are alike; `pip/install` is the subcommand `install` of `pip`;
- operands: one letter each (see `Use`), the one with `*` any number of times: `r* w`;
- options that take a value: `t,target-directory=w`, or with `?=` if only a value right behind the name counts; an
  option that is not listed takes none;
- marks: `harmless` (it can only read), `unless=a,b` (but not with one of these), `descends` (into folders),
  `descends=r,recursive` (with one of these), `given=e,f` (with one of these the first operand is like the rest),
  `single` (long options have one dash), `old` (a first word without a dash is options: `tar cf`).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from shellgate.floor.arguments.actions import Use
from shellgate.floor.arguments.shell_words import without
from shellgate.shell.program import Word


@dataclass(frozen=True, slots=True)
class Option:
    """An option that takes a value."""

    name: str  # the first of its names
    use: Use
    is_attached: bool  # a value counts only right behind the name


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The usage of one program's arguments."""

    before: tuple[Use, ...] = ()  # of the first operands
    every: Use | None = None  # of those between
    after: tuple[Use, ...] = ()  # of the last ones
    options: Mapping[str, Option] = field(default_factory=dict)  # by each of their names
    descends: frozenset[str] = frozenset()  # options with which it goes into folders
    follows: frozenset[str] = frozenset()  # options with which it goes where links lead
    always_descends: bool = False
    given: frozenset[str] = frozenset()  # options that replace the first operand
    is_harmless: bool = False
    unless: frozenset[str] = frozenset()
    is_single: bool = False
    is_old: bool = False

    @property
    def runs(self) -> bool:
        """True if a command follows its own words, with options of its own."""
        return not {Use.RUN, Use.SHELL}.isdisjoint((*self.before, self.every))

    def name(self, written: str) -> str:
        """Return the option of an abbreviation; of several, the most important one."""
        known = (*self.descends, *self.follows, *self.unless, *self.given, *self.options)
        if written in known or not written:
            return written
        return next((name for name in known if len(name) > 1 and name.startswith(written)), written)

    def uses(self, found: "Arguments") -> tuple[Use, ...]:
        """Return the use of each of the operands."""
        count = len(found.operands)
        if self.every is not None and found.has(self.given):
            return (self.every,) * count
        if count < len(self.before) + len(self.after):
            return (*self.before, *self.after)[:count] if self.before else self.after[-count or count :]
        between = count - len(self.before) - len(self.after)
        every = self.every or (self.after[-1] if self.after else (self.before or (Use.EITHER,))[-1])
        return (*self.before, *[every] * between, *self.after)


@dataclass(slots=True)
class Arguments:
    """An argument list, taken apart by a usage."""

    usage: Usage
    flags: set[str] = field(default_factory=set)
    values: list[tuple[Option, Word]] = field(default_factory=list)
    strays: list[Word] = field(default_factory=list)  # values of options that the table does not list
    doubtful: list[Word] = field(default_factory=list)  # values that are operands where our table is wrong
    operands: list[Word] = field(default_factory=list)

    def of(self, *names: str) -> list[Word]:
        """Return the values of the options with these names."""
        return [word for option, word in self.values if option.name in names]

    def has(self, names: Iterable[str]) -> bool:
        """Tell whether one of these was given, with or without a value."""
        return not self.flags.isdisjoint(names) or any(option.name in names for option, _ in self.values)


def names(text: str) -> frozenset[str]:
    """Return the names in a text, separated by blanks."""
    return frozenset(text.split())


def table(text: str) -> dict[str, Usage]:
    """Return the programs of a table, by name."""
    usages: dict[str, Usage] = {}
    for line in filter(None, re.sub(r"\n +", " ", re.sub(r"(?m)^#.*$", "", text)).splitlines()):
        called, operands, options, marks = (column.strip() for column in line.split("|"))
        usage = _usage(operands, options, marks)
        usages |= dict.fromkeys((name.replace("/", " ") for name in called.split()), usage)
    return usages


def _usage(operands: str, options: str, marks: str) -> Usage:
    letters = operands.split()
    star = next((place for place, letter in enumerate(letters) if letter.endswith("*")), len(letters))
    marked = dict(mark.partition("=")[::2] for mark in marks.split())
    return Usage(
        before=tuple(Use(letter) for letter in letters[:star]),
        every=Use(letters[star][0]) if star < len(letters) else None,
        after=tuple(Use(letter) for letter in letters[star + 1 :]),
        options=dict(pair for option in options.split() for pair in _option(option)),
        descends=frozenset(filter(None, marked.get("descends", "").split(","))),
        follows=frozenset(filter(None, marked.get("follows", "").split(","))),
        given=frozenset(filter(None, marked.get("given", "").split(","))),
        always_descends=marked.get("descends") == "",
        is_harmless="harmless" in marked,
        unless=frozenset(filter(None, marked.get("unless", "").split(","))),
        is_single="single" in marked,
        is_old="old" in marked,
    )


def _option(written: str) -> Iterable[tuple[str, Option]]:
    called, _, letter = written.partition("=")
    each = called.rstrip("?").split(",")
    option = Option(each[0], Use(letter), called.endswith("?"))
    return ((name, option) for name in each)


def arguments(words: Iterable[Word], usage: Usage) -> Arguments:
    """Parse the words after a program's name, as the program would."""
    return _Scan(list(words), usage).read()


class _Scan:
    """One pass over an argument list."""

    def __init__(self, words: list[Word], usage: Usage) -> None:
        self.words, self.usage, self.found = words, usage, Arguments(usage)

    def read(self) -> Arguments:
        if self.usage.is_old and self.words and not self.words[0].known_start.startswith("-"):
            self._letters(self.words.pop(0), 0, may_be_attached=False)
        while self.words:
            word = self.words.pop(0)
            start = word.known_start
            if word.value == "--":
                self.found.operands += self.words
                break
            if not start.startswith("-") or word.value == "-":
                self.found.operands.append(word)
                if self.usage.runs:
                    self.found.operands += self.words
                    break
            elif start.startswith("--") or self.usage.is_single:
                self._long(word, start)
            else:
                self._letters(word, 1, may_be_attached=True)
        return self.found

    def _long(self, word: Word, start: str) -> None:
        written, equals, _ = start.partition("=")
        name = self.usage.name(written[2:]) if start.startswith("--") else written[1:]
        option = self.usage.options.get(name)
        if equals:
            value = without(word, len(written) + 1)
            if option:
                self.found.values.append((option, value))
            else:
                self.found.flags.add(name)
                self.found.strays.append(value)
        elif option and not option.is_attached and self.words:
            self.found.values.append((option, self.words.pop(0)))
        elif (
            option is None and len(start) > 2 and start[1] in self.usage.options
        ):  # `-ofile`, `-I/usr/include`
            self.found.values.append((self.usage.options[start[1]], without(word, 2)))
        else:
            self.found.flags.add(option.name if option else name)

    def _letters(self, word: Word, begin: int, *, may_be_attached: bool) -> None:
        letters = word.known_start
        for place in range(begin, len(letters)):
            letter = letters[place]
            option = self.usage.options.get(letter)
            rest = without(word, place + 1)
            if option and rest.parts and may_be_attached:
                self.found.values.append((option, rest))
                return
            if option and not option.is_attached and self.words:
                self.found.doubtful.append(self.words[0])
                self.found.values.append((option, self.words.pop(0)))
            elif not letter.isalnum():
                self.found.strays.append(without(word, place))
                return
            else:
                self.found.flags.add(option.name if option else letter)
