"""`hubbub why`: one paragraph."""

from tests.cli.processes import RunningHub


def test_why_prints_a_paragraph(hub: RunningHub) -> None:
    """`why` says in one line how a task, an agent or a file stands; --json gives the facts."""
    hub.meet("代码1号")
    hub.send("代码1号", "你好")

    said = hub.run("why", "代码1号").stdout
    assert said.startswith(
        "代码1号 has never been online: only its name is known. 1 message or task in its inbox"
    )
    assert said.count("\n") == 1
    assert hub.run("why", "src/a.py").stdout.startswith('No agent that is online works on "src/a.py"')
    assert [each["kind"] for each in hub.json("why", "代码1号")["facts"]] == [
        "agent.never_came",
        "inbox.undelivered",
    ]


def test_why_of_what_there_is_not(hub: RunningHub) -> None:
    """Something that the project does not know is one sentence and exit code 1, also where the kind is given."""
    unknown, no_task = hub.run("why", "nobody"), hub.run("why", "7", "--kind", "task")
    assert (unknown.returncode, no_task.returncode) == (1, 1)
    assert unknown.stderr == "Error: nothing here is called 'nobody'\n"
    assert "task '7' not found" in no_task.stderr
    hub.meet("counter")
    assert (
        hub.run("why", "countr").stderr == "Error: nothing here is called 'countr'; did you mean counter?\n"
    )
