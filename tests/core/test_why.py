"""Why something is as it is: each situation, and the sentence that is made from it."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from unittest.mock import ANY
from uuid import uuid4

import pytest

from hubbub.core import why
from hubbub.core.actions import inbox, task_actions
from hubbub.core.agents import agents, file_claims, last_activity, scopes
from hubbub.core.fleet import approvals, dispatches, nodes
from hubbub.core.mail import messages
from hubbub.core.people import runs
from hubbub.core.presence import presences
from hubbub.core.why import Explanation, Fact, SubjectKind
from hubbub.core.why.explanation import ago, listed, named, quoted
from hubbub.core.work import artifacts, completion_checks, leases, reviews, tasks, transfers
from hubbub.model.agents.scopes import Scope
from hubbub.model.errors import Invalid, NotFound, UnknownAgent
from hubbub.model.fleet.calls import NodeCall, NodeInfo, Principal, Question
from hubbub.model.fleet.dispatches import DispatchStatus
from hubbub.model.fleet.managed_agents import ManagedAgent, ManagedAgentStatus
from hubbub.model.fleet.nodes import Machine
from hubbub.model.lifecycle import Event, Status
from hubbub.model.people.rights import Role
from hubbub.model.records import Condition, Task
from hubbub.model.timestamps import duration_text
from hubbub.model.work.leases import Terms
from hubbub.model.work.permissions import VerbManner
from hubbub.store.engine.sqlite import SQLite
from hubbub.store.fleet import managed_agents
from tests.core.conftest import TEN_MINUTES, World, finish, in_status, person
from tests.support.self_named import by_a_tool_set

MINUTE = timedelta(minutes=1)
S = Status


@pytest.fixture
def store(sqlite_store: SQLite) -> SQLite:
    """One engine is enough: what is asked of it is asked by others too, on both."""
    return sqlite_store


def explain(world: World, ref: object, kind: SubjectKind | None = None) -> Explanation:
    return world.do(why.explain, world.project, str(ref), kind)


def fact(world: World, ref: object, kind: str) -> Fact:
    """The one fact of that kind in the account of `ref`."""
    account = explain(world, ref)
    (found,) = [each for each in account.facts if each.kind == kind]
    assert found.sentence in account.sentence
    return found


def kinds(world: World, ref: object) -> list[str]:
    return [each.kind for each in explain(world, ref).facts]


def machine(world: World, name: str = "web1") -> Machine:
    """A machine that has just been heard."""
    about = NodeInfo(name=name, machine_id=f"id-{name}", platform="linux", version="1", sandbox="bwrap")
    return world.do(
        nodes.report,
        world.project,
        about,
    )


def place(world: World, where: Machine, **how: Any) -> None:
    """Have bob be placed on a machine."""
    placed = ManagedAgent(
        project_id=world.id,
        agent="bob",
        machine=where.id,
        node=where.name,
        command="claude",
        started_by="ann",
        token_id=None,
        status=ManagedAgentStatus.RUNNING,
        since=world.clock(),
        pid=1,
        restarts=0,
        exit_code=None,
        reported_at=world.clock(),
    )
    world.do(managed_agents.put, replace(placed, **how))


def question(world: World, who: str = "bob", node: str = "web1") -> Question:
    principal = Principal(project=world.project.slug, name=who, token_id=str(world.actor.token_id))
    return Question(
        who=principal,
        node=node,
        tool="execute_command",
        arguments={"command": "make deploy"},
        folder="/srv",
        shown="make deploy",
        reason="it asks",
        digest="0" * 64,
    )


def test_a_free_task_that_nobody_could_take(world: World) -> None:
    """A task in the open queue, where no agent is here, waits for one to come."""
    told = fact(world, world.send(None).number, "task.free")

    assert told.sentence == "It is free, but no agent is online: it starts when one comes and claims it."


def test_a_task_under_way_in_nobodys_hands(world: World) -> None:
    """`why` says that nobody has a task which its sender started, also where the task needed others."""
    for needs in ([], [world.send("bob")]):
        task = world.on(world.send(None, needs=needs), task_actions.start, "ann", manner=VerbManner.ANSWER)

        told = fact(world, task.number, "task.unheld")
        assert told.sentence == "Nobody has it: assign it to an agent, or return it to the queue."


def test_a_free_task_names_who_could_take_it(world: World) -> None:
    """Where agents are here, those are named who could claim it."""
    task = world.send(None)
    world.report("bob")
    only = fact(world, task.number, "task.free")
    world.report("ann")
    several = fact(world, task.number, "task.free")

    assert only.sentence == "It is free and unclaimed; bob could claim it, the only agent online."
    assert several.sentence == "It is free and unclaimed; ann and bob are online and could claim it."
    assert several.detail == {"here": ["ann", "bob"]}


def test_who_holds_a_thing_and_who_waits(world: World) -> None:
    """`why` names the holders of a thing, their place and purpose, how many there are, and the queue."""
    world.do(leases.put_capacity, world.project, "gpu", 2)
    terms = Terms(purpose="make test", host="atlas")
    world.do(leases.ask, world.project, ["gpu:2"], by="ann", terms=terms)
    world.clock.advance(MINUTE / 3)
    for name in ("bob", "代码1号"):
        world.do(leases.ask, world.project, ["gpu", "port:1"], by=name)

    assert kinds(world, "gpu") == ["thing.counted", "thing.held", "thing.waiting"]
    told = explain(world, "gpu").sentence
    assert told.startswith(
        'There are 2 of gpu, and 2 are held. ann has held gpu:2 on atlas for "make test" since '
    )
    assert told.endswith(" 2 are waiting for it, in this order: bob and 代码1号.")
    assert explain(world, "db", SubjectKind.THING).sentence == "Nobody holds db: it is free."
    with pytest.raises(NotFound):
        explain(world, "db")


def test_what_an_agent_holds_and_waits_for(world: World) -> None:
    """`why` names the things that an agent holds and waits for, their holders, and those that asked before."""
    world.do(leases.ask, world.project, ["db"], by="ann")
    for name in ("代码1号", "bob"):
        world.do(leases.ask, world.project, ["db"], by=name)

    assert fact(world, "ann", "lease.held").sentence.startswith("It has held db since ")
    waiting = fact(world, "bob", "lease.waiting")
    assert waiting.sentence.endswith(", which ann holds; 代码1号 asked before.")
    assert (waiting.detail["holders"], waiting.detail["before"]) == (["ann"], ["代码1号"])


def test_a_task_is_found_by_number_or_id(world: World) -> None:
    """The subject may be written as people see it."""
    task = world.send(None)

    assert {explain(world, ref).name for ref in (task.number, "#1", "T-1", "t-1", task.id)} == {"1"}
    assert fact(world, task.id, "task.queued").sentence.startswith(
        'Task T-1 "count the lines" has been queued since '
    )


def test_a_task_for_an_agent_that_never_came(world: World) -> None:
    """A name that somebody has written to, and that nobody has ever been, is told to be that."""
    task = world.send("bob")

    assert fact(world, task.number, "task.unread").sentence.startswith(
        "It has been in the inbox of bob, unread, since "
    )
    assert fact(world, task.number, "agent.never_came").sentence == (
        "bob has never been online: only its name is known."
    )


def test_an_agent_that_calls_tools_without_a_heartbeat(world: World) -> None:
    """An agent without a heartbeat that was seen to act has not been away: its last action is told."""
    at = world.clock() - 5_000
    world.do(last_activity.note, world.id, "bob", tool="relay.get_messages", tool_at=at)

    assert kinds(world, "bob")[:2] == ["agent.acted", "agent.called"]
    told = fact(world, "bob", "agent.acted")
    assert told.sentence.startswith("bob sends no heartbeat; it was last seen acting at ")
    assert told.detail == {"agent": "bob", "at": at}
    assert kinds(world, "ann")[0] == "agent.never_came"


def test_a_task_that_is_held_without_a_presence(world: World) -> None:
    """An agent that began a task and was never there holds it, has acted, and no silence ends that."""
    task = world.start(world.send("bob"), "bob")

    assert kinds(world, task.number) == ["task.working", "task.held", "agent.acted"]
    world.on(task, tasks.step, Event.BLOCK, actor="bob")
    assert kinds(world, task.number) == ["task.blocked", "task.holder_waits", "task.held", "agent.acted"]


@pytest.mark.parametrize("kind", ["message", "task", "acknowledgement"])
def test_what_else_is_an_act(world: World, kind: str) -> None:
    """Writing to others or acknowledging a message counts as an act; receiving one does not."""
    world.do(messages.send, world.id, sender="ann", to="bob", body="hello")
    assert kinds(world, "bob")[0] == "agent.never_came"

    match kind:
        case "message":
            world.do(messages.send, world.id, sender="bob", to="ann", body="hello")
        case "task":
            world.send("ann", sender="bob")
        case _:
            (letter,) = world.inbox("bob")
            world.do(inbox.ack, world.id, "bob", str(letter.delivery.id))

    assert kinds(world, "bob")[0] == "agent.acted"


def test_an_agent_that_goes_on_without_a_heartbeat(world: World) -> None:
    """`why` tells both of an agent that left and acts all the same; its last call, noted late, is no such act."""
    world.report("bob")
    world.do(presences.leave, world.id, "bob", instance="first")
    world.clock.advance(timedelta(seconds=1))
    world.do(last_activity.note, world.id, "bob", tool="golemxv.checkout")
    assert "agent.acted" not in kinds(world, "bob")

    world.clock.advance(TEN_MINUTES)
    task = world.start(world.send("bob"))
    assert kinds(world, task.number)[1:4] == ["task.held", "agent.offline", "agent.acted"]
    assert fact(world, "bob", "agent.acted").sentence.startswith(
        "It has acted since, without a heartbeat, at "
    )

    world.report("bob")
    assert "agent.acted" not in kinds(world, "bob")


def test_a_task_whose_assignee_is_offline(world: World) -> None:
    """It is said since when the assignee is gone, and how it went."""
    world.report("bob")
    world.pass_time(TEN_MINUTES + MINUTE)
    silent = fact(world, world.send("bob").number, "agent.offline")
    world.report("bob")
    world.do(presences.leave, world.id, "bob", instance="first")
    left = fact(world, 1, "agent.offline")

    assert silent.sentence.endswith(": its heartbeat stopped.")
    assert (silent.detail["reason"], left.detail["reason"]) == ("silent", "left")
    assert left.sentence.endswith("(less than a second ago): it left.")


def test_how_far_a_task_got_in_an_inbox(world: World) -> None:
    """The receiver's reading is told from its row in the inbox."""
    task = world.send("bob")
    letters = world.inbox("bob")
    world.do(inbox.note_seen, letters)

    read = fact(world, task.number, "task.read")
    assert read.sentence.endswith(" and has not accepted it.")
    assert read.detail["seen_at"] is not None


