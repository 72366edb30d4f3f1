"""Pictures of a project: the tables, and the log that is applied to a picture, always tell the same."""

import json
import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from itertools import product
from threading import Event
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.core.actions import task_actions
from hubbub.core.agents import agents
from hubbub.core.limits import accounts
from hubbub.core.people import projects
from hubbub.core.snapshots.full_snapshot import SnapshotMoment, moment, nouns
from hubbub.core.work import tasks
from hubbub.model.errors import HubError
from hubbub.model.ids import new_id
from hubbub.model.lifecycle import Status
from hubbub.model.limits.usage_limits import LimitKind, UsageLimit
from hubbub.model.log.attention import FAILED_FOR, SILENT_FOR, UNBEGUN_FOR, Needed, NeedKind, needed
from hubbub.model.log.projection import Projector
from hubbub.model.people.rights import HUB, SYSTEM, Actor, Role
from hubbub.model.records import Project, Task
from hubbub.model.timestamps import milliseconds
from hubbub.store.log import activity
from hubbub.store.log.activity import START, Position
from hubbub.store.people import projects as rows
from hubbub.store.tx import Store, Tx
from tests.conftest import MovableClock
from tests.core.conftest import RACERS, World, member, person
from tests.core.snapshots.deeds import CREW, DEEDS, come, do, place
from tests.core.test_lock_order import waiting
from tests.support.pictures import picture
from tests.support.waiting import patience, until

DEEDS_OF_A_RACER = 25
PAUSE = milliseconds(timedelta(hours=1))

Step = tuple[int, tuple[int, int, int], int]
Deed = Callable[[Tx], object]
numbers = st.integers(0, 60)
steps = st.tuples(
    st.integers(0, len(DEEDS) - 1),
    st.tuples(numbers, numbers, numbers),
    st.sampled_from((*[0] * 12, 1, 1, 100, 700)),  # seconds that pass before
)


class Snapshot(NamedTuple):
    moment: SnapshotMoment
    picture: dict[str, Any]


def told(store: Store, project_id: UUID) -> Snapshot:
    """The project as its tables tell it, in the form that it goes over the line."""
    return store.read_now(SYSTEM, lambda tx: Snapshot(moment(tx, project_id), picture(tx, project_id)))


def folded(store: Store, project_id: UUID, begin: Projector, after: Position = START) -> dict[str, Any]:
    """Return the project as the log tells it, on top of what is known already."""
    log = store.read_now(SYSTEM, lambda tx: activity.since(tx, project_id, after, 100_000).activities)
    for each in log:
        begin.apply(each.seq, json.loads(each.patch) if each.patch else None)
    return begin.picture


def act(store: Store, clock: MovableClock, project: Project, eve: Actor, chosen: Sequence[Step]) -> None:
    """Do one deed after the other, skipping refused ones."""
    acting = member(project)
    for number, more, seconds in chosen:
        clock.advance(timedelta(seconds=seconds))
        with suppress(HubError):
            store.write_now(acting, lambda tx, n=number, m=more: do(tx, project, eve, DEEDS[n], m))  # type: ignore[misc]


def new_project(store: Store) -> Project:
    """A project in which the crew is known."""

    def make(tx: Tx) -> Project:
        project = projects.create(tx, f"story-{new_id()}")
        for name in CREW:
            agents.meet(tx, project.id, name)
        return project

    return store.write_now(SYSTEM, make)


def joining(world: World, project: Project, eve: Actor) -> None:
    """Let eve manage a project as well."""
    assert eve.user_id is not None
    user_id = eve.user_id
    world.store.write_now(SYSTEM, lambda tx: rows.put_member(tx, project.id, user_id, Role.ADMIN))


@pytest.fixture
def eve(world: World) -> Actor:
    """A person; she is a member of the project `lab`."""
    return person(world, "eve", Role.MEMBER)


