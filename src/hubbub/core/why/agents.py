"""Explanation of an agent: whether it is there, what it holds, and what waits for it."""

from collections.abc import Iterator, Sequence
from uuid import UUID

from hubbub.core.actions import inbox
from hubbub.core.mail import delivery_forecast
from hubbub.core.presence import wakes
from hubbub.core.snapshots import card_states
from hubbub.core.why import presence, tasks, waits
from hubbub.core.why.explanation import NOTHING, Fact, ago, named, say
from hubbub.model.fleet.managed_agents import LIVE
from hubbub.model.fleet.nodes import Machine, board_name
from hubbub.model.log.attention import NeedKind
from hubbub.model.records import Letter
from hubbub.store.fleet import managed_agents
from hubbub.store.tx import Tx

MOST = 1_000  # letters that are searched


def account(tx: Tx, project_id: UUID, name: str) -> Iterator[Fact]:
    """Yield all facts about the agent's state."""
    yield from presence.of_agent(tx, project_id, name)
    yield from _stale(tx, project_id, name)
    yield from tasks.of_agent(tx, project_id, name)
    yield from waits.of_agent(tx, project_id, name)
    yield from _inbox(tx, project_id, name)


def _stale(tx: Tx, project_id: UUID, name: str) -> Iterator[Fact]:
    """Say whether a person is needed for the work of an agent that fell silent."""
    known = card_states.KnownAgent.of(tx, project_id, name)
    need = known.stands.need if known is not None else None
    if need is not None and need.kind is NeedKind.STALE:
        yield Fact("agent.stale", say("agent_stale", since=ago(need.since, tx.now)), {"since": need.since})


def of_machine(tx: Tx, machine: Machine) -> Iterator[Fact]:
    """Yield facts about a machine: its work, the agents placed on it, and its orders."""
    own = board_name(machine.name)
    yield from tasks.of_agent(tx, machine.project_id, own)
    yield from waits.of_agent(tx, machine.project_id, own)
    placed = [each for each in managed_agents.of_machine(tx, machine.id) if each.status in LIVE]
    if placed:
        told = say("machine_agents", agents=[named(each.agent) for each in placed], count=len(placed))
        yield Fact("machine.agents", told, {"agents": [each.agent for each in placed]})


def _inbox(tx: Tx, project_id: UUID, name: str) -> Iterator[Fact]:
    """Yield facts about an agent's inbox: undelivered letters, and letters read without an acknowledgement."""
    number = inbox.pending(tx, project_id, name)
    letters = inbox.read(tx, project_id, name, MOST)
    unread = [each for each in letters if each.delivery.seen_at is None]
    if not number:
        yield Fact("inbox.empty", say("inbox_empty"), {"pending": 0})
        return
    if unread:
        oldest = min(each.delivery.stored_at for each in unread)
        told = say(
            "inbox_undelivered",
            count=len(unread),
            more=say("or_more") if number > MOST else NOTHING,
            since=ago(oldest, tx.now),
            note=say(f"note_{delivery_forecast.key_of(delivery_forecast.forecast(tx, project_id, name))}"),
        )
        yield Fact("inbox.undelivered", told, {"undelivered": len(unread), "oldest_at": oldest})
        yield from _woken(tx, project_id, name)
        yield from _dead(unread)
    read = len(letters) - len(unread)
    if read:
        told = say("inbox_unacknowledged", count=read)
        yield Fact("inbox.unacknowledged", told, {"unacknowledged": read})


def _woken(tx: Tx, project_id: UUID, name: str) -> Iterator[Fact]:
    """Say how the agent was last woken."""
    last = wakes.last(tx, project_id, name)
    if last is None or last.taken_at is None:
        return
    told = say(
        "agent_woken",
        client=named(last.client or ""),
        at=ago(last.taken_at, tx.now),
        status=say(f"wake_{last.status}"),
    )
    detail = {"wake_id": str(last.id), "status": last.status, "client": last.client, "method": last.method}
    yield Fact("agent.woken", told, {**detail, "taken_at": last.taken_at, "answered_at": last.answered_at})


def _dead(unread: Sequence[Letter]) -> Iterator[Fact]:
    dead = sum(each.delivery.dead_at is not None for each in unread)
    if dead:
        yield Fact("inbox.dead", say("inbox_dead", count=dead), {"dead": dead})
