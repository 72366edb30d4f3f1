"""Conversations that are about no task."""

from uuid import UUID

import pytest

from hubbub.core.actions import inbox
from hubbub.core.mail import messages, threads
from hubbub.core.mail.messages import Thread
from hubbub.model.errors import NotFound
from hubbub.model.ids import new_id
from hubbub.model.people.rights import HUB
from hubbub.model.records import LetterKind, Message
from tests.core.conftest import World


def say(
    world: World,
    body: str,
    to: str = "bob",
    *,
    sender: str = "ann",
    answers: UUID | None = None,
    **more: object,
) -> Message:
    kind = LetterKind.MESSAGE if answers is None else LetterKind.REPLY
    return world.do(
        messages.send,
        world.id,
        **{"sender": sender, "to": to, "body": body, "kind": kind, "in_reply_to": answers, **more},  # type: ignore[arg-type]
    )


def titles(world: World, **page: int) -> list[str]:
    found, _next = world.do(threads.listed, world.id, **{"limit": 10, **page})
    return [each.title for each in found]


def test_answers_belong_to_what_they_answer(world: World) -> None:
    """A conversation is the message that began it, its answers, and their answers; each of them leads there."""
    first = say(world, "how many?\nof the lines")
    second = say(world, "of which?", "ann", sender="bob", answers=first.id)
    third = say(world, "of all", answers=second.id)
    (found,), more = world.do(threads.listed, world.id, limit=10)

    assert (found.title, found.name, found.count, found.last.id) == ("how many?", str(first.id), 3, third.id)
    assert (list(found.participants), more) == (["ann", "bob"], None)
    for each in (first, second, third):
        assert world.do(threads.find, world.id, str(each.id)).name == str(first.id)
    said = world.do(threads.said, world.id, found, limit=10)
    assert [each.body for each in said] == ["how many?\nof the lines", "of which?", "of all"]
    earlier = world.do(threads.said, world.id, found, before=third.number, limit=1)
    assert [each.id for each in earlier] == [second.id]


def test_a_conversation_has_the_name_that_its_sender_gave_it(world: World) -> None:
    """Messages that were given one name are one conversation, with the answers to them, whoever wrote them."""
    first = say(world, "a", thread=Thread(name="the plan"))
    say(world, "b", "ann", sender="bob", answers=first.id)
    say(world, "c", "代码1号", thread=Thread(name="the plan"))
    (found,), _more = world.do(threads.listed, world.id, limit=10)

    assert (found.title, found.name, found.count) == ("the plan", "the plan", 3)
    assert found.created_at == first.created_at
    assert list(found.participants) == ["ann", "bob", "代码1号"]
    assert world.do(threads.find, world.id, "the plan").count == 3


def test_a_conversation_under_an_id_has_the_title_of_its_first_message(world: World) -> None:
    """An id that a program gave as the name says nothing to people: the title is the first line that was said."""
    name = str(new_id())
    say(world, "Shall we split it?\nI take the first half.", thread=Thread(name=name))
    say(world, "yes", "ann", sender="bob", thread=Thread(name=name))
    (found,), _more = world.do(threads.listed, world.id, limit=10)

    assert (found.title, found.name, found.count) == ("Shall we split it?", name, 2)


def test_what_is_about_a_task_is_not_among_them(world: World) -> None:
    """Messages that answer a task, or an answer to one, or bear its id, are the task's."""
    task = world.send()
    answer = say(world, "begun", "ann", sender="bob", answers=task.id)
    say(world, "good", answers=answer.id)
    say(world, "soon", "ann", sender="bob", thread=Thread(name=str(task.id)))

    assert titles(world) == []
    assert [each.body for each in world.do(threads.of_task, task, limit=2)] == ["good", "soon"]
    for each in (answer.id, task.id):
        with pytest.raises(NotFound):
            world.do(threads.find, world.id, str(each))


def test_the_last_said_comes_first_page_by_page(world: World) -> None:
    """A conversation stands where something was said in it last, and is on one page only."""
    first = [say(world, f"m{number}") for number in range(5)]
    say(world, "again", answers=first[1].id)
    page, more = world.do(threads.listed, world.id, limit=2)
    rest, end = world.do(threads.listed, world.id, before=more, limit=10)

    assert [each.title for each in page] == ["m1", "m4"]
    assert [each.title for each in rest] == ["m3", "m2", "m0"]
    assert end is None


def test_a_page_may_hold_less_than_was_asked_for(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """One call looks back only so far: where much was said about tasks, the next page goes on from there."""
    monkeypatch.setattr(threads, "PAGE", 1)
    monkeypatch.setattr(threads, "PAGES", 2)
    say(world, "old")
    task = world.send()
    for _message in range(3):
        say(world, "about a task", answers=task.id)
    found, more = world.do(threads.listed, world.id, limit=10)
    assert (found, more) == ([], 3)
    rest, end = world.do(threads.listed, world.id, before=more, limit=10)
    assert ([each.title for each in rest], end) == (["old"], None)


def test_who_has_not_read_it_is_told(world: World) -> None:
    """A conversation says in whose inboxes something of it waits unread, or unacknowledged."""
    message, _rows = world.do(
        messages.broadcast, world.id, sender="ann", body="all", recipients=["bob", "代码1号"]
    )
    world.do(inbox.note_seen, world.inbox("bob"))
    found = world.do(threads.find, world.id, str(message.id))
    assert (list(found.unread_by), list(found.unacked_by)) == (["代码1号"], ["bob", "代码1号"])

    world.do(inbox.ack, world.id, "bob", str(world.inbox("bob")[0].delivery.id))
    found = world.do(threads.find, world.id, str(message.id))
    assert list(found.unacked_by) == ["代码1号"]


def test_a_question_to_people_waits_for_a_person_and_a_reply_does_not(world: World) -> None:
    """A conversation waits for a person until a message to them is acknowledged; replies to what they sent do not."""
    sent, _rows = world.do(messages.broadcast, world.id, sender=HUB, body="How far?", recipients=["bob"])
    say(world, "Half way", to=HUB, sender="bob", answers=sent.id)
    assert not world.do(threads.find, world.id, str(sent.id)).for_people

    asked = say(world, "Shall I stop?", to=HUB, sender="bob", thread=Thread(name=str(sent.id)))
    assert world.do(threads.find, world.id, str(sent.id)).for_people
    world.do(inbox.ack, world.id, HUB, str(asked.id))
    assert not world.do(threads.find, world.id, str(sent.id)).for_people


def test_answers_in_a_circle_end(world: World) -> None:
    """Names that lead round in a circle are no conversation, and nobody looks for its beginning for ever."""
    one, other = new_id(), new_id()
    first = say(world, "a", thread=Thread(name=str(other)))
    say(world, "b", thread=Thread(name=str(first.id)))
    say(world, "c", thread=Thread(name=str(one)))

    assert titles(world) == ["c", "a"]


def test_another_projects_conversation_is_not_there(world: World) -> None:
    """Messages of another project are neither listed nor found."""
    elsewhere = world.elsewhere("shop")
    secret = elsewhere.do(messages.send, elsewhere.id, sender="ann", to="bob", body="hush")

    assert titles(world) == []
    for ref in (str(secret.id), "nonsense", str(new_id())):
        with pytest.raises(NotFound):
            world.do(threads.find, world.id, ref)
