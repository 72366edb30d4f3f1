"""Moves: everything that somebody in the world may do, by name. A step consists of such a name and a number."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from hubbub.core import expiry
from hubbub.core.actions import task_actions
from hubbub.core.people import access, coordinators, members, tokens
from hubbub.core.presence import presences
from hubbub.core.work import leases, tasks
from hubbub.model.errors import HubError, StoreUnavailable
from hubbub.model.fleet.calls import ToolResult
from hubbub.model.people.rights import HUB, SYSTEM, Role
from hubbub.store.tx import Tx
from simulate.choices import Choices
from simulate.machines import ENDS
from simulate.world import MACHINE, Broken, Prepared, Speaker, World, is_yes

Arguments = Callable[[Choices], Mapping[str, Any]]
Move = Callable[[World, Speaker, int], Awaitable[None]]

ORDERING = "connect"  # the tool that sends commands to machines
THINGS = ("port:8000", "db", "gpu", "gpu:2")
WAITS = (0.05, 1, 5, 20, 45, 100, 200, 650, 1900, 3700)  # seconds
STATUSES = ("idle", "working", "blocked", "waiting_input", "error", "offline")
PRIORITIES = ("critical", "high", "medium", "low")

# ---- the calls of agents, tool by tool; the number is their weight -------------------------------------------

TOOLS: dict[str, tuple[int, Arguments]] = {
    "commhub.report_status": (10, lambda a: {
        "alias": a.speaker.name, "resume_id": a.one(("one", "one", "one", "two")),
        "status": a.one((*STATUSES[:3], *STATUSES)), "task": a.maybe(a.task(mine=True)), "progress": a.maybe(40.0),
    }),
    "commhub.report_completion": (4, lambda a: {
        "alias": a.speaker.name, "task": a.task(mine=True), "result": a.text(),
    }),
    "commhub.get_inbox": (6, lambda a: {"alias": a.speaker.name, "limit": a.one((1, 3, 50))}),
    "commhub.ack_inbox": (8, lambda a: {"alias": a.speaker.name, "message_id": a.letter()}),
    "commhub.send_task": (8, lambda a: {
        "alias": a.name(), "task": a.text(), "priority": a.one(("high", "normal", "low")),
        "ttl_seconds": a.one((30, 300, 3600)), "parent_task_id": a.maybe(a.task(), 5),
    }),
    "commhub.send_message": (4, lambda a: {"alias": a.name(), "message": a.text()}),
    "commhub.send_reply": (4, lambda a: {
        "alias": a.name(), "text": a.text(), "in_reply_to": a.one((a.task(mine=True), a.message())),
        "status": a.one(("replied", "failed", "cancelled")),
    }),
    "commhub.send_ack": (5, lambda a: {"task_id": a.task()}),
    "commhub.retry_task": (3, lambda a: {"task_id": a.task()}),
    "commhub.cancel_task": (2, lambda a: {"task_id": a.task(), "reason": a.maybe(a.text())}),
    "commhub.reassign_task": (4, lambda a: {"task_id": a.task(), "new_alias": a.name()}),
    "commhub.broadcast": (2, lambda a: {"message": a.text()}),
    "commhub.list_tasks": (1, lambda _: {"limit": 50}),
    "commhub.get_all_status": (1, lambda _: {}),
    "golemxv.checkin": (6, lambda a: {"agent_name": a.speaker.name, "declared_files": a.maybe(a.files())}),
    "golemxv.heartbeat": (4, lambda _: {}),
    "golemxv.scope_update": (3, lambda a: {"declared_files": a.files()}),
    "golemxv.checkout": (2, lambda a: {"outcome_status": "success", "work_summary": a.text()}),
    "golemxv.send_message": (3, lambda a: {"to": a.name(), "content": a.text()}),
    "golemxv.get_messages": (1, lambda _: {}),
    "golemxv.activity_log": (1, lambda _: {}),
    "golemxv.claim_task": (6, lambda a: {"task_id": a.task_number()}),
    "golemxv.update_task": (5, lambda a: {
        "task_id": a.task_number(mine=True), "status": a.one(("in_progress", "in_progress", "blocked", "failed")),
        "reason": a.maybe(a.text()),
    }),
    "golemxv.complete_task": (3, lambda a: {"task_id": a.task_number(mine=True), "result_summary": a.text()}),
    "relay.create_task": (8, lambda a: {
        "agent_id": a.speaker.name, "title": a.text(), "priority": a.one(PRIORITIES), "assignee": a.maybe(a.name()),
        "depends_on": a.maybe([a.task(), a.task()], 3), "idempotency_key": a.maybe(f"k{a.number(6)}", 4),
    }),
    "relay.claim_task": (7, lambda a: {"agent_id": a.speaker.name, "task_id": a.task()}),
    "relay.update_task": (8, lambda a: {
        "agent_id": a.speaker.name, "task_id": a.task(mine=True), "assignee": a.maybe(a.name(), 5),
        "status": a.one(("todo", "in_progress", "in_progress", "in_review", "done", "done")),
    }),
    "relay.send_message": (3, lambda a: {
        "agent_id": a.speaker.name, "content": a.text(), "to": a.maybe(a.name()), "thread_id": a.maybe("plans"),
    }),
    "relay.get_messages": (2, lambda a: {"agent_id": a.speaker.name}),
    "relay.get_all_tasks": (2, lambda a: {"agent_id": a.speaker.name, "include_description": True}),
    "relay.write_memory": (2, lambda a: {"agent_id": a.speaker.name, "key": f"k{a.number(3)}", "content": a.text()}),
    "relay.post_artifact": (2, lambda a: {
        "agent_id": a.speaker.name, "name": f"n{a.number(3)}", "type": "report", "content": a.text(),
        "task_id": a.maybe(a.task()),
    }),
    "cmdop.issue_create": (4, lambda a: {
        "title": a.text(), "body": a.maybe("as it says"), "assignee": a.maybe(a.name()),
    }),
    "cmdop.issue_update": (6, lambda a: {
        "id": a.task(mine=True), "assignee": a.maybe(a.name(), 4),
        "status": a.maybe(a.one(("todo", "in_progress", "blocked", "in_review", "done", "cancelled", "failed")), 1),
    }),
    "cmdop.issue_close": (2, lambda a: {"id": a.task(mine=True), "reason": a.maybe(a.text())}),
    "cmdop.issue_list": (1, lambda _: {}),
    "hub.join": (6, lambda a: {
        "name": a.speaker.name, "doing": a.maybe("the doors"), "files": a.maybe(a.files(), 3),
        "status": a.maybe(a.one(("working", "idle", "blocked", "offline")), 3),
    }),
    "hub.inbox": (6, lambda a: {"ack": a.maybe([a.one((a.letter(), "all"))]), "limit": a.one((1, 10))}),
    "hub.send": (9, lambda a: {
        "text": a.text(), "to": a.maybe(a.one((a.name(), a.name(), "everyone"))), "kind": a.maybe("task"),
        "reply_to": a.maybe(a.one((a.task(), a.message())), 4),
        "needs": a.maybe([a.task()], 4), "expires_in": a.maybe(a.one((30, 900)), 3),
        "key": a.maybe(f"k{a.number(6)}", 4),
    }),
    "hub.task": (22, lambda a: {
        "action": a.one((
            "claim", "claim", "start", "start", "progress", "block", "submit", "complete", "complete", "fail", "cancel",
            "release", "retry", "reassign", "describe", "comment", "approve", "revise",
        )),
        "task": a.maybe(a.task(mine=True), 1) if a.number(8) else None, "text": a.text(), "to": a.name(),
        "progress": 30,
    }),
    "hub.board": (2, lambda _: {}),
    "hub.files": (9, lambda a: {"action": a.one(("claim", "claim", "check", "release", "list")), "paths": a.files()}),
}  # fmt: skip

# The tools whose text is stored exactly once if they succeed, with the table that stores it.
MAKES = {
    "commhub.send_task": "tasks", "commhub.send_message": "messages",
    "golemxv.send_message": "messages", "relay.send_message": "messages", "relay.create_task": "tasks",
    "cmdop.issue_create": "tasks",
}  # fmt: skip


def prepared(world: World, speaker: Speaker, number: int, tool: str) -> Prepared:
    """Choose a call of a tool by the number; some calls have an idempotency key."""
    pick = Choices(world, speaker, number)
    given = {name: value for name, value in TOOLS[tool][1](pick).items() if value is not None}
    dialect, _, name = tool.partition(".")
    key = f"key-{world.counted}-{number}" if number % 5 == 0 else None
    table = MAKES.get(tool)
    if given.get("key") or given.get("idempotency_key"):
        table = None  # another call may have used that key already
    return Prepared(dialect, name, given, key, table, pick.mark)


async def say(world: World, speaker: Speaker, number: int, *, tool: str) -> None:
    """Call a tool."""
    await _send(world, speaker, prepared(world, speaker, number, tool))


async def hold(world: World, speaker: Speaker, number: int) -> None:
    """Send a call that reaches the hub much later."""
    names = tuple(TOOLS)
    speaker.held.append(prepared(world, speaker, number, names[number % len(names)]))


async def late(world: World, speaker: Speaker, number: int) -> None:
    """Let a delayed call reach the hub."""
    if speaker.held:
        await _send(world, speaker, speaker.held.pop(number % len(speaker.held)))


async def again(world: World, speaker: Speaker, number: int) -> None:
    """Repeat the last call with a key, like a client without an answer, or a line that sends it twice.

    Of an order whose attempts are counted, an earlier attempt may come instead, late: nobody waits for it any more.
    """
    last = speaker.last
    if last is not None and last.tool == ORDERING and last.attempt is not None and number % 3:
        late = replace(last, attempt=1 + number % last.attempt)
        _beside(world, world.call(speaker, late))
    elif last is not None and last.tool == ORDERING:
        last.attempt = last.attempt + 1 if last.attempt is not None else None
        _begin(world, speaker, last)
    elif speaker.last is not None:
        await _send(world, speaker, speaker.last)


async def order(world: World, speaker: Speaker, number: int) -> None:
    """Send the machine an order, and wait for its outcome while others go on."""
    pick = Choices(world, speaker, number)
    given = {"operation": "exec", "hostname": MACHINE, "command": pick.text()}
    call = Prepared("cmdop", ORDERING, given, f"order-{number}" if number % 3 else None, None, pick.mark)
    call.attempt = 1 if call.key is not None and pick.number(3) else None
    _begin(world, speaker, call)
    if call.key is not None:
        speaker.last = call


def _begin(world: World, speaker: Speaker, call: Prepared) -> None:
    world.refused.discard(call.mark)
    _beside(world, _order(world, speaker, replace(call)))


def _beside(world: World, work: Coroutine[Any, Any, object]) -> None:
    task: asyncio.Task[Any] = asyncio.create_task(work)
    world.beside.add(task)
    task.add_done_callback(world.beside.discard)


async def _order(world: World, speaker: Speaker, call: Prepared) -> None:
    world.counted += 1
    world.orders[call.mark].add(under_way := f"under way {world.counted}")
    outcome = await world.call(speaker, call)
    world.orders[call.mark].discard(under_way)
    told = "unknown" if outcome is None or outcome.is_error else "yes"
    if (
        outcome is not None and outcome.is_undone and "order" not in outcome.content
    ):  # else the machine vanished during the work
        told = "undone"
    world.orders[call.mark].add(told)
    last = speaker.last
    is_last = last is not None and (last.mark, last.attempt) == (call.mark, call.attempt)
    if told == "undone" and call.attempt is not None and is_last:
        world.refused.add(call.mark)


async def lease(world: World, speaker: Speaker, number: int) -> None:
    """Ask for a lease on things that others may hold, renew it, or release it."""
    pick = Choices(world, speaker, number)
    things, known = pick.some(THINGS), pick.maybe(pick.lease(), 3)
    deed, waits = pick.one((leases.renew, leases.release, leases.release)), bool(pick.number(3))

    def do(tx: Tx) -> None:
        project = access.enter(tx)
        if known is None:
            leases.ask(tx, project, things, by=speaker.name, waits=waits)
        else:
            deed(tx, project, known, by=speaker.name)

    await _as(world, speaker, do)


async def machine(world: World, _hub: Speaker, number: int) -> None:
    """Kill, stop or start the machine, or break its line, perhaps unnoticed.

    One kill of four also loses the disk with the journal.
    """
    there = world.machine
    if there is None:
        return
    match number % 6:
        case 0 if number // 6 % 4 == 0:
            await there.lose_journal(world.ended_orders())
        case 0:
            await there.kill()
        case 1:
            await there.stop()
        case 2 if there.wire is not None:
            there.wire.cut()
        case _:
            there.start()


async def line(world: World, _hub: Speaker, number: int) -> None:
    """Disturb the machine's line: its frames arrive twice or late, or one end receives none."""
    wire = world.machine.wire if world.machine is not None else None
    if wire is None:
        return
    end = ENDS[number % len(ENDS)]
    match number // len(ENDS) % 4:
        case 0:
            wire.double(end)
        case 1:
            wire.hold_up(end)
        case 2:
            wire.lose(end)
        case _:
            wire.leave_behind()


