"""Two who write at the same time wait for one another in a row, never in a circle: names of agents are locked first."""

from collections.abc import Callable
from functools import partial

import pytest

from hubbub.core.actions import task_actions
from hubbub.core.agents import file_claims, scopes
from hubbub.core.presence import presences
from hubbub.core.work import tasks
from hubbub.model.agents.scopes import Scope
from hubbub.model.errors import HubError
from hubbub.model.records import Condition, Presence, Profile, Task
from hubbub.store.engine import postgres
from hubbub.store.tx import Tx
from tests.core.conftest import TEN_MINUTES, World, errors_of

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


def declares_and_leaves(world: World, bob: Presence, _task: Task) -> Deeds:
    declares = partial(scopes.declare, project=world.project, presence=bob, scope=Scope(None, ("docs/",)))
    return [declares, leaves(world)]


def claims_and_leaves(world: World, bob: Presence, _task: Task) -> Deeds:
    return [
        partial(file_claims.claim, project=world.project, presence=bob, paths=["docs/x.md"]),
        leaves(world),
    ]


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
