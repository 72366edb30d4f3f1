"""Two machines join. One agent reaches both; each decides for itself, and one of them goes away without a word."""

import json
from typing import Any

from demo.cast import ATTIC, CELLAR, IDA
from demo.player import Player
from demo.processes import Process
from demo.stage import Stage

LIST = "inventory.txt"
STOCK = {ATTIC: "3 boxes\n1 trunk\n", CELLAR: "12 bottles\n"}
# The agent of a machine: a program that looks into the list. To ask it is allowed; all else is as shipped.
POLICY = f'rules.allow = ["ask_agents"]\nruntime = {{ kind = "command", command = ["cat", "{LIST}"] }}\n'
QUESTION = "What is there with you?"
BOUGHT = "1 jug"


def play(stage: Stage) -> None:
    """Two machines join; an agent reaches both, a person is asked from afar, and one of the machines is killed."""
    machines = {name: _joining(stage, name) for name in (ATTIC, CELLAR)}
    ida = stage.start_craftsman(IDA)
    for machine in machines.values():
        machine.line()
    _seen(stage, ida, {ATTIC: True, CELLAR: True})
    stage.note(f"{IDA} starts `hubbub mcp cmdop` elsewhere, and by connect list sees {ATTIC} and {CELLAR}")
    _run(stage, ida)
    _ask(stage, ida)
    _approved(stage, ida)
    _killed(stage, ida, machines[CELLAR])
    _expect(stage, ida.dismiss(), 0)
    _expect(stage, machines[ATTIC].leave(), 0)


def _joining(stage: Stage, name: str) -> Process:
    """A machine that joins by a code, and has something in its list; it says a line once it is linked."""
    code = stage.command("node", "invite", "--name", name).strip()
    machine = stage.start_machine(name, POLICY, "--join", code)
    (stage.work_of(name) / LIST).write_text(STOCK[name], "utf-8")
    stage.note(f"{name} joins by a code: hubbub node run --join {code[:9]}…")
    return machine


def _run(stage: Stage, ida: Player) -> None:
    """Reading commands are run there at once."""
    ran = ida.call("connect", operation="exec", hostname=ATTIC, command=f"wc -l {LIST}")
    _expect(stage, ran, {"stdout": f"2 {LIST}\n", "stderr": "", "exit_code": 0})
    stage.note(f"{IDA} runs wc -l {LIST} on {ATTIC}, and nobody is asked: {ran.get('stdout', '').strip()}")


def _ask(stage: Stage, ida: Player) -> None:
    """The agents of both machines answer one call."""
    asked = ida.call("ask_agents", hostnames=[ATTIC, CELLAR], prompt=QUESTION)
    texts = {host: entry.get("text", "").splitlines() for host, entry in asked.get("by_host", {}).items()}
    _expect(stage, texts, {name: STOCK[name].splitlines() for name in (ATTIC, CELLAR)})
    told = "; ".join(f"{host}: {', '.join(lines)}" for host, lines in texts.items())
    stage.note(f"{IDA} asks the agents of both at once: {QUESTION!r} {told}")


def _approved(stage: Stage, ida: Player) -> None:
    """A changing command waits until a person has approved it, from wherever they are, and is run once."""
    ida.give("connect", operation="exec", hostname=CELLAR, command=f"echo {BOUGHT} >> {LIST}")
    asked = stage.chronicle.wait("approval.asked", agent=IDA)["detail"]["approval_id"]
    (question,) = json.loads(stage.command("approve", "--json"))
    _expect(stage, (question["id"], question["node"]), (asked, CELLAR))
    stage.note(f"{IDA} wants to add {BOUGHT} in {CELLAR}, and waits: the question is in the one queue of all")
    stage.command("approve", asked)
    _expect(stage, ida.answer(), {"stdout": "", "stderr": "", "exit_code": 0})
    _expect(stage, (stage.work_of(CELLAR) / LIST).read_text("utf-8"), f"{STOCK[CELLAR]}{BOUGHT}\n")
    stage.note(f"the person says `hubbub approve {asked[:4]}`, and {BOUGHT} is added, once")


def _killed(stage: Stage, ida: Player, cellar: Process) -> None:
    """No call waits for a machine that is gone, and everyone sees that; it needs no code to come back."""
    cellar.kill()
    stage.note(f"{CELLAR} is killed with SIGKILL")
    ida.give("connect", operation="exec", hostname=CELLAR, command=f"cat {LIST}")
    stage.chronicle.wait("node.offline", node=CELLAR)
    late = ida.answer()
    _expect(stage, late.get("code"), "offline")
    _seen(stage, ida, {ATTIC: True, CELLAR: False})
    stage.note(f"{IDA}'s next call is refused, and connect list shows {CELLAR} offline: {late.get('error')}")
    again = stage.start_machine(CELLAR, POLICY)
    again.line()
    _seen(stage, ida, {ATTIC: True, CELLAR: True})
    stage.note(f"{CELLAR} is started again, without a code, and is back")
    _expect(stage, again.leave(), 0)


def _seen(stage: Stage, ida: Player, expected: dict[str, bool]) -> None:
    """Wait until an agent sees these machines with these states; the hub's own is left out."""
    rows: list[dict[str, Any]] = ida.call("connect", operation="list")["result"]
    _expect(stage, {row["name"]: row["online"] for row in rows if row["name"] in STOCK}, expected)


def _expect(stage: Stage, found: object, expected: object) -> None:
    if found != expected:
        stage.complain(f"with the machines there should have been {expected}, and there was {found}")