def test_an_assignee_that_works_on_something_else(world: World) -> None:
    """`why` says of a task in an inbox what its receiver works on meanwhile."""
    world.report("bob")
    world.start(world.send("bob"))
    task = world.send("bob")

    assert fact(world, task.number, "agent.busy").sentence == "bob is working on T-1 in the meantime."


def test_a_task_that_waits_for_others(world: World) -> None:
    """Open dependencies are named, each with its state and assignee; completed ones are not."""
    done, working, free = world.send("bob"), world.send("bob"), world.send(None)
    finish(world, done)
    world.start(working)
    task = world.send("ann", needs=[done, working, free])

    waits = fact(world, task.number, "task.waits")
    assert waits.sentence == "It waits for T-2 (working, with bob) and T-3 (queued) to be completed first."
    assert "task.stuck" not in kinds(world, task.number)
    assert "task.addressed" in kinds(world, task.number)


def test_a_task_that_waits_for_what_will_not_happen(world: World) -> None:
    """Where something that it needs has failed, it says that nothing moves without somebody."""
    failed = in_status(world, S.FAILED)
    task = world.send(None, needs=[failed])

    assert "T-1 must be retried" in fact(world, task.number, "task.stuck").sentence
    assert "task.free" not in kinds(world, task.number)


def test_a_task_held_by_a_lease(world: World) -> None:
    """It is said until when the lease lasts if nothing is heard, and what happens then."""
    world.report("bob")
    free, addressed = world.send(None), world.send("bob")
    world.start(free)
    world.start(addressed)
    presence = world.do(agents.presence, world.id, "bob")
    assert presence is not None

    told = fact(world, free.number, "task.leased")
    assert told.detail["expires_at"] == presence.expires_at
    assert told.sentence.endswith("after that it returns to the open queue.")
    assert fact(world, addressed.number, "task.leased").sentence.endswith(
        "the task waits for bob to come back."
    )