@pytest.mark.parametrize(
    ("store", "stories"),
    [
        ("sqlite", 3),
        *(pytest.param(*each, marks=pytest.mark.system) for each in (("sqlite", 15), ("postgres", 5))),
    ],
    indirect=["store"],
)
def test_the_log_tells_what_the_tables_tell(world: World, eve: Actor, stories: int) -> None:
    """From nothing, and from a snapshot at any moment, the patches that follow lead to the picture as it is."""

    @settings(max_examples=stories)
    @given(first=st.lists(steps, min_size=20, max_size=60), then=st.lists(steps, min_size=10, max_size=40))
    def play(first: list[Step], then: list[Step]) -> None:
        project = new_project(world.store)
        joining(world, project, eve)
        act(world.store, world.clock, project, eve, first)
        halfway = told(world.store, project.id)
        act(world.store, world.clock, project, eve, then)
        now = told(world.store, project.id)

        assert folded(world.store, project.id, Projector()) == now.picture
        onward = Projector.of(halfway.picture, halfway.moment.seen)
        assert folded(world.store, project.id, onward, halfway.moment.position) == now.picture

    play()


@pytest.mark.system
def test_every_deed_is_told(world: World, eve: Actor) -> None:
    """The log has each deed's effect on the picture: nothing that can be done is left out."""
    project = new_project(world.store)
    joining(world, project, eve)
    known, seen = Projector(), START
    for turn, deed in product(range(6), range(len(DEEDS))):
        act(world.store, world.clock, project, eve, [(deed, (turn, turn, turn), 0)])
        now = told(world.store, project.id)

        assert folded(world.store, project.id, known, seen) == now.picture, DEEDS[deed].__name__
        seen = now.moment.position


def test_who_holds_much_is_shown_with_the_first_of_it(world: World) -> None:
    """An agent's card names fifty tasks under way: its first work first, the last begun first."""
    project = new_project(world.store)
    acting, name = member(project), CREW[0]

    def take(tx: Tx, number: int) -> Task:
        sent = tasks.send(tx, project.id, sender=HUB, to=name, text="x")
        taken = task_actions.accept(tx, sent, name)
        if number % 20 == 0:
            return taken
        begun = task_actions.start(tx, taken, name)
        return begun if number % 15 else task_actions.block(tx, begun, by=name, reason="?")

    held = []
    for number in range(56):
        world.clock.advance(timedelta(seconds=1))
        held.append(world.store.write_now(acting, lambda tx, n=number: take(tx, n)))  # type: ignore[misc]
    order = (Status.WORKING, Status.BLOCKED, Status.ACCEPTED)
    held.sort(key=lambda task: (order.index(task.status), -(task.started_at or 0), task.number))

    now = told(world.store, project.id)
    assert now.picture["agents"][name]["holds"] == [str(task.id) for task in held[:50]]
    assert folded(world.store, project.id, Projector()) == now.picture


def test_what_may_press_is_all_that_does(world: World, eve: Actor) -> None:
    """At any moment what may press holds all that needs a person then, told alike, and leaves tasks out that do not."""
    project = new_project(world.store)
    joining(world, project, eve)
    every = [(deed, (turn, turn, turn), 0) for turn in range(6) for deed in range(len(DEEDS))]
    act(world.store, world.clock, project, eve, every)

    def look(tx: Tx, later: int) -> tuple[list[Needed], list[Needed], int]:
        tx.now += later
        pressing = {noun: dict(cards) for noun, cards in nouns(tx, project.id, pressing=True)}
        whole = picture(tx, project.id)
        left_out = len(whole["tasks"]) - len(pressing["tasks"])
        return needed(pressing, tx.now), needed(whole, tx.now), left_out

    kinds = set()
    for later in (0, UNBEGUN_FOR, SILENT_FOR, FAILED_FOR):
        pressing, needs, left_out = world.do(look, later)
        assert pressing == needs
        assert left_out > 0
        kinds |= {each.need.kind for each in needs}
    assert kinds >= {NeedKind.QUESTION, NeedKind.FAILED, NeedKind.LATE}


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.system)])
def test_racing_writers_tell_the_same(world: World, eve: Actor, seed: int) -> None:
    """The log and the tables agree during concurrent writes, and so does each snapshot taken meanwhile."""
    project = new_project(world.store)
    joining(world, project, eve)
    halfway: list[Snapshot] = []

    def run(racer: int) -> None:
        chance = random.Random(f"{seed} {racer}")
        for number in range(DEEDS_OF_A_RACER):
            more = chance.randrange(60), chance.randrange(60), chance.randrange(60)
            store = world.at_hub(racer).store
            act(store, world.clock, project, eve, [(chance.randrange(len(DEEDS)), more, 0)])
            if number % 10 == racer:
                halfway.append(told(world.store, project.id))

    with ThreadPoolExecutor(RACERS) as threads:
        list(threads.map(run, range(RACERS)))
    now = told(world.store, project.id)

    assert folded(world.store, project.id, Projector()) == now.picture
    assert len(halfway) > RACERS
    for each in halfway:
        onward = Projector.of(each.picture, each.moment.seen)
        assert folded(world.store, project.id, onward, each.moment.position) == now.picture


