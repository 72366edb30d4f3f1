"""The standard input of a command, as far as the text of the program determines it."""

from dataclasses import replace

from shellgate.floor.arguments.shell_words import joined, plain
from shellgate.floor.arguments.usage_tables import names
from shellgate.floor.programs import name_of
from shellgate.shell.program import SimpleCommand, Unknown, Word

FETCHERS = names("curl wget wget2 http https xh aria2c nc ncat netcat fetch lynx links w3m ftp scp")


def printed(command: SimpleCommand) -> list[Word] | None:
    """Return the words that `echo` or `printf` print; None if the text does not determine them."""
    name = name_of(command.name.value or "") if command.name else ""
    words = list(command.words[1:])
    if name == "echo":
        while words and (words[0].value or "").strip("-neE") == "" and (words[0].value or "").startswith("-"):
            del words[0]
        return words
    if name in ("cat", "") and any(redirect.body is not None for redirect in command.redirects):
        return [
            piece
            for redirect in command.redirects
            if redirect.body is not None
            for piece in _lines(redirect.body)
        ]
    if name == "printf" and words:
        told = words[1:] if (words[0].value or "").strip() in ("%s", "%s\\n", "%s\\0", "%b", "%s ") else words
        return [piece for word in told for piece in _lines(word)]
    return None


def _lines(word: Word) -> list[Word]:
    value = word.value
    if value is None:
        return [word]
    return [plain(piece) for piece in value.replace("\\n", "\n").replace("\\0", "\n").split()]


def text(command: SimpleCommand) -> Word | None:
    """Return the text that a command reads: a here-document, a here-string, or text printed into its pipe."""
    source = given(command)
    for redirect in source.redirects if source is not None else ():
        if redirect.body is not None and redirect.descriptor in (None, "0"):
            return redirect.body
    said = printed(command.reads_from) if command.reads_from is not None else None
    if said is None:
        return None
    return joined(*(piece for word in said for piece in (word, plain("\n"))))


def given(command: SimpleCommand) -> SimpleCommand | None:
    """Return the command whose redirections set its standard input: itself, or its group or shell."""
    if takes_input(command):
        return command
    around = command.reads_from
    return around if around is not None and not command.is_piped and takes_input(around) else None


def within(command: SimpleCommand, around: SimpleCommand) -> SimpleCommand:
    """Return a command of code that another runs; its standard input is that one's, unless it has its own."""
    if command.is_piped or command.reads_from is not None or takes_input(command):
        return command
    source = around if takes_input(around) else around.reads_from
    return replace(command, is_piped=around.is_piped and source is not around, reads_from=source)


def takes_input(command: SimpleCommand) -> bool:
    """Tell whether standard input is a file or a here-document, rather than a pipe or nothing."""
    return any(_is_input(redirect.operator, redirect.descriptor) for redirect in command.redirects)


def _is_input(operator: str, descriptor: str | None) -> bool:
    return operator.startswith("<") and descriptor in (None, "0")


def fetches(word: Word, commands: tuple[SimpleCommand, ...]) -> bool:
    """Tell whether the value of a word is fetched from elsewhere: `$(curl …)`."""
    return any(
        command.name is not None
        and name_of(command.name.value or "") in FETCHERS
        and any(isinstance(part, Unknown) and command.source in part.source for part in word.parts)
        for command in commands
    )