async def _send(world: World, speaker: Speaker, call: Prepared) -> None:
    secret = speaker.secret
    outcome = await world.call(speaker, call)
    may_repeat = (
        call.key is not None and speaker.secret == secret
    )  # a key belongs to the token that it was sent with
    if outcome is None:
        speaker.last = call if may_repeat else speaker.last
        return
    told = "".join(outcome.shown)
    for slug in world.projects:
        if slug != speaker.project.slug and f"@{slug}" in told:
            raise Broken(f"nothing_crosses_projects: {call.tool} told {speaker.name} a text of {slug}")
    if speaker.is_revoked and is_yes(outcome):
        raise Broken(f"revoked_tokens_are_dead: {call.dialect}.{call.tool} let one in")
    if call.key is not None and is_yes(outcome):
        _compare(call, outcome)
        speaker.last = call if may_repeat else speaker.last
    if call.dialect == "golemxv" and not is_yes(outcome):
        speaker.stay = None  # the stay may have ended; without a token the hub finds the only one
    if call.tool == "checkin" and is_yes(outcome):
        stay = json.loads(told).get("session_token")
        speaker.stay = stay if isinstance(stay, str) else speaker.stay


def _compare(call: Prepared, outcome: ToolResult) -> None:
    """Check that a repeated call with the same key gets the first answer."""
    if call.tool in READS or call.tool == "checkin":
        return
    told = "".join(outcome.shown)
    if call.answer not in (None, told):
        raise Broken(f"one_key_has_one_answer: {call.tool} was told {call.answer}, and then {told}")
    call.answer = told


