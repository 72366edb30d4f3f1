"""Text that is code though it looks like an argument: of `trap`, `mapfile -C`, `PS4` and the like (F9)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shellgate.shell.assignments import DECLARES, unwrapped
from shellgate.shell.program import Word
from shellgate.shell.syntax.quoting import is_name

_NAMING = frozenset({"printf", "read", "unset", "getopts", "let", "wait", "test", "["}) | DECLARES
_CODE_VARIABLES = frozenset({"PROMPT_COMMAND"})
_PROMPTS = frozenset({"PS0", "PS1", "PS2", "PS3", "PS4"})
_STARTERS = frozenset({"TEXTDOMAIN", "TEXTDOMAINDIR"}) | frozenset(
    {"BASH_ENV", "ENV", "BASH_ALIASES", "BASH_CMDS", "BASH_FUNC", "SHELLOPTS", "BASHOPTS"}
)
_DOUBTED_SHELL_OPTIONS = frozenset(
    {"expand_aliases", "posix", "keyword", "histexpand", "history", "lastpipe"}
)
_COMPLETING = frozenset({"complete", "compgen", "compopt", "bind", "fc"})


@dataclass(frozen=True, slots=True)
class CodeArgument:
    """A piece of code or, if it is unknown, the reason of a doubt."""

    text: str | None
    doubt: str = ""


def of_command(words: Sequence[Word]) -> Iterator[CodeArgument]:
    """The code that a simple command hands to bash for later or for elsewhere."""
    values = unwrapped([word.value for word in words])
    words = words[len(words) - len(values) :]
    if not values or values[0] is None:
        return
    name, arguments = values[0], list(values[1:])
    match name:
        case "trap":
            yield from _of_trap(arguments)
        case "alias":
            yield from _of_alias(arguments)
        case "mapfile" | "readarray":
            yield from _of_lines(arguments)
            yield from _of_names(name, words[1:])
        case "hash" if any(_has_letter(word, "p") for word in arguments):
            yield CodeArgument(None, "it gives a command's name to another program")
        case "enable" if any(word is None or word[:1] in {"-", "+"} for word in arguments):
            yield CodeArgument(None, "it changes which commands are bash's own")
        case "set" | "shopt":
            yield from _of_options(name, arguments)
        case _ if name in _COMPLETING:
            yield CodeArgument(None, "it hands code to bash's completion, or to its history")
        case _ if name in _NAMING:
            yield from _of_names(name, words[1:])
            yield from _of_attributes(name, words[1:])


def _has_letter(word: str | None, letter: str) -> bool:
    return word is None or (word[:1] == "-" and letter in word)


def _of_trap(arguments: list[str | None]) -> Iterator[CodeArgument]:
    if arguments[:1] == ["--"]:
        arguments = arguments[1:]
    if not arguments or (arguments[0] or "")[:1] == "-":
        return
    if None in arguments[:2] and arguments[0] is None:
        yield CodeArgument(None, "it traps with code that only running tells")
    elif len(arguments) > 1 and arguments[0]:
        yield CodeArgument(arguments[0])


def _of_alias(arguments: list[str | None]) -> Iterator[CodeArgument]:
    for argument in arguments:
        if argument is None:
            yield CodeArgument(None, "it makes an alias that only running tells")
        elif "=" in argument:
            yield CodeArgument(argument.partition("=")[2])


def _of_lines(arguments: list[str | None]) -> Iterator[CodeArgument]:
    """Yield the code that `mapfile -C` runs for each line, with words of its own after it."""
    for number, argument in enumerate(arguments):
        if argument is None:
            yield CodeArgument(None, "it may be told on the way that it runs a command for each line")
        elif argument[:1] == "-" and "C" in argument:
            code = argument.partition("C")[2] or (arguments + [None] * 2)[number + 1]
            if code is None:
                yield CodeArgument(None, "it runs a command for each line that only running tells")
            else:
                yield CodeArgument(code + ' "$@"')


def _of_options(name: str, arguments: list[str | None]) -> Iterator[CodeArgument]:
    is_on = name == "shopt" or any((word or "-o")[:1] == "-" for word in arguments)
    for argument in arguments:
        if argument in _DOUBTED_SHELL_OPTIONS and is_on:
            yield CodeArgument(None, f"it has bash read differently from here on ({argument})")
        elif name == "set" and argument and argument[:1] == "-" and set(argument) & set("kH"):
            yield CodeArgument(None, "it has bash read differently from here on")
        elif argument is None:
            yield CodeArgument(None, "it may have bash read differently from here on")
        elif argument in {"--", "-"}:
            return


def _of_names(name: str, words: Sequence[Word]) -> Iterator[CodeArgument]:
    """Names of variables may have subscripts, and those are evaluated: quoted substitutions in them are run."""
    checks = name not in {"test", "[", "printf"}
    for word in words:
        if word.value == "-v":
            checks = True
        elif checks:
            text = word.value if word.value is not None else word.known_start
            hides = may_hide_code(word.source) or may_hide_code(text)
            if hides and ("[" in text or "=(" in text):
                yield CodeArgument(None, "a subscript would be run as code")
            elif word.value is None and not _names_itself(name, text):
                yield CodeArgument(None, f"`{name}` is told on the way which variable it changes")
            checks = name not in {"test", "[", "printf"}


def _of_attributes(name: str, words: Sequence[Word]) -> Iterator[CodeArgument]:
    """Yield the code in variables that `declare` creates: references to others, and arrays whose texts are expanded."""
    options = "".join(word.value or "" for word in words if word.known_start.startswith("-"))
    if name not in DECLARES:
        return
    if "n" in options:
        yield CodeArgument(None, "it gives a variable a second name")
    if "a" in options.lower():
        for word in words:
            is_told = word.value is not None or "=(" in word.source
            if "=" in word.known_start and not is_told:
                yield CodeArgument(None, "it makes an array of a text that only running tells")


def _names_itself(name: str, start: str) -> bool:
    """Tell whether the known beginning of a word determines the variable, or that none is meant."""
    return "=" in start or start.startswith("-") or name == "wait"


def is_run(name: str) -> bool:
    """Tell whether bash may run a variable's value."""
    return name in _CODE_VARIABLES | _PROMPTS | _STARTERS or name.startswith("BASH_FUNC")


def evaluates(element: str) -> bool:
    """Tell whether `NAME[…]=`, or `[…]=` in an array, has a variable in its subscript; its value is evaluated."""
    name, _, rest = element.partition("[")
    subscript = rest.partition("]")[0] if not name or is_name(name) else ""
    return any(mark.isalpha() or mark in "_$`" for mark in subscript)


def may_hide_code(text: str) -> bool:
    """Tell whether a text has a substitution in it that evaluating it would run."""
    return "`" in text or any(text[at + 1 : at + 2] in {"(", "{", "[", ""} for at in _dollars(text))


def _dollars(text: str) -> list[int]:
    return [at for at, mark in enumerate(text) if mark == "$"]


def of_assignment(name: str, value: Word) -> Iterator[CodeArgument]:
    """The code in a variable that bash runs by itself."""
    text = value.value
    if name in _CODE_VARIABLES:
        yield CodeArgument(text, "" if text is not None else f"{name} is code that only running tells")
    elif name in _PROMPTS:
        if text is None or "`" in text or "$" in text or "\\" in text:
            yield CodeArgument(None, f"{name} is expanded as code is")
            if text is not None and '"' not in text:
                yield CodeArgument(f': "{text}"')
    elif is_run(name):
        yield CodeArgument(None, f"{name} changes what bash itself runs")
