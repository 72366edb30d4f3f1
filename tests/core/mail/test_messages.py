"""Messages: to one agent, in answer to something, to everyone."""

import pytest

from hubbub.core.actions import inbox
from hubbub.core.agents import agents
from hubbub.core.mail import messages
from hubbub.core.mail.messages import Thread
from hubbub.core.people import runs
from hubbub.model.errors import NotFound, UnknownAgent
from hubbub.model.ids import new_id
from hubbub.model.lifecycle import Status
from hubbub.model.people.rights import HUB, Role
from hubbub.model.records import LetterKind, Message, Priority
from hubbub.store.tx import Tx
from tests.core.conftest import RACERS, World, errors_of, finish, member, person


def send(world: World, body: str = "hello", to: str = "bob", **more: object) -> Message:
    return world.do(messages.send, world.id, **{"sender": "ann", "to": to, "body": body, **more})  # type: ignore[arg-type]


def test_a_message_is_in_its_receivers_inbox(world: World) -> None:
    """A message is in the inbox of its receiver, and of nobody else, under its own id, and the log says so."""
    message = send(world, "你好")
    (letter,) = world.inbox("bob")

    assert letter.delivery.id == letter.delivery.message_id == message.id
    assert (letter.kind, letter.sender, letter.text) == (LetterKind.MESSAGE, "ann", "你好")
    assert letter.delivery.priority is Priority.MEDIUM
    assert world.inbox("ann") == []
    sent = world.log()[-1]
    assert (sent.kind, sent.actor, sent.agent, sent.message_id) == ("message.sent", "ann", "bob", message.id)
    assert sent.detail["delivery_id"] == str(message.id)


def test_a_message_to_nobody_is_refused_whole(world: World) -> None:
    """A message to a name that was never seen is refused, and nothing of it is kept, not even a number."""
    before = world.kinds()
    with pytest.raises(UnknownAgent):
        send(world, to="nobody")

    assert world.do(messages.history, world.id, limit=10) == []
    assert world.kinds() == before
    assert send(world).number == 1


def test_the_hub_can_always_be_written_to(world: World) -> None:
    """`hub` has an inbox though it is no agent, and it can write: its actor is whoever did it."""
    send(world, "for people", to=HUB)
    send(world, "from people", sender=HUB)

    assert world.mail(HUB) == ["for people"]
    assert [letter.sender for letter in world.inbox("bob")] == [HUB]
    assert world.log()[-1].actor == HUB


def test_a_reply_says_what_it_answers(world: World) -> None:
    """A reply is linked to the task or message it answers, says how that ended, and is found by it."""
    question = send(world, "how many?")
    task = world.send()
    answer = send(world, "three", to="ann", sender="bob", kind=LetterKind.REPLY, in_reply_to=question.id)
    result = send(
        world,
        "done",
        to="ann",
        sender="bob",
        kind=LetterKind.REPLY,
        in_reply_to=task.id,
        outcome=Status.COMPLETED,
    )

    assert [(letter.in_reply_to, letter.outcome) for letter in world.inbox("ann")] == [
        (question.id, None),
        (task.id, Status.COMPLETED),
    ]
    assert world.do(messages.thread, question.id) == [answer]
    assert world.do(messages.thread, task.id) == [result]
    assert world.do(messages.thread, new_id()) == []


def test_a_broadcast_reaches_each_once(world: World) -> None:
    """A broadcast is one message with a row in each receiver's inbox, each with an id and a line in the log."""
    message, rows = world.do(
        messages.broadcast, world.id, sender=HUB, body="stop", recipients=["bob", "ann", "bob"]
    )

    assert [row.recipient for row in rows] == ["ann", "bob"]
    assert len({message.id, *(row.id for row in rows)}) == 3
    assert world.do(messages.deliveries, message) == rows
    for name in ("ann", "bob"):
        (letter,) = world.inbox(name)
        assert (letter.kind, letter.text) == (LetterKind.BROADCAST, "stop")
    assert world.inbox("代码1号") == []
    assert [(each.kind, each.agent) for each in world.log() if each.message_id == message.id] == [
        ("message.sent", None),
        ("message.delivered", "ann"),
        ("message.delivered", "bob"),
    ]


