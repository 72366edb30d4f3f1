"""Machines: how they are known, how they come, go and are removed, and what they put on the board."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest

from hubbub.core.actions import task_actions
from hubbub.core.fleet import api_keys, approvals, enrolment, nodes, shares
from hubbub.core.fleet.enrolment import Joined
from hubbub.core.people import access, projects, tokens, users
from hubbub.core.work import tasks
from hubbub.model.errors import Conflict, Forbidden, Invalid, NotFound, NotHolder, ProjectDenied, Unauthorized
from hubbub.model.fleet.approvals import Approval, ApprovalStatus
from hubbub.model.fleet.calls import NodeInfo, Principal, Question
from hubbub.model.fleet.nodes import Load, Machine
from hubbub.model.ids import new_id
from hubbub.model.lifecycle import Status
from hubbub.model.people.rights import SYSTEM, Right, Role
from hubbub.model.records import Task
from hubbub.store.tx import Tx
from tests.core.conftest import RACERS, World, errors_of, member, on_one_engine, person

FACTS: dict[str, Any] = {"machine_id": "m-1", "platform": "Linux 6.1", "version": "1.0", "sandbox": "bwrap"}


def report(world: World, name: str = "Box", *, labels: Sequence[str] = (), **facts: Any) -> Machine:
    return world.do(nodes.report, world.project, NodeInfo(name=name, **{**FACTS, **facts}), labels=labels)


def online(world: World, name: str = "Box") -> bool:
    return world.do(lambda tx: nodes.find(tx, world.project, name).is_online(tx.now))


def begin(world: World, sender: str | None = "ann") -> Task:
    return world.do(
        nodes.begin_task, world.project, sender=sender, title="count", description="count them", node="Box"
    )


def test_no_machine_is_called_like_what_a_program_says(world: World) -> None:
    """A report of a program beside an agent on its machine is kept under a name that no machine can have."""
    with pytest.raises(Invalid, match="no '@'"):
        report(world, name="ann@box")


def test_a_machine_is_there_while_it_reports(world: World) -> None:
    """A machine is online until it has been silent for too long, or goes; the log tells when it comes and goes,
    and when it is not like it was.
    """
    machine = report(world, labels=["gpu"])
    assert (machine.name, machine.labels, machine.sandbox) == ("Box", ("gpu",), "bwrap")
    report(world)
    world.clock.advance(nodes.TTL)
    assert not online(world)
    again = report(world)
    assert online(world)
    assert (again.id, again.first_seen_at) == (machine.id, machine.first_seen_at)
    world.do(nodes.leave, world.project, "Box")
    world.do(nodes.leave, world.project, "Box")
    assert not online(world)
    kinds = [kind for kind in world.kinds() if kind.startswith("node.")]
    assert kinds == ["node.joined", "node.changed", "node.online", "node.offline"]


def test_a_name_is_one_machine_whatever_its_case(world: World) -> None:
    """Names differ by more than their case; in another project the same name is another machine."""
    first = report(world, "Box")
    assert report(world, "bOX").id == first.id
    assert world.do(nodes.find, world.project, "BOX").name == "bOX"
    report(world, "Straße")
    assert world.do(nodes.find, world.project, "STRASSE").name == "Straße"
    other = world.elsewhere("other")
    assert other.do(nodes.listed, other.project) == []
    assert [each.name for each in world.do(nodes.listed, world.project)] == ["bOX", "Straße"]
    with pytest.raises(NotFound):
        other.do(nodes.find, other.project, "Box")


def test_nobody_takes_the_name_of_a_machine_that_is_there(world: World) -> None:
    """While a machine is online no other can report by its name; afterwards the name is free."""
    report(world)
    with pytest.raises(Conflict, match="another machine"):
        report(world, "BOX", machine_id="m-2")
    world.clock.advance(nodes.TTL)
    assert report(world, "BOX", machine_id="m-2").machine_id == "m-2"


@on_one_engine
@pytest.mark.parametrize(
    "facts",
    [
        {"name": ""},
        {"name": " box"},
        {"name": ".."},
        {"name": "box\u202e"},
        {"name": "x" * 201},
        {"platform": "a\nb"},
        {"labels": [""]},
        {"labels": ["x"] * 51},
    ],
)
def test_a_machine_that_calls_itself_nonsense_is_refused(world: World, facts: dict[str, Any]) -> None:
    """A machine's facts about itself are short lines that people see as they are."""
    with pytest.raises(Invalid):
        report(world, **facts)
    assert world.do(nodes.listed, world.project) == []


