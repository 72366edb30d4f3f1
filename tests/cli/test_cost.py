"""`hubbub cost`: tokens and money in a table."""

from tests.cli.processes import RunningHub


def test_cost_of_each_agent(hub: RunningHub) -> None:
    """Each agent has a line, with an estimate in dollars; who is not metered is named so, and not as nothing."""
    hub.meet("ada")
    assert hub.run("cost").stdout == "total\tunmetered\t\t\t\t\t\n"

    used = {"id": "1", "conversation": "s-1", "model": "claude-sonnet-5", "input": 1_500_000, "agent": "ada"}
    hub.client().post("/cost/reports", {"used": [used, {**used, "id": "2", "model": "new", "output": 7}]})

    ada = "ada\t$3.00\t3,000,000\t7\t0\t0\t1,500,007"
    assert hub.run("cost", "--days", "1").stdout.splitlines() == [ada, ada.replace("ada", "total")]
    assert hub.run("cost", "--by", "model", "--model", "new").stdout.startswith("new\tno price\t")
    assert hub.json("cost", "--until", "2026-01-01")["total"]["unmetered"] is True

    told = hub.json("cost", "--by", "model", "--since", "2026-01-01")["lines"]
    assert [(each["name"], each["tokens"], each["usd"], each["unmetered"]) for each in told] == [
        ("claude-sonnet-5", 1_500_000, 3, False),
        ("new", 1_500_007, None, False),
    ]


def test_a_task_is_named_as_anywhere(hub: RunningHub) -> None:
    """The use of one task is asked for by its number, or the beginning of its id."""
    whole = [hub.json("task", "add", name)["id"] for name in ("first", "second")]
    used = {"conversation": "c", "model": "claude-sonnet-5", "agent": "ada"}
    reports = [{**used, "id": each, "input": 7 + at, "task": each} for at, each in enumerate(whole)]
    hub.client().post("/cost/reports", {"used": reports})
    for name in ("2", "T-2", whole[1], whole[1][:-2]):
        assert hub.json("cost", "--task", name)["total"]["tokens"] == 8
    assert hub.run("cost", "--task", "9").stderr == "Error: task '9' not found\n"


def test_a_wrong_moment_is_refused(hub: RunningHub) -> None:
    """A text that is no time is refused in one sentence, with exit code 2."""
    wrong = hub.run("cost", "--since", "soon")
    assert wrong.returncode == 2
    assert "'soon' is no time; write one such as 2026-04-12T10:00:00Z, a date, today" in wrong.stderr


def test_a_moment_is_said_as_to_the_log(hub: RunningHub) -> None:
    """Since when and until when take how long ago it was, too."""
    hub.meet("ada")
    used = {"id": "1", "conversation": "c", "model": "claude-sonnet-5", "input": 1_000_000, "agent": "ada"}
    hub.client().post("/cost/reports", {"used": [used]})
    assert [each["name"] for each in hub.json("cost", "--since", "2h")["lines"]] == ["ada"]
    assert hub.json("cost", "--since", "2d", "--until", "1d")["lines"] == []
