"""`hubbub budget`: how much may be used, set, raised and removed."""

from tests.cli.processes import RunningHub


def test_a_budget_is_set_raised_and_removed(hub: RunningHub) -> None:
    """A budget is told with what is used of it, or that nobody tells; set again it is raised."""
    hub.meet("ada")
    unmetered = "unmetered: no program reports its use, so this stops nothing"
    made = hub.run("budget", "set", "agent:ada", "--usd", "2.5", "--daily").stdout
    assert made == f"agent ada, daily: nothing used of $2.50; {unmetered}\n"

    used = {"id": "1", "conversation": "c", "model": "claude-sonnet-5", "input": 1_250_000, "agent": "ada"}
    hub.client().post("/cost/reports", {"used": [used]})
    [listed] = hub.run("budget", "list").stdout.splitlines()
    assert listed.split("\t")[:4] == ["agent ada, daily", "$2.50", "$2.50", "spent"]

    assert hub.run("budget", "set", "agent:ada", "--usd", "3", "--daily").stdout == (
        "agent ada, daily: $2.50 used of $3.00; nearly spent\n"
    )
    [budget] = hub.json("budget", "list")
    assert (
        hub.run("budget", "remove", budget["id"][:30]).stdout == "agent ada, daily has no budget any more\n"
    )


def test_what_is_no_budget_is_refused(hub: RunningHub) -> None:
    """A budget of nobody, without an amount or with two, is refused in one sentence."""
    assert (
        "a budget is of project, agent, task, token" in hub.run("budget", "set", "ada", "--usd", "1").stderr
    )
    for amount in ([], ["--usd", "1", "--tokens", "1"]):
        assert (
            "say how much: --usd 5, or --tokens 200000" in hub.run("budget", "set", "project", *amount).stderr
        )