def test_reports_race(world: World) -> None:
    """A machine that reports many times at once is one machine."""
    outcomes = world.race(
        *[lambda tx: nodes.report(tx, world.project, NodeInfo(name="Box", **FACTS))] * RACERS
    )
    assert errors_of(outcomes) == []
    assert len({each.id for each in outcomes if isinstance(each, Machine)}) == 1


def test_what_a_machine_does_is_on_the_board(world: World) -> None:
    """A machine's undertaking is a task of the agent, begun by `node:` and its name; the agent hears how it ended."""
    task = begin(world)
    assert (task.sender, task.assignee, task.status) == ("ann", "node:Box", Status.WORKING)
    ended = world.do(nodes.end_task, str(task.id), text="three", failed=False)
    assert (ended.status, ended.result) == (Status.COMPLETED, "three")
    assert world.mail("ann") == ["three"]


def test_what_failed_says_why(world: World) -> None:
    """A machine that could not do it says why, to the agent and on the board."""
    ended = world.do(nodes.end_task, str(begin(world).id), text="no runtime", failed=True)
    assert (ended.status, ended.result) == (Status.FAILED, "no runtime")
    assert world.mail("ann") == ["no runtime"]


def test_a_machines_work_does_not_lapse(world: World) -> None:
    """A machine has no heartbeat on the board: what it has begun stays begun."""
    task = begin(world)
    world.pass_time(timedelta(days=2))
    assert world.task(task).status is Status.WORKING


def test_what_was_cancelled_stays_cancelled(world: World) -> None:
    """The end of a task that somebody has cancelled meanwhile changes nothing."""
    task = begin(world)
    world.on(task, task_actions.cancel, by="ann", reason=None)
    assert world.do(nodes.end_task, str(task.id), text="three", failed=False).status is Status.CANCELLED


def test_a_machine_ends_what_is_its_own(world: World) -> None:
    """Neither an agent's task, nor another machine's or another agent's errand can be ended so, nor one elsewhere."""
    task, agents_own = begin(world), world.start(world.send())
    other = world.elsewhere("other")
    ended: dict[str, Any] = {"text": "x", "failed": False}
    wrongs: list[dict[str, Any]] = [{"sender": "bob"}, {"node": "other"}]
    for wrong in wrongs:
        with pytest.raises(NotHolder):
            world.do(nodes.end_task, str(task.id), **ended, **wrong)
    with pytest.raises(NotHolder):
        world.do(nodes.end_task, str(agents_own.id), **ended)
    for ref in (str(task.id), str(task.number), "nonsense"):
        with pytest.raises(NotFound):
            other.do(nodes.end_task, ref, **ended, project=other.project)
    assert world.do(tasks.find, [world.id], str(task.id)).status is Status.WORKING


ABOUT = NodeInfo(name="box", **FACTS)


def joined(world: World, name: str = "box", by: str = "who-joins") -> Joined:
    people = world.acting(person(world, f"{by}-{name}", Role.MEMBER))
    return people.do(enrolment.join, world.project, NodeInfo(name=name, **FACTS))


def link(world: World, machine: Machine, hub: str = "h1", **more: Any) -> Machine:
    return world.do(nodes.link, machine, hub=hub, **{"about": ABOUT, **more})


def seen(world: World, name: str = "box") -> Machine:
    return world.do(nodes.find, world.project, name)


def told(world: World) -> list[str]:
    return [kind for kind in world.kinds() if kind.startswith("node.")]


