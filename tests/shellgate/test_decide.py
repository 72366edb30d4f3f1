"""The order in which the gate decides, and that the strictest answer stands."""

import itertools
from pathlib import Path

import pytest

from shellgate import verdicts
from shellgate.analysis import Analysis, CallPart
from shellgate.decide import decide
from shellgate.decision import Decision, Effect, Mode, Source
from shellgate.policy import Policy
from shellgate.rules import parse

TOOL, RULE = "execute_command", "Bash(x *)"
DENIED, ASKED = verdicts.deny("F1", "It deletes everything."), verdicts.ask("F9", "It cannot be read.")


def policy(
    mode: Mode = Mode.DEFAULT, *, deny: str | None = None, ask: str | None = None, allow: str | None = None
) -> Policy:
    """A policy in this mode, with one rule for each effect that is named."""
    rules = [(parse(rule),) if rule else () for rule in (deny, ask, allow)]
    return Policy(
        mode=mode, deny=rules[0], ask=rules[1], allow=rules[2], roots=(Path("/proj"),), home="/home/ada"
    )


def part(*words: str | None, **more: object) -> CallPart:
    return CallPart(tool=TOOL, target=" ".join(word or "…" for word in words), words=words, **more)  # type: ignore[arg-type]


def reading(*parts: CallPart, floor: tuple[Decision, ...] = ()) -> Analysis:
    return Analysis(parts=parts, floor=floor, target="; ".join(each.target for each in parts))


def decided(
    found: Analysis, by: Policy, *, sandboxed: bool = False, attended: bool = True
) -> tuple[str, str, str]:
    decision = decide(found, by, TOOL, sandboxed=sandboxed, attended=attended)
    assert decision.reason
    return decision.effect.word, str(decision.source), decision.rule_id


@pytest.mark.parametrize("mode", [*Mode])
@pytest.mark.parametrize("sandboxed", [False, True])
def test_nothing_turns_the_floor_off(mode: Mode, sandboxed: bool) -> None:
    """A call that the floor denies is denied in every mode, with every rule that allows it, behind every wall."""
    by = policy(mode, allow="execute_command")
    assert decided(reading(part("rm", floor=(DENIED,))), by, sandboxed=sandboxed) == ("deny", "floor", "F1")
    assert decided(reading(part("ls"), floor=(DENIED,)), by, sandboxed=sandboxed) == ("deny", "floor", "F1")


@pytest.mark.parametrize("mode", [*Mode])
def test_a_deny_rule_goes_before_all_but_the_floor(mode: Mode) -> None:
    """It denies what the floor would have asked, and what an ask rule or an allow rule names too."""
    by = policy(mode, deny="Bash(git push *)", ask="Bash(git *)", allow="Bash(git push *)")
    found = reading(part("git", "push", "x", floor=(ASKED,), is_harmless=True))
    assert decided(found, by) == ("deny", "rule", "Bash(git push *)")


def test_the_floor_asks_before_rules_allow() -> None:
    """A command that the floor cannot decide is asked, whatever an allow rule says, and in `bypass` too."""
    found = reading(part("x", floor=(ASKED,)))
    for mode in (Mode.DEFAULT, Mode.BYPASS):
        assert decided(found, policy(mode, allow="Bash")) == ("ask", "floor", "F9")


def test_the_floor_does_not_ask_behind_a_wall_in_bypass() -> None:
    """`bypass` with the operating system's sandbox leaves to that what the floor would have asked."""
    found = reading(part("x", floor=(ASKED,)))
    assert decided(found, policy(Mode.BYPASS), sandboxed=True)[0] == "allow"
    assert decided(found, policy(Mode.DEFAULT), sandboxed=True)[0] == "ask"


def test_strict_asks_nothing_for_the_floor() -> None:
    """In `strict` what the floor would have asked is denied, by the floor."""
    assert decided(reading(part("x", floor=(ASKED,))), policy(Mode.STRICT, allow="Bash")) == (
        "deny",
        "floor",
        "F9",
    )


