"""A hub is started, and three agents come to it."""

from demo.cast import LIBRARIAN, SURVEYOR
from demo.stage import COMMAND, Stage


def play(stage: Stage) -> None:
    """Three agents come to a fresh hub."""
    stage.open_hub()
    stage.start_commander()
    for name in (SURVEYOR, LIBRARIAN):
        stage.start_agent(name)
    for name in (SURVEYOR, LIBRARIAN):
        stage.chronicle.wait("agent.checkin", agent=name)
    stage.note(f"{SURVEYOR} and {LIBRARIAN} are each: hubbub work NAME --run '{COMMAND}'")
    found = stage.commander.arrive()
    stage.note(f"commander is an MCP client, revision {found['revision']}, and finds {found['tools']} tools")
