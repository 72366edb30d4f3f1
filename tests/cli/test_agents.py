"""`hubbub agents`: who is here."""

from tests.cli.processes import RunningHub


def test_agents(hub: RunningHub) -> None:
    """The list says who is there, what they do and what waits for them."""
    hub.meet("代码1号")
    hub.send("代码1号", "你好")
    (agent,) = hub.json("agents")
    assert (agent["name"], agent["condition"], agent["unread"]) == ("代码1号", "offline", 1)
    assert hub.run("agents").stdout.split("\t")[:4] == ["代码1号", "offline", "", "1"]


def test_agents_are_shown_with_what_they_were_seen_to_do(hub: RunningHub) -> None:
    """Apart from the heartbeat it is told what an agent put out last, and when; nothing of it commands a terminal."""
    client = hub.client()
    report = {"instance": "x", "take": True, "hostname": "laptop", "runtime": "claude"}
    client.put("/agents/bob/presence", report)
    task = hub.send("bob", "count the lines")
    client.post(f"/tasks/{task['id']}/start", {"by": "bob"})
    client.post(f"/tasks/{task['id']}/progress", {"by": "bob", "output": "one\n\x1b[2Jtwo"})

    (agent,) = hub.json("agents")
    row = hub.run("agents").stdout.removesuffix("\n").split("\t")
    assert (agent["last_output"], agent["last_tool"], agent["machine"]) == ("\\u001b[2Jtwo", None, "laptop")
    assert agent["last_output_at"] >= agent["seen_at"]
    assert row[:4] == ["bob", "idle", f"#{task['number']} count the lines", ""]
    assert row[5:10] == ["claude", "laptop", "", "", "\\u001b[2Jtwo"]
