"""Keyframes, reels, and how far back the log goes."""

import json
from datetime import timedelta
from typing import Any, NamedTuple

import pytest

from hubbub.core.snapshots import keyframes
from hubbub.model.errors import NotFound
from hubbub.model.log.projection import Projector, empty
from hubbub.model.records import Activity
from hubbub.store.log.activity import START
from hubbub.store.log.keyframes import Keyframe
from hubbub.store.tx import Tx
from tests.core.conftest import RACERS, World
from tests.support.pictures import picture

DAY = timedelta(days=1)


def keep(world: World) -> None:
    """Write a keyframe of the project if one is due, as a hub does."""
    for project_id in world.do(keyframes.due):
        frame = world.do(keyframes.take_keyframe, project_id)
        world.do(keyframes.keep, frame)


class Played(NamedTuple):
    """A reel: its keyframe, what that shows, and what followed it."""

    start: Keyframe
    picture: dict[str, Any]
    activities: list[Activity]


def reel(world: World, until: int | None = None) -> Played:
    def look(tx: Tx) -> Played:
        found = keyframes.replay(tx, world.id, until)
        picture = json.loads(b"".join(found.start.text()))
        return Played(found.start, picture, [*keyframes.activities(tx, found)])

    return world.do(look)


def number_kept(world: World) -> int:
    """Return the number of keyframes, the empty one of the beginning among them."""
    return world.do(lambda tx: len(tx.all("SELECT seq FROM keyframes")))


def shown(world: World) -> dict[str, Any]:
    """The project as it is."""
    return world.do(picture, world.id)


def played(of: Played) -> dict[str, Any]:
    """Return the picture at the end of a reel."""
    fold = Projector.of(of.picture, of.start.seen)
    for each in of.activities:
        fold.apply(each.seq, json.loads(each.patch) if each.patch else None)
    return fold.picture


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """A keyframe is due every five activities."""
    monkeypatch.setattr(keyframes, "EVERY", 5)


def test_a_project_begins_with_the_empty_picture(world: World) -> None:
    """The first keyframe of a project that is made is empty, and everything can be replayed from it."""
    first = reel(world)
    assert (first.picture, first.start.position) == (empty(), START)
    assert [each.seq for each in first.activities] == [each.seq for each in world.log()]
    assert played(first) == shown(world)


def test_an_older_project_begins_with_its_first_keyframe(world: World) -> None:
    """A project without any keyframe, as it is older than they are, gets one at once, and is replayed from there."""
    world.do(lambda tx: tx.run("DELETE FROM keyframes"))
    world.do(lambda tx: tx.run("UPDATE activity SET patch = NULL"))
    world.send()
    with pytest.raises(NotFound):
        reel(world)
    keep(world)
    before = shown(world)
    world.send(to=None)
    assert (reel(world).picture, played(reel(world))) == (before, shown(world))
    with pytest.raises(NotFound):
        reel(world, world.log()[0].seq)


def test_keyframes_are_kept_every_so_often(world: World) -> None:
    """One is due when enough has happened since the last; or a day after it, if anything has."""
    keep(world)  # four activities: the project was made, and three agents were met
    assert number_kept(world) == 1
    world.send()
    keep(world)
    assert number_kept(world) == 2

    world.clock.advance(DAY)
    assert world.do(keyframes.due) == []
    world.send()
    assert world.do(keyframes.due) == [world.id]


def test_a_large_picture_is_kept_more_seldom(world: World) -> None:
    """The next keyframe is due when as much has happened as the last has cards, if that is more."""
    for _ in range(20):
        world.send()
    keep(world)
    assert number_kept(world) == 2  # twenty tasks, and three agents
    for _ in range(22):
        world.send()
    assert world.do(keyframes.due) == []
    world.send()
    assert world.do(keyframes.due) == [world.id]


def test_every_moment_can_be_played(world: World) -> None:
    """Whatever activity one stops at, the reel up to it leads to the project as it was just after it."""
    moments = {}
    for number in range(4):
        task = world.send(text=f"task {number}")
        keep(world)
        world.start(task)
        moments[world.log()[-1].seq] = shown(world)
        keep(world)
    for seq, then in moments.items():
        assert played(reel(world, seq)) == then


def test_of_racing_hubs_one_keeps_the_keyframe(world: World) -> None:
    """One of several hubs that find a keyframe due at the same time keeps it."""
    for _ in range(5):
        world.send()
    frame = world.do(keyframes.take_keyframe, world.id)
    world.send()
    later = world.do(keyframes.take_keyframe, world.id)
    world.race(*[lambda tx, one=one: keyframes.keep(tx, one) for one in [frame, later] * (RACERS // 2)])
    assert number_kept(world) == 2


def test_the_log_is_cut_at_a_keyframe(world: World) -> None:
    """A log past its age limit is cut at the last keyframe of that age; the rest can be replayed."""
    for _ in range(5):
        world.send()
    keep(world)
    cut = world.log()[-1].seq
    world.clock.advance(3 * DAY)
    world.send()
    keep(world)
    world.send(to=None)

    while world.do(keyframes.forget, 2 * DAY):
        pass
    first = world.do(keyframes.first, world.id)
    assert first is not None
    assert first.position.seq == cut
    assert all(each.seq > cut for each in world.log())
    assert played(reel(world)) == shown(world)
    assert world.do(keyframes.is_lost, world.id, START)
    assert not world.do(keyframes.is_lost, world.id, first.position)
    with pytest.raises(NotFound):
        reel(world, cut - 1)


def test_a_log_that_is_young_enough_is_whole(world: World) -> None:
    """Nothing goes that is not old enough, nor what comes after the last keyframe, however old."""
    world.send()
    log = world.log()
    world.clock.advance(3 * DAY)
    assert not world.do(keyframes.forget, 2 * DAY)
    keep(world)
    assert not world.do(keyframes.forget, 2 * DAY)
    assert world.log() == log


def test_the_log_is_cut_a_little_at_a_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """One transaction drops a page, and says that there may be more; the newest that has happened always stays."""
    for _ in range(5):
        world.send()
    keep(world)
    monkeypatch.setattr(keyframes, "PAGE", 2)
    log = world.log()
    assert world.do(keyframes.forget, timedelta())
    assert len(world.log()) == len(log) - 2
    while world.do(keyframes.forget, timedelta()):
        pass
    assert [each.seq for each in world.log()] == [log[-1].seq]