@pytest.mark.parametrize("by", [policy(), policy(Mode.BYPASS, ask="Bash")])
def test_where_nobody_is_there_what_would_be_asked_is_denied(by: Policy) -> None:
    """A question that nobody can be asked has the answer no."""
    found = reading(part("x"))
    assert decided(found, by)[0] == "ask"
    assert decided(found, by, attended=False)[0] == "deny"
    assert "nobody" in decide(found, by, TOOL, sandboxed=False, attended=False).reason


def test_an_ask_rule_goes_before_an_allow_rule() -> None:
    """Asked is what an ask rule names, though an allow rule covers it, and though the mode is `bypass`."""
    for mode in Mode:
        by = policy(mode, ask="Bash(git push *)", allow="Bash(git *)")
        assert decided(reading(part("git", "push")), by) == ("ask", "rule", "Bash(git push *)")
        assert decided(reading(part("git", "log")), by) == ("allow", "rule", "Bash(git *)")


def test_the_mode_has_the_last_word() -> None:
    """A command that no rule names is asked by default, denied in `strict`, allowed in `bypass`."""
    found = reading(part("make"))
    assert decided(found, policy()) == ("ask", "mode", "default")
    assert decided(found, policy(Mode.STRICT)) == ("deny", "mode", "strict")
    assert decided(found, policy(Mode.BYPASS)) == ("allow", "mode", "bypass")


def test_the_shipped_policy_is_that_of_the_mode_default() -> None:
    """A command that only reads is let through by default; `strict` denies it too, unless a rule allows it."""
    found = reading(part("ls", is_harmless=True))
    assert decided(found, policy()) == ("allow", "mode", "shipped:execute_command")
    assert decided(found, policy(Mode.STRICT)) == ("deny", "mode", "strict")
    assert decided(found, policy(Mode.STRICT, allow="Bash(ls *)"))[0] == "allow"
    assert decided(found, policy(deny="Bash(ls *)"))[0] == "deny"


def test_a_concern_is_told_to_who_is_asked() -> None:
    """The question says what is asked about."""
    found = reading(part("pip", "install", concern="it installs packages"))
    assert decide(found, policy(), TOOL, sandboxed=False).reason == "it installs packages"


def test_all_parts_have_to_be_allowed() -> None:
    """`git *` does not cover `git status; rm x`: the strictest answer over all parts stands."""
    by = policy(allow="Bash(git *)", deny="Bash(curl *)")
    git, rm, curl = part("git", "status"), part("rm", "x"), part("curl", "x")
    assert decided(reading(git), by)[0] == "allow"
    assert decided(reading(git, rm), by)[0] == "ask"
    for order in itertools.permutations((git, rm, curl)):
        assert decided(reading(*order), by)[0] == "deny"


def test_people_are_told_the_weightiest_of_equal_reasons() -> None:
    """The floor's question is told among several, else a rule's, else the mode's."""
    plain, named, doubtful = part("make"), part("git", "push"), part("y", floor=(ASKED,))
    assert decided(reading(plain, named), policy(ask="Bash(git *)"))[1] == "rule"
    assert decided(reading(plain, named, doubtful), policy(ask="Bash(git *)"))[1] == "floor"


def test_a_perhaps_is_asked() -> None:
    """A command that may be one that a deny rule forbids is asked, though an allow rule covers it."""
    by = policy(Mode.BYPASS, deny="Bash(git push *)", allow="Bash(git *)")
    assert decided(reading(part("git", None)), by) == ("ask", "rule", "Bash(git push *)")
    assert decided(reading(part("git", "log", None)), by) == ("allow", "rule", "Bash(git *)")


def test_a_rule_that_asks_about_a_host_asks_behind_a_redirect_too() -> None:
    """A connection of a download is not asked about, unless a rule asks about its host; alone, that denies it."""
    asking = policy(Mode.BYPASS, ask="WebFetch(domain:other.test)")

    def told(host: str, *, attended: bool) -> str:
        way = CallPart(tool="download_file", target=f"https://{host}/", host=host, never_asks=True)
        return decide(
            Analysis(parts=(way,), target=way.target),
            asking,
            "download_file",
            sandboxed=False,
            attended=attended,
        ).effect.word

    assert told("good.test", attended=False) == "allow"
    assert told("other.test", attended=True) == "ask"
    assert told("other.test", attended=False) == "deny"


