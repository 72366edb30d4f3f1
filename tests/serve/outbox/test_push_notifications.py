"""Notifications on a person's telephone: their contents, and the data that never leaves the hub that way."""

from datetime import timedelta

import pytest

from hubbub.core.actions import task_actions
from hubbub.core.agents import scopes
from hubbub.core.fleet import approvals
from hubbub.core.limits import accounts
from hubbub.core.log import webhooks
from hubbub.core.mail import messages
from hubbub.core.people import access, users
from hubbub.core.presence import presences
from hubbub.core.work import late_tasks, tasks, transfers
from hubbub.model.agents.scopes import Scope
from hubbub.model.fleet.approvals import Approval
from hubbub.model.fleet.calls import Principal, Question, QuestionKind
from hubbub.model.lifecycle import Status
from hubbub.model.log import answer_links
from hubbub.model.log.webhooks import Webhook, WebhookFormat, signature
from hubbub.model.people.rights import HUB, Role
from hubbub.model.records import Condition, Presence, Profile
from hubbub.model.timestamps import utc_time
from hubbub.store.tx import Tx
from tests.serve.outbox.outbox_desk import HUB_URL, Desk
from tests.serve.outbox.receivers import Answer, Received

pytestmark = pytest.mark.anyio

SECRET = "ghp_" + "a1B2" * 10
TITLE = f"deploy \u202e {SECRET} " + "now " * 50


def add(desk: Desk, *events: str) -> str:
    address = f"{desk.receiver.url}/topic"
    webhook, secret = desk.do(webhooks.add, desk.project, address, events or ("needs",), WebhookFormat.NTFY)
    assert webhook.form is WebhookFormat.NTFY
    return str(secret)


def told(got: Received) -> tuple[str, str, str, str, str]:
    """Title, priority, tag, where a touch leads, and the sentence."""
    title, priority, tags, click = (got.headers[name] for name in ("Title", "Priority", "Tags", "Click"))
    return title, priority, tags, click, got.body.decode()


def block(tx: Tx, desk: Desk, title: str) -> None:
    task = tasks.send(tx, desk.id, sender="ann", to="bob", title=title, text="the secret words")
    transfers.move_to(tx, task, Status.BLOCKED, by="bob", reason="what bob says")


def report(tx: Tx, desk: Desk, name: str, condition: Condition, doing: str | None = None) -> Presence:
    profile, ttl = Profile(doing=doing), timedelta(hours=1)
    return presences.report(tx, desk.id, name, instance="x", condition=condition, profile=profile, ttl=ttl)


def arrive(tx: Tx, desk: Desk, name: str, file: str) -> None:
    presence = report(tx, desk, name, Condition.WORKING)
    scopes.declare(tx, desk.project, presence, Scope.of(None, [file]))


def fall_silent(tx: Tx, desk: Desk, name: str, title: str | None) -> None:
    """Come, begin the given task, if any, and fall silent."""
    presence = report(tx, desk, name, Condition.WORKING)
    if title is not None:
        to = None if title == "free" else name  # what was claimed goes back to where it was
        task_actions.start(tx, tasks.send(tx, desk.id, sender="ann", to=to, text=title), name)
    tx.now = presence.expires_at + 1
    presences.lapse(tx, presence)


def half_an_hour_later(tx: Tx) -> None:
    tx.now += timedelta(minutes=30) // timedelta(milliseconds=1)
    late_tasks.settle(tx, late_tasks.due(tx))


async def test_a_late_task_is_one_sentence(desk: Desk) -> None:
    """A late task is told when it has become so, with the agent that does not begin it, or that it is free."""
    add(desk)
    async with desk.delivering():
        for to in ("bob", None):
            desk.do(tasks.send, desk.id, sender="ann", to=to, title="count the lines", text="all")
        desk.do(half_an_hour_later)
        assert told(await desk.arrived()) == (
            "A task is late (lab)",
            "default",
            "hourglass",
            f"{HUB_URL}/t/1?project=lab",
            'bob has not started T-1 "count the lines".',
        )
        assert told(await desk.arrived())[4] == 'T-2 "count the lines" is free, and nobody has claimed it.'