def test_a_broadcast_to_nobody_is_none(world: World) -> None:
    """A broadcast that nobody is there to hear has no receivers, and that is no error."""
    message, rows = world.do(messages.broadcast, world.id, sender="ann", body="stop", recipients=[])

    assert rows == []
    (recorded,) = [each for each in world.log() if each.message_id == message.id]
    assert (recorded.kind, recorded.actor) == ("message.sent", "ann")


def test_a_broadcast_is_acknowledged_one_by_one(world: World) -> None:
    """One receiver's having it says nothing of the others."""
    _message, rows = world.do(
        messages.broadcast, world.id, sender=HUB, body="stop", recipients=["ann", "bob"]
    )
    world.do(inbox.ack, world.id, "ann", str(rows[0].id))

    assert world.mail("ann") == []
    assert world.mail("bob") == ["stop"]


def test_a_message_is_found_by_either_id(world: World) -> None:
    """A message is found by its id and by that of any of its inbox rows, in its project alone."""
    other = world.elsewhere("other")
    message, rows = world.do(messages.broadcast, world.id, sender=HUB, body="stop", recipients=["ann", "bob"])

    for known in (message.id, *(row.id for row in rows)):
        assert world.do(messages.find, [world.id], str(known)) == message
        with pytest.raises(NotFound):
            other.do(messages.find, [other.id], str(known))
    for nonsense in ("", "nonsense", str(new_id()), str(world.send().id)):
        with pytest.raises(NotFound, match=r"^message .* not found$"):
            world.do(messages.find, [world.id], nonsense)


def test_history_is_read_backwards(world: World) -> None:
    """The project's messages are read newest first, page by page, without those of other projects."""
    sent = [send(world, f"message {number}") for number in range(5)]
    send(world.elsewhere("other"))
    first = world.do(messages.history, world.id, limit=2)
    second = world.do(messages.history, world.id, before=first[-1].number, limit=10)

    assert first + second == sent[::-1]


def test_racing_senders_get_numbers_of_their_own(world: World) -> None:
    """The messages of a project are counted from 1 without gap or double, however many are sent at once."""
    for _ in range(3):
        outcomes = world.race(
            *[lambda tx: messages.send(tx, world.id, sender="ann", to="bob", body="hello")] * RACERS
        )
        assert errors_of(outcomes) == []

    numbers = [message.number for message in world.do(messages.history, world.id, limit=100)]
    assert numbers == list(range(3 * RACERS, 0, -1))
    assert len(world.inbox("bob")) == 3 * RACERS


def test_each_project_counts_for_itself(world: World) -> None:
    """Numbers are counted in each project by itself."""
    other = world.elsewhere("other")
    assert [send(world).number, send(world).number, send(other).number] == [1, 2, 1]


def test_how_far_a_message_got_is_known(world: World) -> None:
    """Each receiver's row says when it was stored, told of, read, and acknowledged; each for the first time."""
    message = send(world)
    start = message.created_at

    def progress() -> tuple[int | None, ...]:
        (row,) = world.do(messages.deliveries, message)
        return row.stored_at, row.notified_at, row.seen_at, row.acked_at

    world.at(start + 1, messages.note_notified, [message.id])
    world.at(start + 2, messages.note_notified, [message.id])
    assert progress() == (start, start + 1, None, None)
    world.at(start + 3, inbox.note_seen, world.inbox("bob"))
    world.at(start + 4, inbox.note_seen, world.inbox("bob"))
    assert progress() == (start, start + 1, start + 3, None)
    world.at(start + 5, inbox.ack, world.id, "bob", str(message.id))
    world.at(start + 6, inbox.ack, world.id, "bob", str(message.id))
    assert progress() == (start, start + 1, start + 3, start + 5)


