"""Inboxes: what is pending, in which order, and acknowledging it."""

from collections.abc import Callable
from functools import partial

import pytest

from hubbub.core.actions import inbox, task_actions
from hubbub.core.mail import messages
from hubbub.core.work import tasks
from hubbub.model.errors import HubError, NotFound
from hubbub.model.ids import new_id
from hubbub.model.lifecycle import Status
from hubbub.model.records import Priority, Task
from hubbub.store.mail import messages as rows
from hubbub.store.tx import Tx
from tests.core.conftest import RACERS, World, errors_of


def ack(world: World, name: str, ref: object) -> None:
    world.do(inbox.ack, world.id, name, str(ref))


def write_to_bob(world: World, body: str) -> None:
    world.do(messages.send, world.id, sender="ann", to="bob", body=body)


def test_the_most_urgent_comes_first(world: World) -> None:
    """An inbox is ordered by urgency, and by arrival among equals; messages are of middle urgency."""
    for text, priority in [("l1", Priority.LOW), ("h1", Priority.HIGH), ("m1", Priority.MEDIUM)]:
        world.send(text=text, priority=priority)
    write_to_bob(world, "message")
    for text, priority in [("c1", Priority.CRITICAL), ("h2", Priority.HIGH), ("m2", Priority.MEDIUM)]:
        world.send(text=text, priority=priority)

    assert world.mail("bob") == ["c1", "h1", "h2", "m1", "message", "m2", "l1"]


def test_arrival_is_exact(world: World) -> None:
    """Letters that arrive in the same millisecond, even in the same transaction, stay in their order."""

    def send_all(tx: Tx) -> None:
        for number in range(50):
            messages.send(tx, world.id, sender="ann", to="bob", body=f"{number}")

    world.do(send_all)
    assert world.mail("bob") == [f"{number}" for number in range(50)]


def test_a_page_of_an_inbox_is_its_head(world: World) -> None:
    """A limit takes the first so many, and the count says how many there are."""
    for number in range(5):
        write_to_bob(world, f"{number}")

    assert [letter.text for letter in world.do(inbox.read, world.id, "bob", 2)] == ["0", "1"]
    assert world.do(inbox.pending, world.id, "bob") == 5


def test_reading_changes_nothing(world: World) -> None:
    """A letter that was read and noted as seen is still pending: only an acknowledgement takes it out."""
    write_to_bob(world, "hello")
    world.do(inbox.note_seen, world.inbox("bob"))

    (letter,) = world.inbox("bob")
    assert letter.delivery.seen_at is not None
    assert world.do(inbox.pending, world.id, "bob") == 1


def test_an_acknowledged_message_is_gone(world: World) -> None:
    """An acknowledged message is not returned again, which is recorded; doing it again changes nothing."""
    write_to_bob(world, "hello")
    (letter,) = world.inbox("bob")
    ack(world, "bob", letter.delivery.id)
    ack(world, "bob", letter.delivery.id)

    assert world.inbox("bob") == []
    assert world.do(inbox.pending, world.id, "bob") == 0
    assert world.kinds().count("message.acked") == 1


def test_an_acknowledged_task_is_accepted(world: World) -> None:
    """Acknowledging a task accepts it, which is recorded once; doing it again changes nothing."""
    task = world.send()
    ack(world, "bob", task.id)
    ack(world, "bob", task.id)

    accepted = world.task(task)
    assert accepted.status is Status.ACCEPTED
    assert accepted.accepted_at is not None
    assert accepted.leased
    assert world.inbox("bob") == []
    assert world.kinds()[-2:] == ["task.sent", "task.accepted"]


def test_a_task_that_was_begun_otherwise_can_still_be_acknowledged(world: World) -> None:
    """A task that its agent began before acknowledging it stays begun, and leaves the inbox."""
    task = world.start(world.send())
    assert world.mail("bob") == ["count the lines"]
    ack(world, "bob", task.id)

    assert world.task(task) == task
    assert world.mail("bob") == []


