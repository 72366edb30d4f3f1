"""Presence of an agent or a machine: since when, until when, and its signs of life."""

from collections.abc import Iterator
from uuid import UUID

from hubbub.core.agents import agents, last_activity
from hubbub.core.limits import accounts, breakers, budgets
from hubbub.core.why.explanation import NOTHING, Fact, Value, ago, ahead, named, quoted, say
from hubbub.model.fleet.managed_agents import ManagedAgent, ManagedAgentStatus
from hubbub.model.fleet.nodes import AT, NODE_PREFIX, Machine
from hubbub.model.records import Presence
from hubbub.store.agents import last_activity as rows
from hubbub.store.fleet import managed_agents, nodes
from hubbub.store.log import activity
from hubbub.store.tx import Tx

ENDS = frozenset({"silent", "left", "replaced"})  # the ways in which a check-in ends that have a phrase
ARRIVED = frozenset(
    {
        ManagedAgentStatus.RUNNING,
        ManagedAgentStatus.RESTARTING,
        ManagedAgentStatus.FAILED,
        ManagedAgentStatus.STOPPED,
    }
)
SENT = ("message.sent", "task.sent")  # activities of an agent that the log records under others' names


def of_agent(tx: Tx, project_id: UUID, name: str) -> Iterator[Fact]:
    """Yield facts about an agent's presence, its machine, and its last activity."""
    if name.startswith(NODE_PREFIX):
        machine = nodes.find(tx, project_id, name.removeprefix(NODE_PREFIX))
        yield of_machine(tx, machine) if machine is not None else _unknown_machine(name)
        return
    current = agents.presence(tx, project_id, name)
    acted_at = _acted_at(tx, project_id, name, current)
    if current is not None or acted_at is None:
        yield _presence(tx, name, current)
    if acted_at is not None:
        yield _acted(tx, name, current, acted_at)
    yield from _paused(tx, project_id, name)
    yield from _stopped(tx, project_id, name)
    yield from _budget(tx, project_id, name)
    placed = managed_agents.find(tx, project_id, name)
    if placed is not None:
        yield _placement(tx, placed)
        machine = nodes.find_by_id(tx, placed.machine)
        if machine is not None and not machine.is_online(tx.now):
            yield of_machine(tx, machine)
    yield from _evidence(tx, project_id, name)


def of_machine(tx: Tx, machine: Machine) -> Fact:
    """Say whether a machine is there."""
    name, detail = named(machine.name), {"node": machine.name, "seen_at": machine.seen_at}
    if machine.is_online(tx.now):
        told = say("machine_online", name=name, seen=ago(machine.seen_at, tx.now))
        return Fact("machine.online", told, {**detail, "expires_at": machine.expires_at})
    told = say("machine_offline", name=name, since=ago(machine.expires_at, tx.now))
    return Fact("machine.offline", told, {**detail, "offline_at": machine.expires_at})


def _unknown_machine(name: str) -> Fact:
    node = name.removeprefix(NODE_PREFIX)
    if AT in node:
        return Fact("machine.said", say("machine_said", name=named(node)), {"node": node})
    return Fact("machine.unknown", say("machine_unknown", name=named(node)), {"node": node})


def _presence(tx: Tx, name: str, presence: Presence | None) -> Fact:
    if presence is None:
        return Fact("agent.never_came", say("agent_never_came", name=named(name)), {"agent": name})
    if not presence.is_live(tx.now):
        ended_at = presence.ended_at if presence.ended_at is not None else presence.expires_at
        how = presence.end_reason or "silent"
        reason = say(f"end_{how if how in ENDS else 'other'}")
        told = say("agent_offline", name=named(name), since=ago(ended_at, tx.now), reason=reason)
        detail = {"agent": name, "offline_at": ended_at, "reason": presence.end_reason}
        return Fact("agent.offline", told, {**detail, "seen_at": presence.seen_at})
    told = say(
        "agent_here",
        name=named(name),
        where=say("here_on", machine=named(presence.hostname)) if presence.hostname else NOTHING,
        condition=say(f"condition_{presence.condition}"),
        doing=say("here_doing", doing=quoted(presence.doing)) if presence.doing else NOTHING,
        seen=ago(presence.seen_at, tx.now),
    )
    detail = {"agent": name, "condition": presence.condition, "doing": presence.doing}
    times = {"since": presence.opened_at, "seen_at": presence.seen_at, "expires_at": presence.expires_at}
    return Fact("agent.here", told, {**detail, **times, "machine": presence.hostname})


