"""Permissions on a task: each verb by each part, and each door of each tool set by an agent that has none."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

import pytest

from hubbub.core.actions import task_actions
from hubbub.core.agents import agents
from hubbub.core.people import coordinators, runs
from hubbub.core.transaction import Transactions
from hubbub.core.work import artifacts, reviews
from hubbub.dialects import discover
from hubbub.dialects.call import ActivitySource, Call, HubContext
from hubbub.model.errors import Forbidden, NotHolder, Unavailable
from hubbub.model.lifecycle import Status
from hubbub.model.people.rights import HUB, Actor, Role
from hubbub.model.records import Task
from hubbub.model.work.permissions import OPEN_TO, TaskRole, Verb, VerbManner, allowed
from hubbub.store.tx import Tx
from tests.core.conftest import World, in_status, member, on_one_engine, person

S, V = Status, Verb
ANN, BOB, EVE, LEAD = "ann", "bob", "eve", "lead"  # sends, holds, has no part, coordinates
REV = "rev"  # was asked for a review


DEEDS: Mapping[Verb, tuple[Status, Callable[..., object], Mapping[str, object]]] = {
    V.CLAIM: (S.DELIVERED, task_actions.accept, {}),
    V.START: (S.ACCEPTED, task_actions.start, {}),
    V.PROGRESS: (S.WORKING, task_actions.progress, {"progress": 50.0}),
    V.SUBMIT: (S.WORKING, task_actions.submit, {"result": "r"}),
    V.BLOCK: (S.WORKING, task_actions.block, {"reason": "r"}),
    V.UNBLOCK: (S.BLOCKED, task_actions.unblock, {"reason": "r"}),
    V.COMPLETE: (S.WORKING, task_actions.complete, {"result": "r"}),
    V.FAIL: (S.WORKING, task_actions.fail, {"reason": "r"}),
    V.RELEASE: (S.WORKING, task_actions.release, {"reason": "r"}),
    V.APPROVE: (S.IN_REVIEW, task_actions.approve, {"comment": "r"}),
    V.REQUEST_CHANGES: (S.IN_REVIEW, task_actions.request_changes, {"comment": "r"}),
    V.CANCEL: (S.WORKING, task_actions.cancel, {"reason": "r"}),
    V.RETRY: (S.FAILED, task_actions.retry, {"ttl": None}),
    V.REOPEN: (S.WORKING, task_actions.reopen, {}),
    V.REASSIGN: (S.WORKING, task_actions.reassign, {"to": "代码1号"}),
    V.DESCRIBE: (S.WORKING, task_actions.describe, {"text": "r"}),
    V.COMMENT: (S.WORKING, task_actions.comment, {"text": "r"}),
}
POSITIONAL = {V.CLAIM, V.START, V.PROGRESS}  # these take who does it in the second place
IN_MANNERS = (V.START, V.SUBMIT, V.COMPLETE, V.FAIL, V.CANCEL, V.REOPEN, V.REASSIGN)


@pytest.fixture
def team(world: World) -> World:
    """The world, with an agent that coordinates, one that reviews, and one that has no part in anything."""
    for name in (EVE, LEAD, REV):
        world.do(agents.meet, world.id, name)
    world.acting(person(world, "mia", Role.OWNER)).do(coordinators.grant, world.project, LEAD)
    return world


def bound(world: World, name: str) -> World:
    """Return the world as an agent with a bound token sees it."""
    return world.acting(member(world.project, agent=name))


def whom(team: World) -> Mapping[TaskRole, tuple[World, str]]:
    """Return the names and tokens of the parts in a task that ann sent and bob has."""
    return {
        TaskRole.HOLDER: (bound(team, BOB), BOB),
        TaskRole.SENDER: (bound(team, ANN), ANN),
        TaskRole.REVIEWER: (bound(team, REV), REV),
        TaskRole.COORDINATOR: (bound(team, LEAD), LEAD),
        TaskRole.PERSON: (team, HUB),
        TaskRole.STAND_IN: (team, EVE),
        TaskRole.STRANGER: (bound(team, EVE), EVE),
    }


def ask_for_review(world: World, task: Task, by: str) -> None:
    """Have the reviewer asked to look at what was made for the task."""

    def ask(tx: Tx) -> None:
        run = runs.current(tx, world.id)
        made = artifacts.post(tx, run, by=by, name="a", kind="file", content="x", task=str(task.id))
        reviews.request(tx, made, by=by, reviewer=REV)

    world.do(ask)


@on_one_engine
@pytest.mark.parametrize(
    ("verb", "manner"),
    [
        *((verb, VerbManner.PLAIN) for verb in DEEDS),
        *((verb, manner) for manner in VerbManner if manner is not VerbManner.PLAIN for verb in IN_MANNERS),
    ],
)
def test_the_table_says_who_may(team: World, verb: Verb, manner: VerbManner) -> None:
    """Those whose part lets them do a verb in that manner do it, and the others are refused, who change nothing."""
    status, operation, more = DEEDS[verb]
    if manner is not VerbManner.PLAIN:
        more = {**more, "manner": manner}
    wrong: list[tuple[TaskRole, bool]] = []
    for part, (world, by) in whom(team).items():
        task = in_status(team, status)
        ask_for_review(team, task, BOB)
        before = team.task(task)
        try:
            if verb in POSITIONAL:
                world.on(task, operation, by, **more)
            else:
                world.on(task, operation, by=by, **more)
            done = True
        except (NotHolder, Forbidden):
            done = False
            assert team.task(task) == before
        may = part in allowed(verb, manner) and part in OPEN_TO.get(manner, frozenset(TaskRole))
        if done != (may and not (part is TaskRole.HOLDER and status is S.IN_REVIEW)):
            wrong.append((part, done))
    assert wrong == []


def test_who_asks_itself_for_a_review_has_no_part(team: World) -> None:
    """A review that neither the holder nor the sender asked for lets nobody approve."""
    task = in_status(team, S.IN_REVIEW)
    ask_for_review(bound(team, EVE), task, EVE)

    with pytest.raises(Forbidden, match="only its sender, who was asked to review it, a coordinator"):
        bound(team, REV).on(task, task_actions.approve, by=REV, comment=None)


def test_a_person_takes_no_free_task(team: World) -> None:
    """A caller without an agent's name neither accepts nor begins a free task: an agent holds it, or nobody."""
    task = team.send(to=None)
    for operation in (task_actions.accept, task_actions.start):
        with pytest.raises(Unavailable, match="it is free; say who claims it"):
            team.on(task, operation, HUB)
    assert team.task(task).assignee is None


