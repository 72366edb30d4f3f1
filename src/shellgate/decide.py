"""The decision on a call: a pure function of the gate's analysis and of the policy.

The order is that of the specification: the floor's denials, the deny rules, the floor's questions, the ask rules, the
allow rules, and last the mode. The strictest answer over all parts stands.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from shellgate.analysis import Analysis, CallPart
from shellgate.decision import Decision, Effect, Mode, Source, strictest
from shellgate.matching import Base, Match, covers, touches
from shellgate.policy import Policy
from shellgate.rules import PatternKind, Rule

SHIPPED = "shipped"  # prefix of the ids of rules that nobody wrote: a new machine has them
_WEIGHT = {
    Source.MODE: 0,
    Source.RULE: 1,
    Source.FLOOR: 2,
    Source.PERSON: 3,
}  # order in which equal decisions are told to people
_VERBS = {Effect.ALLOW: "allows it", Effect.ASK: "has it asked about", Effect.DENY: "forbids it"}


def decide(
    reading: Analysis, policy: Policy, tool: str, *, sandboxed: bool, attended: bool = True
) -> Decision:
    """Return the decision on a call of `tool`.

    `sandboxed` says that the commands run in the operating system's sandbox, `attended` that there is somebody to ask:
    without anybody, questions become denials.
    """
    parts = reading.parts or (CallPart(tool=tool, target=reading.target),)
    rest = _Rest(policy, Base(home=policy.home, roots=tuple(map(str, policy.roots))), sandboxed=sandboxed)
    decisions = [*rest.of_floor(reading.floor), *(rest.of_part(part) for part in parts)]
    found = max(decisions, key=lambda decision: (decision.effect, _WEIGHT[decision.source]))
    if found.effect is Effect.ASK and not attended:
        return replace(found, effect=Effect.DENY, reason=f"{found.reason}; and nobody is there to be asked")
    return found


@dataclass(frozen=True, slots=True)
class _Rest:
    """A policy under the circumstances of one call."""

    policy: Policy
    base: Base
    sandboxed: bool

    def of_part(self, part: CallPart) -> Decision:
        floor = strictest(self.of_floor(part.floor))
        if floor is not None and floor.effect is Effect.DENY and _is_denied(part.floor):
            return floor
        named = self._touched(self.policy.deny, part, Effect.DENY)
        if named is not None and named.effect is Effect.DENY:
            return named
        if part.never_asks:
            allowed = Decision(
                Effect.ALLOW, Source.MODE, f"{SHIPPED}:{part.tool}", "this is never asked about"
            )
            return (self._of_site(part) if part.host is not None else None) or allowed
        return (
            floor
            or named
            or self._touched(self.policy.ask, part, Effect.ASK)
            or self._covered(part)
            or self._by_mode(part)
        )

    def _of_site(self, part: CallPart) -> Decision | None:
        """Return the objection to one connection of a download that is decided itself; None if there is none.

        Rules about hosts hold behind redirects, too. The mode strict denies a host that none of them allows, unless a
        rule allows downloads without a word about hosts.
        """
        asking = (rule for rule in self.policy.ask if rule.kind is PatternKind.HOST)
        asked = self._touched(asking, part, Effect.ASK)
        if asked is not None or self.policy.mode is not Mode.STRICT:
            return asked
        allowing = [rule for rule in self.policy.allow if part.tool in rule.tools]
        if any(rule.kind is not PatternKind.HOST or covers(rule, part, self.base) for rule in allowing):
            return None
        return self._by_mode(part)

    def of_floor(self, floor: Iterable[Decision]) -> list[Decision]:
        """Return the floor's decision under the mode: its questions are denials if nobody may be asked."""
        found = strictest(floor)
        if found is None or found.effect is Effect.ALLOW:
            return []
        if found.effect is Effect.ASK:
            if self.policy.mode is Mode.BYPASS and self.sandboxed:
                return []
            if self.policy.mode is Mode.STRICT:
                return [replace(found, effect=Effect.DENY)]
        return [found]

    def _touched(self, rules: Iterable[Rule], part: CallPart, effect: Effect) -> Decision | None:
        """Return the decision of the first rule that names the part; if none does, of one that may name it."""
        perhaps: Rule | None = None
        for rule in rules:
            touch = touches(rule, part, self.base)
            if touch is Match.YES:
                return Decision(effect, Source.RULE, rule.source, _by(rule, effect))
            if touch is Match.PERHAPS and perhaps is None:
                perhaps = rule
        if perhaps is None:
            return None
        reason = f"only running it tells whether the rule {perhaps.source} is about it"
        return Decision(Effect.ASK, Source.RULE, perhaps.source, reason)

    def _covered(self, part: CallPart) -> Decision | None:
        for rule in self.policy.allow:
            if covers(rule, part, self.base):
                return Decision(Effect.ALLOW, Source.RULE, rule.source, _by(rule, Effect.ALLOW))
        return None

    def _by_mode(self, part: CallPart) -> Decision:
        match self.policy.mode:
            case Mode.BYPASS:
                return Decision(
                    Effect.ALLOW, Source.MODE, str(Mode.BYPASS), "the mode bypass allows what no rule names"
                )
            case Mode.STRICT:
                why = self.policy.fault or "the mode strict denies what no rule allows"
                return Decision(Effect.DENY, Source.MODE, str(Mode.STRICT), why)
            case Mode.DEFAULT if part.is_harmless:
                return Decision(
                    Effect.ALLOW, Source.MODE, f"{SHIPPED}:{part.tool}", "it changes nothing outside its own"
                )
            case Mode.DEFAULT:
                why = part.concern or f"no rule is about this call of {part.tool}"
                return Decision(Effect.ASK, Source.MODE, str(Mode.DEFAULT), why)


def _is_denied(floor: Iterable[Decision]) -> bool:
    """Tell whether the floor itself denies; a question of the floor that the mode denies does not count."""
    return any(each.effect is Effect.DENY for each in floor)


def _by(rule: Rule, effect: Effect) -> str:
    return f"the rule {rule.source} {_VERBS[effect]}"
