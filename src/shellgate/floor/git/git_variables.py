"""Variables of git: their settings, and the places where they make it look for settings, programs and repositories."""

import re
import shlex
from collections.abc import Iterator

from shellgate.floor.arguments.actions import Action, CommandContext, FloorVerdict, TouchPath, Use
from shellgate.floor.arguments.shell_words import plain
from shellgate.floor.dataflow import inherited_environment
from shellgate.floor.git import git_settings
from shellgate.shell.program import Word
from shellgate.verdicts import ask

_KEY = "GIT_CONFIG_KEY_"
_INDEX = re.compile(r"(.*/)?\.git/[\w.-]*index[\w.-]*")  # one more beside git's own
_TRACE = re.compile(r"GIT_TRACE(?!.*(BRIEF|NESTING|ENV_VARS|CONFIG_PARAMS|MAX_FILES|CURL_NO_DATA|REDACT)).*")


def assignment(name: str, value: Word, scene: CommandContext) -> Iterator[Action]:
    """Yield the actions of setting a variable for git."""
    match name:
        case "GIT_CONFIG_PARAMETERS":
            yield from _parameters(value, scene)
        case "GIT_CONFIG_GLOBAL" | "GIT_CONFIG_SYSTEM" | "GIT_CONFIG":
            yield from git_settings.file(value, scene)
        case "GIT_DIR" | "GIT_COMMON_DIR":
            yield from git_settings.repository(value, scene)
        case "GIT_INDEX_FILE" if not _INDEX.fullmatch(value.value or ""):
            yield TouchPath(value, Use.WRITE)
        case "GIT_EXEC_PATH":
            yield from git_settings.programs(value)
        case "GIT_TEMPLATE_DIR":
            yield from git_settings.template(value, scene)
        case "GIT_ALLOW_PROTOCOL" if "ext" in (value.value or "ext").split(":"):
            yield FloorVerdict(ask("F9", "It lets git run commands that addresses of remotes name."))
        case _ if name.startswith(_KEY):
            yield from _setting(value, name.removeprefix(_KEY), scene)
        case _ if _TRACE.fullmatch(name) and (value.value is None or value.value.startswith("/")):
            yield TouchPath(value, Use.WRITE)


def _setting(key: Word, number: str, scene: CommandContext) -> Iterator[Action]:
    """Yield the actions of `GIT_CONFIG_KEY_n`, with the value of `GIT_CONFIG_VALUE_n` wherever it is set."""
    value = inherited_environment.word(f"GIT_CONFIG_VALUE_{number}", scene)
    if key.value is None:
        yield FloorVerdict(ask("F9", f"Only running it tells which setting of git `{key.source}` is."))
    elif value is not None:
        yield from git_settings.setting(key.value, value, scene)
    elif git_settings.matters(key.value):
        yield FloorVerdict(
            ask("F9", f"Only running it tells what git's setting {key.value} is, which may be a command.")
        )


def _parameters(value: Word, scene: CommandContext) -> Iterator[Action]:
    """Yield the actions of `GIT_CONFIG_PARAMETERS="'key=value' 'key'='value'"`."""
    try:
        given = None if value.value is None else shlex.split(value.value)
    except ValueError:
        given = None
    if given is None:
        yield FloorVerdict(
            ask("F9", "Only running it tells which settings of git GIT_CONFIG_PARAMETERS has.")
        )
        return
    for each in given:
        yield from git_settings.pair(plain(each), scene)