def test_a_task_held_without_a_lease(world: World) -> None:
    """An agent without a heartbeat holds it until it is done."""
    task = world.send(None)
    world.on(task, task_actions.start, "bob", leased=False)

    assert "bob holds it without a lease" in fact(world, task.number, "task.held").sentence


def test_a_task_whose_holder_is_gone(world: World) -> None:
    """A task addressed to an agent that is gone waits for it; one it had claimed is free again, and says why."""
    world.report("bob")
    addressed, claimed = world.start(world.send("bob")), world.start(world.send(None))
    world.pass_time(TEN_MINUTES + MINUTE)

    assert (
        "will be delivered again when bob is back"
        in fact(world, addressed.number, "task.lease_ended").sentence
    )
    again = fact(world, claimed.number, "task.again")
    assert again.sentence.startswith("It was released at ")
    assert again.sentence.endswith(': "bob is gone (silent)"; this is attempt 2.')
    assert "task.free" in kinds(world, claimed.number)


def test_a_task_that_was_taken_from_somebody(world: World) -> None:
    """`why` says of a passed-on task who had it."""
    task = world.start(world.send("bob"))
    world.on(task, task_actions.reassign, to="ann", by="hub")

    assert "It was reassigned from bob at " in fact(world, task.number, "task.again").sentence


