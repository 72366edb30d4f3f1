"""The note to an agent whose task is given to another, or cancelled: it has the documented shape of each dialect."""

import pytest

from tests.stories.world import World

NOTES = {
    "reassign_task": 'commander gave gil T-1 "Write',
    "cancel_task": 'commander cancelled T-1 "Write',
}
ROW = {"id", "type", "priority", "content", "context", "from_session", "created_at", "network_id"}


@pytest.mark.parametrize("tool", NOTES)
def test_an_old_holder_gets_a_note_of_the_documented_shape(world: World, tool: str) -> None:
    """The row of the task leaves the inbox; a reply without an outcome says who did what, in every dialect."""
    rita = world.fleet.online("rhea")
    task = world.send("rhea")
    rita.ack_inbox(alias="rhea", message_id=task)

    more = {"new_alias": "gil"} if tool == "reassign_task" else {}
    assert getattr(world.commander, tool)(task_id=task, **more)["ok"] is True

    (row,) = world.fleet.inbox("rhea")
    assert row.keys() == ROW
    assert (row["type"], row["priority"], row["from_session"]) == ("reply", "normal", "commander")
    assert row["context"] == f"in_reply_to: {task}"
    assert row["content"].startswith(NOTES[tool])
    (message,) = world.team.mail("rhea")
    assert (message["from_agent"], message["to_agent"]) == ("commander", "rhea")
    assert message["content"] == row["content"]
    (shown,) = world.crew.viewer().get_messages(limit=1)["messages"]
    assert {name: shown[name] for name in ("from", "to", "type", "content")} == {
        "from": "commander", "to": "rhea", "type": "text", "content": row["content"],
    }  # fmt: skip
