"""The floor's sentences: each names its clause, and tells a person the consequence."""

from shellgate.decision import Decision, Effect, Source


def deny(clause: str, reason: str) -> Decision:
    """Return a denial, which no setting and nobody's yes overrides."""
    return Decision(Effect.DENY, Source.FLOOR, clause, reason)


def ask(clause: str, reason: str) -> Decision:
    """Return a question that only a person can decide."""
    return Decision(Effect.ASK, Source.FLOOR, clause, reason)
