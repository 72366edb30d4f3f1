"""Runs: the current one, those that are asked for by name, and what belongs to each."""

import pytest

from hubbub.core.mail import messages
from hubbub.core.people import runs
from hubbub.core.transaction import Transactions
from hubbub.core.work import artifacts, tasks
from hubbub.model.people.rights import SYSTEM, Role
from hubbub.model.records import Run
from hubbub.store.tx import MustWrite, Tx
from tests.core.conftest import RACERS, World, errors_of, finish, member


def start(world: World, name: str) -> Run:
    return world.do(runs.start, world.id, name, by="ann")


def resolve(world: World, name: str | None = None) -> Run:
    return world.do(runs.resolve, world.id, name)


def opened(world: World) -> list[object]:
    """The names of the runs that came to be, in order."""
    return [each.detail["run"] for each in world.log() if each.kind == "run.opened"]


def test_a_project_is_born_with_a_run(world: World) -> None:
    """A new project has one run, its current one, which nobody has named."""
    current = world.do(runs.current, world.id)

    assert (current.id, current.name, current.notebook) == (world.project.run_id, None, None)
    assert current.project_id == world.id
    assert world.do(runs.of_project, world.id) == [current]
    assert world.do(runs.find, world.id, None) is None


def test_the_first_name_is_given_to_what_came_before(world: World) -> None:
    """The first run that is asked for by a name is the nameless one: what was there before is seen in it."""
    task = world.send()
    message = world.do(messages.send, world.id, sender="ann", to="bob", body="hello")
    run = start(world, "monday")

    assert (run.id, run.name) == (world.project.run_id, "monday")
    assert world.do(tasks.of_run, run) == [task]
    assert world.do(messages.of_run, run) == [message]
    assert world.do(runs.of_project, world.id) == [run]
    assert opened(world) == ["monday"]


def test_who_names_none_gets_the_current_one(world: World) -> None:
    """Without a name the current run is meant; where it has none yet, one is made up, once."""
    made_up = resolve(world)

    assert made_up.name is not None
    assert made_up.id == world.project.run_id
    assert resolve(world) == made_up == world.do(runs.find, world.id, None)
    start(world, "monday")
    assert resolve(world).name == "monday"
    assert opened(world) == [made_up.name, "monday"]


def test_a_made_up_name_tells_when_it_was(world: World) -> None:
    """A name that nobody chose is the moment, UTC, and four random digits."""
    first = world.at(1_763_740_800_000, runs.resolve, world.id, None)

    assert first.name is not None
    assert first.name[:-4] == "2025-11-21-160000-"
    assert set(first.name[-4:]) <= set("0123456789abcdef")


def test_asking_for_a_run_does_not_make_it_current(world: World) -> None:
    """A run that is asked for by a name is made if need be, and the current one stays what it is."""
    monday = start(world, "monday")
    tuesday = resolve(world, "tuesday")

    assert tuesday.id != monday.id
    assert resolve(world, "tuesday") == tuesday == world.do(runs.find, world.id, "tuesday")
    assert world.do(runs.current, world.id) == monday
    assert world.do(runs.of_project, world.id) == [tuesday, monday]
    assert opened(world) == ["monday", "tuesday"]


def test_what_names_no_run_belongs_to_the_current_one(world: World) -> None:
    """Tasks, messages and answers that name no run go to the one that is current when they are made, and stay there."""
    monday = start(world, "monday")
    early = world.send()
    tuesday = start(world, "tuesday")
    late = world.send()
    elsewhere = world.send(run=monday)

    assert (early.run_id, late.run_id, elsewhere.run_id) == (monday.id, tuesday.id, monday.id)
    assert world.do(tasks.of_run, monday) == [early, elsewhere]
    assert world.do(tasks.of_run, tuesday) == [late]
    finish(world, early)
    (answer,) = world.do(messages.of_run, monday)
    assert answer.in_reply_to == early.id
    assert world.do(messages.of_run, tuesday) == []


def test_starting_is_recorded(world: World) -> None:
    """The log says who started which run, and first that it was opened, if it was new."""
    start(world, "monday")
    start(world, "tuesday")
    start(world, "monday")

    told = [(each.kind, each.detail["run"]) for each in world.log() if each.kind.startswith("run.")]
    assert told == [
        ("run.opened", "monday"),
        ("run.started", "monday"),
        ("run.opened", "tuesday"),
        ("run.started", "tuesday"),
        ("run.started", "monday"),
    ]
    assert world.log()[-1].actor == "ann"


def test_an_old_run_shows_its_rows_again(world: World) -> None:
    """Started again, an old run is the current one, with all that was in it."""
    monday = start(world, "monday")
    task = world.send()
    start(world, "tuesday")
    again = start(world, "monday")

    assert again == monday == world.do(runs.current, world.id)
    assert world.do(tasks.of_run, again) == [task]
    assert world.send().run_id == monday.id


