"""Why an agent does what it does, or nothing: whether it is there, what it holds, and what waits for it."""

from collections.abc import Iterator
from uuid import UUID

from hubbub.core import inbox
from hubbub.core.why import presence, tasks, waiting
from hubbub.core.why.account import Fact, ago, counted, listed, named
from hubbub.model.machines import Machine, board_name
from hubbub.model.placements import LIVE
from hubbub.store import placements
from hubbub.store.tx import Tx

MOST = 1_000  # letters that are looked through


def account(tx: Tx, project_id: UUID, name: str) -> Iterator[Fact]:
    """Every fact that the hub has about how the agent is."""
    yield from presence.of_agent(tx, project_id, name)
    yield from tasks.of_agent(tx, project_id, name)
    yield from waiting.of_agent(tx, project_id, name)
    yield from _inbox(tx, project_id, name)


def of_machine(tx: Tx, machine: Machine) -> Iterator[Fact]:
    """What a machine works on, whose agents are placed on it, and what was ordered of it."""
    own = board_name(machine.name)
    yield from tasks.of_agent(tx, machine.project_id, own)
    yield from waiting.of_agent(tx, machine.project_id, own)
    placed = [each for each in placements.of_machine(tx, machine.id) if each.status in LIVE]
    if placed:
        told = f"{listed(named(each.agent) for each in placed)} {'is' if len(placed) == 1 else 'are'} placed on it."
        yield Fact("machine.agents", told, {"agents": [each.agent for each in placed]})


def _inbox(tx: Tx, project_id: UUID, name: str) -> Iterator[Fact]:
    """What did not reach it, and what it read and did not acknowledge."""
    number = inbox.pending(tx, project_id, name)
    letters = inbox.read(tx, project_id, name, MOST)
    unread = [each for each in letters if each.delivery.seen_at is None]
    if not number:
        yield Fact("inbox.empty", "Nothing waits in its inbox.", {"pending": 0})
        return
    if unread:
        oldest = min(each.delivery.stored_at for each in unread)
        more = " or more" if number > MOST else ""
        they_are = "it is" if len(unread) == 1 else "they are"
        told = (
            f"{counted(len(unread), 'letter')}{more} in its inbox did not reach it yet,"
            f" the oldest since {ago(oldest, tx.now)}: {they_are} delivered when it reads its inbox."
        )
        yield Fact("inbox.undelivered", told, {"undelivered": len(unread), "oldest_at": oldest})
    read = len(letters) - len(unread)
    if read:
        told = f"It has read {counted(read, 'letter')} that it did not acknowledge."
        yield Fact("inbox.unacknowledged", told, {"unacknowledged": read})