READS = frozenset({
    "get_inbox", "list_tasks", "get_all_status", "get_messages", "activity_log", "get_all_tasks", "issue_list", "board",
    "inbox", "join", "files", "task",
})  # fmt: skip


# ---- the acts of people --------------------------------------------------------------------------------------


async def steer(world: World, eve: Speaker, number: int) -> None:
    """Steer a task, like the dashboard."""
    pick = Choices(world, eve, number)
    ref, text, to = pick.task(), pick.text(), pick.name()
    deeds = (
        lambda tx, task: task_actions.cancel(tx, task, by=HUB, reason=text),
        lambda tx, task: task_actions.reassign(tx, task, to=to, by=HUB),
        lambda tx, task: task_actions.retry(tx, task, by=HUB),
        lambda tx, task: task_actions.reopen(tx, task, by=HUB),
        lambda tx, task: task_actions.release(tx, task, by=HUB, reason=text),
        lambda tx, task: task_actions.approve(tx, task, by=HUB, comment=text),
        lambda tx, task: task_actions.request_changes(tx, task, by=HUB, comment=text),
        lambda tx, task: task_actions.unblock(tx, task, by=HUB, reason=text),
        lambda tx, task: task_actions.complete(tx, task, by=HUB, result=text),
        lambda tx, task: task_actions.comment(tx, task, text, by=HUB),
    )  # fmt: skip
    deed: Any = pick.one(deeds)

    def do(tx: Tx) -> None:
        project = access.enter(tx, eve.project.slug)
        deed(tx, tasks.find(tx, [project.id], ref, lock=True))

    await _as(world, eve, do)


