"""An agent that comes in by several doors under one name is one agent, on either engine."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from typing import Concatenate, ParamSpec, TypeVar

import pytest

from hubbub.core.actions import task_actions
from hubbub.core.agents import agents
from hubbub.core.presence import checkins, presences
from hubbub.core.work import tasks
from hubbub.model.agents.scopes import Scope
from hubbub.model.errors import Conflict, InvalidTransition, NotFound, NotHolder
from hubbub.model.lifecycle import Status
from hubbub.model.records import Condition, Presence, Profile, Task
from hubbub.store.tx import Tx
from tests.core.conftest import TEN_MINUTES, World

P = ParamSpec("P")
T = TypeVar("T")

REPORTING, STAYING, WORKER = "commhub", "golemxv", ""


def at(
    world: World, door: str, operation: Callable[Concatenate[Tx, P], T], *args: P.args, **more: P.kwargs
) -> T:
    """One call of the core by somebody who comes in at a door."""

    def there(tx: Tx) -> T:
        tx.door = door
        return operation(tx, *args, **more)

    return world.do(there)


def report(world: World, instance: str = "run", *, door: str = REPORTING, name: str = "ann") -> Presence:
    return at(
        world,
        door,
        presences.report,
        world.id,
        name,
        instance=instance,
        condition=Condition.WORKING,
        profile=Profile(),
        ttl=TEN_MINUTES,
    )


def checkin(world: World, name: str = "ann", *files: str) -> checkins.Checkin:
    return at(world, STAYING, checkins.begin, world.project, name, Scope.of(None, files))


def heartbeat(world: World, stay: checkins.Checkin) -> Presence:
    return at(world, STAYING, lambda tx: checkins.keep(tx, checkins.find(tx, [world.id], stay.secret)))


def claim(world: World, door: str, by: str = "ann", task: Task | None = None) -> Task:
    """Take a task from the open queue."""
    number = str((task or world.send(to=None)).number)
    return at(
        world, door, lambda tx: task_actions.accept(tx, tasks.find(tx, [world.id], number, lock=True), by)
    )


def holder(world: World, task: Task) -> str | None:
    return world.task(task).assignee


def test_a_report_at_another_door_is_a_heartbeat(world: World) -> None:
    """A checked-in agent keeps session, files and work when it reports elsewhere, which keeps it alive."""
    stay = checkin(world, "ann", "src/a.py")
    held = claim(world, STAYING)
    for _ in range(3):
        world.pass_time(timedelta(seconds=170))
        reported = report(world)

    assert reported.id == heartbeat(world, stay).id == stay.presence.id
    assert (reported.files, holder(world, held)) == (("src/a.py",), "ann")
    assert reported.expires_at - reported.seen_at == stay.presence.ttl


def test_who_reports_may_check_in(world: World) -> None:
    """A check-in of an agent that reports elsewhere is the same presence, which lasts as long as the reports let it."""
    reported = report(world)
    held = claim(world, REPORTING)
    stay = checkin(world)
    report(world)

    assert heartbeat(world, stay).id == reported.id
    assert (heartbeat(world, stay).condition, holder(world, held)) == (Condition.WORKING, "ann")
    assert heartbeat(world, stay).ttl == reported.ttl
    assert world.kinds().count("agent.checkin") == 2


@pytest.mark.parametrize("is_reporting", [True, False], ids=["with another door", "alone"])
def test_only_the_same_door_replaces_a_session(world: World, is_reporting: bool) -> None:
    """A second check-in ends the first, and what that had claimed goes back; what was claimed elsewhere does not."""
    first = checkin(world)
    if is_reporting:
        report(world)
        kept = claim(world, REPORTING)
    lost = claim(world, STAYING)
    second = checkin(world)

    assert heartbeat(world, second).agent == "ann"
    with pytest.raises(NotFound):
        heartbeat(world, first)
    assert holder(world, lost) is None
    assert world.task(lost).epoch == lost.epoch + 1
    if is_reporting:
        assert holder(world, kept) == "ann"


def test_another_run_elsewhere_leaves_a_session(world: World) -> None:
    """A new run that reports replaces the old one there: its work is delivered again, and the session goes on."""
    stay = checkin(world)
    report(world, "first")
    kept, lost = claim(world, STAYING), claim(world, REPORTING)
    number = str(world.send("ann").number)
    mine = at(
        world,
        REPORTING,
        lambda tx: task_actions.start(tx, tasks.find(tx, [world.id], number, lock=True), "ann"),
    )
    report(world, "second")

    assert heartbeat(world, stay).id == stay.presence.id
    assert (holder(world, kept), holder(world, lost)) == ("ann", None)
    assert (world.task(mine).status, world.task(mine).attempt) == (Status.DELIVERED, mine.attempt + 1)


def test_a_worker_is_not_replaced_by_what_it_runs(world: World) -> None:
    """A worker beats on, and keeps its work, while each of its programs reports as a run of its own under its name."""
    ttl = timedelta(minutes=1)
    at(world, WORKER, presences.take, world.id, "ann", instance="worker", profile=Profile(), ttl=ttl)
    held = claim(world, WORKER)
    for run in ("first", "second"):
        report(world, run)
        beaten = at(
            world,
            WORKER,
            presences.beat,
            world.id,
            "ann",
            instance="worker",
            condition=Condition.WORKING,
            profile=Profile(),
        )
    assert (holder(world, held), beaten.ttl) == ("ann", 60_000)
    with pytest.raises(Conflict, match="'ann' is live as worker"):
        at(world, WORKER, presences.take, world.id, "ann", instance="other", profile=Profile(), ttl=ttl)
    at(world, WORKER, presences.leave, world.id, "ann", instance="worker")
    assert holder(world, held) is None


def test_who_leaves_by_one_door_has_left(world: World) -> None:
    """An agent that says goodbye anywhere is gone for all, with the session, and what it held comes free."""
    stay = checkin(world)
    report(world)
    held = claim(world, STAYING)
    world.report("ann", Condition.OFFLINE)

    with pytest.raises(NotFound):
        heartbeat(world, stay)
    assert holder(world, held) is None
    assert world.do(agents.condition, world.id, "ann") is Condition.OFFLINE


@pytest.mark.parametrize(
    ("names", "size"), [(6, 16), pytest.param(32, 64, marks=pytest.mark.system)], ids=["a few", "64 claimers"]
)
def test_claimers_who_share_names_get_each_task_once(world: World, names: int, size: int) -> None:
    """Each task goes to exactly one of the claimers, two to a name at two doors, who report and claim at once."""
    open_queue = [world.send(to=None) for _ in range(size)]

    def work(number: int) -> list[int]:
        name, door, mine = (
            f"agent-{number % names}",
            (REPORTING, STAYING)[number // names],
            world.at_hub(number),
        )
        told = []
        stay = checkin(mine, name) if door == STAYING else None
        for task in open_queue[number % 7 :] + open_queue[: number % 7]:
            if mine.task(task).assignee is not None:
                continue
            if stay is not None:
                heartbeat(mine, stay)
            else:
                report(mine, name=name)
            with suppress(Conflict, InvalidTransition, NotHolder):
                told.append(claim(mine, door, name, task).number)
        return told

    with ThreadPoolExecutor(2 * names) as threads:
        told = Counter(number for numbers in threads.map(work, range(2 * names)) for number in numbers)

    assert told == Counter(task.number for task in open_queue)
    assert world.kinds().count("task.released") == 0
