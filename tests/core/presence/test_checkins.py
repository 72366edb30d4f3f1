"""Stays: presences that agents open and close themselves, on either engine."""

from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from hubbub.core.agents import agents, scopes
from hubbub.core.people import access, projects
from hubbub.core.presence import checkins, presences
from hubbub.core.presence.checkins import Checkin
from hubbub.core.work import tasks, transfers
from hubbub.model.agents.scopes import Scope
from hubbub.model.errors import Conflict, Invalid, NotFound, ScopeConflict, WrongIdentity
from hubbub.model.ids import new_id
from hubbub.model.lifecycle import Status
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Condition, Presence
from hubbub.store.tx import Tx
from tests.core.conftest import RACERS, World, errors_of, member

TTL = timedelta(seconds=projects.HEARTBEAT_TTL)
NOTHING = Scope()


def begin(world: World, name: str | None = "ann", *files: str) -> Checkin:
    return world.do(checkins.begin, world.project, name, Scope.of(None, files))


def other(world: World) -> World:
    """The same world by another token."""
    return world.acting(member(world.project))


def blocking(world: World) -> World:
    """A project that refuses overlaps."""
    project = world.acting(SYSTEM).do(projects.create, "strict", conflict_mode="block")
    return replace(world, project=project, actor=member(project))


def find(world: World, stay: Checkin) -> Presence:
    return world.do(checkins.find, [world.id], stay.secret)


def end(world: World, stay: Checkin) -> Presence:
    return world.do(checkins.end, stay.presence, outcome=None, summary=None, touched=None)


def listed(world: World, **narrowed: object) -> list[str]:
    found, total = world.do(partial(checkins.history, limit=100, **narrowed), world.id)  # type: ignore[arg-type]
    assert total == len(found)
    return [presence.agent for presence in found]


def test_a_stay_is_proven_by_its_secret(world: World) -> None:
    """A stay begins with a secret, by which it is found as long as it lasts; only its hash is kept."""
    stay = begin(world)

    assert find(world, stay).id == stay.presence.id
    assert find(world, stay).secret == access.fingerprint(stay.secret) != stay.secret
    assert len(stay.secret) >= 32


def test_a_stay_lasts_as_long_as_the_project_says(world: World) -> None:
    """A stay that is not kept is over when the project's time has passed, to the millisecond."""
    stay = begin(world)
    ends = stay.presence.opened_at + int(TTL.total_seconds() * 1000)

    assert world.at(ends - 1, checkins.find, [world.id], stay.secret).id == stay.presence.id
    with pytest.raises(NotFound):
        world.at(ends, checkins.find, [world.id], stay.secret)


def test_a_heartbeat_keeps_it(world: World) -> None:
    """Each heartbeat lets it last as long again, and changes nothing else of it."""
    stay = begin(world, "ann", "a")
    for _ in range(3):
        world.pass_time(TTL - timedelta(seconds=5))
        kept = world.do(lambda tx: checkins.keep(tx, checkins.find(tx, [world.id], stay.secret)))
        assert kept.expires_at - kept.seen_at == kept.ttl
    assert (kept.opened_at, kept.condition) == (stay.presence.opened_at, Condition.WORKING)
    assert world.do(scopes.declared, kept).files == ("a",)


def test_a_heartbeat_follows_the_project(world: World) -> None:
    """A time-to-live that the project changes holds from the next heartbeat on."""
    stay = begin(world, "ann")
    world.do(projects.change, world.project, {"heartbeat_interval": 1, "heartbeat_ttl": 3})

    kept = world.do(lambda tx: checkins.keep(tx, checkins.find(tx, [world.id], stay.secret)))

    assert kept.expires_at - kept.seen_at == 3000