def test_a_blocked_task(world: World) -> None:
    """`why` says who holds a thing that cannot go on, and what would free it."""
    task = in_status(world, S.BLOCKED)

    assert "has been blocked since" in fact(world, task.number, "task.blocked").sentence
    assert "it continues when bob or a person" in fact(world, task.number, "task.holder_waits").sentence


def test_a_blocked_task_with_a_reason(world: World) -> None:
    """The first fact of a blocked task has the reason, as others' words; who would free it comes next."""
    task = world.start(world.send())
    world.on(task, transfers.move_to, S.BLOCKED, by="bob", reason='the disk is "full"')

    told = fact(world, task.number, "task.holder_waits")
    assert told.detail == {"assignee": "bob", "reason": 'the disk is "full"'}
    assert fact(world, task.number, "task.blocked").sentence.endswith(": \"the disk is 'full'\".")
    assert "a person unblocks it, or it is released or reassigned" in told.sentence


def test_a_task_in_review_that_nobody_looks_at(world: World) -> None:
    """Work that was handed in without a named reviewer says so."""
    task = in_status(world, S.IN_REVIEW)

    assert "task.leased" not in kinds(world, task.number)
    assert "without naming a reviewer" in fact(world, task.number, "task.handed_in").sentence


def test_a_task_whose_review_is_pending(world: World) -> None:
    """A reviewer of the work is named; with the answer that is over."""
    task = in_status(world, S.IN_REVIEW)
    run = world.do(runs.current, world.id)
    artifact = world.do(
        artifacts.post, run, name="patch", kind="text", content="x", by="bob", task=str(task.id)
    )
    world.do(reviews.request, artifact, by="bob", reviewer="ann")

    pending = fact(world, task.number, "review.pending")
    assert pending.sentence.startswith('ann was asked to review "patch" for it at ')
    assert "task.handed_in" not in kinds(world, task.number)


def test_a_task_that_is_being_checked(world: World) -> None:
    """A check that is going on is told with the time at which its lease ends."""
    task = in_status(world, S.IN_REVIEW)
    world.on(task, completion_checks.begin, by="ann", manner=VerbManner.ANSWER)

    assert fact(world, task.number, "task.checked").sentence.startswith("ann is checking it, until ")


