"""Attacks of an agent by the hub's own tongue against others, and against its own limits."""

import pytest

from hubbub.model.people.rights import Role
from tests.dialects.conftest import both_engines
from tests.dialects.every_row import every_row
from tests.dialects.own_tongue.team import Team
from tests.dialects.running_hub import Json

WRITES: dict[str, Json] = {
    "join": {"files": ["src/**"]},
    "inbox": {"ack": "all"},
    "send": {"to": "lead", "text": "x"},
    "task": {"task": "T-1", "action": "claim"},
    "files": {"action": "claim", "paths": ["a.py"]},
    "share": {"action": "post", "name": "x", "text": "x"},
    "ask": {"machine": "web1", "command": "ls"},
}


def test_nobody_acknowledges_the_mail_of_others(team: Team) -> None:
    """Neither by "all" nor by any id that somebody knows."""
    ada, eve = team.joined("ada"), team.joined("eve")
    sent = team.joined("lead").send(to="ada", text="hi")["id"]
    [letter] = ada.inbox()["letters"]

    assert eve.inbox(ack="all") == {"letters": []}
    for ref in (sent, letter["id"], letter.get("letter", sent)):
        with team.unchanged():
            assert eve.wrong("inbox", ack=[ref])["error"] == "not_found"
    assert [each["id"] for each in ada.inbox()["letters"]] == [letter["id"]]


@both_engines
def test_all_is_what_was_seen(team: Team) -> None:
    """Letters that came after one looked are not acknowledged unseen."""
    ada, lead = team.joined("ada"), team.joined("lead")
    lead.send(to="ada", text="one")
    ada.inbox()
    lead.send(to="ada", text="two")

    answer = ada.inbox(ack="all")
    assert answer["acked"] == 1
    assert [each["text"] for each in answer["letters"]] == ["two"]


@pytest.mark.parametrize("tool", ["inbox", "send", "task", "share"])
def test_ids_of_other_projects_are_ids_of_nothing(anywhere: Team, tool: str) -> None:
    """A long id means what it names in one's own project only, whoever knows it."""
    with Team.fresh(anywhere.hub) as other:
        other.work("theirs")
        theirs = str(other.task("T-1").id)
    eve = anywhere.joined("eve")
    said: dict[str, Json] = {
        "inbox": {"about": theirs},
        "send": {"reply_to": theirs, "text": "x"},
        "task": {"task": theirs, "action": "claim"},
        "share": {"action": "list", "task": theirs},
    }

    with anywhere.unchanged():
        answer, is_error = eve.ask(tool, said[tool])
    assert (is_error, answer["error"]) == (True, "not_found")


def test_a_key_is_that_of_its_token(team: Team) -> None:
    """Another agent's work under the same key is neither told nor in the way."""
    ada, eve = team.joined("ada"), team.joined("eve")
    team.joined("bob")
    first = ada.send(to="bob", text="hi", key="k")

    second = eve.send(to="bob", text="hi", key="k")
    assert second["id"] != first["id"]
    assert [each["from"] for each in team.mail("bob")] == ["ada", "eve"]


def test_a_viewer_does_nothing(anywhere: Team) -> None:
    """A viewer changes nothing by any tool, and has no machine do anything."""
    anywhere.work()
    viewer = anywhere.agent("eve", Role.VIEWER)

    with every_row() as row, anywhere.unchanged():
        for tool, said in WRITES.items():
            with row(tool):
                assert viewer.wrong(tool, **said)["error"] == "forbidden"


def test_a_mark_that_was_made_up_is_refused(anywhere: Team) -> None:
    """The `next` of the last answer is a number, and any other thing is refused by name."""
    ada = anywhere.joined("ada")

    with every_row() as row:
        for before in (0, -1, 2**53 + 1, 1.5, "1; DROP TABLE messages", [1]):
            with row(before):
                refused = ada.wrong("inbox", history="all", before=before)
                assert refused["error"] == "invalid"
                assert "before" in refused["message"]


def test_a_name_does_not_speak_for_the_hub(anywhere: Team) -> None:
    """Nobody joins by the hub's own name, by that of everyone, or by one that an address cannot hold."""
    nobody = anywhere.connection()
    for name in ("hub", "everyone", "..", "a\x1b[2J", " ada"):
        assert nobody.wrong("join", name=name)["error"] in {"invalid", "wrong_identity", "forbidden"}
