"""Commands that run others in another environment: `env`, `sudo`, `su`, `export`, and the effects of variables."""

import re
from collections.abc import Iterator
from dataclasses import replace

from shellgate.floor.arguments.actions import (
    Action,
    CommandContext,
    Concern,
    FloorVerdict,
    OnlyReads,
    ProgramCall,
    RunCommand,
    RunShell,
    TouchPath,
    Use,
)
from shellgate.floor.arguments.shell_words import plain, without
from shellgate.floor.arguments.usage_tables import arguments, names
from shellgate.floor.git import git_variables
from shellgate.floor.programs import USAGES
from shellgate.floor.readers import by_table
from shellgate.shell.program import Text, Word
from shellgate.verdicts import ask

# Variables that change what runs: no allow rule covers a command with one of them.
_STEERS = re.compile(
    r"PATH|IFS|ENV|BASH_ENV|BASHOPTS|SHELLOPTS|PS4|PROMPT_COMMAND|LD_.*|DYLD_.*|GIT_.*|PYTHON.*|NODE_OPTIONS|NODE_PATH"
    r"|PERL5.*|PERLLIB|RUBYOPT|RUBYLIB|CLASSPATH|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|GCONV_PATH|GLOBIGNORE"
    r"|HUBBUB_.*|XDG_CONFIG_HOME|XDG_DATA_HOME|MAKEFLAGS|CARGO_.*|RUSTC.*|npm_config_.*|PIP_.*|UV_.*|AWKPATH|CDPATH|SHELL"
    r"|HOME|RIPGREP_CONFIG_PATH|ACKRC|GREP_OPTIONS|MAN(PATH|OPT|ROFFOPT|ROFFSEQ|LESS)|LESS(KEY.*|HISTFILE)|MAGIC|BAT_CONFIG.*"
    r"|JQ_LIBRARY_PATH|LOCPATH|NLSPATH|TAR_OPTIONS"
)
# Variables whose value is shell code, or the command line of a program.
_CODE = re.compile(
    r"GIT_(SSH_COMMAND|SSH|EDITOR|SEQUENCE_EDITOR|PAGER|EXTERNAL_DIFF|PROXY_COMMAND|ASKPASS)|PROMPT_COMMAND|PS4"
    r"|GIT_(WEB_)?BROWSER|.*(PAGER|EDITOR)|VISUAL|BROWSER|LESSOPEN|LESSCLOSE|SSH_ASKPASS|SUDO_ASKPASS"
    r"|(RSYNC|CVS|SVN)_(RSH|SSH)|TAR_OPTIONS"
    r"|PYTHONBREAKPOINT|MAKEFLAGS|SHELL"
)
_FILES = re.compile(
    r"(?!.*COMMAND|GIT_(CONFIG|DIR|TRACE|INDEX_FILE))(GIT_.*|PYTHON.*|HIST.*|BASH_ENV|ENV|LD_.*|DYLD_.*|LESSHISTFILE|XDG_.*)"
)
_WHOLE_SHELL = ("s", "i", "shell", "login")

SETTERS = names("export declare typeset readonly local")  # commands of the shell that set variables
RAISES = "it raises privilege"
DUMPS = "it dumps the environment"


def steers(name: str) -> bool:
    """Tell whether a variable of that name changes which commands run, or how."""
    return _STEERS.fullmatch(name) is not None


def assignment(name: str, value: Word, scene: CommandContext) -> Iterator[Action]:
    """Yield the actions of setting a variable for a command."""
    if name in ("HUBBUB_CONFIG", "HUBBUB_DATA"):
        yield TouchPath(value, Use.EITHER)
    if steers(name):
        yield Concern(f"it sets {name}, which changes what runs")
    if _CODE.fullmatch(name) and value.parts:
        yield RunShell(value)
    yield from _settings_of_programs(name, value)
    if name.startswith("GIT_"):
        yield from git_variables.assignment(name, value, scene)
    if _FILES.fullmatch(name):
        yield TouchPath(value, Use.EITHER)


def _settings_of_programs(name: str, value: Word) -> Iterator[Action]:
    """Yield the actions of variables that hold commands, or options that are commands."""
    text = value.value or "".join(part.text for part in value.parts if isinstance(part, Text))
    runs = (
        name.startswith("BASH_FUNC_")
        or (name in ("RSYNC_CONNECT_PROG", "VIMINIT", "EXINIT", "GVIMINIT") and bool(text))
        or (name == "LESS" and re.search(r"[!|]", text) is not None)
        or (
            name == "TAR_OPTIONS"
            and re.search(r"checkpoint-action|command|program|rsh|-I|-F", text) is not None
        )
        or (name in ("BASH_ENV", "ENV") and "<(" in value.source)
    )
    if runs:
        yield FloorVerdict(ask("F9", f"What {name} is set to may be run."))


def env(call: ProgramCall) -> Iterator[Action]:
    """`env [option…] [NAME=value…] [command…]`: without a command it prints the environment."""
    found = arguments(call.arguments, USAGES["env"])
    for text in found.of("S"):
        yield RunShell(by_table.spaced([plain("env"), _split(text), *map(_quoted, _behind(text, call))]))
    yield from (deed for deed in by_table.by_options(found) if not isinstance(deed, RunShell))
    words, deeds = _unassigned(
        [word for place, word in enumerate(found.operands) if place or word.value != "-"], call.scene
    )
    yield from deeds
    if words and not found.of("S"):
        yield OnlyReads()
        yield RunCommand(words, cwd=next(iter(found.of("C")), None), variables=_variables(found.operands))
    elif not found.of("S"):
        yield Concern(DUMPS)