on_postgres = pytest.mark.parametrize("store", ["postgres"], indirect=True)


@pytest.mark.daily
@on_postgres
def test_an_agent_is_told_with_the_new_name_of_its_machine(world: World, eve: Actor) -> None:
    """The log names an agent's machine as the tables do, also if that was renamed while the agent was placed on it."""
    project = new_project(world.store)
    joining(world, project, eve)
    acting = member(project)
    box, renamed = (0, 0, 1), (1, 0, 1)
    world.store.write_now(acting, lambda tx: come(tx, project, box))

    at_once(world, (eve, lambda tx: place(tx, project, box)), (acting, lambda tx: come(tx, project, renamed)))

    now = told(world.store, project.id)
    assert now.picture["agents"]["coder0"]["machine"] == "Box"
    assert folded(world.store, project.id, Projector()) == now.picture


@pytest.mark.daily
@on_postgres
@pytest.mark.parametrize("how", ["sent", "given"])
@pytest.mark.parametrize("pause_comes", ["first", "second"])
def test_a_task_is_told_with_the_pause_of_who_is_to_begin_it(
    world: World, how: str, pause_comes: str
) -> None:
    """The log says when a task is late as the tables do, also if its agent was paused while it was sent or given."""
    project = new_project(world.store)
    acting = member(project)
    task = world.store.write_now(acting, lambda tx: send(tx, project.id, to="bob"))

    def pause(tx: Tx) -> object:
        return accounts.reached(tx, project, "ann", UsageLimit(LimitKind.WINDOW, tx.now + PAUSE))

    def put(tx: Tx) -> object:
        if how == "sent":
            return send(tx, project.id, to="ann")
        return task_actions.reassign(tx, tasks.locked(tx, task), to="ann", by="bob")

    deeds = (pause, put) if pause_comes == "first" else (put, pause)
    at_once(world, *((acting, deed) for deed in deeds))

    now = told(world.store, project.id)
    (late_at,) = (
        each["need"]["since"] for each in now.picture["tasks"].values() if each["assignee"] == "ann"
    )
    assert late_at >= world.clock() + PAUSE
    assert folded(world.store, project.id, Projector()) == now.picture


def send(tx: Tx, project_id: UUID, *, to: str) -> Task:
    return tasks.send(tx, project_id, sender="bob", to=to, text="x")


def at_once(world: World, first: tuple[Actor, Deed], second: tuple[Actor, Deed]) -> None:
    """Do both, each at a hub of its own: the second begins when the first is done and not committed yet."""
    (one, do_first), (another, do_second) = first, second
    is_done, may_end = Event(), Event()

    def hold(tx: Tx) -> None:
        do_first(tx)
        is_done.set()
        assert may_end.wait(patience())

    with ThreadPoolExecutor(2) as threads:
        holding = threads.submit(world.at_hub(1).store.write_now, one, hold)
        try:
            assert is_done.wait(patience())
            other = threads.submit(world.at_hub(2).store.write_now, another, do_second)
            until(lambda: other.done() or world.store.read_now(SYSTEM, waiting), "the second deed")
        finally:
            may_end.set()
        holding.result()
        other.result()