def test_heartbeats_are_recorded_once_a_minute(world: World) -> None:
    """However many there are, the log has one for each minute in which there was any."""
    stay = begin(world)
    start = (stay.presence.opened_at // checkins.HEARTBEATS_TOLD + 1) * checkins.HEARTBEATS_TOLD

    for seconds in (0, 1, 59, 60, 61, 119, 121):
        world.at(
            start + seconds * 1000, lambda tx: checkins.keep(tx, checkins.find(tx, [world.id], stay.secret))
        )

    assert world.kinds().count("agent.heartbeat") == 3


@pytest.mark.parametrize("how", ["unknown", "ended", "silent", "elsewhere"])
def test_what_is_over_is_not_found(world: World, how: str) -> None:
    """An unknown secret, one of a stay that has ended or fallen silent, or of another project, finds nothing."""
    stay = begin(world)
    where = world
    if how == "ended":
        end(world, stay)
    elif how == "silent":
        world.clock.advance(TTL)
    elif how == "elsewhere":
        where = world.elsewhere("attic")
    else:
        stay = replace(stay, secret="0" * 40)

    with pytest.raises(NotFound):
        find(where, stay)


def test_a_bound_token_shows_no_other_agents_secret(world: World) -> None:
    """A token bound to an agent may not act by the stay of another."""
    stay = begin(world)
    bob = world.acting(member(world.project, agent="bob"))

    with pytest.raises(WrongIdentity):
        find(bob, stay)
    with pytest.raises(WrongIdentity):
        begin(bob, "ann")
    assert begin(bob, None).presence.agent == "bob"


def test_a_name_is_made_up_that_nobody_has(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is left out is an adjective and a number, and none that the project knows already."""
    monkeypatch.setattr(checkins, "ADJECTIVES", ("calm",))
    for number in range(1, 99):
        world.do(agents.meet, world.id, f"agent-calm-{number}")

    names = {begin(world, None).presence.agent for _ in range(10)}

    assert len(names) == 10
    assert all(name.startswith("agent-calm-") for name in names)
    assert not names & {f"agent-calm-{number}" for number in range(1, 99)}


def test_when_no_name_is_left_it_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """If every name that could be made up is taken the agent is asked to choose one."""
    monkeypatch.setattr(checkins, "ADJECTIVES", ("calm",))
    monkeypatch.setattr(checkins, "randint", lambda _low, _high: 7)
    begin(world, None)

    with pytest.raises(Invalid, match="choose one"):
        begin(world, None)


def test_a_living_name_belongs_to_its_token(world: World) -> None:
    """Another token cannot begin a stay under a living name, also one that lives by a report; its own replaces it."""
    first = begin(world)
    world.report("bob")

    for name in ("ann", "bob"):
        with pytest.raises(Conflict, match="live by another token"):
            begin(other(world), name)
    second = begin(world)
    assert find(world, second).id == second.presence.id
    with pytest.raises(NotFound):
        find(world, first)


def test_a_name_is_free_again(world: World) -> None:
    """Once its holder has left or fallen silent a name may be another token's."""
    end(world, begin(world))
    begin(other(world))
    world.clock.advance(TTL)
    assert begin(world).presence.agent == "ann"


def test_of_those_who_race_for_a_name_one_gets_it(world: World) -> None:
    """When several tokens begin under one new name at once exactly one does."""

    def beginning(tx: Tx) -> object:
        tx.actor = replace(tx.actor, token_id=new_id())
        return checkins.begin(tx, world.project, "newcomer", NOTHING)

    outcomes = world.race(*[beginning] * RACERS)

    assert errors_of(outcomes) == [Conflict] * (RACERS - 1)
    assert listed(world) == ["newcomer"]


def test_of_those_who_race_for_a_file_one_gets_it(world: World) -> None:
    """Where overlaps are refused, of several who begin with one file at once one does; the rest leave no trace."""
    strict = blocking(world)

    def beginning(number: int) -> object:
        return lambda tx: checkins.begin(
            tx, strict.project, f"racer-{number}", Scope.of(None, ["a", str(number)])
        )

    outcomes = strict.race(*[beginning(number) for number in range(RACERS)])  # type: ignore[arg-type]

    assert errors_of(outcomes) == [ScopeConflict] * (RACERS - 1)
    (winner,) = [outcome for outcome in outcomes if isinstance(outcome, Checkin)]
    assert listed(strict) == [winner.presence.agent]
    assert [agent.name for agent in strict.do(agents.of_project, strict.id)] == [winner.presence.agent]


def test_a_stay_says_with_whom_it_is_in_conflict(world: World) -> None:
    """An agent that is there already and has declared the same is named when a stay begins."""
    begin(world, "ann", "a")

    (conflict,) = begin(world, "bob", "a", "b").conflicts

    assert (conflict.agent, conflict.overlap.files) == ("ann", ("a",))


def test_a_refused_stay_leaves_the_old_one(world: World) -> None:
    """An agent refused a new stay is still there by the old one, and holds what it held."""
    strict = blocking(world)
    begin(strict, "ann", "a")
    old = begin(strict, "bob", "b")
    task = strict.do(tasks.send, strict.id, sender="ann", to=None, text="t")
    strict.accept(task, "bob")

    with pytest.raises(ScopeConflict):
        begin(strict, "bob", "a")

    assert find(strict, old).agent == "bob"
    assert strict.task(task).assignee == "bob"


def test_the_end_of_a_stay_says_what_came_of_it(world: World) -> None:
    """Outcome, summary and files are kept with it, and it ends once only."""
    stay = begin(world, "ann", "a")

    said = world.do(checkins.end, stay.presence, outcome="success", summary="all", touched=["a", "b"])

    assert said.ended_at is not None
    ((kept, *_), _total) = world.do(checkins.history, world.id, limit=1)
    assert (kept.outcome, kept.summary, kept.touched) == ("success", "all", ("a", "b"))
    assert (kept.end_reason, kept.files) == (presences.LEFT, ("a",))
    with pytest.raises(NotFound):
        end(world, stay)
    assert world.kinds().count("agent.checkout") == 1


def test_of_those_who_race_to_end_it_one_does(world: World) -> None:
    """When a stay is ended several times at once it has ended once."""
    stay = begin(world)

    def ending(tx: Tx) -> object:
        presence = checkins.find(tx, [world.id], stay.secret)
        return checkins.end(tx, presence, outcome=None, summary=None, touched=None)

    assert errors_of(world.race(*[ending] * RACERS)) == [NotFound] * (RACERS - 1)
    assert world.kinds().count("agent.checkout") == 1


@pytest.mark.parametrize("status", [Status.ACCEPTED, Status.WORKING, Status.BLOCKED])
@pytest.mark.parametrize("how", ["ended", "silent", "replaced"])
def test_what_was_claimed_is_free_when_the_stay_is_over(world: World, status: Status, how: str) -> None:
    """Work claimed from the open queue goes back there, in a new epoch, and the log says why."""
    stay = begin(world)
    task = world.send(to=None)
    world.accept(task, "ann")
    held = world.on(task, transfers.move_to, status, by="ann", leased=True)

    if how == "ended":
        end(world, stay)
    elif how == "silent":
        world.pass_time(TTL)
    else:
        begin(world)

    free = world.task(task)
    assert (free.status, free.assignee, free.epoch) == (Status.QUEUED, None, held.epoch + 1)
    (released,) = [each for each in world.log() if each.kind == "task.released"]
    reason = {"ended": presences.LEFT, "silent": presences.SILENT, "replaced": presences.REPLACED}[how]
    assert released.detail["reason"] == f"ann is gone ({reason})"


def test_the_only_stay_of_a_token(world: World) -> None:
    """A token that has begun just one stay means that one: neither others' nor reports nor what is over."""
    where = [world.id]
    assert world.do(checkins.only, where) is None
    begin(other(world), "bob")
    world.report("代码1号")
    first = begin(world, "ann")
    only = world.do(checkins.only, where)
    assert only is not None
    assert only.id == first.presence.id
    second = begin(world, "cyd")
    assert world.do(checkins.only, where) is None
    end(world, first)
    only = world.do(checkins.only, where)
    assert only is not None
    assert only.id == second.presence.id
    world.clock.advance(TTL)
    assert world.do(checkins.only, where) is None


def test_who_has_no_token_has_no_only_stay(world: World) -> None:
    """The hub itself means no stay, though it may have begun one."""
    hub = world.acting(SYSTEM)
    begin(hub, "ann")

    assert hub.do(checkins.only, [world.id]) is None


def test_looking_takes_no_lock(world: World) -> None:
    """A stay is found, and the only one told, also where nothing may be written."""
    stay = begin(world)

    def look(tx: Tx) -> tuple[Presence, Presence | None]:
        return checkins.find(tx, [world.id], stay.secret), checkins.only(tx, [world.id])

    found, only = world.store.read_now(world.actor, look)
    assert found.id == stay.presence.id
    assert only is not None
    assert only.id == found.id


def test_the_history_is_of_all_who_were_there(world: World) -> None:
    """Stays and reported presences are listed, the newest first, whole or by how they ended."""
    begin(world, "silent")
    world.pass_time(TTL)
    end(world, begin(world, "left"))
    world.pass_time(timedelta(seconds=1))
    begin(world, "here")
    world.pass_time(timedelta(seconds=1))
    world.report("bob")

    assert listed(world) == ["bob", "here", "left", "silent"]
    assert listed(world, end_reasons=[None]) == ["bob", "here"]
    assert listed(world, end_reasons=[presences.LEFT, presences.REPLACED]) == ["left"]
    assert listed(world, end_reasons=[presences.SILENT]) == ["silent"]


def test_the_history_is_read_page_by_page(world: World) -> None:
    """A page has as many as were asked for, from the offset on, and tells how many there are in all."""
    for number in range(5):
        begin(world, f"ann-{number}")
        world.pass_time(timedelta(milliseconds=5))

    page, total = world.do(checkins.history, world.id, limit=2, offset=1)

    assert ([each.agent for each in page], total) == (["ann-3", "ann-2"], 5)
    assert world.do(checkins.history, world.id, limit=2, offset=5) == ([], 5)
