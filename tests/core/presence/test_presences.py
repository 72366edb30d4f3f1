"""Agents' arrival, their heartbeats, and their departure."""

from datetime import timedelta

import pytest

from hubbub.core import expiry
from hubbub.core.actions import task_actions
from hubbub.core.agents import agents
from hubbub.core.presence import presences
from hubbub.model.errors import Conflict, InvalidTransition, NotFound, NotHolder
from hubbub.model.lifecycle import Status
from hubbub.model.records import Activity, Condition, Presence, Profile
from hubbub.store.tx import Tx
from tests.core.conftest import RACERS, TEN_MINUTES, World, errors_of


def present(world: World, name: str = "bob") -> Presence:
    found = world.do(agents.presence, world.id, name)
    assert found is not None
    return found


def of_agents(world: World) -> list[Activity]:
    return [each for each in world.log() if each.kind.startswith("agent.") and each.kind != "agent.met"]


def comings_and_goings(world: World) -> list[tuple[str, object]]:
    return [(each.kind, each.detail["reason"]) for each in of_agents(world)]


def live_rows(tx: Tx) -> int:
    row = tx.one("SELECT count(*) AS live FROM presences WHERE ended_at IS NULL")
    assert row is not None
    return int(row["live"])


def test_the_first_report_opens_a_presence(world: World) -> None:
    """An agent is present, and known, from its first report on, for as long as the ttl it is given."""
    opened = world.report("dora", Condition.WORKING, doing="count", server="box", score=7.5)

    assert opened == present(world, "dora")
    assert (opened.condition, opened.doing, opened.server, opened.score) == (
        Condition.WORKING,
        "count",
        "box",
        7.5,
    )
    assert opened.opened_at == opened.seen_at == opened.expires_at - opened.ttl
    assert opened.ttl == TEN_MINUTES // timedelta(milliseconds=1)
    assert comings_and_goings(world) == [("agent.checkin", None)]


def test_a_heartbeat_keeps_a_presence_alive(world: World) -> None:
    """Each report begins the time of silence anew, and what it leaves out stays as it was."""
    opened = world.report("bob", Condition.WORKING, doing="count", server="box")
    world.pass_time(timedelta(minutes=9))
    world.report("bob", Condition.WORKING, progress=50)
    world.pass_time(timedelta(minutes=9))
    heard = present(world)

    assert heard.id == opened.id
    assert heard.opened_at == opened.opened_at < heard.seen_at
    assert heard.ended_at is None
    assert (heard.doing, heard.server, heard.progress) == ("count", "box", 50)


def test_only_news_are_recorded(world: World) -> None:
    """A heartbeat is recorded when it changes what is shown of its agent, and not otherwise."""
    world.report("bob", Condition.WORKING, doing="count")
    world.report("bob", Condition.WORKING, doing="count", progress=50, output="…")
    world.report("bob", Condition.WORKING)
    world.report("bob", Condition.BLOCKED)
    world.report("bob", Condition.BLOCKED, doing="rank")

    assert [(each.kind, each.detail["condition"], each.detail["doing"]) for each in of_agents(world)] == [
        ("agent.checkin", "working", "count"),
        ("agent.described", "working", "count"),
        ("agent.changed", "blocked", "count"),
        ("agent.changed", "blocked", "rank"),
    ]


def test_silence_ends_a_presence(world: World) -> None:
    """An agent that is silent for the whole ttl is offline, which is recorded with the reason, once."""
    world.report("bob")
    world.pass_time(TEN_MINUTES)
    world.pass_time(TEN_MINUTES)

    assert comings_and_goings(world) == [("agent.checkin", None), ("agent.timeout", "silent")]
    gone = present(world)
    assert gone.condition is Condition.OFFLINE
    assert gone.ended_at is not None
    assert gone.end_reason == "silent"


def test_silence_is_measured_exactly(world: World) -> None:
    """A presence is live in the last millisecond of its time, and gone in the next."""
    until = world.report("bob").expires_at

    world.at(until - 1, expiry.settle)
    assert present(world).ended_at is None
    world.at(until, expiry.settle)
    assert present(world).ended_at == until


def test_who_says_offline_is_offline_at_once(world: World) -> None:
    """A report of `offline` ends the presence."""
    world.report("bob")
    gone = world.report("bob", Condition.OFFLINE)

    assert gone == present(world)
    assert gone.ended_at is not None
    assert gone.end_reason == "left"
    assert comings_and_goings(world) == [("agent.checkin", None), ("agent.checkout", "left")]


