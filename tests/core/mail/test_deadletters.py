"""Dead letters: what nobody came to read is said to be so, once, and is alive again when somebody does."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from hubbub.core.actions import inbox
from hubbub.core.agents import last_activity
from hubbub.core.mail import deadletters, messages
from hubbub.core.presence import wakes
from hubbub.model.mail.delivery_status import DeliveryStatus
from hubbub.model.mail.wakes import WakeMethod, Waker
from hubbub.model.people.rights import HUB
from hubbub.store.mail.deadletters import DeadLetter
from tests.core.conftest import RACERS, World
from tests.support.self_named import by_a_tool_set

DAY = timedelta(days=1)
WHILE = timedelta(minutes=1)


def write(world: World, to: str = "bob") -> Any:
    return world.do(messages.send, world.id, sender="ann", to=to, body="hello")


def a_day_later(world: World) -> None:
    world.clock.advance(DAY + WHILE)
    bury(world)


def bury(world: World) -> None:
    """Have what is dead by now said to be so."""
    world.do(lambda tx: deadletters.settle(tx, deadletters.due(tx, DAY), DAY))


def dead(world: World, **narrowed: Any) -> list[DeadLetter]:
    return world.do(deadletters.of_project, world.id, limit=100, **narrowed)


def test_what_nobody_came_to_read_is_dead(world: World) -> None:
    """A letter that lay unread for a day, while its receiver was never there, is dead, and its sender is told once."""
    sent = write(world)
    assert not world.do(deadletters.due, DAY)
    a_day_later(world)
    bury(world)

    (letter,) = dead(world)
    (row,) = world.do(messages.deliveries, sent)
    assert (letter.ref, letter.recipient, letter.sender, letter.expired) == ("M-1", "bob", "ann", False)
    assert row.reached is DeliveryStatus.DEAD
    (note,) = world.inbox("ann")
    assert note.sender == "hub"
    assert note.in_reply_to == sent.id
    assert note.text.startswith("M-1 has not been read by bob for 24 h")
    assert world.kinds().count("message.dead") == 1


def test_a_name_in_the_hubs_own_note_is_seen_as_it_is(world: World) -> None:
    """The hub's word to a sender holds names that others chose: what is not seen in them is written out."""
    world.do(by_a_tool_set, world.id, "bob\u202e")
    write(world, "bob\u202e")
    a_day_later(world)

    (note,) = world.inbox("ann")
    assert "\u202e" not in note.text
    assert "bob\\u202e" in note.text


def test_a_dead_letter_lives_when_it_is_read(world: World) -> None:
    """It stays in the inbox; who comes reads it, and it is no longer dead."""
    sent = write(world)
    a_day_later(world)

    world.do(lambda tx: inbox.note_seen(tx, inbox.read(tx, world.id, "bob", 10)))

    assert not dead(world)
    assert world.do(messages.deliveries, sent)[0].reached is DeliveryStatus.SEEN


def test_who_was_there_may_leave_mail_unread(world: World) -> None:
    """A letter is not dead if its receiver was there since: by a heartbeat, by a tool, or by what wakes it."""
    for name in ("bob", "代码1号", "ann"):
        world.do(messages.send, world.id, sender="hub", to=name, body="hello")
    world.clock.advance(WHILE)
    world.report("bob")
    world.do(last_activity.note, world.id, "代码1号", tool="relay.get_messages")
    monitor = Waker(
        project_id=world.id, agent="ann", instance="i", method=WakeMethod.MONITOR, client="c", idle=True
    )
    world.do(wakes.register, monitor, WHILE)
    a_day_later(world)

    assert not dead(world)


def test_who_left_before_was_not_there(world: World) -> None:
    """An agent's presence before a letter came does not count."""
    world.report("bob")
    world.clock.advance(WHILE)
    write(world)
    a_day_later(world)

    assert [letter.recipient for letter in dead(world)] == ["bob"]


def test_a_broadcast_is_told_of_in_one_sentence(world: World) -> None:
    """The sender of a letter to many hears once of all who never came."""
    sent, _rows = world.do(
        messages.broadcast, world.id, sender="ann", body="hello", recipients=["bob", "代码1号"]
    )
    a_day_later(world)

    (note,) = world.inbox("ann")
    assert "bob, 代码1号" in note.text
    assert note.in_reply_to == sent.id


def test_a_task_that_expired_unread_is_a_dead_letter(world: World) -> None:
    """It is listed at once; its sender hears that the task has expired, and nothing else."""
    world.send("bob", ttl=WHILE)
    world.pass_time(2 * WHILE)

    (letter,) = dead(world, sender="ann")
    assert (letter.ref, letter.expired) == ("T-1", True)
    assert len(world.inbox("ann")) == 1


def test_a_task_that_was_read_and_expired_is_none(world: World) -> None:
    """A letter that its receiver saw has arrived, whatever became of it."""
    world.send("bob", ttl=WHILE)
    world.do(lambda tx: inbox.note_seen(tx, inbox.read(tx, world.id, "bob", 10)))
    world.pass_time(2 * WHILE)

    assert not dead(world)


def test_letters_of_the_hub_and_to_people_tell_nobody(world: World) -> None:
    """A note about a dead letter makes no other note, and what waits for people is never dead."""
    world.do(messages.send, world.id, sender="hub", to="bob", body="hello")
    world.do(messages.send, world.id, sender="bob", to="hub", body="hello")
    a_day_later(world)
    a_day_later(world)

    assert [(letter.sender, letter.recipient) for letter in dead(world)] == [("hub", "bob")]
    assert world.mail("hub") == ["hello"]


def test_a_letter_dies_once(world: World) -> None:
    """However many hubs look at the same time, the sender is told once."""
    write(world)
    world.clock.advance(DAY + WHILE)

    due = world.do(deadletters.due, DAY)
    outcomes = world.race(*[lambda tx: deadletters.settle(tx, due, DAY)] * RACERS)

    assert outcomes == [None] * RACERS
    assert len(world.inbox("ann")) == 1


def test_who_comes_before_it_is_said_has_nothing_dead(world: World) -> None:
    """A letter whose receiver comes between the look and the note that it is dead is not dead."""
    write(world)
    world.clock.advance(DAY + WHILE)
    due = world.do(deadletters.due, DAY)
    world.report("bob")
    world.do(deadletters.settle, due, DAY)

    assert len(due) == 1
    assert not dead(world)


def test_people_are_told_of_what_they_wrote(world: World) -> None:
    """A person's letter that nobody came to read is returned to people; the hub's own letters are not."""
    mara = world.acting(replace(world.actor, user_name="mara"))
    sent = mara.do(messages.send, world.id, sender=HUB, to="bob", body="hello")
    world.acting(replace(world.actor, user_name=None)).do(
        messages.send, world.id, sender=HUB, to="bob", body="a note"
    )
    a_day_later(world)

    assert [letter.is_of_hub for letter in dead(world)] == [True, False]
    (note,) = world.inbox(HUB)
    assert (note.sender, note.in_reply_to) == (HUB, sent.id)
    assert note.text.startswith("M-1 has not been read by bob for 24 h")