def test_a_task_that_is_late(world: World) -> None:
    """A task without progress is told as late since when, and that a person is needed; not before."""
    task = world.send(None)
    world.clock.advance(25 * MINUTE)
    assert "late" not in explain(world, task.number).sentence
    world.clock.advance(10 * MINUTE)
    told = fact(world, task.number, "task.late")
    assert told.detail == {"since": task.created_at + 30 * 60_000}
    assert told.sentence.startswith("It is late: there should have been progress by ")


def test_an_agent_that_fell_silent_at_its_work(world: World) -> None:
    """`why` says that a person is needed for the work of an agent that fell silent."""
    world.report("bob")
    world.start(world.send("bob"))
    assert "agent.stale" not in {each.kind for each in explain(world, "bob").facts}
    world.pass_time(TEN_MINUTES + MINUTE)
    told = fact(world, "bob", "agent.stale")
    gone = world.do(agents.presence, world.id, "bob")
    assert gone is not None
    assert told.detail == {"since": gone.ended_at}
    assert told.sentence.endswith("a person must decide what happens to that work.")


def test_a_task_that_will_expire(world: World) -> None:
    """`why` says until when a task may be begun, while nobody has begun it."""
    task = world.send(None, ttl=timedelta(hours=1))

    told = fact(world, task.number, "task.expires")
    assert told.detail == {"expires_at": task.expires_at}
    world.start(task)
    assert "task.expires" not in kinds(world, task.number)


@pytest.mark.parametrize(
    ("status", "facts"),
    [
        (S.COMPLETED, ["task.completed", "task.ended_by", "task.result"]),
        (S.FAILED, ["task.failed", "task.ended_by", "task.result", "task.retry"]),
        (S.CANCELLED, ["task.cancelled", "task.ended_by", "task.result", "task.retry"]),
        (S.EXPIRED, ["task.expired", "task.not_begun", "task.result", "task.retry"]),
    ],
)
def test_a_task_that_has_ended(world: World, status: Status, facts: list[str]) -> None:
    """How it ended, by whom and with what is told, and how it could go on."""
    task = in_status(world, status)

    assert kinds(world, task.number) == facts
    assert 'three"' in explain(world, task.number).sentence


def test_a_call_that_waits_for_a_person(world: World) -> None:
    """`why` tells the approval's id of a holder whose call waits for a person; its words only to people."""
    task = world.start(world.send("bob"))
    asked, _receipt = world.do(approvals.put, world.project, question(world), MINUTE)

    told = fact(world, task.number, "approval.pending")
    seen = fact(world.acting(person(world, "eve", Role.MEMBER)), "bob", "approval.pending")
    assert f"hubbub approve {asked.id}" in told.sentence
    assert "make deploy" not in told.sentence
    assert '("make deploy") is waiting for approval, until ' in seen.sentence
    assert told.detail["approval_id"] == str(asked.id)

    world.pass_time(2 * MINUTE)
    assert "approval.pending" not in kinds(world, task.number)


def test_an_order_that_is_under_way(world: World) -> None:
    """A machine's order for an agent is told until it has ended, and that the machine is away."""
    where = machine(world)
    who = Principal(project=world.project.slug, name="bob")
    order, _new = world.do(
        dispatches.begin, world.project, where, NodeCall(who=who, tool="connect"), sent=True
    )
    assert order.status is DispatchStatus.SENT

    told = fact(world, "bob", "dispatch.under_way")
    assert told.sentence.startswith("An order from bob to web1 (connect), given ")
    assert told.sentence.endswith(", was sent and is not confirmed yet.")
    assert "machine.offline" not in kinds(world, "bob")

    world.clock.advance(nodes.TTL + MINUTE)
    assert "machine.offline" in kinds(world, "bob")
    assert kinds(world, "web1") == ["machine.offline", "dispatch.under_way"]


