"""The end: what is on its way arrives, everyone goes, and the books are closed."""

from demo.check import Books
from demo.scenes.cast import LIBRARIAN, SURVEYOR
from demo.stage import COMMANDER, Stage

ALL = 500


def play(stage: Stage) -> Books:
    """Everyone goes home. Returns what the hub, the ledger and the commander say of it all."""
    _let_everyone_read(stage)
    exits = {name: stage.agents[name].leave() for name in (SURVEYOR, LIBRARIAN)}
    exits[COMMANDER] = stage.commander.dismiss()
    stage.chronicle.catch_up()
    hub = stage.as_owner
    tasks, completions = (hub.get(f"/{noun}", limit=ALL)[noun] for noun in ("tasks", "completions"))
    unread = {each["name"]: each["unread"] for each in hub.get("/agents")["agents"]}
    log = stage.chronicle.written()
    exits["hub"] = stage.hub.leave()
    stage.note("the hub is asked to end, and does")
    return Books(
        tasks=tasks,
        completions=completions,
        activities=log,
        followed=stage.chronicle.activities,
        executions=stage.desk.ledger.executions(),
        commander=COMMANDER,
        promised=stage.commander.promised,
        letters=stage.commander.letters,
        unread=unread,
        exits=exits,
    )


def _let_everyone_read(stage: Stage) -> None:
    """Wait until every letter of the log has been acknowledged; the commander's own, until it has told of them."""
    log = stage.chronicle.written()
    for letter in (each for each in log if each["kind"] == "message.sent"):
        stage.chronicle.wait("message.acked", message=letter["message_id"])
    expected = [each for each in log if each["kind"] == "message.sent" and each["agent"] == COMMANDER]
    stage.commander.mail(len(expected))
