"""Values of `$name` and `${name…}`, where they are known."""

from fnmatch import fnmatchcase

from shellgate.shell.known_state import ShellState, Value
from shellgate.shell.program import Glob, Text
from shellgate.shell.syntax.shell_tokens import Parameter, Piece, Plain, Quoted, decode

_REMOVALS = frozenset({"#", "##", "%", "%%"})
_DEFAULTS = frozenset({"-", ":-", "=", ":=", "?", ":?"})
MANY = frozenset({"@", "*"})


def value(parameter: Parameter, state: ShellState) -> Value:
    """Return the value of a parameter, if it is known."""
    held = None if parameter.prefix else state.value(parameter.name)
    if held is None:
        return None
    text = _text(held)
    operator = parameter.operator
    if not operator or (operator in _DEFAULTS and (text or operator in {"-", "=", "?"})):
        return held
    argument = _literal(parameter.argument)
    if text is None or argument is None:
        return None
    if operator in _REMOVALS:
        return _without(text, operator, _live(parameter))
    if operator == ":+" and not text:
        return (Text(""),)
    is_told = operator in {":-", ":=", "+", ":+"} and (parameter.is_quoted or _is_one(argument))
    return (Text(argument),) if is_told else None


def _text(held: tuple[Text | Glob, ...]) -> str | None:
    if all(isinstance(part, Text) for part in held):
        return "".join(part.text for part in held)
    return None


def _is_one(text: str) -> bool:
    """Tell whether a text stays as it is without quotes."""
    return not any(mark in text for mark in " \t\n*?[\\~") and text != ""


def _literal(pieces: tuple[Piece, ...]) -> str | None:
    """Return the text of pieces that expand to themselves."""
    text = ""
    for piece in pieces:
        if isinstance(piece, Quoted) or (isinstance(piece, Plain) and not piece.text.startswith("~")):
            text += decode(piece.text)
        else:
            return None
    return text


def _live(parameter: Parameter) -> tuple[Piece, ...]:
    """The pieces of a pattern: quotes around the whole expansion do not take its magic, only quotes within do."""
    if not parameter.is_quoted:
        return parameter.argument
    if any(mark in parameter.source[2:] for mark in "'\"\\`$"):
        return tuple(Plain("[") if isinstance(piece, Quoted) else piece for piece in parameter.argument)
    return tuple(Plain(piece.text) if isinstance(piece, Quoted) else piece for piece in parameter.argument)


def _without(text: str, operator: str, pieces: tuple[Piece, ...]) -> Value:
    """A text without the beginning or the end that a pattern matches."""
    if any(mark in piece.text for piece in pieces if isinstance(piece, Plain) for mark in "[]\\"):
        return None
    pattern = "".join(
        decode(piece.text) if isinstance(piece, Plain) else _protected(decode(piece.text))
        for piece in pieces
        if isinstance(piece, Plain | Quoted)
    )
    lengths = range(len(text) + 1) if len(operator) == 1 else range(len(text), -1, -1)
    for length in lengths:
        cut = text[:length] if operator[0] == "#" else text[len(text) - length :]
        if fnmatchcase(cut, pattern):
            return (Text(text[length:] if operator[0] == "#" else text[: len(text) - length]),)
    return (Text(text),)


def _protected(text: str) -> str:
    return "".join(f"[{mark}]" if mark in "*?[" else mark for mark in text)