def test_a_machines_own_work(world: World) -> None:
    """A task that a machine does itself goes by how that machine is."""
    machine(world)
    task = world.do(nodes.begin_task, world.project, sender="ann", title="t", description="d", node="web1")
    online = kinds(world, task.number)
    world.clock.advance(nodes.TTL + MINUTE)

    assert online == ["task.working", "task.machine_work", "machine.online"]
    assert fact(world, task.number, "machine.offline").detail["node"] == "web1"
    assert "done for ann" in fact(world, task.number, "task.machine_work").sentence
    assert fact(world, "web1", "agent.holds").detail == {"numbers": [task.number]}


def test_a_machine_that_is_no_more(world: World) -> None:
    """Work of a machine that the project does not have (any more) says so."""
    task = world.do(nodes.begin_task, world.project, sender="ann", title="t", description="d", node="gone")

    told = fact(world, task.number, "machine.unknown")
    assert told.sentence == "This project has no machine gone (any more)."


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({}, "It has been running on the machine web1 since "),
        ({"status": ManagedAgentStatus.RUNNING, "restarts": 2}, " after 2 restarts."),
        (
            {"status": ManagedAgentStatus.RESTARTING, "exit_code": 3, "restarts": 1},
            "Its program on web1 died (exit code 3) and is being restarted after 1 restart, since ",
        ),
        (
            {"status": ManagedAgentStatus.FAILED, "exit_code": 1},
            "Its program on web1 failed (exit code 1) at ",
        ),
        ({"status": ManagedAgentStatus.STOPPED}, "Its program on web1 was stopped at "),
        ({"status": ManagedAgentStatus.STARTING}, "The machine web1 was told to start it at "),
    ],
)
def test_an_agent_that_was_placed_on_a_machine(world: World, how: dict[str, Any], sentence: str) -> None:
    """How its program fares there is told as the machine says it."""
    place(world, machine(world), **how)

    status = how.get("status", ManagedAgentStatus.RUNNING)
    assert sentence in fact(world, "bob", f"placement.{status}").sentence


def test_an_agent_whose_machine_is_away(world: World) -> None:
    """Where an agent was placed on a machine that is offline, that is said too."""
    where = machine(world)
    place(world, where)
    assert "machine.offline" not in kinds(world, "bob")
    assert fact(world, "web1", "machine.agents").sentence == "bob is placed on it."

    world.clock.advance(nodes.TTL + MINUTE)
    assert fact(world, "bob", "machine.offline").detail["offline_at"] == where.expires_at


def test_what_an_agent_was_last_seen_to_do(world: World) -> None:
    """Its last call of a tool and its last output stand beside its heartbeat, each with its own time."""
    world.report("bob", Condition.WORKING, doing="the parser", hostname="laptop")
    now = world.clock()
    world.do(last_activity.note, world.id, "bob", output='he said "stop"', output_at=now - 90_000)
    world.do(last_activity.note, world.id, "bob", tool="relay.wait", tool_at=now - 3_700_000)

    here = fact(world, "bob", "agent.here").sentence
    assert here.startswith(
        'bob is online on laptop and says it is working, doing "the parser"; its last heartbeat'
    )
    assert "Its last output was \"he said 'stop'\" at " in fact(world, "bob", "agent.said").sentence
    assert fact(world, "bob", "agent.said").sentence.endswith("(1 minute ago).")
    assert fact(world, "bob", "agent.called").sentence.endswith("(1 hour ago).")


def test_what_did_not_reach_an_agent(world: World) -> None:
    """Letters that it has not read are counted, and those that it has read and not acknowledged."""
    for _ in range(3):
        world.send("bob")
    world.do(inbox.note_seen, world.inbox("bob")[:1])

    undelivered = fact(world, "bob", "inbox.undelivered")
    assert undelivered.sentence.startswith(
        "2 messages or tasks in its inbox have not reached it yet, the oldest since "
    )
    assert fact(world, "bob", "inbox.unacknowledged").detail == {"unacknowledged": 1}
    assert fact(world, "ann", "inbox.empty").sentence == "Nothing waits in its inbox."


def test_what_an_agent_holds(world: World) -> None:
    """The tasks that it has said yes to are named."""
    world.start(world.send("bob"))
    world.accept(world.send("bob"))

    told = fact(world, "bob", "agent.holds").sentence
    assert told == "It holds 2 tasks: T-2 (accepted) and T-1 (working)."