async def test_what_waits_for_people_is_one_sentence(desk: Desk) -> None:
    """A blocked task, a letter and a conflict are one sentence each, with a title, and a link into the dashboard."""
    add(desk)
    async with desk.delivering():
        desk.do(block, desk, "count the lines")
        assert told(await desk.arrived()) == (
            "A task is blocked (lab)",
            "default",
            "pause_button",
            f"{HUB_URL}/t/1?project=lab",
            'T-1 "count the lines" is blocked; bob has it.',
        )
        desk.do(messages.send, desk.id, sender="bob", to=HUB, body="what bob writes")
        assert told(await desk.arrived())[3:] == (
            f"{HUB_URL}/messages?project=lab",
            "bob has written to you.",
        )
        desk.do(arrive, desk, "ann", "src/a.py")
        desk.do(arrive, desk, "bob", "src/")
        assert told(await desk.arrived())[4] == "bob is working on the same files as ann."


async def test_that_all_accounts_are_paused_is_one_sentence(desk: Desk) -> None:
    """When the last account is paused people are told once, with the time when the first goes on."""

    def pause(tx: Tx, name: str, until: int | None) -> None:
        accounts.put(tx, desk.project, name, [f"{name}-1"])
        accounts.pause(tx, desk.project, name, until, by="ann")

    add(desk)
    until = desk.do(lambda tx: tx.now) + 3_600_000
    desk.do(lambda tx: accounts.put(tx, desk.project, "other", ["other-1"]))
    async with desk.delivering():
        for name, end in (("max", until), ("other", None)):
            desk.do(pause, name, end)
        assert told(await desk.arrived()) == (
            "All accounts are paused (lab)",
            "default",
            "pause_button",
            f"{HUB_URL}/fleet?project=lab",
            f"Every account is paused, and nothing is begun; the first goes on at {utc_time(until)}.",
        )


async def test_nothing_that_nobody_needs_is_pushed(desk: Desk) -> None:
    """Events that wait for nobody are not pushed, nor that an agent fell silent, unless it holds begun work."""
    add(desk)
    async with desk.delivering():
        desk.happen("task.completed", "agent.checkin")
        desk.do(messages.send, desk.id, sender="ann", to="bob", body="hello")
        desk.do(fall_silent, desk, "idler", None)
        desk.do(fall_silent, desk, "taker", "free")
        desk.do(fall_silent, desk, "carl", "count")
        assert told(await desk.arrived()) == (
            "An agent went silent (lab)",
            "default",
            "zzz",
            f"{HUB_URL}/fleet?project=lab",
            "carl has been silent for too long.",
        )


async def test_an_agent_that_waits_for_people_is_pushed(desk: Desk) -> None:
    """An agent that says that it waits is one sentence, told once: not by what it does next."""
    add(desk)
    async with desk.delivering():
        desk.do(report, desk, "ann", Condition.WAITING, "left or right?")
        assert told(await desk.arrived())[4] == "ann waits for your answer."
        desk.do(report, desk, "ann", Condition.WAITING, "still")  # later, as a need begins in a millisecond
        desk.do(block, desk, "count the lines")
        assert told(await desk.arrived())[4] == 'T-1 "count the lines" is blocked; bob has it.'


async def test_a_title_is_short_visible_and_without_secrets(desk: Desk) -> None:
    """Only a title of agents' texts leaves: cut, every character visible, and without anything like a secret."""
    add(desk)
    async with desk.delivering():
        desk.do(block, desk, TITLE)
        got = await desk.arrived()
    text = got.body.decode()
    assert SECRET not in text
    assert "[redacted]" in text
    assert "\\u202e" in text
    assert len(text) < 300
    whole = text + str(got.headers)
    assert not [each for each in ("secret words", "bob says") if each in whole]


