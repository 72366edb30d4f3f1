"""`hubbub breaker`: how often is too often, and who may go on."""

import signal

import pytest

from tests.cli.processes import RunningHub


def test_a_rule_is_set_and_a_stop_lifted(hub: RunningHub) -> None:
    """The rules are shown and set one by one; who is stopped is listed, and let go on by the id."""
    assert hub.run("breaker", "rule", "repeating", "5").stdout.splitlines()[1] == "repeating\t5"
    assert "retrying\tnever" in hub.run("breaker", "rule", "retrying", "0").stdout
    hub.meet("ada")
    hub.client().post("/tools/judge", {"agent": "ada", "repeats": 5})

    [stop] = hub.json("breaker", "list")
    assert "ada made the same tool call 5 times in a row" in hub.run("why", "ada").stdout
    assert hub.run("breaker", "lift", stop["id"][:30]).stdout == "ada may go on\n"
    assert hub.json("breaker", "list") == []
    assert "name a rule and its limit" in hub.run("breaker", "rule", "repeating").stderr


@pytest.mark.system
def test_a_circle_is_noticed_over_a_killed_hub(any_hub: RunningHub) -> None:
    """A hub that is killed in the middle of a circle counts on from there, and stops nobody whom people let go on."""

    def answer(*turns: int) -> None:
        for turn in turns:
            names = ("ann", "bob") if turn % 2 else ("bob", "ann")
            any_hub.client().post("/messages", {"sender": names[0], "to": names[1], "text": "you are right"})

    def restart() -> None:
        any_hub.stop(signal.SIGKILL)
        any_hub.start()

    any_hub.run("breaker", "rule", "answering", "6")
    any_hub.meet("ann")
    any_hub.meet("bob")
    answer(0, 1, 2, 3)
    restart()
    answer(4, 5)
    any_hub.until("breaker.tripped")

    [stop] = any_hub.json("breaker", "list")
    assert stop["reason"].startswith("ann and bob answered each other 6 times in a row")
    any_hub.run("breaker", "lift", stop["id"])
    restart()
    answer(6, 7, 8, 9, 10)
    restart()
    assert any_hub.json("breaker", "list") == []
    answer(11)
    any_hub.until("breaker.tripped", times=2)
