"""`hubbub breaker`: how often is too often, and who may go on."""

from tests.cli.processes import RunningHub


def test_a_rule_is_set_and_a_stop_lifted(hub: RunningHub) -> None:
    """The rules are shown and set one by one; who is stopped is listed, and let go on by the id."""
    assert hub.run("breaker", "rule", "repeating", "5").stdout.splitlines()[1] == "repeating\t5"
    assert "retrying\tnever" in hub.run("breaker", "rule", "retrying", "0").stdout
    hub.meet("ada")
    hub.client().post("/tools/judge", {"agent": "ada", "repeats": 5})

    [stop] = hub.json("breaker", "list")
    assert "ada made the same tool call 5 times in a row" in hub.run("why", "ada").stdout
    assert hub.run("breaker", "lift", stop["id"]).stdout == "ada may go on\n"
    assert hub.json("breaker", "list") == []
    assert "name a rule and its limit" in hub.run("breaker", "rule", "repeating").stderr
