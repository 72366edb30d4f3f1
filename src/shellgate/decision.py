"""Decisions of the gate, and how several become one."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum, auto


class Effect(IntEnum):
    """The effect on a call; the greater number is the stricter."""

    ALLOW = 0
    ASK = 1
    DENY = 2

    @property
    def word(self) -> str:
        return self.name.lower()


class Source(StrEnum):
    """The source of a decision."""

    FLOOR = auto()
    RULE = auto()
    MODE = auto()
    PERSON = auto()


class Mode(StrEnum):
    """The effect on a call that neither the floor nor a rule decides."""

    DEFAULT = auto()  # a person is asked
    STRICT = auto()  # denied
    BYPASS = auto()  # allowed


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision on a call, its source, and its reason: `reason` is one sentence for people."""

    effect: Effect
    source: Source
    rule_id: str  # the clause of the floor (F1 to F9), the rule as written in the policy, or the mode
    reason: str


def strictest(decisions: Iterable[Decision]) -> Decision | None:
    """Return the strictest of them, the first among equals; None if there are none."""
    return max(decisions, key=lambda decision: decision.effect, default=None)
