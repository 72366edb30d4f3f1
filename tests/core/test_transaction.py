"""Running an operation: in one transaction, in which nothing is overdue."""

import asyncio
from datetime import timedelta

import pytest

from hubbub.core.agents import agents
from hubbub.core.mail import messages
from hubbub.core.transaction import Transactions
from hubbub.core.work import tasks
from hubbub.model.errors import NotFound
from hubbub.model.lifecycle import Status
from hubbub.model.people.rights import HUB, SYSTEM, Actor
from hubbub.model.records import Condition
from hubbub.store.tx import MustWrite, Tx, WroteInRead
from tests.core.conftest import TEN_MINUTES, World, member
from tests.store.engine.test_engines import held_up

S = Status
pytestmark = pytest.mark.anyio


@pytest.fixture
def transactions(world: World) -> Transactions:
    return Transactions(world.store)


async def test_a_reader_never_sees_what_is_overdue(world: World, transactions: Transactions) -> None:
    """A read finds an expired task expired and a silent agent offline, for good, though no sweep came by."""
    world.report("bob")
    task = world.send(ttl=TEN_MINUTES)
    world.clock.advance(TEN_MINUTES)

    def look(tx: Tx) -> tuple[Status, list[Condition], bool]:
        present = agents.presences(tx, [world.id])
        found = tasks.find(tx, [world.id], str(task.id))
        return found.status, [each.condition for each in present], tx.actor == world.actor

    assert await transactions.read(world.actor, look) == (S.EXPIRED, [Condition.OFFLINE], True)
    assert world.task(task).status is S.EXPIRED


async def test_what_is_overdue_is_settled_for_all_who_write_together(
    world: World, transactions: Transactions
) -> None:
    """Calls that are committed together find settled what was overdue, once, also where the first is refused."""
    task = world.send(ttl=TEN_MINUTES)
    world.clock.advance(TEN_MINUTES)

    def refused(_tx: Tx) -> None:
        raise NotFound("task", "none")

    def look(tx: Tx) -> Status:
        return tasks.find(tx, [world.id], str(task.id)).status

    with held_up(world.store):
        calls = [transactions.write(world.actor, each) for each in (refused, look, look, look)]
    refusal, *seen = await asyncio.gather(*calls, return_exceptions=True)

    assert isinstance(refusal, NotFound)
    assert seen == [S.EXPIRED] * 3
    assert world.kinds().count("task.expired") == 1


async def test_a_writer_never_acts_on_what_is_overdue(world: World, transactions: Transactions) -> None:
    """A write comes after all that is overdue was settled, in the same transaction and as its caller."""
    task = world.send(ttl=TEN_MINUTES)
    world.clock.advance(TEN_MINUTES)

    def look(tx: Tx) -> tuple[Status, int | None, Actor]:
        found = tasks.find(tx, [world.id], str(task.id))
        return found.status, found.ended_at and tx.now - found.ended_at, tx.actor

    assert await transactions.write(world.actor, look) == (S.EXPIRED, 0, world.actor)


async def test_what_is_overdue_is_nobodys_doing(world: World, transactions: Transactions) -> None:
    """An expiry is recorded as the hub's doing, not as the next caller's."""
    world.send(ttl=TEN_MINUTES)
    world.clock.advance(TEN_MINUTES)
    before = len(world.log())
    await transactions.write(member(world.project, agent="bob"), lambda _tx: None)

    settled = world.log()[before:]
    assert [(each.kind, each.actor) for each in settled] == [
        ("task.expired", HUB),
        ("message.sent", HUB),
        ("message.dead", HUB),  # nobody had read it
    ]


async def test_a_refusal_undoes_everything(world: World, transactions: Transactions) -> None:
    """Nothing of a refused call is kept, nor what was settled on the way; the next call settles it."""
    task = world.send(ttl=TEN_MINUTES)
    world.clock.advance(TEN_MINUTES)

    def send_then_fail(tx: Tx) -> None:
        messages.send(tx, world.id, sender="ann", to="bob", body="half")
        raise NotFound("task", "7")

    before = world.log()
    with pytest.raises(NotFound):
        await transactions.write(world.actor, send_then_fail)
    assert world.log() == before
    assert world.mail("bob") == ["count the lines"]
    assert world.task(task).status is S.DELIVERED

    await transactions.write(world.actor, lambda _tx: None)
    assert world.task(task).status is S.EXPIRED


async def test_reading_is_only_reading(world: World, transactions: Transactions) -> None:
    """An operation that was promised to read and writes is a bug, and loud."""

    def write(tx: Tx) -> None:
        messages.send(tx, world.id, sender="ann", to="bob", body="half")

    with pytest.raises(WroteInRead):
        await transactions.read(world.actor, write)
    assert world.mail("bob") == []


async def test_reading_without_anything_overdue_writes_nothing(
    world: World, transactions: Transactions
) -> None:
    """Where nothing is overdue, a read leaves no trace."""
    world.send(ttl=TEN_MINUTES)
    world.clock.advance(timedelta(minutes=1))
    before = world.log()
    assert await transactions.read(SYSTEM, lambda tx: tx.recorded, long=True) == 0
    assert world.log() == before


async def test_a_read_that_must_write_is_run_as_a_write(world: World, transactions: Transactions) -> None:
    """An operation that finds, while it reads, that it has to write is run again from the start, as a write."""
    tries: list[bool] = []

    def note(tx: Tx) -> None:
        tries.append(tx.is_read)
        if tx.is_read:
            raise MustWrite
        messages.send(tx, world.id, sender="ann", to="bob", body="after all")

    await transactions.read(world.actor, note)
    assert tries == [True, False]
    assert world.mail("bob") == ["after all"]


async def test_who_only_reads_is_met_all_the_same(world: World, transactions: Transactions) -> None:
    """A name that acts for the first time by reading is known from then on, and it is recorded once."""
    for _ in range(2):
        await transactions.read(world.actor, lambda tx: agents.meet(tx, world.id, "carol"))
    assert [each.agent for each in world.log() if each.kind == "agent.met"].count("carol") == 1