def test_only_a_person_makes_coordinators(team: World) -> None:
    """Agents' tokens make nobody a coordinator, whatever their role, nor do people who do not manage the project."""
    admin = Actor(token_id=None, project_id=team.id, role=Role.OWNER)
    for actor in (admin, person(team, "joe", Role.MEMBER)):
        with pytest.raises(Forbidden):
            team.acting(actor).do(coordinators.grant, team.project, EVE)
        with pytest.raises(Forbidden):
            team.acting(actor).do(coordinators.revoke, team.project, LEAD)

    mia = team.acting(person(team, "max", Role.ADMIN))
    mia.do(coordinators.revoke, team.project, LEAD)
    assert mia.do(coordinators.listed, team.project) == []
    granted, revoked = [each for each in team.log() if each.kind.startswith("coordinator.")]
    assert (granted.actor, granted.agent, revoked.actor, revoked.agent) == ("mia", LEAD, "max", LEAD)


def test_a_changed_text_says_who_wrote_it(team: World) -> None:
    """The letter and the task say who wrote the text anew, and its holder is told, read or unread."""
    mia = team.acting(person(team, "mia2", Role.MEMBER))
    task = mia.send(sender=HUB)
    bound(team, LEAD).on(task, task_actions.describe, "count the words", by=LEAD)

    letter, told = team.inbox("bob")
    assert (letter.sender, letter.edited_by, letter.body) == (HUB, LEAD, "count the words")
    assert told.body == 'lead changed the text of T-1 "count the lines"'
    assert team.task(task).edited_by == LEAD
    mia.on(task, task_actions.describe, "count the pages", by=HUB)
    assert team.task(task).edited_by == "mia2"


# ---- by every door ---------------------------------------------------------------------------------------------------


