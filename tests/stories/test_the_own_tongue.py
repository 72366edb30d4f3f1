"""One agent that speaks the hub's own tongue works with one of each other dialect."""

from collections.abc import Iterator

import pytest

from tests.dialects.conftest import both_engines
from tests.dialects.golemxv.callers import Crew
from tests.dialects.own_tongue.team import Team
from tests.dialects.running_hub import Caller, Hub
from tests.stories.world import World


@pytest.fixture
def world(hub: Hub) -> Iterator[World]:
    """A project with an agent of each of the four."""
    with Crew.fresh(hub) as crew:
        yield World(crew)


@pytest.fixture
def ember(world: World) -> Caller:
    """The fifth, who speaks the hub's own tongue."""
    team = Team(world.crew.hub, world.crew.project, world.crew.closing)
    return team.joined("ember", doing="the parser", files=["src/parser.py"])


def test_everyone_sees_the_newcomer(world: World, ember: Caller) -> None:
    """An agent that joins is in the others' lists of who is there and where; and it sees them."""
    online = {each["alias"] for each in world.commander.get_all_status()["sessions"]}
    present = {each["agent_name"]: each["declared_files"] for each in world.gil.presence()["agents"]}
    assert "ember" in online
    assert present["ember"] == ["src/parser.py"]
    conflicts = world.gil.conflict_check(declared_files=["src/parser.py"])["conflicts"]
    assert [each["agent_name"] for each in conflicts] == ["ember"]
    assert {each.split(" ")[0] for each in ember.join()["here"]} == {"commander", "gil"}


def test_it_writes_to_each_and_each_writes_back(world: World, ember: Caller) -> None:
    """A message goes from the own tongue into each of the others and back."""
    for name in ("commander", "gil", "rhea"):
        ember.send(to=name, text=f"hello {name}")
    assert [each["content"] for each in world.fleet.inbox("commander")] == ["hello commander"]
    assert "hello gil" in [each["content"] for each in world.gil.get_messages()["messages"]]
    assert "hello rhea" in [each["content"] for each in world.team.mail("rhea")]

    world.commander.send_message(alias="ember", message="from CommHub")
    world.gil.send_message(to="ember", content="from GolemXV")
    world.rhea.send_message(to="ember", content="from Relay")
    letters = ember.inbox(ack="all")["letters"]
    assert [(each["from"], each["text"]) for each in letters] == [
        ("commander", "from CommHub"),
        ("gil", "from GolemXV"),
        ("rhea", "from Relay"),
    ]


@both_engines
def test_it_takes_work_of_each(world: World, ember: Caller) -> None:
    """A task that any of them made is on the board; it is done here, and its sender gets the result in its own way."""
    given = {
        "commander": world.send("ember"),
        "rhea": world.team.task("Review it", by="rhea", assignee="ember"),
    }
    issue = world.cleo.issue_create(title="Fix it", assignee="ember")["id"]
    tasks = {each["from"]: each["id"] for each in ember.board(to="ember")["tasks"]}
    assert set(tasks) == {"commander", "rhea", "cleo"}
    for ref in tasks.values():
        ember.task(action="start", task=ref)
        ember.task(action="complete", task=ref, text="It works.", proof="12 tests")

    result = "It works.\n\nProof: 12 tests"
    assert world.commander.get_task(task_id=given["commander"])["task"]["result"] == result
    assert result in [each["content"] for each in world.fleet.inbox("commander")]
    assert result in [each["content"] for each in world.team.mail("rhea")]
    assert world.cleo.issue_get(id=issue)["result"] == result


def test_it_gives_work_to_each(world: World, ember: Caller) -> None:
    """Each dialect does its tasks, and the results come into its inbox."""
    refs = {
        name: ember.send(kind="task", to=name, text=f"Work for {name}")["id"]
        for name in ("commander", "gil", "rhea", "cleo")
    }
    ids = {name: ember.task(action="show", task=ref)["task"]["id"] for name, ref in refs.items()}
    number = {name: int(ref.removeprefix("T-")) for name, ref in ids.items()}
    world.gil.claim_task(task_id=number["gil"])
    world.gil.complete_task(task_id=number["gil"], result_summary="done by gil")
    world.cleo.issue_update(id=str(number["cleo"]), status="in_progress")
    world.cleo.issue_close(id=str(number["cleo"]), reason="done by cleo")
    (row,) = [each for each in world.team.tasks() if each["assignee"] == "rhea"]
    world.rhea.claim_task(task_id=row["id"])
    world.rhea.send_message(to="ember", content="done by rhea", thread_id=row["id"])
    world.rhea.update_task(task_id=row["id"], status="done")
    (letter,) = world.fleet.inbox("commander")
    world.commander.report_completion(alias="commander", task=letter["id"], result="done by commander")

    assert {each["status"] for each in ember.board(status="ended")["tasks"]} == {"completed"}
    said = {each["from"]: each["text"] for each in ember.inbox(limit=20)["letters"]}
    assert said == {name: f"done by {name}" for name in refs}
