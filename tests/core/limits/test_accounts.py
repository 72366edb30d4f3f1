"""Accounts, on either engine: a limit pauses all agents that share one, and their clocks stand still meanwhile."""

import json
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest

from hubbub.core import why
from hubbub.core.agents import agents
from hubbub.core.limits import accounts
from hubbub.core.presence import wakes
from hubbub.core.snapshots import full_snapshot
from hubbub.core.work import leases
from hubbub.model.errors import AccountPaused, Conflict, Invalid, NotFound
from hubbub.model.lifecycle import Status
from hubbub.model.limits.accounts import SPREAD, Account, goes_on_at
from hubbub.model.limits.usage_limits import LimitKind, UsageLimit
from hubbub.model.log.attention import NeedKind, needed
from hubbub.model.log.projection import Projector
from hubbub.model.mail.wakes import WakeMethod, Waker
from tests.core.conftest import World, errors_of, on_one_engine

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
TEAM = ("ann", "bob")


def share(world: World, *names: str, called: str = "max") -> Account:
    return world.do(accounts.put, world.project, called, names or TEAM)


def now(world: World, called: str = "max") -> Account:
    return world.do(accounts.find, world.project, called)


def hit(
    world: World, agent: str = "bob", after: timedelta | None = HOUR, kind: LimitKind = LimitKind.WINDOW
) -> Account:
    """Report that a program of the agent reached a limit and ended."""
    until = None if after is None else world.do(lambda tx: tx.now) + after // timedelta(milliseconds=1)
    return world.do(accounts.reached, world.project, agent, UsageLimit(kind, until))


def until(world: World, account: Account) -> timedelta | None:
    """Time left of the pause, to the minute: the tests' clock also runs by itself."""
    moment = world.do(lambda tx: tx.now)
    return None if account.paused_until is None else round((account.paused_until - moment) / 60_000) * MINUTE


def live(world: World, names: Iterable[str] = TEAM) -> list[str]:
    """Names of the agents that are present."""
    present = [(name, world.do(agents.presence, world.id, name)) for name in names]
    moment = world.do(lambda tx: tx.now)
    return [name for name, found in present if found is not None and found.is_live(moment)]


def told(world: World) -> list[tuple[str, Any]]:
    return [
        (each.kind, (each.detail or {}).get("agents"))
        for each in world.log()
        if each.kind.startswith("account.")
    ]


def test_a_limit_pauses_all_who_share_the_account(world: World) -> None:
    """When one agent's program reaches a limit, nobody who shares its account begins anything before the limit ends."""
    share(world)
    task, other = world.send("ann"), world.send("代码1号")

    paused = hit(world, "bob")

    assert (paused.limit_kind, paused.paused_by, until(world, paused)) == (LimitKind.WINDOW, "bob", HOUR)
    for begin in (world.accept, world.start):
        with pytest.raises(
            AccountPaused, match=r"the account 'max' is paused until \d{4}-\d\d-\d\d \d\d:\d\d UTC"
        ):
            begin(task, "ann")
    assert world.start(other, "代码1号").status is Status.WORKING
    world.pass_time(HOUR)
    assert world.start(task, "ann").status is Status.WORKING
    assert told(world) == [("account.changed", 2), ("account.paused", 2), ("account.resumed", 2)]


def test_clocks_stand_still_while_it_is_paused(world: World) -> None:
    """An agent that is silent in a pause stays, with its work and what it leased, for as long as it had left before."""
    share(world)
    for name in TEAM:
        world.report(name)
    task = world.start(world.send("bob"))
    lease = world.do(leases.hold_by_tool, world.project, ["db"], by="bob", ttl=10 * MINUTE)
    world.pass_time(4 * MINUTE)

    hit(world, "bob", after=5 * HOUR)
    world.pass_time(5 * HOUR + 5 * MINUTE)

    assert live(world) == list(TEAM)
    assert world.task(task).status is Status.WORKING
    assert [each.id for each in world.do(leases.of_project, world.id)] == [each.id for each in lease]
    world.pass_time(MINUTE)
    assert live(world) == []
    assert world.do(leases.of_project, world.id) == []