def test_a_linked_machine_is_there(world: World) -> None:
    """A machine is there while a hub holds its link; what it says of itself then holds, but for name and id."""
    machine = joined(world).machine
    about = replace(ABOUT, name="other", machine_id="m-9", platform="Linux 7", sandbox="none")
    linked = link(world, machine, about=about, runtime="claude", labels=["gpu"])
    assert linked == seen(world)
    assert (linked.name, linked.machine_id, linked.platform, linked.sandbox) == (
        "box",
        "m-1",
        "Linux 7",
        "none",
    )
    assert (linked.runtime, linked.labels, linked.hub) == ("claude", ("gpu",), "h1")
    assert nodes.is_linked(linked, world.clock())
    world.do(nodes.unlink, machine.id, "h1")
    world.do(nodes.unlink, machine.id, "h1")
    assert not nodes.is_linked(seen(world), world.clock())
    assert told(world) == ["node.joined", "node.online", "node.offline"]


def test_a_link_lasts_while_its_hub_says_so(world: World) -> None:
    """A machine whose hub falls silent is away after a while; one word of the hub holds for all its machines."""
    first, second = (joined(world, name).machine for name in ("box", "web1"))
    for machine in (first, second):
        link(world, machine)
    world.clock.advance(nodes.TTL / 2)
    world.do(nodes.beat, [first.id, first.id])
    world.clock.advance(nodes.TTL / 2)
    now = world.clock()
    assert (nodes.is_linked(seen(world), now), nodes.is_linked(seen(world, "web1"), now)) == (True, False)
    assert seen(world).seen_at > seen(world, "web1").seen_at
    link(world, second)
    assert told(world)[-1] == "node.online"


def asked(world: World, machine: Machine | None, approval_id: UUID | None = None) -> Approval:
    """A question of the machine `box`, which waits for ten minutes; over the link of `machine`, if there is one."""
    who = Principal(project=world.project.slug, name="ann", token_id=str(world.actor.token_id))
    question = Question(
        who=who,
        node="box",
        tool="execute_command",
        arguments={"command": "make"},
        folder="/srv",
        shown="make",
        reason="the mode asks",
        digest="ab" * 32,
    )
    return world.acting(SYSTEM).do(
        approvals.put,
        world.project,
        question,
        timedelta(minutes=10),
        approval_id=approval_id,
        machine=machine.id if machine is not None else None,
    )[0]


def how(world: World, approval: Approval) -> ApprovalStatus:
    return world.do(approvals.find, [world.id], str(approval.id)).status


def test_the_questions_of_a_machine_that_is_gone_end(world: World) -> None:
    """A call to a machine that stays offline waits for no answer; another process by that name waits on."""
    machine, ada = joined(world).machine, world.acting(person(world, "ada", Role.MEMBER))
    link(world, machine)
    linked, own = asked(world, machine), asked(world, None)
    world.do(nodes.unlink, machine.id, "h1")
    world.pass_time(approvals.BACK - timedelta(seconds=1))
    assert how(world, linked) is ApprovalStatus.PENDING
    world.pass_time(timedelta(seconds=1))
    assert (how(world, linked), how(world, own)) == (ApprovalStatus.EXPIRED, ApprovalStatus.PENDING)
    assert world.kinds()[-1] == "approval.expired"
    with pytest.raises(Conflict, match="its machine is gone"):
        ada.do(approvals.answer, str(linked.id), approved=True)


def test_so_they_do_when_its_hub_was_killed_or_it_was_removed(world: World) -> None:
    """Nobody has told that it is gone: it is when it has been silent for so long; at once when it is forgotten."""
    machine, ada = joined(world).machine, world.acting(person(world, "ada", Role.MEMBER))
    link(world, machine)
    first = asked(world, machine)
    world.pass_time(nodes.TTL)
    assert how(world, first) is ApprovalStatus.PENDING
    world.pass_time(approvals.BACK)
    assert how(world, first) is ApprovalStatus.EXPIRED

    link(world, machine)
    second = asked(world, machine)
    ada.do(nodes.remove, world.project, "box")
    world.pass_time(timedelta(0))
    assert how(world, second) is ApprovalStatus.EXPIRED