def mail(world: World, name: str, after: int = 0) -> list[Message]:
    """Return the mail of `name` in the current run."""
    return world.do(lambda tx: messages.mail(tx, runs.current(tx, world.id), name, after=after))


def broadcast(world: World, sender: str = "ann", *recipients: str) -> Message:
    return world.do(messages.broadcast, world.id, sender=sender, body="stop", recipients=recipients)[0]


def test_a_message_to_who_is_yet_to_come(world: World) -> None:
    """Where the receiver is awaited, a name that was never seen is taken, and its mail waits for it."""
    message = send(world, to="carol", awaited=True)

    assert world.mail("carol") == ["hello"]
    assert mail(world, "carol") == [message]


def test_mail_is_what_is_for_one(world: World) -> None:
    """An agent's mail is what was sent to it and what others sent to everyone, in order; others' is not in it."""
    direct = send(world)
    everyone = broadcast(world, "ann", "bob", "代码1号")
    send(world, to="代码1号")
    own = broadcast(world, "bob", "ann")
    to_self = send(world, "note", sender="bob")
    unheard = broadcast(world, "代码1号")

    assert mail(world, "bob") == [direct, everyone, to_self, unheard]
    assert mail(world, "ann") == [own, unheard]
    assert own.recipient is None


def test_who_comes_later_finds_what_was_sent_to_everyone(world: World) -> None:
    """A broadcast is in the mail of an agent that nobody knew when it was sent."""
    everyone = broadcast(world, "ann", "bob")
    world.do(agents.meet, world.id, "carol")
    assert mail(world, "carol") == [everyone]


def test_mail_goes_on_after_a_number(world: World) -> None:
    """After the number of the last message read come those that are newer, and nothing after the newest."""
    sent = [send(world, str(number)) for number in range(4)]
    run = world.do(runs.current, world.id)
    for place, message in enumerate(sent, start=1):
        newer = sent[place:]
        assert mail(world, "bob", after=message.number) == newer
        numbers = world.do(messages.mail_numbers, run, "bob", after=message.number)
        assert numbers == [each.number for each in newer]
        unseen = world.do(messages.unseen_mail, run, "bob", after=message.number)
        assert unseen == [each.id for each in newer]


def test_mail_is_of_its_run(world: World) -> None:
    """The mail of a run is what was sent in it; asking again after another has become current shows it unchanged."""
    monday = world.do(runs.start, world.id, "monday", by="ann")
    first = send(world)
    world.do(runs.start, world.id, "tuesday", by="ann")
    second = send(world, thread=Thread(run_id=monday.id))
    third = send(world)

    assert mail(world, "bob") == [third]
    assert world.do(messages.mail, monday, "bob") == [first, second]
    assert world.do(messages.of_run, monday) == [first, second]


def test_reading_mail_consumes_nothing(world: World) -> None:
    """Reading changes nothing; what was read for the first time is told by its rows, and can be noted so."""
    direct = send(world)
    broadcast(world, "ann", "bob")
    run = world.do(runs.current, world.id)
    found, rows = mail(world, "bob"), world.do(messages.unseen_mail, run, "bob")

    assert (mail(world, "bob"), world.do(messages.unseen_mail, run, "bob")) == (found, rows)
    assert [letter.delivery.id for letter in world.inbox("bob")] == rows
    assert rows[0] == direct.id
    world.do(inbox.note_read, rows)
    assert (mail(world, "bob"), world.do(messages.unseen_mail, run, "bob")) == (found, [])
    assert all(letter.delivery.seen_at is not None for letter in world.inbox("bob"))


def test_mail_of_another_is_not_marked(world: World) -> None:
    """The rows that are told are the reader's own, though others have rows of the same message."""
    message = broadcast(world, "ann", "bob", "代码1号")
    run = world.do(runs.current, world.id)
    (row,) = [row.id for row in world.do(messages.deliveries, message) if row.recipient == "bob"]

    assert world.do(messages.unseen_mail, run, "bob") == [row]
    assert (mail(world, "carol"), world.do(messages.unseen_mail, run, "carol")) == ([message], [])