def _acted_at(tx: Tx, project_id: UUID, name: str, presence: Presence | None) -> int | None:
    """Return when an agent without a presence last acted, as agents without heartbeats do."""
    if presence is not None and presence.is_live(tx.now):
        return None
    acted_at = rows.last_act(tx, project_id, name)
    if acted_at or presence is not None:
        return acted_at or None
    sent = [each for kind in SENT for each in activity.of_kind(tx, project_id, kind, actor=name, limit=1)]
    return max((each.at for each in sent), default=None)


def _acted(tx: Tx, name: str, presence: Presence | None, at: int) -> Fact:
    when = ago(at, tx.now)
    told = say("agent_acts", name=named(name), at=when) if presence is None else say("agent_acted", at=when)
    return Fact("agent.acted", told, {"agent": name, "at": at})


def _paused(tx: Tx, project_id: UUID, name: str) -> Iterator[Fact]:
    """Yield whether the agent's account is paused, so that it begins nothing."""
    account = accounts.of_agent(tx, project_id, name)
    if account is None or not account.is_paused(tx.now):
        return
    until, kind = account.paused_until, account.limit_kind
    told = say(
        "account_paused" if until is not None else "account_paused_open",
        account=named(account.name),
        why=say(f"limit_{kind}")
        if kind is not None
        else say("limit_none", by=named(account.paused_by or "")),
        until=ahead(until, tx.now) if until is not None else NOTHING,
    )
    yield Fact("account.paused", told, {"account": account.name, "limit": kind, "until": until})


def _stopped(tx: Tx, project_id: UUID, name: str) -> Iterator[Fact]:
    """Yield why a breaker has stopped the agent, if one has."""
    stop = breakers.stopping(tx, project_id, name)
    if stop is None:
        return
    who: list[Value] = [named(each) for each in stop.agents]
    told = say(
        "breaker_stopped",
        why=say(f"loop_{stop.kind}", who=who, times=str(stop.count)),
        since=ago(stop.stopped_at, tx.now),
        id=str(stop.id),
    )
    yield Fact("breaker.stopped", told, {"stop_id": str(stop.id), "rule": stop.kind, "refs": list(stop.refs)})


def _budget(tx: Tx, project_id: UUID, name: str) -> Iterator[Fact]:
    """Yield the spent budget that stops the agent, if there is one."""
    budget = budgets.stopping(tx, project_id, name)
    if budget is None:
        return
    ends_at = budget.ends_at
    told = say(
        "budget_spent",
        budget=budget.title,
        state=budget.state,
        until=say("budget_until", until=ahead(ends_at, tx.now)) if ends_at is not None else NOTHING,
    )
    yield Fact("budget.spent", told, {"budget_id": str(budget.id), "kind": budget.kind, "until": ends_at})


def _placement(tx: Tx, placed: ManagedAgent) -> Fact:
    code = placed.exit_code
    told = say(
        f"placement_{placed.status if placed.status in ARRIVED else 'ordered'}",
        where=named(placed.node),
        since=ago(placed.since, tx.now),
        died=say("placed_died", code=str(code)) if code is not None else NOTHING,
        times=say("placed_times", count=placed.restarts) if placed.restarts else NOTHING,
    )
    detail = {"node": placed.node, "status": placed.status, "since": placed.since}
    kind = f"placement.{placed.status}"
    return Fact(kind, told, {**detail, "restarts": placed.restarts, "exit_code": placed.exit_code})


def _evidence(tx: Tx, project_id: UUID, name: str) -> Iterator[Fact]:
    seen = last_activity.of(tx, project_id, name)
    if seen.last_tool is not None and seen.last_tool_at is not None:
        told = say("agent_called", tool=named(seen.last_tool), at=ago(seen.last_tool_at, tx.now))
        yield Fact("agent.called", told, {"tool": seen.last_tool, "at": seen.last_tool_at})
    if seen.last_output is not None and seen.last_output_at is not None:
        told = say("agent_said", output=quoted(seen.last_output), at=ago(seen.last_output_at, tx.now))
        yield Fact("agent.said", told, {"output": seen.last_output, "at": seen.last_output_at})