@pytest.mark.parametrize("by_own_id", [True, False], ids=["task", "row"])
@pytest.mark.parametrize("again", ["reassign", "retry", "release"])
def test_a_task_is_acknowledged_by_either_id(world: World, again: str, by_own_id: bool) -> None:
    """A task that was delivered again is acknowledged by the id of its new row, or still by its own."""
    task = world.send(to="bob" if again != "reassign" else "ann")
    match again:
        case "reassign":
            world.on(task, task_actions.reassign, to="bob", by="ann")
        case "retry":
            world.on(task, task_actions.cancel, by="ann", reason=None)
            world.on(task, task_actions.retry, by="ann", ttl=None)
        case _:
            world.report("bob")
            world.accept(task)
            world.report("bob", instance="second")
    (letter,) = world.inbox("bob")
    assert letter.delivery.id != task.id == letter.task_id
    ack(world, "bob", task.id if by_own_id else letter.delivery.id)

    assert world.task(task).status is Status.ACCEPTED
    assert world.mail("bob") == []


def test_a_task_that_began_free_is_acknowledged_by_either_id(world: World) -> None:
    """A task that was in the open queue first, and then was given to somebody, has two ids like any other."""
    for by_own_id in (True, False):
        task = world.send(to=None)
        given = world.on(task, task_actions.reassign, to="bob", by="ann")
        assert world.do(inbox.holds, world.id, str(task.id))
        ack(world, "bob", task.id if by_own_id else given.delivery_id)

        assert world.task(task).status is Status.ACCEPTED
        assert world.mail("bob") == []


def test_a_free_task_lies_in_no_inbox(world: World) -> None:
    """A task that is free cannot be acknowledged: it has to be claimed."""
    task = world.send(to=None)
    assert not world.do(inbox.holds, world.id, str(task.id))
    with pytest.raises(NotFound):
        ack(world, "bob", task.id)


def test_nobody_acknowledges_for_another(world: World) -> None:
    """A letter is not found by who is not its receiver, nor by who was before it changed hands; nothing changes."""
    other = world.elsewhere("other")
    task = world.send()
    write_to_bob(world, "hello")
    message = world.inbox("bob")[1]
    before = world.kinds()

    for ref in (task.id, message.delivery.id):
        with pytest.raises(NotFound, match=r"^message .* not found$"):
            ack(world, "ann", ref)
        with pytest.raises(NotFound):
            ack(other, "bob", ref)
        assert not other.do(inbox.holds, other.id, str(ref))
    for nonsense in ("", "nonsense", new_id()):
        with pytest.raises(NotFound):
            ack(world, "bob", nonsense)
    assert world.kinds() == before
    assert len(world.inbox("bob")) == 2

    world.on(task, task_actions.reassign, to="ann", by="ann")
    with pytest.raises(NotFound):
        ack(world, "bob", task.id)
    assert world.task(task).status is Status.DELIVERED


def test_an_ended_task_stays_ended(world: World) -> None:
    """Acknowledging a task that was cancelled meanwhile is no error, and brings nothing back."""
    task = world.send()
    ended = world.on(task, task_actions.cancel, by="ann", reason=None)
    ack(world, "bob", task.id)

    assert world.task(task) == ended
    row = world.do(rows.find_delivery, task.id)
    assert row is not None
    assert row.withdrawn_at is not None
    assert row.acked_at is None


def test_racing_acknowledgements_are_one(world: World) -> None:
    """However often it is acknowledged at once, a letter is acknowledged once, and nobody is refused."""
    for _ in range(3):
        task = world.send()
        world.do(messages.send, world.id, sender="ann", to="ann", body="hello")
        (letter,) = world.inbox("ann")
        outcomes = world.race(
            *[lambda tx: inbox.ack(tx, world.id, "bob", str(task.id))] * RACERS,  # noqa: B023
            *[lambda tx: inbox.ack(tx, world.id, "ann", str(letter.delivery.id))] * RACERS,  # noqa: B023
        )
        assert errors_of(outcomes) == []

    assert world.kinds().count("task.accepted") == world.kinds().count("message.acked") == 3
    assert world.inbox("bob") == world.inbox("ann") == []