def test_a_message_keeps_what_its_sender_notes(world: World) -> None:
    """Thread and metadata come back as they were; a reply without a thread is in that of what it answers."""
    noted = send(world, thread=Thread(name="设计", metadata={"stage": "2", "é": "'x'"}))
    reply = send(world, kind=LetterKind.REPLY, in_reply_to=noted.id)

    found = world.do(messages.find, [world.id], str(noted.id))
    assert (found.thread, found.thread_name, found.metadata) == ("设计", "设计", {"stage": "2", "é": "'x'"})
    assert (reply.thread, reply.thread_name, reply.metadata) == (None, str(noted.id), None)
    assert send(world).thread_name is None


def test_the_last_word_in_a_thread(world: World) -> None:
    """A sender's last message in a thread is found, whatever others said since, and in its project alone."""
    other = world.elsewhere("other")
    for home in (world, other):
        send(home, "first", thread=Thread(name="T-1"))
    last = send(world, "last", thread=Thread(name="T-1"))
    send(world, "of another", sender="bob", thread=Thread(name="T-1"))
    send(world, "elsewhere", thread=Thread(name="T-2"))

    assert world.do(messages.last_in_thread, world.id, "T-1", "ann") == last
    assert world.do(messages.last_in_thread, world.id, "T-1", "代码1号") is None
    found = other.do(messages.last_in_thread, other.id, "T-1", "ann")
    assert found is not None
    assert found.body == "first"


def test_a_person_has_a_name_of_their_own(world: World) -> None:
    """People act as `hub`, and what they send has their name beside it; what answers them has it, too."""
    eve = world.acting(person(world, "eve", Role.MEMBER))
    task = eve.send(sender=HUB)
    said = send(eve, sender=HUB)
    assert (task.sender, task.author, task.sent_by) == (HUB, "eve", "eve")
    assert (said.sender, said.author, said.sent_by) == (HUB, "eve", "eve")
    assert [(letter.sender, letter.author) for letter in world.inbox("bob")] == [(HUB, "eve")] * 2

    finish(world, task)
    answer = send(
        world, "fine", HUB, sender="bob", in_reply_to=said.id, addressee=messages.person_behind(said)
    )
    told = world.do(messages.history, world.id, sender="bob", limit=10)
    assert [(each.recipient, each.addressee, each.sent_to) for each in told] == [(HUB, "eve", "eve")] * 2
    assert messages.person_behind(answer) == "eve"


def test_an_agent_is_its_own_author(world: World) -> None:
    """What an agent sends, and what answers it, has no other name beside its own, whoever speaks for it."""
    eve = world.acting(person(world, "eve", Role.MEMBER))
    task = eve.send(sender="ann")
    finish(eve, task)
    (reply,) = world.do(messages.history, world.id, limit=10)
    assert (task.author, task.sent_by) == (None, "ann")
    assert (reply.sender, reply.author, reply.recipient, reply.addressee) == ("bob", None, "ann", None)


def test_a_person_is_written_to_by_name_through_our_doors(world: World) -> None:
    """By REST and our tools a person of the project is an address; an agent of that name goes before them."""
    person(world, "eve", Role.MEMBER)
    person(world, "mallory")
    sent = send(world, to="eve")
    assert (sent.recipient, sent.addressee) == (HUB, "eve")
    with pytest.raises(UnknownAgent):
        send(world, to="mallory")  # of no project

    world.acting(member(world.project, agent="eve")).do(agents.meet, world.id, "eve")
    assert (send(world, to="eve").recipient, world.mail("eve")) == ("eve", ["hello"])


def test_a_person_is_no_address_in_other_dialects(world: World) -> None:
    """The documented tool sets know agents and `hub` only."""
    person(world, "eve", Role.MEMBER)

    def by_another_door(tx: Tx) -> Message:
        tx.door = "commhub"
        return messages.send(tx, world.id, sender="ann", to="eve", body="hello")

    with pytest.raises(UnknownAgent):
        world.do(by_another_door)