def test_who_comes_back_is_new(world: World) -> None:
    """An instance that was gone has a new presence when it reports again, and what it had told is still known."""
    opened = world.report("bob", server="box")
    world.report("bob", Condition.OFFLINE)
    back = world.report("bob")

    assert back.id != opened.id
    assert back.server == "box"
    assert [kind for kind, _reason in comings_and_goings(world)] == [
        "agent.checkin",
        "agent.checkout",
        "agent.checkin",
    ]


def test_silence_that_nobody_swept_up_is_silence(world: World) -> None:
    """An agent that reports after its time is up was gone meanwhile, also if nobody looked."""
    opened = world.report("bob")
    world.clock.advance(TEN_MINUTES)
    back = world.report("bob")

    assert back.id != opened.id
    assert comings_and_goings(world) == [
        ("agent.checkin", None),
        ("agent.timeout", "silent"),
        ("agent.checkin", None),
    ]


def test_another_instance_takes_over(world: World) -> None:
    """A report from another run of the agent's program replaces the presence of the first; nothing told is mixed up."""
    world.report("bob", instance="first", server="box")
    second = world.report("bob", instance="second")

    assert present(world) == second
    assert second.server is None
    assert world.do(live_rows) == 1
    assert comings_and_goings(world) == [
        ("agent.checkin", None),
        ("agent.checkout", "replaced"),
        ("agent.checkin", None),
    ]


@pytest.mark.parametrize("is_known", [True, False], ids=["known", "new"])
@pytest.mark.parametrize("was_there", [True, False], ids=["after another", "first"])
def test_of_racing_instances_one_is_present(world: World, is_known: bool, was_there: bool) -> None:
    """However many instances report at once, each but the last is replaced by the next, and one is live."""
    for turn in range(3):
        name = f"racer-{turn}"
        if is_known:
            world.do(agents.meet, world.id, name)
        if was_there:
            world.report(name, instance="before")
        outcomes = world.race(
            *[
                lambda tx, number=number, name=name: presences.report(
                    tx,
                    world.id,
                    name,
                    instance=f"instance {number}",
                    condition=Condition.IDLE,
                    profile=Profile(),
                    ttl=TEN_MINUTES,
                )
                for number in range(RACERS)
            ]
        )

        assert errors_of(outcomes) == []
        assert world.do(live_rows) == turn + 1
        told = sorted(
            of_agents(world), key=lambda each: each.seq
        )  # who waited for a lock may be of an older tx
        story = [each.kind for each in told if each.agent == name]
        assert story == ["agent.checkin", "agent.checkout"] * (RACERS - 1 + was_there) + ["agent.checkin"]


def take(world: World, instance: str, **more: str) -> Presence:
    return world.do(
        presences.take,
        world.id,
        "bob",
        instance=instance,
        profile=Profile(hostname="box"),
        ttl=TEN_MINUTES,
        **more,
    )


def test_a_live_name_cannot_be_taken(world: World) -> None:
    """Taking a name that somebody is now is refused with who it is and how long at least; the same instance may."""
    taken = take(world, "first")
    with pytest.raises(Conflict, match=r"'bob' is live as first on box; free in \d+ s if it stays silent"):
        take(world, "second")

    assert present(world) == taken
    assert take(world, "first").id == taken.id


def test_a_name_comes_free(world: World) -> None:
    """A name may be taken once its holder is silent or has left, or by who knows that its holder is dead."""
    take(world, "first")
    world.clock.advance(TEN_MINUTES)
    assert take(world, "second").instance == "second"
    assert take(world, "third", instead_of="second").instance == "third"
    assert world.do(presences.leave, world.id, "bob", instance="third") is not None
    assert take(world, "fourth").instance == "fourth"


@pytest.mark.parametrize("is_known", [True, False], ids=["known", "new"])
def test_one_of_many_takes_a_name(world: World, is_known: bool) -> None:
    """One of those who take a free name at once gets it; the others are refused."""
    for turn in range(3):
        name = f"racer-{turn}"
        if is_known:
            world.do(agents.meet, world.id, name)
        outcomes = world.race(
            *[
                lambda tx, number=number, name=name: presences.take(
                    tx, world.id, name, instance=f"{number}", profile=Profile(), ttl=TEN_MINUTES
                )
                for number in range(RACERS)
            ]
        )

        assert errors_of(outcomes) == [Conflict] * (RACERS - 1)
        assert world.do(live_rows) == turn + 1


