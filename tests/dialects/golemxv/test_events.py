"""The project's event stream has all events, once they are committed, and in their order."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.dialects.conftest import both_engines
from tests.dialects.golemxv.callers import Crew, token
from tests.dialects.golemxv.requirements import requires
from tests.dialects.running_hub import Caller
from tests.serve.live.event_streams import Stream, following

pytestmark = both_engines

pytestmark = both_engines


@contextmanager
def _from_now_on(crew: Crew, agent: Caller) -> Iterator[Stream]:
    """The project's stream, read up to here: a new one may begin a little earlier."""
    with following(crew.hub.url, agent.secret) as stream:
        agent.send_message(to="hub", content="now")
        stream.until(kind="message.sent")
        yield stream


@requires("events.agent", "events.message", "events.task")
def test_what_agents_do_is_published(crew: Crew) -> None:
    """checkin, scope_change, message, the steps of tasks, checkout and timeout are told on /events in their order."""
    crew.task()
    watcher = crew.checkin("watcher")
    member = crew.of(watcher.secret)
    crew.here()
    with _from_now_on(crew, watcher) as stream:
        ann = crew.checkin("ann", by=member, declared_files=["a"])
        ann.scope_update(declared_files=["b"])
        ann.send_message(to="ann", content="c")
        ann.claim_task(task_id=1)
        ann.update_task(task_id=1, status="in_progress")
        ann.update_task(task_id=1, status="blocked", reason="r")
        ann.complete_task(task_id=1, result_summary="s")
        ann.checkout()
        crew.later(seconds=180)
        crew.here()
        told = stream.until(kind="agent.timeout")

    kinds = [each["kind"] for each in told]
    assert kinds == [
        "agent.met", "agent.checkin", "agent.scope_change", "agent.scope_change", "message.sent",
        "task.accepted", "task.started", "task.blocked", "completion.reported", "task.completed", "message.sent",
        "agent.checkout", "agent.timeout",
    ]  # fmt: skip
    assert {each["actor"] for each in told[1:-1]} == {"ann"}
    assert told[-1]["agent"] == "watcher"
    assert token(ann) not in str(told)


@requires("events.agent")
def test_a_changed_scope_is_told_with_its_files(crew: Crew) -> None:
    """agent.scope_change says who, which area and files, and with whom that is in conflict."""
    crew.checkin("ann", declared_files=["a"])
    bob = crew.checkin("bob")
    with _from_now_on(crew, bob) as stream:
        bob.scope_update(declared_area="backend", declared_files=["a", "b"])
        told = stream.next().data

    assert (told["kind"], told["actor"], told["agent"]) == ("agent.scope_change", "bob", "bob")
    assert told["detail"] == {"area": "backend", "files": ["a", "b"], "conflicts": ["ann"]}


@requires("events.committed", "conflicts.block")
def test_what_is_refused_is_not_published(crew: Crew) -> None:
    """Nobody hears of a checkin, a claim, a message or a scope that is refused."""
    with Crew.made(crew.hub, conflict_mode="block") as blocking:
        ann = blocking.checkin("ann", declared_files=["a"])
        bob, member = blocking.checkin("bob"), blocking.member()
        with _from_now_on(blocking, ann) as stream:
            member.wrong("checkin", agent_name="cyd", declared_files=["a"])
            member.wrong("checkin", agent_name="ann")
            bob.wrong("scope_update", declared_files=["a"])
            bob.wrong("claim_task", task_id=7)
            bob.wrong("send_message", to="nobody", content="c")
            ann.checkout()
            assert stream.next().data["kind"] == "agent.checkout"


@requires("events.task", "leases.released")
def test_what_comes_free_is_published(crew: Crew) -> None:
    """When a holder falls silent the stream tells of its timeout, and then that its task is free, and why."""
    number = crew.task()
    ann = crew.checkin("ann")
    ann.claim_task(task_id=number)
    crew.here()
    with _from_now_on(crew, ann) as stream:
        crew.later(seconds=180)
        crew.here()
        gone, free = stream.next().data, stream.next().data

    assert (gone["kind"], gone["agent"]) == ("agent.timeout", "ann")
    assert (free["kind"], free["detail"]["number"]) == ("task.released", number)
    assert "ann is gone" in free["detail"]["reason"]