def _behind(text: Word, call: ProgramCall) -> tuple[Word, ...]:
    """Return the words after the one with the value of an option: they go on where that ends."""
    ends = [place for place, word in enumerate(call.arguments) if word.source.endswith(text.source)]
    return call.arguments[ends[0] + 1 :] if ends else ()


def _split(text: Word) -> Word:
    """The value of `-S` as the shell would split it, too."""
    return text if text.value is None else plain(text.value.replace("\\_", " "))


def _quoted(word: Word) -> Word:
    """A word that stays one where its command is read as a text."""
    value = word.value
    return word if value is None else plain("'" + value.replace("'", "'\\''") + "'")


def sudo(call: ProgramCall) -> Iterator[Action]:
    """`sudo`, `doas`: a command as somebody else, or a whole shell."""
    found = arguments(call.arguments, USAGES[call.name])
    yield Concern(RAISES)
    yield from by_table.by_options(found)
    words, deeds = _unassigned(found.operands, call.scene)
    yield from deeds
    if found.has(("e", "edit")):
        yield from (TouchPath(word, Use.WRITE) for word in words)
    elif words:
        if found.has(_WHOLE_SHELL):
            yield RunShell(by_table.spaced(list(words)))
        yield RunCommand(words, cwd=next(iter(found.of("D")), None), variables=_variables(found.operands))
    elif found.has(_WHOLE_SHELL):
        yield RunCommand((plain("sh"),))


def su(call: ProgramCall) -> Iterator[Action]:
    """`su`, `runuser`: a shell as somebody else, its commands given with `-c` or read from its input."""
    found = arguments(call.arguments, USAGES[call.name])
    yield Concern(RAISES)
    yield from by_table.by_options(found)
    for place, word in enumerate(found.operands[:-1]):  # behind the user, or behind `--`
        if word.value in ("-c", "--command", "--session-command"):
            yield RunShell(found.operands[place + 1])
    if call.name == "runuser" and found.of("u"):
        yield RunCommand(tuple(found.operands))
    elif not found.of("c", "session-command"):
        yield RunCommand((plain("sh"),))


def or_a_shell(call: ProgramCall) -> Iterator[Action]:
    """Wrappers that start a shell where no command is given: `chroot`, `unshare`, `nsenter`, `script`."""
    found = arguments(call.arguments, USAGES[call.name])
    yield from by_table.by_usage(found, call)
    if len(found.operands) <= len(found.usage.before) - (Use.RUN in found.usage.before) and not found.of("c"):
        yield RunCommand((plain("sh"),))


def command(call: ProgramCall) -> Iterator[Action]:
    """`command`: with `-v` or `-V` it only says what would be run."""
    found = arguments(call.arguments, USAGES["command"])
    yield OnlyReads()
    if found.operands and not found.has(("v", "V")):
        yield RunCommand(tuple(found.operands))


def export(call: ProgramCall) -> Iterator[Action]:
    """`export`, `declare` and the like: variables set, or all of them printed."""
    words = [word for word in call.arguments if not word.known_start.startswith("-")]
    flags = "".join(word.known_start for word in call.arguments if word.known_start.startswith("-"))
    if not words or ("p" in flags and call.name != "local"):
        if call.name != "local":
            yield Concern(DUMPS)
    else:
        yield OnlyReads()
    for word in words:
        if "=" in word.known_start:
            yield from _unassigned([word], call.scene)[1]
        elif word.value is not None and call.name != "local":
            yield from _passed_on(call.scene, word.value)


def settings(call: ProgramCall) -> Iterator[Action]:
    """`set`: options of the shell; without any it prints all variables."""
    yield OnlyReads() if call.arguments else Concern(DUMPS)
    if any(re.fullmatch(r"-\w*a\w*|allexport", word.value or "") for word in call.arguments):
        yield from _passed_on(call.scene)


def _passed_on(scene: CommandContext, only: str | None = None) -> Iterator[Action]:
    """Yield the actions of variables that the program sets for its commands: one of them, or all."""
    for command in scene.program.commands:
        for each in command.assignments:
            if not command.words and only in (None, each.name):
                yield from assignment(each.name, each.value, scene)


def _variables(operands: list[Word]) -> tuple[tuple[str, Word], ...]:
    """The variables that stand before a command."""
    found: list[tuple[str, Word]] = []
    for word in operands:
        name, equals, _ = word.known_start.partition("=")
        if not equals or name.startswith("-"):
            break
        found.append((name, without(word, len(name) + 1)))
    return tuple(found)


def _unassigned(
    words: list[Word] | tuple[Word, ...], scene: CommandContext
) -> tuple[tuple[Word, ...], list[Action]]:
    """The words without the assignments before them, and what comes of those."""
    given = _variables(list(words))
    beside = replace(scene, variables=(*scene.variables, *given))
    deeds = [deed for name, value in given for deed in assignment(name.removesuffix("+"), value, beside)]
    return tuple(words[len(given) :]), deeds


READERS = {
    "env": env,
    "genv": env,
    "sudo": sudo,
    "doas": sudo,
    "su": su,
    "runuser": su,
    "chroot": or_a_shell,
    "unshare": or_a_shell,
    "nsenter": or_a_shell,
    "script": or_a_shell,
    "command": command,
    **dict.fromkeys(SETTERS, export),
    "set": settings,
}
