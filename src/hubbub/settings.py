"""The hub's settings: each with its default, and with the sentence for an invalid value.

A setting comes from the command line, else from the environment as `HUBBUB_<NAME>`, else from here.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import platformdirs

from hubbub.model.errors import Invalid

APP = "hubbub"
PREFIX = "HUBBUB_"

# Variables of clients, commands and the programs that they run, beside those of the hub's settings.
OTHERS = (
    "HUBBUB_AGENT",
    "HUBBUB_CHAIN",
    "HUBBUB_CONVERSATION",
    "HUBBUB_LEASE",
    "HUBBUB_NODE",
    "HUBBUB_PROJECT",
    "HUBBUB_PROMPT_SECONDS",
    "HUBBUB_TOKEN",
    "HUBBUB_TOOLS",
    "HUBBUB_URL",
)
FAMILIES = ("HUBBUB_LEASE_", "HUBBUB_TASK_", "HUBBUB_TEST_", "HUBBUB_TOKEN_OF_")  # beginnings of names
LIKENESS = 0.85  # of a name that was probably meant

LOG_FORMATS = ("auto", "json", "pretty")
LOG_LEVELS = ("debug", "info", "warning", "error")
YES, NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def _text(value: str) -> str:
    if not value or "\0" in value:
        raise ValueError("text")
    return value


def _folder(value: str) -> Path:
    return Path(_text(value)).expanduser().absolute()


def _port(value: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", value) or int(value) > 65535:
        raise ValueError("a whole number from 0 (any free port) to 65535")
    return int(value)


def _secret(value: str) -> str:
    if not value.isascii() or not value.isprintable() or " " in value:
        raise ValueError("a token, of printable ASCII characters without blanks")
    return value


def _count(value: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", value) or int(value) == 0:
        raise ValueError("a whole number from 1 to 999999999")
    return int(value)


def _limit(value: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", value):
        raise ValueError("a whole number from 0 (no limit) to 999999999")
    return int(value)


def _switch(value: str) -> bool:
    if value.lower() not in YES + NO:
        raise ValueError(f"one of {', '.join(YES)} or {', '.join(NO)}")
    return value.lower() in YES


def _one_of(*allowed: str) -> Callable[[str], str]:
    def parse(value: str) -> str:
        if value.lower() not in allowed:
            raise ValueError(f"one of {', '.join(allowed)}")
        return value.lower()

    return parse


def _url_of(*schemes: str) -> Callable[[str], str]:
    def parse(value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in schemes or not (parts.netloc or parts.path.strip("/")):
            raise ValueError(" or ".join(f"{scheme}://…" for scheme in schemes))
        return value.rstrip("/")

    return parse


def _origin(value: str) -> str:
    """Refuse a path: the hub answers at the root of its address, and so do its pages' links."""
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/") or parts.query:
        raise ValueError(
            "http://… or https://…, without a path: a hub needs a host name, or a port, of its own"
        )
    return f"{parts.scheme}://{parts.netloc}"