def test_runs_belong_to_their_project(world: World) -> None:
    """Two projects have runs of the same name, and nothing of one is seen in the other."""
    other = world.elsewhere("other")
    here, there = start(world, "monday"), start(other, "monday")
    world.send()

    assert here.id != there.id
    assert other.do(tasks.of_run, there) == []
    assert [each.detail for each in other.log() if each.kind == "run.opened"] == [{"run": "monday"}]


@pytest.mark.parametrize("name", [None, "monday"])
def test_racing_to_name_it(world: World, name: str | None) -> None:
    """However many ask at once for the run that nobody has named, they get the same one, and it is opened once."""
    outcomes = world.race(*[lambda tx: runs.resolve(tx, world.id, name)] * RACERS)

    assert errors_of(outcomes) == []
    assert outcomes == [world.do(runs.current, world.id)] * RACERS
    assert len(opened(world)) == 1


def test_racing_with_different_names(world: World) -> None:
    """One of those who name a run at once makes it; the others get runs of their own, each made once."""
    names = [f"run {number % 4}" for number in range(RACERS)]
    outcomes = world.race(*[lambda tx, name=name: runs.resolve(tx, world.id, name) for name in names])

    assert [outcome.name for outcome in outcomes if isinstance(outcome, Run)] == names
    made = world.do(runs.of_project, world.id)
    assert sorted(str(run.name) for run in made) == sorted(set(names)) == sorted(map(str, opened(world)))
    assert {outcome.id for outcome in outcomes if isinstance(outcome, Run)} == {run.id for run in made}


def test_a_notebook_is_kept(world: World) -> None:
    """Notes of a run's orchestrator are there again, replaced as a whole, and are the run's alone."""
    monday, tuesday = start(world, "monday"), start(world, "tuesday")
    for text in ("first", '{"阶段": 2}'):
        world.do(runs.write_notebook, monday, text, by="ann")

    found = world.do(runs.find, world.id, "monday")
    assert found is not None
    assert found.notebook == '{"阶段": 2}'
    assert world.do(runs.current, world.id) == tuesday
    noted = world.log()[-1]
    assert (noted.kind, noted.actor, noted.detail) == ("run.noted", "ann", {"run": "monday"})


def test_what_a_run_holds_is_counted(world: World) -> None:
    """A run knows how many tasks, messages and artifacts it has."""
    monday = start(world, "monday")
    world.send()
    world.send()
    world.do(messages.send, world.id, sender="ann", to="bob", body="hello")
    world.do(artifacts.post, monday, by="ann", name="plan", kind="text", content="x")
    tuesday = start(world, "tuesday")

    counts = (tasks.number_in_run, messages.number_in_run, artifacts.number_in_run)
    assert [world.do(count, monday) for count in counts] == [2, 1, 1]
    assert [world.do(count, tuesday) for count in counts] == [0, 0, 0]


def test_a_task_is_found_by_what_its_maker_calls_it(world: World) -> None:
    """A task is found by its maker's own name for it, in its run alone."""
    monday, tuesday = start(world, "monday"), start(world, "tuesday")
    task = world.send(run=monday, external_id="T-1")

    assert world.do(tasks.find_by_external_id, monday, "T-1") == task
    assert world.do(tasks.find_by_external_id, tuesday, "T-1") is None
    assert world.do(tasks.find_by_external_id, monday, "T-2") is None


def test_of_racing_makers_one_makes_it(world: World) -> None:
    """However many look for a task by its maker's name and make it if it is not there, one is made."""
    run = start(world, "monday")

    def make(tx: Tx) -> object:
        known = tasks.find_by_external_id(tx, run, "T-1")
        return known or tasks.send(
            tx, world.id, sender="ann", to="bob", text="count", run=run, external_id="T-1"
        )

    outcomes = world.race(*[make] * RACERS)
    assert errors_of(outcomes) == []
    assert outcomes == world.do(tasks.of_run, run) * RACERS


@pytest.mark.anyio
@pytest.mark.parametrize("name", [None, "monday"])
async def test_a_look_opens_a_run_if_need_be(world: World, name: str | None) -> None:
    """A read in a run that does not exist is told to write; the call is run so, and opens the run."""
    with pytest.raises(MustWrite):
        world.store.read_now(SYSTEM, lambda tx: runs.resolve(tx, world.id, name))
    transactions = Transactions(world.store)
    run = await transactions.read(world.actor, lambda tx: runs.resolve(tx, world.id, name))

    assert run.id == world.project.run_id
    assert opened(world) == [run.name]
    again = await transactions.read(
        member(world.project, Role.VIEWER), lambda tx: runs.resolve(tx, world.id, name)
    )
    assert again == run
