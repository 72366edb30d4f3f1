"""The last activity of an agent."""

from datetime import timedelta

import pytest

from hubbub.core.actions import task_actions
from hubbub.core.agents import last_activity
from hubbub.model.fleet.managed_agents import LastActivity
from tests.core.conftest import World, on_one_engine

MINUTE = timedelta(minutes=1)


def of(world: World, agent: str = "bob") -> LastActivity:
    return world.do(last_activity.of, world.id, agent)


def test_of_whom_nothing_is_known_nothing_is_told(world: World) -> None:
    """An agent that did nothing has no evidence, and is in no list of it."""
    assert of(world) == LastActivity(agent="bob")
    assert world.do(last_activity.of_project, world.id) == {}


def test_each_part_is_kept_for_itself(world: World) -> None:
    """A call of a tool does not take away what was put out before, nor where the agent runs."""
    now = world.clock()
    world.do(
        last_activity.note,
        world.id,
        "bob",
        node="web1",
        runtime="claude",
        output="one",
        output_at=now - 5_000,
    )
    world.do(last_activity.note, world.id, "bob", tool="relay.post_message", tool_at=now - 1_000)

    seen = of(world)
    assert seen == LastActivity(
        agent="bob",
        node="web1",
        runtime="claude",
        last_output="one",
        last_output_at=now - 5_000,
        last_tool="relay.post_message",
        last_tool_at=now - 1_000,
    )
    assert world.do(last_activity.of_project, world.id) == {"bob": seen}


def test_what_is_older_changes_nothing(world: World) -> None:
    """Late news, by whichever way, do not take the place of later events."""
    now = world.clock()
    world.do(
        last_activity.note, world.id, "bob", output="new", output_at=now - 10, tool="b", tool_at=now - 10
    )
    world.do(
        last_activity.note, world.id, "bob", output="old", output_at=now - 20, tool="a", tool_at=now - 20
    )

    assert (of(world).last_output, of(world).last_tool) == ("new", "b")
    assert (of(world).last_output_at, of(world).last_tool_at) == (now - 10, now - 10)


def test_a_moment_that_is_still_to_come_is_now(world: World) -> None:
    """A machine whose clock is ahead does not make its agents look fresh for longer than they are."""
    moment = world.clock()
    world.at(moment, last_activity.note, world.id, "bob", output="x", output_at=moment + 3_600_000)

    assert of(world).last_output_at == moment


@on_one_engine
@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("one\ntwo\n\n  \n", "two"),
        ("  \n", None),
        ("\x1b[2Jred\x1b[0m", "\\u001b[2Jred\\u001b[0m"),
        ("a\u202eb\0", "a\\u202eb\\u0000"),
        ("x" * 1_000, "x" * 460 + "… (540 characters more)"),
        ("y" * 100_000, "y" * 460 + "… (99540 characters more)"),
    ],
)
def test_of_what_is_put_out_the_last_line_is_kept(world: World, output: str, line: str | None) -> None:
    """It is short, and every character in it shows."""
    world.do(last_activity.note, world.id, "bob", output=output)

    assert of(world).last_output == line
    assert (of(world).last_output_at is None) == (line is None)


def test_a_heartbeat_is_no_evidence(world: World) -> None:
    """An agent's description of itself counts when it is new, however often it is repeated."""
    world.report("bob", output="compiling")
    said_at = of(world).last_output_at
    world.clock.advance(MINUTE)
    world.report("bob", output="compiling")
    world.report("bob")

    assert (of(world).last_output, of(world).last_output_at) == ("compiling", said_at)

    world.report("bob", output="linking")
    seen = of(world)
    assert seen.last_output == "linking"
    assert (seen.last_output_at or 0) - (said_at or 0) >= MINUTE / timedelta(milliseconds=1)


def test_progress_is_evidence(world: World) -> None:
    """The output in a worker's report counts as its latest output."""
    task = world.start(world.send("bob"))
    world.on(task, task_actions.progress, "bob", output="line 1\nline 2")

    assert of(world).last_output == "line 2"


def test_evidence_is_of_a_project(world: World) -> None:
    """An agent of the same name elsewhere is another one."""
    world.do(last_activity.note, world.elsewhere("other").id, "bob", output="there")

    assert of(world) == LastActivity(agent="bob")