async def test_it_is_signed_and_its_delivery_has_an_id(desk: Desk) -> None:
    """A push bears the same proof as what programs are sent."""
    secret = add(desk, "task.blocked")
    async with desk.delivering():
        desk.do(block, desk, "count")
        got = await desk.arrived()
    moment = got.headers["Hubbub-Signature"].partition(",")[0].removeprefix("t=")
    assert got.headers["Hubbub-Signature"] == signature(secret, int(moment), got.body)
    assert got.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert got.headers["Hubbub-Event"] == "task.blocked"
    assert got.headers["Hubbub-Delivery"] == str(desk.parcels()[0].id)


async def test_it_is_tried_again_and_given_up_as_any_other(desk: Desk) -> None:
    """A push that fails is tried again, with the same id; one that is refused for good is dead."""
    add(desk, "task.*")
    desk.receiver.script += [Answer(503), Answer(200), Answer(410)]
    async with desk.delivering():
        desk.do(block, desk, "count")
        first, second = await desk.arrived(), await desk.arrived()
        assert first.headers["Hubbub-Delivery"] == second.headers["Hubbub-Delivery"]
        dead = await desk.until("outbox.dead")
    assert dead.detail["reason"] == "it answered 410: it wants no more"


async def test_any_other_kind_can_be_pushed_too(desk: Desk) -> None:
    """A webhook for other kinds gets the kind, and its actor; a message between agents is no message for people."""
    add(desk, "*")
    async with desk.delivering():
        await desk.arrived()  # that it was added
        desk.do(messages.send, desk.id, sender="ann", to="bob", body="hello")
        assert told(await desk.arrived()) == (
            "Something happened (lab)",
            "low",
            "information_source",
            f"{HUB_URL}/activity?project=lab",
            "message.sent, by ann.",
        )


def add_telephone(tx: Tx, desk: Desk) -> Webhook:
    user, _token = users.create(tx, "ada", project=desk.project, role=Role.ADMIN)
    tx.actor = access.person(tx, user.id)
    address = f"{desk.receiver.url}/topic"
    return webhooks.add(tx, desk.project, address, ["needs"], WebhookFormat.NTFY, answers=True)[0]


def asks(tx: Tx, desk: Desk, shown: str) -> Approval:
    """Let the client of ann ask whether it may run a command."""
    question = Question(
        who=Principal(project=desk.project.slug, name="ann"),
        node="box",
        tool="Bash",
        arguments={},
        folder="/srv/app",
        shown=shown,
        reason="",
        digest="0" * 64,
        kind=QuestionKind.PROMPT,
    )
    return approvals.put(tx, desk.project, question, timedelta(minutes=5))[0]


async def test_a_question_has_buttons_where_a_person_wants_them(desk: Desk) -> None:
    """The notification shows the whole call, and its buttons post to a link that answers this question."""
    phone = desk.do(add_telephone, desk)
    async with desk.delivering():
        asked = desk.do(asks, desk, "git push")
        got = await desk.arrived()

    page = f"{HUB_URL}/answer/{answer_links.token(phone, asked.id, asked.digest)}"
    assert got.body.decode().endswith("\ngit push\nin /srv/app")
    assert got.headers["Click"] == page
    assert got.headers["Actions"] == (
        f"http, Approve, {page}/yes, method=POST, clear=true; http, Deny, {page}/no, method=POST, clear=true; "
        f"view, Look, {page}"
    )


@pytest.mark.parametrize("shown", [f"curl -H 'Authorization: {SECRET}'", "echo " + "x" * 400])
async def test_what_is_not_shown_whole_has_no_button_that_answers(desk: Desk, shown: str) -> None:
    """A secret is not pushed, nor half a command: then there is only the page, which shows all of it."""
    desk.do(add_telephone, desk)
    async with desk.delivering():
        desk.do(asks, desk, shown)
        got = await desk.arrived()

    assert got.headers["Actions"] == f"view, Look, {got.headers['Click']}"
    assert (SECRET in str(got), shown in got.body.decode()) == (False, False)


async def test_without_buttons_a_question_is_one_sentence(desk: Desk) -> None:
    """A telephone that nobody let answer hears who asks, and nothing of the call."""
    add(desk)
    async with desk.delivering():
        desk.do(asks, desk, "git push")
        got = await desk.arrived()

    assert "Actions" not in got.headers
    assert "git push" not in got.body.decode()
