"""Two who write at the same time wait for one another in a row, never in a circle: names of agents are locked first."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event
from uuid import UUID

import pytest

from hubbub.core.actions import task_actions
from hubbub.core.agents import file_claims, scopes
from hubbub.core.presence import presences
from hubbub.core.work import tasks
from hubbub.model.agents.scopes import Scope
from hubbub.model.errors import HubError
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Condition, Presence, Profile, Task
from hubbub.store.agents import agents
from hubbub.store.engine import postgres
from hubbub.store.tx import Row, Tx
from tests.core.conftest import TEN_MINUTES, World, errors_of
from tests.support.waiting import patience, until

ROUNDS = 12
Deeds = list[Callable[[Tx], object]]


def leaves(world: World) -> Callable[[Tx], object]:
    """Let bob leave, which releases his claims."""
    return lambda tx: presences.report(
        tx,
        world.id,
        "bob",
        instance="first",
        condition=Condition.OFFLINE,
        profile=Profile(),
        ttl=TEN_MINUTES,
    )


def completes(world: World, task: Task) -> Callable[[Tx], object]:
    return lambda tx: task_actions.complete(
        tx, tasks.find(tx, [world.id], str(task.id), lock=True), by="bob", result="done"
    )


def ends_and_leaves(world: World, _bob: Presence, task: Task) -> Deeds:
    return [completes(world, task), leaves(world)]


def declares(world: World, bob: Presence) -> Callable[[Tx], object]:
    return partial(scopes.declare, project=world.project, presence=bob, scope=Scope(None, ("docs/",)))


def claims(world: World, bob: Presence) -> Callable[[Tx], object]:
    return partial(file_claims.claim, project=world.project, presence=bob, paths=["docs/x.md"])


def declares_and_leaves(world: World, bob: Presence, _task: Task) -> Deeds:
    return [declares(world, bob), leaves(world)]


def claims_and_leaves(world: World, bob: Presence, _task: Task) -> Deeds:
    return [claims(world, bob), leaves(world)]


def needs_what_ends(world: World, _bob: Presence, task: Task) -> Deeds:
    sends = partial(tasks.send, project_id=world.id, sender="ann", to="bob", text="then", needs=[task])
    return [sends, completes(world, task)]


@pytest.mark.parametrize("deeds", [ends_and_leaves, declares_and_leaves, claims_and_leaves, needs_what_ends])
def test_nobody_waits_in_a_circle(
    world: World, monkeypatch: pytest.MonkeyPatch, deeds: Callable[[World, Presence, Task], Deeds]
) -> None:
    """An agent's call and a change of its tasks at the same moment never have to begin anew."""
    again: list[int] = []
    monkeypatch.setattr(postgres, "_step_back", again.append)

    for _round in range(ROUNDS):
        bob = world.report("bob")
        world.do(scopes.declare, world.project, bob, Scope(None, ("src/",)))
        task = world.accept(world.send())
        assert all(issubclass(each, HubError) for each in errors_of(world.race(*deeds(world, bob, task))))

    assert again == []


def is_project_free(tx: Tx, project_id: UUID) -> bool:
    free = tx.one(
        f"SELECT id FROM projects WHERE id = :id {tx.db.for_update} {tx.db.skip_locked}", id=project_id
    )
    return free is not None


def waiting(tx: Tx) -> Sequence[Row]:
    """Return the statements of this database that wait for another's lock, each with its start."""
    return tx.all(
        """SELECT pid, query_start FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'"""
    )


@pytest.mark.daily
@pytest.mark.parametrize("store", ["postgres"], indirect=True)
@pytest.mark.parametrize("deed", [declares, claims])
def test_a_call_that_waits_for_a_name_holds_no_project(
    world: World, deed: Callable[[World, Presence], Callable[[Tx], object]]
) -> None:
    """While a call waits for the name of its agent, the project is free for others."""
    bob, is_held, may_end = world.report("bob"), Event(), Event()

    def hold(tx: Tx) -> None:
        agents.lock_names(tx, world.id, "bob")
        is_held.set()
        assert may_end.wait(patience())

    def is_project_free_meanwhile() -> Sequence[bool]:
        """Look during one wait: a call that has waited for long lets go of everything, and waits anew."""
        waits = world.store.read_now(SYSTEM, waiting)
        is_free = world.do(is_project_free, world.id)
        return [is_free] if waits and waits == world.store.read_now(SYSTEM, waiting) else []

    with ThreadPoolExecutor(2) as threads:
        holding = threads.submit(world.at_hub(1).do, hold)
        try:
            assert is_held.wait(patience())
            called = threads.submit(world.at_hub(2).do, deed(world, bob))
            [is_free] = until(is_project_free_meanwhile, "the call to wait for the name")
            assert is_free
        finally:
            may_end.set()
        holding.result()
        called.result()