def test_inboxes_of_projects_are_apart(world: World) -> None:
    """The same name in another project has another inbox."""
    other = world.elsewhere("other")
    world.send()
    assert other.inbox("bob") == []
    assert other.do(inbox.pending, other.id, "bob") == 0


def counted(world: World, name: str) -> tuple[int, int]:
    """Return the numbers of pending and unread rows of an inbox, counted one by one."""
    row = world.do(
        lambda tx: tx.one(
            """SELECT count(*) AS pending, count(CASE WHEN seen_at IS NULL THEN 1 END) AS unread FROM deliveries
               WHERE project_id = :id AND recipient = :name AND acked_at IS NULL AND withdrawn_at IS NULL""",
            id=world.id,
            name=name,
        )
    )
    assert row is not None
    return row["pending"], row["unread"]


def told(world: World, name: str) -> tuple[int, int]:
    """Return the same numbers as the inbox itself tells them."""
    return world.do(inbox.pending, world.id, name), world.do(inbox.unread, world.id, name)


def deeds(world: World) -> list[Callable[[Tx], object]]:
    """Return the actions that may befall the content of an inbox, each twice."""
    held, gone, done = (world.send() for _ in range(3))
    for number in range(3):
        write_to_bob(world, f"{number}")
    letters = world.inbox("bob")

    def reassign(tx: Tx) -> object:
        return task_actions.reassign(tx, _fresh(tx, world, held), to="ann", by="ann")

    def cancel(tx: Tx) -> object:
        return task_actions.cancel(tx, _fresh(tx, world, gone), by="ann", reason=None)

    return [
        partial(tasks.send, project_id=world.id, sender="ann", to="bob", text="x"),
        partial(messages.broadcast, project_id=world.id, sender="ann", body="x", recipients=["bob", "ann"]),
        partial(inbox.note_seen, letters=letters),
        partial(inbox.note_seen, letters=letters[3:5]),
        partial(inbox.ack, project_id=world.id, name="bob", ref=str(letters[-1].delivery.id)),
        partial(inbox.ack, project_id=world.id, name="bob", ref=str(done.id)),
        reassign,
        cancel,
    ] * 2


def test_counts_are_those_of_the_rows(world: World) -> None:
    """Whatever is sent, read, acknowledged and withdrawn at once, an inbox has as many rows as it says."""
    for _round in range(3):
        assert all(issubclass(each, HubError) for each in errors_of(world.race(*deeds(world))))
    for name in ("ann", "bob"):
        assert told(world, name) == counted(world, name)
    assert told(world, "bob")[0] > told(world, "bob")[1] > 0


def _fresh(tx: Tx, world: World, task: Task) -> Task:
    return tasks.find(tx, [world.id], str(task.id), lock=True)


def test_a_count_holds_what_was_just_written(world: World) -> None:
    """Counting in the transaction of a send includes this send, and all that was sent before."""

    def send(tx: Tx) -> int:
        messages.send(tx, world.id, sender="ann", to="bob", body="x")
        return inbox.pending(tx, world.id, "bob")

    assert sorted(map(str, world.race(*[send] * RACERS))) == sorted(map(str, range(1, RACERS + 1)))


def test_what_is_undone_is_not_counted(world: World) -> None:
    """A letter whose sending fails after all is in no count, whoever is committed together with it."""

    def send(tx: Tx, *, fails: bool) -> None:
        messages.send(tx, world.id, sender="ann", to="bob", body="x")
        if fails:
            raise NotFound("task", "T-9")

    racers = [partial(send, fails=number % 2 == 0) for number in range(RACERS)]
    assert errors_of(world.race(*racers)) == [NotFound] * (RACERS // 2)
    assert told(world, "bob") == counted(world, "bob") == (RACERS // 2, RACERS // 2)