def test_a_machine_that_was_started_anew_has_its_questions_withdrawn(world: World) -> None:
    """Questions that a machine no longer asks end, also those that ended while it was gone; all others wait."""
    machine, ada = joined(world).machine, world.acting(person(world, "ada", Role.MEMBER))
    link(world, machine)
    gone, own = asked(world, machine, uuid4()), asked(world, None)
    world.do(nodes.unlink, machine.id, "h1")
    world.pass_time(approvals.BACK)
    link(world, machine)
    dropped, kept, answered = (asked(world, machine, uuid4()) for _each in range(3))
    ada.do(approvals.answer, str(answered.id), approved=False)

    world.do(approvals.withdraw, machine.id, but=[kept.id])

    assert [how(world, each) for each in (gone, dropped, kept, own, answered)] == [
        ApprovalStatus.WITHDRAWN,
        ApprovalStatus.WITHDRAWN,
        ApprovalStatus.PENDING,
        ApprovalStatus.PENDING,
        ApprovalStatus.DENIED,
    ]
    assert world.kinds()[-2:] == ["approval.withdrawn"] * 2
    with pytest.raises(Conflict, match="or its machine was restarted, so nobody waits"):
        ada.do(approvals.answer, str(dropped.id), approved=True)


def test_a_question_goes_on_when_its_machine_is_back(world: World) -> None:
    """Put again under its id it waits for what is left of its time, and is answered; after that it stays expired."""
    machine, ada = joined(world).machine, world.acting(person(world, "ada", Role.MEMBER))
    link(world, machine)
    first, second = (asked(world, machine, uuid4()) for _each in range(2))
    world.do(nodes.unlink, machine.id, "h1")
    world.pass_time(approvals.BACK)
    link(world, machine)
    again = asked(world, machine, first.id)
    assert (again.status, again.ended_at, again.expires_at) == (
        ApprovalStatus.PENDING,
        None,
        first.expires_at,
    )
    assert world.kinds()[-1] == "approval.asked"
    assert ada.do(approvals.answer, str(first.id), approved=True).status is ApprovalStatus.APPROVED
    world.pass_time(timedelta(minutes=10))
    assert asked(world, machine, second.id).status is ApprovalStatus.EXPIRED


def test_how_busy_a_machine_is_is_no_event(world: World) -> None:
    """The last report is kept through reports and links; nothing is recorded of it."""
    machine = joined(world).machine
    link(world, machine)
    before = told(world)
    for load in (Load(load1=0.5, cpus=4), Load(load1=8, cpus=4, memory_used=1, memory_total=2)):
        world.do(nodes.note_load, machine.id, load)
        assert seen(world).load == load
    assert link(world, machine).load == load
    assert told(world) == before


def test_who_is_not_linked_is_not_brought_back(world: World) -> None:
    """A late word of a hub about a machine whose link is gone changes nothing."""
    machine = joined(world).machine
    link(world, machine)
    world.do(nodes.unlink, machine.id, "h1")
    world.do(nodes.beat, [machine.id])
    assert not seen(world).is_online(world.clock())


def test_the_last_link_is_the_one(world: World) -> None:
    """Where a machine has come to another hub meanwhile, what the first says of its own link changes nothing."""
    machine = joined(world).machine
    link(world, machine, "h1")
    link(world, machine, "h2")
    world.do(nodes.unlink, machine.id, "h1")
    assert seen(world).hub == "h2"
    assert nodes.is_linked(seen(world), world.clock())
    assert told(world) == ["node.joined", "node.online"]


def test_a_machine_that_links_with_nonsense_is_refused(world: World) -> None:
    """A machine's report over its link is checked like its report when it joins."""
    machine = joined(world).machine
    wrongs: list[dict[str, Any]] = [
        {"about": replace(ABOUT, platform="a\nb")},
        {"runtime": ""},
        {"runtime": "x\u202e"},
        {"labels": [" "]},
        {"labels": ["x"] * 51},
    ]
    for wrong in wrongs:
        with pytest.raises(Invalid):
            link(world, machine, **wrong)
    assert not seen(world).is_online(world.clock())


