"""The needs of people in a picture: each is shown where it belongs, from its beginning to its end."""

import json
from datetime import timedelta
from typing import Any

from hubbub.core.agents import scopes
from hubbub.core.fleet import approvals
from hubbub.model.agents.scopes import Scope
from hubbub.model.log.attention import NeedKind, needed
from hubbub.model.log.projection import Projector
from hubbub.store.log import activity
from hubbub.store.log.activity import START
from tests.core.conftest import World, finish
from tests.core.fleet.test_approvals import question
from tests.support.pictures import picture

MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)
K = NeedKind


def told(world: World) -> dict[str, Any]:
    """The picture, which the tables and the log tell alike."""
    fold = Projector()
    for each in world.do(lambda tx: activity.since(tx, world.id, START, 10_000).activities):
        fold.apply(each.seq, json.loads(each.patch) if each.patch else None)
    now: dict[str, Any] = json.loads(json.dumps(world.do(picture, world.id)))
    assert fold.picture == now
    return now


def needs(world: World) -> list[tuple[NeedKind, str]]:
    """Return the current needs, by kind and key."""
    return [(each.need.kind, each.key) for each in needed(told(world), world.clock())]


def ask(world: World, digest: str) -> str:
    approval, _receipt = world.do(
        approvals.put, world.project, question(world, digest=digest * 64), MINUTE, elicitation=False
    )
    return str(approval.id)


def test_who_got_no_answer_is_shown_until_they_ask_again(world: World) -> None:
    """A question that expires unanswered is told for a day, unless the same is asked again or was answered."""
    first = ask(world, "a")
    world.clock.advance(MINUTE / 2)
    other = ask(world, "b")
    assert needs(world) == [(K.APPROVAL, first), (K.APPROVAL, other)]
    world.pass_time(MINUTE / 2)
    assert needs(world) == [(K.APPROVAL, other), (K.EXPIRED, first)]
    world.pass_time(MINUTE)
    assert needs(world) == [(K.EXPIRED, first), (K.EXPIRED, other)]
    again = ask(world, "a")
    assert needs(world) == [(K.APPROVAL, again), (K.EXPIRED, other)]
    world.pass_time(DAY - MINUTE)
    assert needs(world) == [(K.EXPIRED, other), (K.EXPIRED, again)]
    world.pass_time(2 * MINUTE)
    assert needs(world) == [(K.EXPIRED, again)]


def test_whoever_asks_a_person_waits_with_its_task(world: World) -> None:
    """A question of an agent lets the agent and the task that it works on wait, until it is answered."""
    world.report("ann")
    task = world.start(world.send("ann"), "ann")

    def states() -> tuple[str, str]:
        now = told(world)
        return now["agents"]["ann"]["state"], now["tasks"][str(task.id)]["state"]

    assert states() == ("working", "running")
    asked = ask(world, "a")
    assert states() == ("waiting", "waiting")
    assert needs(world) == [(K.APPROVAL, asked)]
    world.pass_time(2 * MINUTE)
    assert states() == ("working", "running")


def test_a_task_is_late_from_when_it_could_be_begun(world: World) -> None:
    """A task that waits for another is not late; once that is completed, half an hour is counted from there."""
    first = world.send("bob")
    held = world.send(None, needs=[first])
    world.start(first)
    world.clock.advance(timedelta(hours=2))
    assert needs(world) == []
    finish(world, first)
    world.clock.advance(29 * MINUTE)
    assert needs(world) == []
    world.clock.advance(MINUTE)
    assert needs(world) == [(K.LATE, str(held.id))]


def test_a_conflict_is_as_old_as_it_is(world: World) -> None:
    """Two are in conflict since they first met, also where what they share has changed since."""

    def declare(name: str, *files: str) -> None:
        world.do(scopes.declare, world.project, world.report(name), Scope.of(None, files))

    declare("ann", "src/a.py")
    world.clock.advance(MINUTE)
    declare("bob", "src/")
    (met,) = told(world)["overlaps"].values()
    world.clock.advance(MINUTE)
    declare("bob", "src/", "docs/")
    declare("ann", "src/a.py", "docs/")
    (now,) = told(world)["overlaps"].values()
    assert now["files"] != met["files"]
    assert now["need"] == met["need"]