def test_a_heartbeat_in_a_pause_shortens_nothing(world: World) -> None:
    """An agent heard in a pause stays present until it has been silent for its time after the pause."""
    share(world)
    world.report("ann")
    hit(world, "bob")

    world.report("ann")
    world.report("bob")

    world.pass_time(HOUR + 9 * MINUTE)
    assert live(world) == ["ann", "bob"]
    world.pass_time(MINUTE)
    assert live(world) == []


def test_resuming_early_takes_back_what_was_given(world: World) -> None:
    """A person ends a pause: all go on at once, and their clocks have stood still for as long as it lasted."""
    share(world)
    world.report("bob")
    hit(world)
    world.pass_time(20 * MINUTE)

    world.do(accounts.resume, world.project, "max", by="eve")

    assert world.do(accounts.goes_on, world.id, "bob") is None
    world.pass_time(9 * MINUTE)
    assert live(world, ["bob"]) == ["bob"]
    world.pass_time(MINUTE)
    assert live(world, ["bob"]) == []
    with pytest.raises(Conflict, match="the account 'max' is not paused"):
        world.do(accounts.resume, world.project, "max", by="eve")


def test_people_pause_without_an_end(world: World) -> None:
    """A person pauses an account until somebody resumes it; a limit reached meanwhile changes nothing of that."""
    share(world)
    world.report("bob")
    world.do(accounts.pause, world.project, "max", None, by="eve")
    world.pass_time(timedelta(days=40))

    assert hit(world).paused_until is None
    assert live(world, ["bob"]) == ["bob"]
    with pytest.raises(AccountPaused, match="until somebody resumes it"):
        world.start(world.send("bob"))
    world.do(accounts.resume, world.project, "max", by="eve")
    world.start(world.send("bob"))


def test_a_pause_is_extended_and_never_shortened(world: World) -> None:
    """The latest end of several notices counts; clocks stand still no longer than the whole pause."""
    share(world)
    world.report("bob")
    hit(world, after=HOUR)
    world.pass_time(10 * MINUTE)

    assert until(world, hit(world, "ann", after=20 * MINUTE)) == 50 * MINUTE
    assert until(world, hit(world, "ann", after=3 * HOUR, kind=LimitKind.WEEKLY)) == 3 * HOUR
    assert until(world, hit(world, "ann", after=None)) == 3 * HOUR

    world.pass_time(3 * HOUR + 9 * MINUTE)
    assert live(world, ["bob"]) == ["bob"]
    world.pass_time(MINUTE)
    assert live(world, ["bob"]) == []


def test_a_notice_without_a_time_backs_off(world: World) -> None:
    """A notice without a time makes a short pause, twice as long each time in a row; three at once count as one."""
    share(world)
    waits = []
    for _ in range(3):
        for _ in range(3):
            paused = hit(world, after=None)
        waits.append(until(world, paused))
        world.pass_time(waits[-1] or HOUR)
    assert waits == [5 * MINUTE, 10 * MINUTE, 20 * MINUTE]

    world.pass_time(5 * HOUR)
    assert until(world, hit(world, after=None)) == 5 * MINUTE