@pytest.mark.parametrize(
    ("rule", "effect"),
    [
        ("WebFetch(domain:good.test)", "deny"),
        ("WebFetch(domain:other.test)", "allow"),
        ("download_file(./in/**)", "allow"),
        ("download_file", "allow"),
        ("read_file", "deny"),
        (None, "deny"),
    ],
)
def test_strict_denies_a_redirect_to_a_host_that_no_rule_allows(rule: str | None, effect: str) -> None:
    """In strict each host of a download needs a rule that allows it, unless a rule allows downloads from anywhere."""
    way = CallPart(tool="download_file", target="https://other.test/", host="other.test", never_asks=True)
    found = Analysis(parts=(way,), target=way.target)
    assert decided(found, policy(Mode.STRICT, allow=rule))[0] == effect
    assert decided(found, policy(allow=rule))[0] == "allow"


def test_a_rule_that_asks_about_all_downloads_asks_once() -> None:
    """A rule that names no host is about the call, which a person has approved with its redirects."""
    way = CallPart(tool="download_file", target="https://other.test/", host="other.test", never_asks=True)
    found = Analysis(parts=(way,), target=way.target)
    assert decided(found, policy(ask="download_file"), attended=False)[0] == "allow"


@pytest.mark.parametrize("mode", [*Mode])
def test_some_calls_are_never_asked_about(mode: Mode) -> None:
    """A look at one's own things is let through in every mode; the floor and deny rules can still deny it."""
    found = Analysis(parts=(CallPart(tool="shell_tasks", target="", never_asks=True),))
    assert (
        decide(found, policy(mode, ask="shell_tasks"), "shell_tasks", sandboxed=False).effect is Effect.ALLOW
    )
    assert (
        decide(found, policy(mode, deny="shell_tasks"), "shell_tasks", sandboxed=False).effect is Effect.DENY
    )
    floored = Analysis(parts=(CallPart(tool="shell_tasks", target="", never_asks=True, floor=(DENIED,)),))
    assert decide(floored, policy(mode), "shell_tasks", sandboxed=False).effect is Effect.DENY


def test_a_call_without_parts_is_a_part() -> None:
    """An empty call is not let through for that: rules and the mode decide it."""
    assert decided(Analysis(), policy()) == ("ask", "mode", "default")
    assert decided(Analysis(), policy(deny="Bash")) == ("deny", "rule", "Bash")


def test_a_policy_that_does_not_load_says_so_in_each_denial() -> None:
    """A denied caller hears that it is the policy's fault."""
    broken = Policy(mode=Mode.STRICT, fault="node.toml is no TOML")
    decision = decide(reading(part("ls", is_harmless=True)), broken, TOOL, sandboxed=False)
    assert (decision.effect, decision.source, decision.reason) == (
        Effect.DENY,
        Source.MODE,
        "node.toml is no TOML",
    )


def test_every_order_of_what_can_be_said_is_decided_alike() -> None:
    """Over all that floor, rules and mode can say of a part, the decision is the one that the order gives."""
    floors = {"none": (), "ask": (ASKED,), "deny": (DENIED,)}
    for floor, denies, asks, allows, mode, harmless in itertools.product(
        floors, (False, True), (False, True), (False, True), Mode, (False, True)
    ):
        named = [RULE if is_there else None for is_there in (denies, asks, allows)]
        by = policy(mode, deny=named[0], ask=named[1], allow=named[2])
        steps = (
            (floor == "deny", "deny"),
            (denies, "deny"),
            (floor == "ask", "deny" if mode is Mode.STRICT else "ask"),
            (asks, "ask"),
            (allows, "allow"),
            (mode is Mode.STRICT, "deny"),
            (mode is Mode.BYPASS or harmless, "allow"),
            (True, "ask"),
        )
        expected = next(effect for applies, effect in steps if applies)
        found = reading(part("x", "y", floor=floors[floor], is_harmless=harmless))
        assert decided(found, by)[0] == expected, (floor, named, mode, harmless)
