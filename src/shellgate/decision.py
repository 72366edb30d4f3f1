"""What the gate says of a call, and how several answers become one."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum, auto


class Effect(IntEnum):
    """What happens to a call; the greater number is the stricter."""

    ALLOW = 0
    ASK = 1
    DENY = 2

    @property
    def word(self) -> str:
        return self.name.lower()


class Source(StrEnum):
    """What decided."""

    FLOOR = auto()
    RULE = auto()
    MODE = auto()
    PERSON = auto()


class Mode(StrEnum):
    """What happens to what neither the floor nor a rule has an opinion on."""

    DEFAULT = auto()  # a person is asked
    STRICT = auto()  # denied
    BYPASS = auto()  # allowed


@dataclass(frozen=True, slots=True)
class Decision:
    """What is decided of a call, by what, and why: `reason` is one sentence for people."""

    effect: Effect
    source: Source
    rule_id: str  # the clause of the floor (F1 to F9), the rule as written in the policy, or the mode
    reason: str


def strictest(decisions: Iterable[Decision]) -> Decision | None:
    """The strictest of them, the first among equals; None if there are none."""
    return max(decisions, key=lambda decision: decision.effect, default=None)