class Doors:
    """The tools of all dialects, called without a server."""

    def __init__(self, world: World) -> None:
        self.world, self.dialects = world, discover()
        self.site = HubContext(
            url="http://hub",
            port=1,
            instance="1",
            news=cast("ActivitySource", None),
            tell=lambda *_: None,
            note=lambda _: None,
        )

    def call(self, by: str, dialect: str, tool: str, **arguments: object) -> bool:
        """Tell whether the call was answered with what it asked for."""
        actor = replace(member(self.world.project, agent=by), token_id=None)
        call = Call(site=self.site)
        asked = self.dialects[dialect].call(Transactions(self.world.store), actor, tool, arguments, call=call)
        answer = asyncio.run(asked)
        data: Mapping[str, Any] = answer.content
        refused = answer.is_error or data.get("ok") is False or data.get("success") is False
        return not (refused or data.get("updated") == 0 or data.get("claimed") is False)

    def stay(self, name: str) -> str:
        """The secret of GolemXV by which the agent is there."""
        actor = replace(member(self.world.project, agent=name), token_id=None)
        asked = self.dialects["golemxv"].call(
            Transactions(self.world.store),
            actor,
            "checkin",
            {"project_slug": self.world.project.slug, "agent_name": name},
            call=Call(site=self.site),
        )
        return str(asyncio.run(asked).content["session_token"])


def attempts(task: Task, by: str, stay: str) -> list[tuple[str, str, dict[str, object]]]:
    """Yield each call by which an agent may try to change a task of somebody else."""
    ref, number = str(task.id), task.number
    hub: list[dict[str, object]] = [
        {"action": action, "text": "t", "to": by}
        for action in (
            "claim", "start", "progress", "block", "submit", "complete", "fail", "cancel", "release", "reassign",
            "describe", "approve", "revise", "retry",
        )
    ]  # fmt: skip
    told: dict[str, object] = {"alias": "ann", "text": "t", "in_reply_to": ref}
    moved: dict[str, object] = {"agent_id": by, "task_id": ref}
    stayed: dict[str, object] = {"task_id": number, "session_token": stay}
    issue: dict[str, object] = {"id": str(number)}
    statuses = ("todo", "in_progress", "blocked", "in_review", "done", "failed", "cancelled")
    return [
        *(("hub", "task", {"task": ref, **each}) for each in hub),
        ("commhub", "send_ack", {"task_id": ref}),
        ("commhub", "cancel_task", {"task_id": ref, "reason": "r"}),
        ("commhub", "retry_task", {"task_id": ref}),
        ("commhub", "reassign_task", {"task_id": ref, "new_alias": by}),
        *(
            ("commhub", "send_reply", {**told, "status": status})
            for status in ("replied", "failed", "cancelled")
        ),
        ("commhub", "report_completion", {"alias": by, "task": ref, "result": "r"}),
        ("relay", "claim_task", {"agent_id": by, "task_id": ref}),
        ("relay", "update_task", {"agent_id": by, "task_id": ref, "assignee": by}),
        *(
            ("relay", "update_task", {**moved, "status": status})
            for status in ("todo", "in_progress", "in_review", "done")
        ),
        ("golemxv", "claim_task", {"task_id": number, "session_token": stay}),
        *(
            ("golemxv", "update_task", {**stayed, "status": status})
            for status in ("in_progress", "blocked", "failed")
        ),
        ("golemxv", "complete_task", {"task_id": number, "result_summary": "r", "session_token": stay}),
        ("cmdop", "issue_update", {"id": str(number), "body": "b"}),
        ("cmdop", "issue_update", {"id": str(number), "assignee": by}),
        *(("cmdop", "issue_update", {**issue, "status": status}) for status in statuses),
        ("cmdop", "issue_close", {"id": str(number), "reason": "done"}),
        ("cmdop", "issue_close", {"id": str(number), "reason": "cancelled"}),
    ]


@on_one_engine
@pytest.mark.parametrize("status", [S.DELIVERED, S.WORKING, S.IN_REVIEW, S.COMPLETED, S.FAILED])
def test_no_door_lets_a_stranger_in(team: World, status: Status) -> None:
    """No tool of any dialect lets an agent without a part in a task change anything of it."""
    doors, task = Doors(team), in_status(team, status)
    stay = doors.stay(EVE)
    before, mail = team.task(task), team.mail("bob")
    for dialect, tool, arguments in attempts(task, EVE, stay):
        doors.call(EVE, dialect, tool, **arguments)
        assert (dialect, tool, arguments, team.task(task)) == (dialect, tool, arguments, before)
    assert team.mail("bob") == mail