def test_not_all_go_on_in_the_same_second(world: World) -> None:
    """After a limit each agent goes on at a moment of its own, within a minute of its end."""
    names = [f"agent-{number}" for number in range(40)]
    share(world, *names)
    end = hit(world, names[0]).paused_until or 0

    moments = [world.do(accounts.goes_on, world.id, name) for name in names]

    assert moments == [goes_on_at(end, name) for name in names]
    assert len(set(moments)) == len(names)
    assert all(end <= (each or 0) <= end + SPREAD // timedelta(milliseconds=1) for each in moments)
    world.pass_time(HOUR)
    assert moments == [world.do(accounts.goes_on, world.id, name) or end for name in names]


def test_nobody_is_woken_in_a_pause(world: World) -> None:
    """A waker of an idle agent is told to look again when the agent goes on, and wakes it then."""
    share(world)
    waker = Waker(
        project_id=world.id, agent="bob", instance="w", method=WakeMethod.MONITOR, client="codex", idle=True
    )
    end = hit(world).paused_until or 0
    world.send("bob")
    world.do(wakes.register, waker, 10 * HOUR)

    look = world.do(wakes.take, waker, gather=timedelta(0))

    assert (look.wake, look.again_at) == (None, goes_on_at(end, "bob"))
    world.pass_time(HOUR + SPREAD)
    assert world.do(wakes.take, waker, gather=timedelta(0)).wake is not None


def test_an_agent_of_no_account_has_its_own(world: World) -> None:
    """A limit of an agent of which no account is known pauses an account of its own, until somebody names another."""
    hit(world, "代码1号")
    own = world.do(accounts.of_agent, world.id, "代码1号")
    assert own is not None
    assert own.name == "1-"
    assert world.do(accounts.of_agent, world.id, "ann") is None

    world.do(accounts.join, world.project, "ann", "claude-1a2b3c")
    share(world, "bob", "代码1号")
    assert world.do(accounts.join, world.project, "bob", "claude-1a2b3c").name == "max"
    assert world.do(accounts.members, world.id, "claude-1a2b3c") == ["ann"]
    world.start(world.send("代码1号"), "代码1号")


def test_who_comes_to_a_paused_account_is_paused(world: World) -> None:
    """An agent that begins to share a paused account waits as all do; one that leaves it goes on."""
    share(world, "ann")
    world.report("bob")
    hit(world, "ann")

    share(world, "ann", "bob")
    world.pass_time(30 * MINUTE)
    assert live(world, ["bob"]) == ["bob"]
    share(world, "ann")
    assert world.do(accounts.goes_on, world.id, "bob") is None
    world.pass_time(10 * MINUTE)
    assert live(world, ["bob"]) == []
    world.do(accounts.drop, world.project, "max")
    assert world.do(accounts.goes_on, world.id, "ann") is None


def test_work_is_not_late_for_a_pause(world: World) -> None:
    """A task whose holder is paused is not late: it has as long to get on with it after the pause as before."""
    share(world)
    world.report("bob")
    task = world.start(world.send("bob"))
    before = need_of(world, task)
    end = hit(world, after=5 * HOUR).paused_until or 0
    assert need_of(world, task) == end + HOUR // timedelta(milliseconds=1) != before


def test_what_is_not_begun_is_not_late_for_a_pause(world: World) -> None:
    """A task that a paused agent is to begin is late half an hour after the pause: nobody needs to look before.

    That holds for one that was sent before the pause, in it, and for one whose agent is offline; `resume` ends it.
    """
    share(world)
    world.report("bob")
    early, other = world.send("bob"), world.send("ann")
    end = hit(world, after=5 * HOUR).paused_until or 0
    late = world.send("bob")
    half = HOUR // timedelta(milliseconds=2)

    assert [need_of(world, each) for each in (early, other, late)] == [end + half] * 3
    world.pass_time(2 * HOUR)
    assert needed_kinds(world) == [NeedKind.PAUSED]
    resumed = world.do(accounts.resume, world.project, "max", by="eve").resumed_at or 0
    assert [need_of(world, each) for each in (early, other, late)] == [resumed + half] * 3
    world.pass_time(HOUR)
    assert needed_kinds(world) == [NeedKind.LATE] * 3


def needed_kinds(world: World) -> list[NeedKind]:
    """What needs people, by the tables and by all patches of the log alike."""
    fold = Projector()
    for each in world.log():
        fold.apply(each.seq, json.loads(each.patch) if each.patch else None)
    moment = world.do(lambda tx: tx.now)
    read = world.do(lambda tx: {noun: dict(cards) for noun, cards in full_snapshot.nouns(tx, world.id)})
    told = [[each.need.kind for each in needed(picture, moment)] for picture in (fold.picture, read)]
    assert told[0] == told[1]
    return told[0]


def need_of(world: World, task: Any) -> int:
    from hubbub.core.snapshots import card_states

    [card] = world.do(card_states.of_tasks, [world.task(task)])
    return int(card["need"]["since"])


def test_why_tells_of_the_pause(world: World) -> None:
    """`why` says of an agent or its task that the account is paused, for which reason and until when."""
    share(world)
    world.report("bob")
    task = world.start(world.send("bob"))
    hit(world)

    for ref in ("bob", str(task.number)):
        facts = world.do(why.explain, world.project, ref).facts
        [told] = [str(each.phrase) for each in facts if each.kind == "account.paused"]
        assert told.startswith("Its account max is paused until ")
        assert "its usage limit for some hours is reached" in told


@on_one_engine
def test_what_can_be_no_account_is_refused(world: World) -> None:
    """A name that can be none, a moment that is past, an account that there is not: each is one clear sentence."""
    share(world)
    with pytest.raises(Invalid, match=r"^account: a name has"):
        share(world, called="a b")
    with pytest.raises(Invalid, match=r"^until: must be in the future"):
        world.do(accounts.pause, world.project, "max", 5, by="eve")
    with pytest.raises(NotFound):
        world.do(accounts.pause, world.project, "other", None, by="eve")


def test_limits_at_once_are_one_pause(world: World) -> None:
    """The first of many agents that reach the limit at once pauses the account; no call fails or waits for ever."""
    share(world)
    end = world.do(lambda tx: tx.now) + 3_600_000
    limit = UsageLimit(LimitKind.WINDOW, end)
    outcomes = world.race(
        *(lambda tx, name=name: accounts.reached(tx, world.project, name, limit) for name in TEAM * 4)
    )
    assert errors_of(outcomes) == []
    assert now(world).paused_until == end
    assert told(world) == [("account.changed", 2), ("account.paused", 2)]


def all_paused(world: World) -> list[str]:
    """The accounts that need a person because nobody goes on."""
    return [
        each.key
        for each in needed(full(world), world.do(lambda tx: tx.now))
        if each.need.kind is NeedKind.PAUSED
    ]


def full(world: World) -> Any:
    return world.do(lambda tx: {noun: dict(found) for noun, found in full_snapshot.nouns(tx, world.id)})


def test_people_are_needed_when_all_are_paused(world: World) -> None:
    """The pause that leaves nobody who goes on needs a person, once, until one of the accounts goes on."""
    share(world, "ann")
    share(world, "bob", called="pro")
    world.report("代码1号")
    hit(world, "ann")
    hit(world, "bob", after=2 * HOUR)
    assert all_paused(world) == []  # an agent is there of which no account is known

    share(world, "ann", "代码1号")
    assert all_paused(world) == []
    hit(world, "bob", after=3 * HOUR)
    assert all_paused(world) == ["pro"]
    hit(world, "ann", after=4 * HOUR)
    assert all_paused(world) == ["pro"]
    world.do(accounts.resume, world.project, "max", by="eve")
    assert all_paused(world) == []


def test_two_last_pauses_at_once_need_one_person(world: World) -> None:
    """Of two accounts that are paused at once, one is the last: neither goes untold, nor are both told."""
    share(world, "ann")
    share(world, "bob", called="pro")
    limit = UsageLimit(LimitKind.WINDOW, world.do(lambda tx: tx.now) + 3_600_000)
    outcomes = world.race(
        *(lambda tx, name=name: accounts.reached(tx, world.project, name, limit) for name in TEAM)
    )
    assert errors_of(outcomes) == []
    assert len(all_paused(world)) == 1