def test_only_a_key_of_a_machine_finds_it(world: World) -> None:
    """Nobody is a machine but by its own key: no member, no person, no key that has ended."""
    own = joined(world)
    key = world.do(access.authenticate, own.token)
    assert world.acting(key).do(nodes.find_by_key)[1].id == own.machine.id
    with pytest.raises(Forbidden):
        world.acting(person(world, "eve", Role.OWNER)).do(nodes.find_by_key)
    again = joined(world, by="who-joins-again")
    with pytest.raises(Unauthorized):
        world.acting(key).do(nodes.find_by_key)
    impostor = replace(world.do(access.authenticate, again.token), role=Role.OWNER)
    with pytest.raises(Forbidden):
        world.acting(impostor).do(nodes.find_by_key)


def test_a_machines_key_does_nothing_else(world: World) -> None:
    """With the key of a machine nothing of the project is seen or done, though it is a token of that project."""
    own = joined(world)
    _share, _secret = world.do(shares.mint, world.project, own.machine)
    key = world.acting(world.do(access.authenticate, own.token))
    tries: list[Callable[[Tx], object]] = [
        access.memberships,
        access.visible,
        access.enter,
        partial(access.visible, ref="lab"),
        partial(access.enter, ref="lab", right=Right.READ),
        partial(enrolment.invite, project=world.project),
        partial(nodes.remove, project=world.project, name="box"),
        partial(projects.create, slug="mine"),
        partial(tokens.for_project, project=world.project, role=Role.VIEWER),
        partial(tokens.revoke, token_id=key.actor.token_id or new_id()),
        partial(api_keys.put, project=world.project, secret="sk-0123456789abcdef"),
        partial(api_keys.use, project=world.project),
        users.everyone,
    ]
    for each in tries:
        with pytest.raises(Forbidden):
            key.do(each)
    assert not key.do(access.reads_for_agent)


def test_a_removed_machine_is_gone(world: World) -> None:
    """Its key and the links to look at it are worth nothing, its name is free, and the log says who removed it."""
    own = joined(world)
    link(world, own.machine)
    _share, secret = world.do(shares.mint, world.project, own.machine)
    world.acting(person(world, "adam", Role.MEMBER)).do(nodes.remove, world.project, "BOX")
    assert world.do(nodes.listed, world.project) == []
    assert world.do(shares.look, secret) is None
    for late in (
        partial(access.authenticate, secret=own.token),
        partial(nodes.link, machine=own.machine, hub="h1", about=ABOUT),
    ):
        with pytest.raises(Unauthorized):
            world.do(late)
    world.do(nodes.unlink, own.machine.id, "h1")
    world.do(nodes.beat, [own.machine.id])
    assert [(each.kind, each.actor) for each in world.log()][-2:] == [
        ("token.revoked", "adam"),
        ("node.removed", "adam"),
    ]
    assert joined(world, by="who-joins-again").machine.id != own.machine.id


def test_people_remove_machines(world: World) -> None:
    """Only people do who may write in the project, and not one on which a hub runs just now."""
    joined(world)
    for actor, refusal in (
        (member(world.project, Role.OWNER), Forbidden),
        (person(world, "adam", Role.VIEWER), Forbidden),
        (person(world, "stranger"), ProjectDenied),
    ):
        with pytest.raises(refusal):
            world.acting(actor).do(nodes.remove, world.project, "box")
    people = world.acting(person(world, "eve", Role.MEMBER))
    with pytest.raises(NotFound):
        people.do(nodes.remove, world.project, "web1")
    report(world, "hubs-own")
    with pytest.raises(Conflict, match="a hub runs on"):
        people.do(nodes.remove, world.project, "hubs-own")
    world.do(nodes.leave, world.project, "hubs-own")
    people.do(nodes.remove, world.project, "hubs-own")
    assert [each.name for each in world.do(nodes.listed, world.project)] == ["box"]


def test_a_hub_that_goes_takes_no_other_machine_along(world: World) -> None:
    """A hub whose own machine had the name of one that has joined since does not end that one's link by its going."""
    link(world, joined(world).machine)
    world.do(nodes.leave, world.project, "box")
    assert nodes.is_linked(seen(world), world.clock())
