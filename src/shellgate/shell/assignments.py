"""Changes by bash's own commands: variables, the folder, or anything at all."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from shellgate.shell.syntax.quoting import NAME_CHARACTERS, is_name
from shellgate.shell.syntax.shell_tokens import (
    Arithmetic,
    Backquoted,
    Elements,
    Parameter,
    Piece,
    Plain,
    Quoted,
    Region,
    Substitution,
    Token,
    decode,
    within,
)
from shellgate.shell.syntax.statements import Command, Pipeline, Simple
from shellgate.shell.syntax.statements import Sequence as Statements

MOVES = frozenset({"cd", "pushd", "popd"})
DECLARES = frozenset({"declare", "typeset", "local", "readonly", "export"})
_READS_CODE = frozenset(
    {"eval", "source", ".", "trap", "alias", "unalias", "enable", "hash", "complete", "compgen"}
)
_NAMES_LAST = frozenset({"read", "mapfile", "readarray", "getopts", "unset", "wait"}) | DECLARES
_LONGEST_OPTION = 64  # characters; a longer one is no name that anybody uses
_PREFIXES = frozenset({"command", "builtin", "exec"})

Inner = Callable[[Region], Statements]


@dataclass(slots=True)
class StateChanges:
    """Possible changes: how often each variable, how often the folder; `all` when that cannot be told."""

    names: defaultdict[str, int] = field(default_factory=partial(defaultdict, int))
    moves: int = 0
    all: bool = False
    typed: set[str] = field(
        default_factory=set
    )  # variables with attributes: what is assigned is not what they hold

    def add(self, other: "StateChanges") -> None:
        for name, count in other.names.items():
            self.names[name] += count
        self.moves += other.moves
        self.all = self.all or other.all
        self.typed |= other.typed

    def __bool__(self) -> bool:
        return bool(self.names) or self.moves > 0 or self.all


def unwrapped(words: Sequence[str | None]) -> Sequence[str | None]:
    """The words without `command`, `builtin` and `exec`: the command of bash that they lead to."""
    while len(words) > 1 and words[0] in _PREFIXES:
        if words[0] == "command" and words[1] in {"-v", "-V"}:
            return []
        rest = list(words[1:])
        while rest and rest[0] is not None and rest[0].startswith("-"):
            option = rest.pop(0)
            if option == "--":
                break
            if option == "-a":
                rest = rest[1:]
        words = rest
    return words


def of_words(words: Sequence[str | None]) -> StateChanges:
    """Return what a simple command changes, by its words; None is a word that only running tells."""
    words = unwrapped(words)
    if not words:
        return StateChanges()
    name, arguments = words[0], words[1:]
    if name is None or name in _READS_CODE:
        return StateChanges(all=name != "trap" or not _is_at_the_end(arguments))
    if name in MOVES:
        return StateChanges(moves=1)
    return _of_variables(name, arguments)


def _is_at_the_end(arguments: Sequence[str | None]) -> bool:
    """Tell whether a trap is sprung by the program's end alone, or none is set."""
    signals = arguments[2:] if arguments[:1] == ["--"] else arguments[1:]
    return all(signal in {"EXIT", "0"} for signal in signals)


def _of_variables(name: str, arguments: Sequence[str | None]) -> StateChanges:
    if name in _NAMES_LAST:
        changes = _named([*arguments, *_behind_letters(arguments)])
        if name in DECLARES and any(word is None or word[:1] in {"-", "+"} for word in arguments):
            changes.typed.update(changes.names)
        return changes
    if name == "printf":
        return _of_printf(arguments)
    if name == "let":
        return _in_arithmetic(" ".join(word or "" for word in arguments))
    return StateChanges()


def _of_printf(arguments: Sequence[str | None]) -> StateChanges:
    """`printf -v NAME`, in one word or two; an unknown first word may be that, too."""
    first = arguments[0] if arguments else ""
    if first is None:
        return StateChanges(all=True)
    if not first.startswith("-v"):
        return StateChanges()
    return _named([first.removeprefix("-v")] if first != "-v" else arguments[1:2])


def _behind_letters(arguments: Sequence[str | None]) -> list[str]:
    """Return what may be the name in a word like `-raNAME`: everything behind any of its letters."""
    options = [word for word in arguments if word is not None and word.startswith("-")]
    return [word[start:] for word in options for start in range(2, len(word)) if len(word) <= _LONGEST_OPTION]


def _named(arguments: Iterable[str | None]) -> StateChanges:
    changes = StateChanges()
    for argument in arguments:
        if argument is None:
            changes.all = True
            continue
        end = 0
        while end < len(argument) and argument[end] in NAME_CHARACTERS:
            end += 1
        if is_name(argument[:end]):
            changes.names[argument[:end]] += 1
    return changes