async def manage(world: World, eve: Speaker, number: int) -> None:
    """Change the rights of people and agents, or release an agent's scope or claims."""
    pick = Choices(world, eve, number)
    name, project = pick.name(), eve.project
    deeds = (
        lambda tx: coordinators.grant(tx, project, name),
        lambda tx: coordinators.revoke(tx, project, name),
        lambda tx: presences.release_scope(tx, project, name, by=HUB, reason="make room"),
        lambda tx: members.put(tx, project, "owner", Role.OWNER),
        lambda tx: leases.put_capacity(tx, project, "gpu", 2),
    )
    deed: Any = pick.one(deeds)
    await _as(world, eve, deed)


async def revoke(world: World, eve: Speaker, number: int) -> None:
    """Revoke an agent's token and issue another; calls with the old one are refused from now on."""
    pick = Choices(world, eve, number)
    speaker = world.speakers[f"{eve.project.slug}/{pick.name()}"]
    # Read before the write: a revocation beside this one may give the speaker a valid token meanwhile.
    old = Speaker(speaker.project, speaker.name, speaker.secret, speaker.actor, is_revoked=True)

    def renew(tx: Tx) -> tuple[str, Any]:
        assert old.actor.token_id is not None
        tokens.revoke(tx, old.actor.token_id)
        _token, secret = tokens.for_project(tx, eve.project, role=Role.MEMBER, agent=speaker.name)
        return secret, access.authenticate(tx, secret)

    with suppress(StoreUnavailable):
        secret, actor = await world.write(eve.actor, renew)
        speaker.secret, speaker.actor, speaker.stay, speaker.last = secret, actor, None, None
        await say(world, old, number, tool=pick.one(tuple(TOOLS)))


