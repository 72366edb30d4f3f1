"""`hubbub status`: how things stand, and what to do next."""

from tests.cli.processes import RunningHub
from tests.cli.screens import at_terminal


def test_a_hub_where_nobody_has_been(hub: RunningHub) -> None:
    """The status of a project without agents says how to connect the first."""
    told = hub.run("status")

    assert (told.returncode, told.stderr) == (0, "")
    hub_line, you, online, needs, dashboard, step = told.stdout.splitlines()
    assert hub_line.split(None, 1) == [
        "hub",
        f"{hub.url}, version {hub.client().health()['version']}, project {hub.project}",
    ]
    assert you.split(None, 1) == ["you", "owner, owner of the hub"]
    assert online.endswith("no agents yet")
    assert needs.split() == ["needs", "you", "nothing"]
    assert dashboard.split() == ["dashboard", hub.url]
    assert "hubbub install CLIENT" in step


def test_what_needs_a_person_comes_first(hub: RunningHub) -> None:
    """Online agents are named, then the needs of people, each with its command, which is the next step."""
    hub.meet("ada", "bob")
    client = hub.client()
    client.put("/agents/ada/presence", {"instance": "1", "take": True})
    number = hub.send("ada", "Mend the gate")["number"]
    client.post(f"/tasks/{number}/start", {"by": "ada"})
    client.post(f"/tasks/{number}/fail", {"by": "ada", "reason": "no wood"})

    told = hub.json("status")
    shown = hub.run("status").stdout

    assert (told["online"], told["offline"]) == (["ada"], ["bob"])
    assert [each["kind"] for each in told["needs"]] == ["failed"]
    assert told["next"] == f"hubbub task retry {number}"
    assert f"Failed: T-{number} Mend the gate\n             hubbub task retry {number}\n" in shown
    assert "ada (idle); 1 offline" in shown


def test_hubbub_alone_on_a_terminal(hub: RunningHub) -> None:
    """`hubbub` without a word is its status on a terminal, with a link that signs in; for programs it is the help."""
    shown = at_terminal(hub)

    assert shown.startswith("hub ")
    assert "/login/" in shown
    assert "/login/" not in hub.run("status").stdout
    helped = hub.run()
    assert (helped.returncode, helped.stderr.startswith("Usage: hubbub")) == (2, True)