def test_a_free_task_is_taken_before_it_is_changed(team: World) -> None:
    """An agent takes what is free by any door; what it has not taken it neither gives away nor edits nor ends.

    Two tools document more: Relay's `update_task` gives away, and cmdop's `issue_close` withdraws, what is free.
    """
    doors = Doors(team)
    stay = doors.stay(EVE)
    for dialect, tool, arguments in (
        ("hub", "task", {"action": "cancel"}),
        ("hub", "task", {"action": "describe", "text": "t"}),
        ("hub", "task", {"action": "reassign", "to": "ann"}),
        ("hub", "task", {"action": "complete", "text": "t"}),
        ("commhub", "cancel_task", {}),
        ("commhub", "reassign_task", {"new_alias": "ann"}),
        ("cmdop", "issue_update", {"body": "b"}),
        ("cmdop", "issue_update", {"assignee": "ann"}),
    ):
        task = team.send(to=None)
        key = {"hub": "task", "cmdop": "id"}.get(dialect, "task_id")
        ref = str(task.number if dialect == "cmdop" else task.id)
        assert not doors.call(EVE, dialect, tool, **{key: ref, **arguments}), (dialect, tool, arguments)
        assert team.task(task) == task
    for dialect, tool, arguments in (
        ("hub", "task", {"action": "claim"}),
        ("commhub", "send_ack", {}),
        ("commhub", "send_reply", {"alias": "ann", "text": "t"}),
        ("relay", "claim_task", {"agent_id": EVE}),
        ("relay", "update_task", {"agent_id": EVE, "status": "done"}),
        ("golemxv", "claim_task", {"session_token": stay}),
        ("cmdop", "issue_update", {"status": "in_progress"}),
        ("cmdop", "issue_update", {"status": "done"}),
    ):
        task = team.send(to=None)
        key = {"hub": "task", "cmdop": "id"}.get(
            dialect, "in_reply_to" if tool == "send_reply" else "task_id"
        )
        named: object = task.number if dialect == "golemxv" else str(task.number)
        named = named if dialect in ("golemxv", "cmdop") else str(task.id)
        assert doors.call(EVE, dialect, tool, **{key: named, **arguments}), (dialect, tool, arguments)
        assert team.task(task).assignee == EVE

    given, withdrawn = team.send(to=None), team.send(to=None)
    assert doors.call(EVE, "relay", "update_task", agent_id=EVE, task_id=str(given.id), assignee="ann")
    assert team.task(given).assignee == "ann"
    assert doors.call(EVE, "cmdop", "issue_close", id=str(withdrawn.number), reason="cancelled")
    assert team.task(withdrawn).status is Status.CANCELLED


def test_the_holder_hears_once_by_every_door(team: World) -> None:
    """An agent at work on a task hears once of its sender's acts on it, with who it was, by whichever door."""
    doors = Doors(team)
    for dialect, tool, arguments in (
        ("hub", "task", {"action": "cancel", "text": "why"}),
        ("hub", "task", {"action": "reassign", "to": "代码1号"}),
        ("hub", "task", {"action": "describe", "text": "other words"}),
        ("commhub", "cancel_task", {"reason": "why"}),
        ("commhub", "reassign_task", {"new_alias": "代码1号"}),
        ("commhub", "send_reply", {"alias": "bob", "text": "ann says no", "status": "cancelled"}),
        ("commhub", "send_reply", {"alias": "代码1号", "text": "no", "status": "cancelled"}),
        ("relay", "update_task", {"agent_id": "ann", "assignee": "代码1号"}),
        ("relay", "update_task", {"agent_id": "ann", "status": "in_review"}),
        ("relay", "update_task", {"agent_id": "ann", "status": "done"}),
        ("cmdop", "issue_update", {"status": "cancelled"}),
        ("cmdop", "issue_update", {"assignee": "代码1号"}),
        ("cmdop", "issue_update", {"body": "other words"}),
        ("cmdop", "issue_update", {"status": "blocked"}),
        ("cmdop", "issue_close", {"reason": "it is done"}),
    ):
        task = in_status(team, S.WORKING)
        before = [letter.delivery.id for letter in team.inbox("bob")]
        key = {"hub": "task", "cmdop": "id"}.get(
            dialect, "in_reply_to" if tool == "send_reply" else "task_id"
        )
        ref = str(task.number if dialect == "cmdop" else task.id)
        assert doors.call("ann", dialect, tool, **{key: ref, **arguments}), (dialect, tool, arguments)
        told = [each.body for each in team.inbox("bob") if each.delivery.id not in before]
        told = [each for each in told if each != task.description]
        assert len(told) == 1, (dialect, tool, arguments, told)
        assert told[0].startswith("ann ")


def test_whose_task_it_was_hears_of_it_once(team: World) -> None:
    """An agent that sent a task to itself and works on it hears of its end by the reply alone."""
    task = team.start(team.send(sender="bob"))
    team.acting(person(team, "mia3")).on(task, task_actions.cancel, by=HUB, reason="not now")

    assert team.mail("bob") == ["not now"]
