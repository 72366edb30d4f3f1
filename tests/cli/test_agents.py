"""`hubbub agents`: who is here."""

from tests.cli.processes import RunningHub


def test_agents(hub: RunningHub) -> None:
    """The list says who is there, what they do and what waits for them."""
    hub.meet("代码1号")
    hub.send("代码1号", "你好")
    (agent,) = hub.json("agents")
    assert (agent["name"], agent["condition"], agent["unread"]) == ("代码1号", "offline", 1)
    assert hub.run("agents").stdout.split("\t")[:4] == ["代码1号", "offline", "", "1"]