def of_pieces(pieces: Iterable[Piece], inner: Inner | None = None) -> StateChanges:
    """Return what expansions change: `${NAME:=…}`, `$((NAME++))`."""
    changes = StateChanges()
    for piece in within(tuple(pieces)):
        if isinstance(piece, Parameter) and piece.operator.lstrip("[]") in {"=", ":="}:
            changes.names[piece.name] += 1
        elif isinstance(piece, Arithmetic):
            changes.add(_in_arithmetic(piece.text))
        elif isinstance(piece, Parameter) and piece.inside and "[]" in piece.operator:
            changes.add(_in_arithmetic(piece.source))
        elif isinstance(piece, Substitution) and inner is not None:
            changes.add(of_statements(inner(piece.region), inner))
        elif isinstance(piece, Backquoted) and inner is not None:
            changes.all = True
    return changes


def _in_arithmetic(text: str) -> StateChanges:
    """All names in arithmetic that assigns."""
    changes = StateChanges()
    if "=" in text or "++" in text or "--" in text:
        name = ""
        for character in text + " ":
            if character in NAME_CHARACTERS:
                name += character
            else:
                if is_name(name):
                    changes.names[name] += 1
                name = ""
    return changes


def assigned(token: Token) -> tuple[str, int, bool] | None:
    """The name in `NAME=…`, where its value begins, and whether it is a whole variable; None for other words."""
    first = token.pieces[0] if token.pieces else None
    if not isinstance(first, Plain):
        return None
    end = 0
    while end < len(first.text) and first.text[end] in NAME_CHARACTERS:
        end += 1
    if not is_name(first.text[:end]):
        return None
    if first.text[end : end + 1] == "[":
        return _assigned_element(token, first.text[:end])
    appends = first.text[end : end + 1] == "+"
    if first.text[end + appends : end + appends + 1] != "=":
        return None
    return first.text[:end], end + appends + 1, True


def _assigned_element(token: Token, name: str) -> tuple[str, int, bool] | None:
    plain = "".join(piece.text if isinstance(piece, Plain) else "\0" for piece in token.pieces)
    depth = 0
    for at, mark in enumerate(plain):
        depth += (mark == "[") - (mark == "]")
        if mark == "]" and depth == 0:
            return (name, 0, False) if plain.startswith(("=", "+="), at + 1) else None
    return None


def of_simple(simple: Simple, inner: Inner | None = None) -> StateChanges:
    """Return what a simple command changes, by its text alone."""
    changes = StateChanges()
    words = list(simple.words)
    while words and (found := assigned(words[0])) is not None:
        changes.names[found[0]] += 1
        changes.add(of_pieces(words.pop(0).pieces, inner))
    for token in words:
        changes.add(of_pieces(token.pieces, inner))
    for redirection in simple.redirections:
        if redirection.descriptor and redirection.descriptor.startswith("{"):
            changes.names[redirection.descriptor[1:-1]] += 1
        pieces = redirection.target.pieces if redirection.target else redirection.body or ()
        changes.add(of_pieces(pieces, inner))
    changes.add(of_words([_literal(token) for token in words]))
    return changes


def _literal(token: Token) -> str | None:
    text = ""
    for piece in token.pieces:
        if isinstance(piece, Plain | Quoted):
            text += decode(piece.text)
        elif text and "=" in text:
            return text  # NAME=…: the name is what matters
        elif isinstance(piece, Elements):
            return text
        else:
            return None
    return None if "{" in text else text


def of_statements(statements: Statements, inner: Inner | None = None) -> StateChanges:
    """Return the possible changes by a list of commands in the shell that runs it.

    With `inner`, which returns the statements of a substitution, in the shells that it starts as well.
    """
    changes = StateChanges()
    for and_or in statements.lists:
        if inner is not None or not and_or.is_background:
            for pipeline in and_or.pipelines:
                changes.add(_of_pipeline(pipeline, inner))
    return changes


def _of_pipeline(pipeline: Pipeline, inner: Inner | None) -> StateChanges:
    changes = StateChanges()
    if inner is not None or len(pipeline.commands) == 1:  # of several, each runs in a shell of its own
        for command in pipeline.commands:
            changes.add(of_command(command, inner))
    return changes


def of_command(command: Command, inner: Inner | None = None) -> StateChanges:
    """Return what a command may change, simple or compound."""
    if isinstance(command, Simple):
        return of_simple(command, inner)
    changes = StateChanges()
    if command.kind == "subshell" and inner is None:
        return changes
    for body in command.bodies:
        changes.add(of_statements(body, inner))
    if command.expression is not None:
        changes.add(of_pieces(command.expression.pieces, inner))
        if command.kind != "test_command":
            changes.add(_in_arithmetic(command.expression.text))
    if command.kind == "for_statement" and command.words:
        changes.names[command.words[0].source] += 1
    for token in command.words:
        changes.add(of_pieces(token.pieces, inner))
    for redirection in command.redirections:
        pieces = redirection.target.pieces if redirection.target else redirection.body or ()
        changes.add(of_pieces(pieces, inner))
    return changes
