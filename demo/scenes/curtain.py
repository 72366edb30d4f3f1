"""The end: what is on its way arrives, everyone goes, and the books are closed."""

from demo.cast import TEAM, WORKERS
from demo.check import Books
from demo.planner import NAME as PLANNER
from demo.stage import COMMANDER, Stage

ALL = 500
WITH_INBOX = {*WORKERS, COMMANDER}  # Relay's agents read, and acknowledge nothing


def play(stage: Stage) -> Books:
    """Everyone goes home. Returns what the hub, the ledger, the commander and the planner say of it all."""
    _let_everyone_read(stage)
    exits = _send_home(stage)
    hub = stage.as_owner
    tasks, completions = (hub.get(f"/{noun}", limit=ALL)[noun] for noun in ("tasks", "completions"))
    agents = hub.get("/agents")["agents"]
    log = stage.chronicle.written()
    stage.chronicle.read_until(log[-1]["id"])  # and no further: the hub may still note who went last
    exits["hub"] = stage.hub.leave()
    stage.note("the hub is asked to end, and does")
    return Books(
        tasks=tasks,
        completions=completions,
        activities=log,
        followed=stage.chronicle.activities,
        executions=stage.desk.ledger.executions(),
        commander=COMMANDER,
        planner=PLANNER,
        team=TEAM,
        promised=[*stage.commander.promised, *stage.planner.promised, *stage.promised],
        letters=stage.commander.letters,
        notes=stage.planner.notes,
        unread={each["name"]: each["unread"] for each in agents if each["name"] in WITH_INBOX},
        exits=exits,
    )


def _let_everyone_read(stage: Stage) -> None:
    """Wait until every letter of the log has been acknowledged; the commander's own, until it has told of them."""
    log = stage.chronicle.written()
    letters = (each for each in log if each["kind"] in ("message.sent", "message.delivered"))
    for letter in (each for each in letters if each["agent"] in WITH_INBOX):
        stage.chronicle.wait("message.acked", message=letter["message_id"])
    expected = [each for each in log if each["kind"] == "message.sent" and each["agent"] == COMMANDER]
    stage.commander.mail(len(expected))
    stage.planner.read()


def _send_home(stage: Stage) -> dict[str, int]:
    """Have everyone leave; their exit codes."""
    for process in stage.team.values():
        process.hush()
    exits = {name: process.end() for name, process in stage.team.items()}
    exits[PLANNER] = stage.planner.dismiss()
    stage.note(f"{PLANNER}, {', '.join(TEAM)} leave, and their Relay servers with them")
    exits |= {name: stage.agents[name].leave() for name in WORKERS}
    exits[COMMANDER] = stage.commander.dismiss()
    return exits