async def _as(world: World, eve: Speaker, deed: Callable[[Tx], object]) -> None:
    with suppress(HubError):
        await world.write(eve.actor, deed)


# ---- the hub's own work, and its accidents ----------------------------------------------------------------


async def upkeep(world: World, _hub: Speaker, number: int) -> None:
    """Do one of the hub's regular jobs."""
    work = world.hub.upkeep
    with suppress(StoreUnavailable):
        await world.answered((work.sweep, work.sweep, work.bury, work.tell_late, work.forget)[number % 5]())


async def settle(world: World, _hub: Speaker, _number: int) -> None:
    """Settle everything overdue; there may be nothing."""
    with suppress(StoreUnavailable):
        await world.write(SYSTEM, expiry.settle)


async def crash(world: World, _hub: Speaker, _number: int) -> None:
    """Kill the hub while it is idle, and start it again."""
    await world.restart()


async def wait(_world: World, _nobody: Speaker, number: int) -> None:
    """Let time pass."""
    await asyncio.sleep(WAITS[number % len(WAITS)] * (1 + number % 7 / 10))


AGENT: dict[str, tuple[int, Move]] = {
    **{tool: (often, partial(say, tool=tool)) for tool, (often, _arguments) in TOOLS.items()},
    "hold": (6, hold),
    "late": (6, late),
    "again": (8, again),
    "lease": (14, lease),
}
PEOPLE: dict[str, tuple[int, Move]] = {"steer": (6, steer), "manage": (2, manage), "revoke": (1, revoke)}
WORLD: dict[str, tuple[int, Move]] = {
    "wait": (12, wait),
    "upkeep": (6, upkeep),
    "settle": (1, settle),
    "crash": (1, crash),
}
AT_MACHINES: dict[str, tuple[int, Move]] = {"order": (4, order), "again": (1, again)}
OF_MACHINES: dict[str, tuple[int, Move]] = {
    "machine": (4, machine),
    "line": (4, line),
    "wait": (4, wait),
    "crash": (1, crash),
}
TABLES = (AGENT, PEOPLE, WORLD, AT_MACHINES, OF_MACHINES)
MOVES = {name: move for table in TABLES for name, (_often, move) in table.items()}