def _setting(default: Any, parse: Callable[[str], object], about: str, *, shown: bool = True) -> Any:
    metadata = {"parse": parse, "about": about, "shown": shown}
    if callable(default):
        return field(default_factory=default, metadata=metadata, repr=shown)
    return field(default=default, metadata=metadata, repr=shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of one hub."""

    data: Path = _setting(
        lambda: Path(platformdirs.user_data_dir(APP, appauthor=False)),
        _folder,
        "the folder of the hub's data",
    )
    config: Path = _setting(
        lambda: Path(platformdirs.user_config_dir(APP, appauthor=False)),
        _folder,
        "the folder of configuration files",
    )
    host: str = _setting("127.0.0.1", _text, "the address to listen on")
    port: int = _setting(8420, _port, "the port to listen on; 0 takes any free one")
    database: str | None = _setting(
        None, _url_of("postgresql", "postgres"), "a PostgreSQL database; without it SQLite in the data folder"
    )
    root_dialect: str = _setting("hub", _text, "the dialect that is served at /mcp")
    public_url: str | None = _setting(None, _origin, "where the hub is reached from outside")
    no_node: bool = _setting(False, _switch, "do not offer this machine as a node")
    open_registration: bool = _setting(False, _switch, "let anyone who reaches the hub register")
    run_messages: int | None = _setting(None, _count, "how many messages a run may hold; as many as come")
    run_tasks: int | None = _setting(None, _count, "how many tasks a run may hold; as many as come")
    run_artifacts: int | None = _setting(None, _count, "how many artifacts a run may hold; as many as come")
    run_reviews: int | None = _setting(None, _count, "how many reviews a run may hold; as many as come")
    keep_log_days: int | None = _setting(None, _count, "for how many days the activity log is kept; for ever")
    claim_minutes: int = _setting(
        30, _count, "for how many minutes a file stays claimed after it was edited last"
    )
    dead_letter_hours: int = _setting(
        24, _count, "after how many hours unread mail is dead, if its receiver was never there"
    )
    mcp_connections: int = _setting(
        50, _count, "how many MCP sessions a token may have open; of more, the one idle longest is ended"
    )
    token_rate: int = _setting(500, _limit, "how many calls a second a token may make, over a while")
    token_burst: int = _setting(10_000, _limit, "how many calls a token may make at once, after a pause")
    token_streams: int = _setting(2_000, _limit, "how many streams and waiting calls a token may hold open")
    token_megabytes: int = _setting(4_096, _limit, "how many MiB of text a token may store in a day")
    github_token: str | None = _setting(
        None, _secret, "with which results are posted to GitHub; without it none are", shown=False
    )
    github_api: str = _setting(
        "https://api.github.com", _url_of("http", "https"), "the GitHub server's interface"
    )
    prices: Path | None = _setting(
        None, _folder, "a table of your prices of models, before those that come with the hub; none"
    )
    webhook_private: bool = _setting(False, _switch, "let webhooks lead to private addresses")
    watch_loop: int | None = _setting(
        None,
        _count,
        "log what holds the event loop up for more than so many milliseconds; nothing is watched",
    )
    log_format: str = _setting(
        "auto", _one_of(*LOG_FORMATS), "lines of JSON, or pretty; auto: pretty on a terminal"
    )
    log_level: str = _setting(
        "info", _one_of(*LOG_LEVELS), "the least important kind of event that is logged"
    )


def variable(name: str) -> str:
    """Return the environment variable of the setting `name`."""
    return PREFIX + name.upper()


def unknown_variables(environment: Mapping[str, str]) -> dict[str, str | None]:
    """Return the variables that begin like ours and mean nothing, each with the one that is probably meant."""
    known = [*(variable(each.name) for each in fields(Settings)), *OTHERS]
    found = [
        name
        for name in environment
        if name.startswith(PREFIX) and name not in known and not name.startswith(FAMILIES)
    ]
    if not found:
        return {}
    from difflib import get_close_matches  # which a right environment does not need

    meant = {name: get_close_matches(name, known, n=1, cutoff=LIKENESS) for name in sorted(found)}
    return {name: (likely[0] if likely else None) for name, likely in meant.items()}


def read(environment: Mapping[str, str] | None = None, /, **given: object) -> Settings:
    """Read the settings from `environment`, of the process by default; those `given`, unless None, take precedence.

    Values given as text are checked like those in the environment; an empty variable counts as unset. Raises
    `Invalid` with one sentence that says what was wrong and what is allowed.
    """
    environment = os.environ if environment is None else environment
    values: dict[str, Any] = {}
    for each in fields(Settings):
        name, value = each.name, given.get(each.name)
        source = f"--{name.replace('_', '-')}" if value is not None else variable(name)
        value = environment.get(variable(name)) or None if value is None else value
        if isinstance(value, str):
            values[name] = _parsed(source, value, each.metadata["parse"], shown=each.metadata["shown"])
        elif value is not None:
            values[name] = value
    return Settings(**values)


def _parsed(source: str, value: str, parse: Callable[[str], object], *, shown: bool) -> object:
    try:
        return parse(value)
    except ValueError as allowed:
        given = f", not {value!r}" if shown else ""
        raise Invalid(f"{source} must be {allowed}{given}") from None
