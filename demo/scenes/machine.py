"""An agent has a machine at hand. What it does there passes a gate, and where the gate says so, a person decides."""

import json

from demo.cast import BEN, GUS
from demo.player import Player
from demo.stage import Stage

JOB = "count lines in src/hubbub/node"
REPORT = "report.md"
DISASTER = "rm -rf /"


def play(stage: Stage) -> None:
    """An agent works on a machine, behind a gate; one thing it may not do at all, and one only as a person says so."""
    gus = stage.start_craftsman(GUS)
    board = gus.call("issue_list")["result"]
    stage.note(
        f"{GUS} starts `hubbub mcp cmdop` in a folder of its own, and finds {len(board)} issues on the board"
    )
    report = _asked_of_another(stage, gus)
    _without_asking(stage, gus)
    _approved(stage, gus, report)
    _expect(stage, gus.dismiss(), 0)
    log = json.loads(stage.command("audit", "verify", "--json"))
    _expect(stage, log, {"sound": True, "faults": [], "hub_was_asked": True})
    stage.note("a person looks by `hubbub audit verify`: the log is sound, and as the hub remembers it")


def _asked_of_another(stage: Stage, gus: Player) -> str:
    """Return the report of an agent of another dialect on an issue."""
    made = gus.call("issue_create", title=JOB, assignee=BEN)
    task_id = made["url"].rpartition("/")[2]
    stage.promised.append(task_id)
    stage.chronicle.wait("task.completed", task=task_id)
    issue = gus.call("issue_get", id=made["id"])
    last = issue["comments"][-1]
    _expect(stage, (issue["status"], last["author"]), ("done", BEN))
    report: str = last["body"]
    stage.note(f"{GUS} reads {BEN}'s comment on issue {made['id']}: {report.partition(chr(10))[0]}")
    return report


def _without_asking(stage: Stage, gus: Player) -> None:
    """Reading is done at once; what no setting allows is not done."""
    (stage.workshop / "plan.md").write_text("first count, then write\n", "utf-8")
    counted = gus.call("execute_command", command="wc -w plan.md")
    _expect(stage, counted, {"stdout": "4 plan.md\n", "stderr": "", "exit_code": 0})
    stage.note(f"{GUS} runs wc -w plan.md, and nobody is asked: {counted.get('stdout', '').strip()}")
    denied = gus.call("execute_command", command=DISASTER)
    _expect(stage, (denied.get("code"), denied.get("source")), ("denied", "floor"))
    stage.note(f"{GUS} tries {DISASTER}, and is denied: {denied.get('reason')}")


def _approved(stage: Stage, gus: Player, report: str) -> None:
    """A change of the folder waits until a person has approved it."""
    gus.give("write_file", path=REPORT, content=report)
    asked = stage.chronicle.wait("approval.asked", agent=GUS)["detail"]["approval_id"]
    (question,) = json.loads(stage.command("approve", "--json"))
    _expect(
        stage,
        (question["id"], question["tool"], (stage.workshop / REPORT).exists()),
        (asked, "write_file", False),
    )
    stage.note(f"{GUS} wants to write {REPORT}, and waits: a person finds that by `hubbub approve`")
    stage.command("approve", asked)
    _expect(stage, gus.answer(), {"bytes_written": len(report.encode())})
    _expect(stage, (stage.workshop / REPORT).read_text("utf-8"), report)
    stage.note(f"the person says `hubbub approve {asked[:4]}`, and {REPORT} is written")


def _expect(stage: Stage, found: object, expected: object) -> None:
    if found != expected:
        stage.complain(f"on the machine there should have been {expected}, and there was {found}")
