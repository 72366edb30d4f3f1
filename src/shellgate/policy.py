"""The policy of a machine's owner: the rules and the mode that decide on calls."""

from dataclasses import dataclass
from pathlib import Path

from shellgate.decision import Mode
from shellgate.rules import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Rules of each effect, and the mode for calls that no rule is about."""

    mode: Mode = Mode.DEFAULT
    deny: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    allow: tuple[Rule, ...] = ()
    roots: tuple[Path, ...] = ()  # the folders that agents work in; relative patterns begin at each
    home: str = ""  # where `~` in a rule leads
    fault: str | None = None  # why there are no valid rules; then the mode is strict
