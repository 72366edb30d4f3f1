"""The floor's sentences: each names its clause, and says to a person what would happen."""

from shellgate.decision import Decision, Effect, Source


def deny(clause: str, reason: str) -> Decision:
    """Return what no setting and nobody's yes lets through."""
    return Decision(Effect.DENY, Source.FLOOR, clause, reason)


def ask(clause: str, reason: str) -> Decision:
    """Return what cannot be decided here: a person must."""
    return Decision(Effect.ASK, Source.FLOOR, clause, reason)
