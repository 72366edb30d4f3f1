"""`hubbub account`, `hubbub pause`, `hubbub resume`, and why an agent does nothing meanwhile."""

from tests.cli.processes import RunningHub


def test_an_account_is_shared_paused_and_resumed(hub: RunningHub) -> None:
    """People say who shares an account, pause it and resume it; whoever asks why is told."""
    assert hub.run("account", "set", "max", "ada", "bob").stdout == "max: goes; shared by ada, bob\n"

    told = hub.run("pause", "max", "--until", "2999-01-01")
    assert "until: must be in the future, at most 366 days from now" in told.stderr
    until = hub.json("pause", "max", "--until", "2h")["account"]["paused_until"]
    assert until - hub.json("pause", "max", "--until", "1h")["account"]["paused_until"] > 1_800_000
    assert hub.run("pause", "max").stdout == "max: paused until it is resumed; shared by ada, bob\n"

    assert "Its account max is paused until a person resumes it" in hub.run("why", "ada").stdout
    assert "paused until it is resumed" in hub.run("account", "list").stdout
    [listed] = hub.json("account", "list")
    assert (listed["account"]["name"], listed["agents"]) == ("max", ["ada", "bob"])
    assert hub.run("resume", "max").stdout == "max: goes; shared by ada, bob\n"
    assert hub.run("account", "remove", "max").stdout == "max is no account any more\n"


def test_a_task_of_a_paused_account_says_until_when(hub: RunningHub) -> None:
    """The list of tasks, and a task itself, say that the account of its agent is paused."""
    hub.run("account", "set", "max", "ada")
    hub.meet("bob")
    hub.send("ada", "count the lines")
    hub.send("bob", "count the words")
    hub.run("pause", "max")

    lines = hub.run("tasks").stdout.splitlines()  # the newest first
    assert ["paused until it is resumed" in line for line in lines] == [False, True]
    assert (
        "stands still: the account of ada is paused until it is resumed"
        in hub.run("task", "show", "1").stdout
    )
    hub.run("resume", "max")
    assert "paused" not in hub.run("tasks").stdout
