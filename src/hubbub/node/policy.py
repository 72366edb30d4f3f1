"""What the operator of a machine allows: `node.toml`, which fails closed."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from hubbub.node.gate.decision import Mode
from hubbub.node.gate.rules import Rule

APPROVAL_TIMEOUT = timedelta(seconds=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """The agent that the machine can be asked."""

    kind: str  # `command` or `openai`
    command: tuple[str, ...] = ()
    url: str | None = None
    model: str | None = None
    key: str | None = None  # the environment variable that holds it


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A machine's rules, as they are just now."""

    mode: Mode = Mode.DEFAULT
    approval_timeout: timedelta = APPROVAL_TIMEOUT
    deny: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    allow: tuple[Rule, ...] = ()
    roots: tuple[Path, ...] = ()
    runtime: Runtime | None = None
    skills: tuple[Path, ...] = ()
    elicitation: bool = False  # whether the client that makes a call may answer for a person
    background_after: timedelta | None = None
    network: bool = True  # whether commands in the sandbox reach it
    fault: str | None = None  # why the file could not be loaded; then the mode is strict