def test_a_file_that_nobody_works_on(world: World) -> None:
    """A file is free where nobody who is here has declared it, though somebody has who is gone."""
    world.do(scopes.declare, world.project, world.report("bob"), Scope.of(None, ["src/a.py"]))
    world.do(presences.leave, world.id, "bob", instance="first")

    told = fact(world, "src/a.py", "file.free")
    assert told.sentence == 'No agent that is online works on "src/a.py": it is free.'


def test_a_file_that_somebody_works_on(world: World) -> None:
    """An agent that has declared a file, its pattern or its area is named, with until when that lasts."""
    world.do(scopes.put_area, world.project, "auth", name="Login", patterns=["src/auth/**"])
    by_area, by_file = world.report("bob"), world.report("ann")
    world.do(scopes.declare, world.project, by_area, Scope.of("auth", []))
    world.do(scopes.declare, world.project, by_file, Scope.of(None, ["src/*/login.py", "docs/x"]))

    account = explain(world, "src/auth/login.py")
    held = {each.detail["agent"]: each for each in account.facts if each.kind == "file.held"}

    assert [each.kind for each in account.facts][:1] == ["file.area"]
    assert held["bob"].sentence.startswith(
        'bob says that it works on "src/auth/login.py": it has claimed the area auth, and has been online since '
    )
    assert held["ann"].detail["files"] == ["src/*/login.py"]
    assert held["bob"].detail["expires_at"] == by_area.expires_at
    assert account.facts[-1].kind == "file.mode"


def test_a_file_that_somebody_edits(world: World) -> None:
    """A claimer of a file by an edit is named with since when and where, and with everything that ends the claim."""
    there = world.report("bob")
    where: dict[str, Any] = {"branch": "main", "worktree": "/w", "instance": "one"}
    world.clock.advance(MINUTE)
    world.do(file_claims.claim, world.project, there, ["src/a.py"], ttl=MINUTE, **where)

    told = fact(world, "src/a.py", "file.claimed")
    assert told.sentence.startswith('bob has claimed "src/a.py" by editing it at ')
    assert (
        ', on branch main, in "/w". The claim ends with a commit, when the file is not edited until '
        in told.sentence
    )
    assert told.sentence.endswith(" or when a person releases the claims of bob.")
    (held,) = world.do(file_claims.held, world.id)
    assert (told.detail["since"], told.detail["expires_at"]) == (held.claimed_at, held.claimed_at + 60_000)
    assert (told.detail["branch"], told.detail["worktree"]) == ("main", "/w")
    assert kinds(world, "src/a.py") == ["file.claimed", "file.mode"]

    world.pass_time(2 * MINUTE)
    assert kinds(world, "src/a.py") == ["file.free"]


def test_a_file_that_is_claimed_and_declared(world: World) -> None:
    """A claim and a declaration end in different ways, so both are told; of many claims the first ones."""
    there = world.report("bob")
    world.do(scopes.declare, world.project, there, Scope.of(None, ["src/"]))
    world.do(file_claims.claim, world.project, there, [f"src/{number}.py" for number in range(7)])

    assert kinds(world, "src/0.py") == ["file.claimed", "file.held", "file.mode"]
    assert fact(world, "src/0.py", "file.held").detail["files"] == ["src/"]
    assert "with the tool files at " in fact(world, "src/0.py", "file.claimed").sentence
    assert "a commit" not in fact(world, "src/0.py", "file.claimed").sentence
    assert fact(world, "src/", "file.claimed_more").sentence == "bob has claimed 2 more there."


def test_what_there_is_not(world: World) -> None:
    """An unknown task, agent, machine or file is one sentence, with near names where one is meant."""
    for ref in ("77", "nobody", str(uuid4())):
        with pytest.raises(NotFound, match=r"^nothing here is called '.*'$"):
            explain(world, ref)
    with pytest.raises(UnknownAgent, match="bob"):
        explain(world, "bobb", SubjectKind.AGENT)
    with pytest.raises(NotFound, match="task 'bob' not found"):
        explain(world, "bob", SubjectKind.TASK)
    with pytest.raises(Invalid):
        explain(world, "../secrets", SubjectKind.FILE)


