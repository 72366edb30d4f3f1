"""Cases for the gate: one JSON object a line, in the form in which a gate can be tried from outside."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from shellgate.decide import decide
from shellgate.decision import Decision, Mode
from shellgate.floor import commands
from shellgate.policy import Policy
from shellgate.world import World
from tests.shellgate.worlds import world

CASES = Path(__file__).parent / "cases"
POLICIES = {"bypass": Mode.BYPASS, "default": Mode.DEFAULT}

Case = dict[str, Any]


def cases(name: str) -> Iterator[Case]:
    """The cases of one file, in its order."""
    with (CASES / f"{name}.jsonl").open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def tried(case: Case, machine: World) -> Decision:
    """Return the decision on a command, with a person at hand and no sandbox. It is not run."""
    reading = commands.read(filled(case["args"]["command"], machine), machine)
    policy = Policy(mode=POLICIES[case["profile"]], home=machine.home, roots=tuple(map(Path, machine.roots)))
    return decide(reading, policy, case["tool"], sandboxed=False)


def filled(text: str, machine: World) -> str:
    """Return the text with its placeholders filled in for a machine."""
    stands_for = {
        "WS": machine.cwd,
        "HOME": machine.home,
        "HUB_HOME": machine.own[0],
        "HUB_CLI": "hubbub",
        "TMP": "/tmp",
        "USERS": "/Users",
    }
    for name, value in stands_for.items():
        text = text.replace(f"@@{name}@@", value)
    return text


def wrong(name: str, folder: Path) -> dict[str, str]:
    """The cases of a file that come out otherwise than they may: what they try, and what is said of it."""
    usual = world(folder / "usual")
    found = {}
    for number, case in enumerate(cases(name)):
        machine = world(folder / str(number)) if case.get("setup") else usual
        for step in case.get("setup", []):
            set_up(step, machine)
        decision = tried(case, machine)
        if decision.effect.word not in case["accept"]:
            found[case["id"]] = f"{case['args']['command']!r}: {decision.effect.word}, {decision.reason}"
    return found


def set_up(step: dict[str, list[str]], machine: World) -> None:
    """Make a file, a symbolic link or a hard link that a case asks for."""
    [(kind, (path, other))] = step.items()
    place, other = Path(filled(path, machine)), filled(other, machine)
    place.parent.mkdir(parents=True, exist_ok=True)
    match kind:
        case "file":
            place.write_text(other, encoding="utf-8")
        case "symlink":
            place.symlink_to(other)
        case "hardlink":
            os.link(other, place)