def test_a_heartbeat_is_of_who_is_there(world: World) -> None:
    """A heartbeat of an instance that never came, was replaced, or is gone, is refused and changes nothing."""

    def beat(instance: str) -> Presence:
        return world.do(
            presences.beat, world.id, "bob", instance=instance, condition=Condition.WORKING, profile=Profile()
        )

    with pytest.raises(NotFound):
        beat("first")
    world.report("bob", instance="first")
    opened = world.report("bob", instance="second")
    with pytest.raises(NotFound):
        beat("first")
    assert beat("second").id == opened.id
    world.clock.advance(TEN_MINUTES)
    with pytest.raises(NotFound):
        beat("second")
    assert [kind for kind, _reason in comings_and_goings(world)].count("agent.checkin") == 2


def test_leaving_is_for_who_is_there(world: World) -> None:
    """An instance that is there may leave, once; one that was replaced cannot end the presence of the next."""
    world.report("bob", instance="first")
    world.report("bob", instance="second")

    assert world.do(presences.leave, world.id, "bob", instance="first") is None
    assert present(world).ended_at is None
    assert world.do(presences.leave, world.id, "bob", instance="second") == present(world)
    assert world.do(presences.leave, world.id, "bob", instance="second") is None
    assert world.do(presences.leave, world.id, "ann", instance="first") is None


def test_an_agent_rests(world: World) -> None:
    """An agent that rests is idle and does nothing, also after its goodbye; that it rests already is no news."""
    world.do(presences.rest, world.id, "bob")
    world.report("bob", Condition.WORKING, doing="count", progress=50)
    world.do(presences.rest, world.id, "bob")
    world.do(presences.rest, world.id, "bob")

    rested = present(world)
    assert (rested.condition, rested.doing, rested.progress) == (Condition.IDLE, None, 0)
    assert [each.kind for each in of_agents(world)] == ["agent.checkin", "agent.changed"]
    world.report("bob", Condition.OFFLINE, doing="leave")
    world.do(presences.rest, world.id, "bob")
    assert (present(world).condition, present(world).doing) == (Condition.IDLE, None)
    world.clock.advance(timedelta(minutes=11))
    world.do(presences.rest, world.id, "bob")
    assert not present(world).is_live(world.clock())


def test_resting_is_no_heartbeat(world: World) -> None:
    """Reports on an agent's work do not keep it alive."""
    until = world.report("bob").expires_at
    world.clock.advance(timedelta(minutes=5))
    world.do(presences.rest, world.id, "bob")
    assert present(world).expires_at == until


def test_progress_is_told_by_the_holder(world: World) -> None:
    """An agent with a task tells its progress, which its presence shows and the log keeps; nobody else does."""
    world.report("bob", Condition.WORKING)
    task = world.start(world.send())
    world.on(task, task_actions.progress, "bob", output="half", progress=50)

    assert (present(world).output, present(world).progress) == ("half", 50)
    assert world.log()[-1].kind == "task.progress"
    assert world.task(task).status is Status.WORKING
    with pytest.raises(NotHolder):
        world.on(task, task_actions.progress, "ann", progress=60)
    world.on(task, task_actions.cancel, by="ann", reason=None)
    with pytest.raises(InvalidTransition):
        world.on(task, task_actions.progress, "bob", progress=70)


def test_an_agent_that_hangs_up_is_gone_a_minute_later(world: World) -> None:
    """Whoever says goodbye has a minute to come back by another connection; its work stays with it until then."""
    world.report("bob")
    task = world.accept(world.send(to=None))
    world.do(presences.hang_up, world.id, "bob")
    world.pass_time(timedelta(seconds=50))
    assert world.task(task).assignee == "bob"
    world.report("bob")
    world.pass_time(timedelta(minutes=5))
    assert world.task(task).assignee == "bob"
    for _ in range(2):
        world.do(presences.hang_up, world.id, "bob")
    world.pass_time(timedelta(seconds=61))
    assert world.task(task).assignee is None
    assert comings_and_goings(world) == [("agent.checkin", None), ("agent.timeout", "silent")]


def test_a_goodbye_at_one_door_leaves_the_others(world: World) -> None:
    """An agent that speaks by another door, too, stays until it says goodbye there or falls silent."""
    world.report("bob")

    def elsewhere(tx: Tx) -> None:
        tx.door = "hub"
        presences.report(
            tx, world.id, "bob", instance="i", condition=Condition.IDLE, profile=Profile(), ttl=TEN_MINUTES
        )
        presences.hang_up(tx, world.id, "bob")

    world.do(elsewhere)
    assert present(world).is_live(world.clock())
