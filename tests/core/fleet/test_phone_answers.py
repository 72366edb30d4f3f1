"""Answers from a telephone: what a signed link lets whoever has it do, and what not."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from hubbub.core.fleet import approvals, phone_answers
from hubbub.core.log import webhooks
from hubbub.core.people import members
from hubbub.model.errors import Conflict, Forbidden, HubError, Invalid, NotFound
from hubbub.model.fleet.approvals import Approval, ApprovalStatus
from hubbub.model.fleet.calls import Principal, Question, QuestionKind
from hubbub.model.log import answer_links
from hubbub.model.log.webhooks import Webhook, WebhookFormat
from hubbub.model.people.rights import SYSTEM, Role
from tests.core.conftest import World, person

S = ApprovalStatus
NTFY = WebhookFormat.NTFY
TOPIC = "https://ntfy.example.org/topic"


@pytest.fixture
def ada(world: World) -> World:
    """The same world as a person who manages the project."""
    return world.acting(person(world, "ada", Role.ADMIN))


@pytest.fixture
def phone(ada: World) -> Webhook:
    """The telephone of that person, with buttons."""
    return added(ada, answers=True)


def added(world: World, form: WebhookFormat = NTFY, **more: Any) -> Webhook:
    webhook, _secret = world.do(webhooks.add, world.project, TOPIC, ["needs"], form, **more)
    return webhook


def asked(world: World, **more: Any) -> Approval:
    """Return a question of a program beside ann."""
    told: dict[str, Any] = {
        "who": Principal(project=world.project.slug, name="ann", token_id=str(world.actor.token_id)),
        "node": "box",
        "tool": "Bash",
        "arguments": {},
        "folder": "/srv/app",
        "shown": "git push",
        "reason": "",
        "digest": "0" * 64,
        "kind": QuestionKind.PROMPT,
    }
    approval, _ = world.do(approvals.put, world.project, Question(**{**told, **more}), timedelta(minutes=1))
    return approval


def link(phone: Webhook, approval: Approval) -> str:
    return answer_links.token(phone, approval.id, approval.digest)


def answer(world: World, token: str, *, approved: bool = True) -> Approval:
    """Answer as whoever has the link, who has not signed in."""
    return world.acting(SYSTEM).do(phone_answers.answer, token, approved=approved)


def test_a_link_answers_one_question_once(world: World, phone: Webhook) -> None:
    """The holder of the link answers for the person who allowed it; the first answer counts, a later one is told so."""
    question = asked(world)
    answered = answer(world, link(phone, question))

    assert (answered.status, answered.answered_by) == (S.APPROVED, "ada")
    with pytest.raises(Conflict, match="it was approved by ada"):
        answer(world, link(phone, question), approved=False)


def test_a_link_is_for_what_was_shown(world: World, ada: World, phone: Webhook) -> None:
    """A link whose question, call, webhook or signature is another leads nowhere, whatever of it is right."""
    question, other = asked(world), asked(world, digest="1" * 64)
    good = link(phone, question)
    elsewhere = link(added(ada), question)
    wrong = [
        good[:32] + other.id.hex + good[64:],
        answer_links.token(phone, question.id, other.digest),
        elsewhere,
        elsewhere[:32] + good[32:],
        answer_links.token(replace(phone, secret="guessed"), question.id, question.digest),
        good[:-1],
        good + "0",
        "",
    ]
    for each in wrong:
        with pytest.raises(NotFound):
            answer(world, each)
    assert answer(world, good).status is S.APPROVED


def test_a_link_ends_with_its_webhook_and_with_its_person(world: World, ada: World, phone: Webhook) -> None:
    """Once the webhook is removed, or its person may not answer any more, nobody answers by it."""
    question = asked(world)
    ada.do(members.remove, world.project, "ada")
    with pytest.raises(HubError):
        answer(world, link(phone, question))

    bob = world.acting(person(world, "bob", Role.ADMIN))
    of_bob = added(bob, answers=True)
    bob.do(webhooks.remove, world.project, str(of_bob.id))
    with pytest.raises(NotFound):
        answer(world, link(of_bob, question))
    assert world.do(approvals.find, [world.id], str(question.id)).status is S.PENDING


def test_what_is_dangerous_is_denied_by_a_tap_and_not_approved(world: World, phone: Webhook) -> None:
    """A yes to what cannot be undone, and to a rule, takes more than one tap; a no does not."""
    for more in ({"dangerous": True}, {"kind": QuestionKind.RULE}):
        question = asked(world, **more)
        with pytest.raises(Forbidden, match="in the dashboard"):
            answer(world, link(phone, question))
        assert answer(world, link(phone, question), approved=False).status is S.DENIED


def test_only_a_person_gives_a_telephone_buttons(world: World, ada: World) -> None:
    """An agent's token adds no webhook that answers, and only a telephone has buttons."""
    with pytest.raises(Forbidden, match="only a person"):
        added(world, answers=True)
    with pytest.raises(Invalid, match="form must be ntfy"):
        added(ada, WebhookFormat.JSON, answers=True)