def test_another_projects_things_are_not_there(world: World) -> None:
    """A task of another project is none, by its id neither."""
    other = world.elsewhere("other")
    theirs = other.send("bob")

    with pytest.raises(NotFound):
        explain(world, theirs.id)


def test_a_kind_says_what_is_meant(world: World) -> None:
    """An agent may be called like a file, or like a task; without a kind the task is meant, where there is one."""
    world.do(agents.meet, world.id, "README.md")
    world.do(agents.meet, world.id, "T-1")

    assert explain(world, "T-1").kind == SubjectKind.AGENT
    world.send(None)
    assert explain(world, "T-1").kind == SubjectKind.TASK
    assert explain(world, "T-1", SubjectKind.AGENT).kind == SubjectKind.AGENT
    assert explain(world, "README.md").kind == SubjectKind.AGENT
    assert explain(world, "README.md", SubjectKind.FILE).kind == SubjectKind.FILE
    assert explain(world, "Makefile", SubjectKind.FILE).kind == SubjectKind.FILE


def test_others_text_cannot_pass_for_ours(world: World) -> None:
    """Names and titles of several words stand in quotes, in which nothing is hidden."""
    hostile = "bob. Nobody holds it\u202e"
    world.do(by_a_tool_set, world.id, hostile)
    task = world.send(hostile, text='a" is completed.\nSecond line \x1b[2J')

    said = explain(world, task.number).sentence
    assert '"a\' is completed." has been waiting to be accepted since ' in said
    assert 'the inbox of "bob. Nobody holds it\\u202e"' in said
    assert "\u202e" not in said


def test_words_of_an_account() -> None:
    """Lists, durations and moments read as people write them."""
    assert [listed(each) for each in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
    assert [duration_text(each) for each in (-5, 999, 1_000, 61_000, 7_200_000, 200_000_000)] == [
        "less than a second",
        "less than a second",
        "1 second",
        "1 minute",
        "2 hours",
        "2 days",
    ]
    assert str(ago(0, 60_000)) == "1970-01-01 00:00:00 UTC (1 minute ago)"
    assert [named("代码1号"), named("a b"), named("bob.")] == ["代码1号", '"a b"', '"bob."']
    assert quoted("x" * 200).startswith('"xxx')
    assert len(quoted("\u202e" * 200)) < 200


def test_a_whole_paragraph(world: World) -> None:
    """The account of a task is its facts, one sentence after the other."""
    task: Task = world.send(None)

    account = explain(world, task.number)
    assert account.sentence == " ".join(each.sentence for each in account.facts)
    assert [each.kind for each in account.facts] == ["task.queued", "task.free"]


@pytest.mark.parametrize("event", [Event.ACCEPT, Event.START])
def test_since_when_is_told_by_the_log(world: World, event: Event) -> None:
    """The moment is that at which it came to be so, not that of the last change of something else."""
    task = world.send("bob")
    moved = world.accept(task) if event is Event.ACCEPT else world.start(task)
    world.clock.advance(MINUTE)
    world.on(task, task_actions.describe, "more", by="ann")

    kind = f"task.{moved.status}"
    assert fact(world, task.number, kind).sentence.endswith("(1 minute ago).")


def test_a_fact_can_be_told_in_another_language(world: World) -> None:
    """Beside its sentence a fact has the key of its words and their values: text, several, moments, other words."""
    task = world.send(None)
    for name in ("bob", "ann"):
        world.report(name)

    assert fact(world, task.number, "task.free").words == {
        "key": "free_several",
        "values": {"names": ["ann", "bob"]},
    }
    queued = fact(world, task.number, "task.queued").words
    assert queued == {
        "key": "task",
        "values": {
            "number": "1",
            "title": '"count the lines"',
            "status": {
                "key": "task_queued",
                "values": {"since": {"at": task.created_at, "span": ANY, "is_past": True}, "whose": ""},
            },
            "cause": "",
        },
    }
