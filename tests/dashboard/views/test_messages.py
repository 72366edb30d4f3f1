"""Messages: the threads that belong to no task, their read marks, and the messages of people."""

import re
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from playwright.sync_api import Locator, Page, expect

from hubbub.core.actions import inbox
from hubbub.core.mail import deadletters, messages
from hubbub.core.mail.messages import Thread
from hubbub.core.work import task_search
from hubbub.model.people.rights import HUB
from hubbub.model.records import Delivery, LetterKind, Message
from hubbub.model.text_limits import LONGEST_TEXT
from hubbub.store.tx import Tx
from tests.dashboard.browser import PHONE, Visit, Watch, inside, until_told
from tests.dashboard.conftest import VIEWER
from tests.dashboard.looks import faults
from tests.dashboard.scene import Scene
from tests.serve.served_hub import Hub

HOSTILE = "<script>alert(1)</script> [x](javascript:alert(1)) ![y](https://example.org/y.png) " + "W" * 900


@pytest.fixture(scope="module", autouse=True)
def _scene(scene: Scene) -> None:
    """All these pages show a team at work."""


def say(hub: Hub, sender: str, to: str, body: str) -> str:
    """Let somebody write to somebody; returns the id."""
    sent = hub.do(lambda tx: messages.send(tx, hub.project.id, sender=sender, to=to, body=body))
    return str(sent.id)


def latest(hub: Hub) -> Message:
    """Return the latest message."""
    found: list[Message] = hub.do(lambda tx: messages.history(tx, hub.project.id, limit=1))
    return found[0]


def deliveries(hub: Hub, message: str) -> list[Delivery]:
    def look(tx: Any) -> list[Delivery]:
        return messages.deliveries(tx, messages.find(tx, [hub.project.id], message))

    found: list[Delivery] = hub.do(look)
    return found


def conversation(page: Page) -> Locator:
    return page.get_by_role("region", name="Conversation", exact=True)


def compose(page: Page, text: str, *to: str, send: str = "Send message") -> None:
    """Fill in the dialog, and send what was written."""
    for name in to:
        page.get_by_role("combobox", name="To").fill(name)
        page.get_by_role("combobox", name="To").press("Enter")
    page.get_by_role("textbox", name="Text").fill(text)
    page.get_by_role("dialog").get_by_role("button", name=send).click()


def test_threads_say_who_talks_about_what_and_who_has_not_read_it(hub: Hub, visit: Visit) -> None:
    """The newest thread stands first, with its people, its count, and the names of those who have not read it."""
    say(hub, "yarrow", "hub", "May I drop the old index?")
    page = visit("/messages")
    rows = page.get_by_role("region", name="Conversations").locator(".threads .card")
    expect(rows.first).to_contain_text("people and yarrow")
    expect(rows.first).to_contain_text("May I drop the old index?")
    expect(rows.first).to_contain_text("waiting for a person")
    expect(rows.filter(has_text="cedar and dune")).to_contain_text("2 messages")
    expect(rows.filter(has_text="web/tokens.css")).to_contain_text(re.compile("unread by .*maple"))


def test_each_recipient_is_told_apart_and_reading_leaves_no_trace(hub: Hub, visit: Visit) -> None:
    """A message shows how far it got, recipient by recipient, with times; a person's look changes none."""
    ref = say(hub, "ember", "jade", "Is the **schema** ready?")
    page = visit(f"/messages?thread={ref}")
    said = conversation(page).locator(".message")
    expect(said.locator("strong").filter(has_text="schema")).to_be_visible()
    expect(said.locator(".deliveries li")).to_have_text(re.compile("jade.*not delivered yet", re.DOTALL))
    assert [(each.seen_at, each.acked_at) for each in deliveries(hub, ref)] == [(None, None)]
    hub.do(lambda tx: inbox.note_seen(tx, inbox.read(tx, hub.project.id, "jade", 50)))
    expect(said.locator(".deliveries li[data-step=seen]")).to_contain_text("Seen")
    hub.do(lambda tx: inbox.ack(tx, hub.project.id, "jade", str(deliveries_id(tx, ref, hub))))
    expect(said.locator(".deliveries li[data-step=acked]")).to_contain_text("acknowledged")


def deliveries_id(tx: Any, ref: str, hub: Hub) -> Any:
    return messages.deliveries(tx, messages.find(tx, [hub.project.id], ref))[0].id


@pytest.mark.daily
def test_a_reply_goes_to_the_other_end_and_stands_there_at_once(hub: Hub, visit: Visit) -> None:
    """A person's reply reaches the writer as an answer to the message, and stands in the conversation."""
    ref = say(hub, "dune", HUB, "Which branch?")
    page = visit(f"/messages?thread={ref}")
    page.get_by_role("textbox", name="Reply").fill("`main`, please")
    page.keyboard.press("Control+Enter")
    expect(conversation(page).locator(".message.is-ours")).to_contain_text("main, please")
    expect(page.get_by_role("textbox", name="Reply")).to_have_value("")
    sent = latest(hub)
    assert (sent.recipient, str(sent.in_reply_to), sent.body) == ("dune", ref, "`main`, please")


def test_what_the_hub_refuses_is_not_lost(hub: Hub, visit: Visit, watch: Watch) -> None:
    """A reply that is too long is refused with a sentence, and stays in its field to be made shorter."""
    ref = say(hub, "dune", HUB, "How long?")
    page = visit(f"/messages?thread={ref}")
    watch.expect(400)
    page.get_by_role("textbox", name="Reply").fill("x" * (LONGEST_TEXT + 1))
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("alert")).not_to_be_empty()
    expect(page.get_by_role("textbox", name="Reply")).to_have_value("x" * (LONGEST_TEXT + 1))
    expect(conversation(page).locator(".message.is-ours")).to_have_count(0)


def test_a_letter_to_people_is_done_when_one_of_them_says_so(hub: Hub, visit: Visit) -> None:
    """A person sets a letter to people aside as done, which the hub keeps as its acknowledgement."""
    ref = say(hub, "iris", HUB, "I am through.")
    page = visit(f"/messages?thread={ref}")
    page.get_by_role("button", name="Done").click()
    expect(page.get_by_role("button", name="Done")).to_have_count(0)
    until_told(page)
    assert [each.acked_at is not None for each in deliveries(hub, ref)] == [True]


def test_a_reply_to_a_person_waits_for_nobody(hub: Hub, visit: Visit) -> None:
    """What answers a person's own message stands in its thread without *Done*, and its thread waits for nobody."""
    ref = say(hub, HUB, "iris", "How far are you?")
    answer = partial(messages.send, project_id=hub.project.id, sender="iris", to=HUB, body="Half way.")
    hub.do(partial(answer, kind=LetterKind.REPLY, in_reply_to=UUID(ref)))
    page = visit(f"/messages?thread={ref}")
    reply = conversation(page).locator(".message").filter(has_text="Half way.")
    expect(reply).to_be_visible()
    expect(reply.get_by_role("button", name="Done")).to_have_count(0)
    expect(reply.locator(".deliveries")).to_have_count(0)
    row = page.locator(".threads .card").filter(has_text="How far are you?")
    expect(row).to_contain_text("2 messages")
    expect(row).not_to_contain_text("waiting for a person")


def test_a_person_writes_to_several_agents(hub: Hub, visit: Visit) -> None:
    """One text goes to each agent that was named, as a message of its own."""
    page = visit("/messages")
    page.get_by_role("button", name="New message").click()
    compose(page, "Stand-up at ten", "amb", "birch")
    expect(page.get_by_role("status").filter(has_text="Sent to amber and birch.")).to_be_visible()
    found = hub.do(lambda tx: messages.history(tx, hub.project.id, limit=2))
    assert {(each.recipient, each.body) for each in found} == {
        ("amber", "Stand-up at ten"), ("birch", "Stand-up at ten")
    }  # fmt: skip


def test_a_person_writes_to_everyone_who_is_there(hub: Hub, visit: Visit) -> None:
    """A message to everyone is one thread, in which each recipient is counted."""
    page = visit("/messages")
    page.get_by_role("button", name="New message").click()
    page.get_by_role("checkbox", name="Everyone online").check()
    compose(page, "Freeze begins")
    expect(conversation(page).get_by_text(re.compile(r"^\d+ not delivered yet$"))).to_be_visible()
    sent = latest(hub)
    assert (sent.recipient, sent.body) == (None, "Freeze begins")


def test_the_same_dialog_makes_tasks(hub: Hub, visit: Visit) -> None:
    """Work is sent as a task, not as a message; then nobody is everyone."""
    page = visit("/messages")
    page.get_by_role("button", name="New message").click()
    page.get_by_role("combobox", name="Send as").select_option("task")
    expect(page.get_by_role("checkbox", name="Everyone online")).to_have_count(0)
    compose(page, "Water the plants", "fjord", send="Create task")
    expect(page.get_by_role("status").filter(has_text="Task for fjord created.")).to_be_visible()
    found = hub.do(lambda tx: task_search.search(tx, [hub.project.id], assignee="fjord", limit=1))
    assert [task.title for task in found] == ["Water the plants"]


def test_a_name_that_nobody_has_is_told_before_anything_is_sent(visit: Visit) -> None:
    """A recipient whom the project does not know is named, and nothing can be sent to them."""
    page = visit("/messages")
    page.get_by_role("button", name="New message").click()
    page.get_by_role("combobox", name="To").fill("nobody-like-that")
    expect(page.get_by_text("There is no agent called nobody-like-that.")).to_be_visible()
    page.get_by_role("textbox", name="Text").fill("hello")
    expect(page.get_by_role("dialog").get_by_role("button", name="Send message")).to_be_disabled()


def test_the_past_shows_only_what_had_been_said(hub: Hub, visit: Visit) -> None:
    """At an earlier moment threads and messages of later are not there, and nothing can be written."""
    ref = say(hub, "dune", HUB, "Said in time")
    page = visit(f"/messages?thread={ref}")
    early = inside(page, "model/store.js", "m.recent.value.at(-1).id")
    hub.do(
        lambda tx: messages.send(
            tx, hub.project.id, sender="dune", to=HUB, body="Too late", in_reply_to=UUID(ref)
        )
    )
    expect(conversation(page).locator(".message")).to_have_text(
        [re.compile("Said in time"), re.compile("Too late")]
    )
    page = visit(f"/messages?thread={ref}&at={early}")
    expect(conversation(page).locator(".message")).to_have_text([re.compile("Said in time")])
    expect(page.get_by_role("textbox", name="Reply")).to_be_disabled()
    expect(page.get_by_role("button", name="New message")).to_be_disabled()


def test_of_the_past_the_threads_that_had_begun_are_listed(hub: Hub, visit: Visit) -> None:
    """At an earlier moment the list has the threads of before, named ones too, and none of later."""
    say(hub, "dune", HUB, "Begun early")
    named = Thread(name="the plan")
    hub.do(lambda tx: messages.send(tx, hub.project.id, sender="dune", to="ember", body="a", thread=named))
    page = visit("/messages")
    rows = page.get_by_role("region", name="Conversations").locator(".threads .card")
    expect(rows.filter(has_text="the plan")).to_have_count(1)
    early = inside(page, "model/store.js", "m.recent.value.at(-1).id")
    say(hub, "dune", HUB, "Begun late")
    hub.do(lambda tx: messages.send(tx, hub.project.id, sender="dune", to="ember", body="b", thread=named))
    expect(rows.filter(has_text="Begun late")).to_have_count(1)
    page = visit(f"/messages?at={early}")
    rows = page.get_by_role("region", name="Conversations").locator(".threads .card")
    expect(rows.filter(has_text="Begun early")).to_have_count(1)
    expect(rows.filter(has_text="the plan")).to_have_count(1)
    expect(rows.filter(has_text="Begun late")).to_have_count(0)


def test_the_filter_leaves_the_threads_with_its_words(visit: Visit) -> None:
    """Words of the filter are looked for in what was said and in the names of those who talk."""
    page = visit("/messages?q=schema cedar")
    expect(page.locator(".threads .card")).to_have_count(1)
    expect(page.locator(".threads .card")).to_contain_text("schema")


def test_on_a_phone_there_is_one_pane_at_a_time(visit: Visit) -> None:
    """On a phone the threads give way to the conversation, and come back by its arrow."""
    page = visit("/messages", size=PHONE)
    page.locator(".threads .card-link").last.click()
    expect(conversation(page)).to_be_visible()
    expect(page.get_by_role("region", name="Conversations")).to_be_hidden()
    page.get_by_role("button", name="Back to the conversations").click()
    expect(page.get_by_role("region", name="Conversations")).to_be_visible()


def test_who_may_only_look_reads_and_writes_nothing(visit: Visit) -> None:
    """A viewer reads a conversation and has no place to write, to answer or to set aside."""
    page = visit("/messages?q=messages_v1", who=VIEWER)
    page.locator(".threads .card-link").click()
    expect(conversation(page).locator(".message")).to_be_visible()
    expect(page.get_by_role("textbox", name="Reply")).to_have_count(0)
    expect(page.get_by_role("button", name="Done")).to_have_count(0)
    expect(page.get_by_role("button", name="New message")).to_have_count(0)


def test_what_agents_write_is_shown_safely_and_without_a_fault_that_axe_finds(hub: Hub, visit: Visit) -> None:
    """Markup and links that would run are not run, images are not fetched, long words stay inside, in every look."""
    ref = say(hub, "ember", HUB, HOSTILE)
    page = visit(f"/messages?thread={ref}")
    expect(conversation(page).locator(".message")).to_contain_text("<script>alert(1)</script>")
    expect(conversation(page).locator("script, img, a[href^=javascript]")).to_have_count(0)
    assert faults(page) == []


def test_what_nobody_came_to_read_stands_apart(hub: Hub, visit: Visit) -> None:
    """Dead letters are counted above the threads, shown alone when asked for, and marked where they were said."""
    hub.meet("nobody-home")
    ref = say(hub, "dune", "nobody-home", "Where is the key?")

    def bury(tx: Tx) -> None:
        later, day = replace(tx, now=tx.now + 90_000_000), timedelta(days=1)
        deadletters.settle(later, deadletters.due(later, day), day)

    hub.do(bury)
    page = visit("/messages")
    page.get_by_role("button", name="never read").click()
    row = page.get_by_role("region", name="Conversations").locator(".card").filter(has_text="nobody-home")
    expect(row).to_contain_text("It stays in the inbox.")
    row.get_by_role("link").click()
    mark = conversation(page).locator(".deliveries li[data-step=dead]")
    expect(mark).to_contain_text("never read")
    assert not faults(page)

    hub.do(lambda tx: inbox.note_seen(tx, inbox.read(tx, hub.project.id, "nobody-home", 50)))
    expect(conversation(page).locator(".deliveries li[data-step=seen]").first).to_be_visible()
    assert [(each.dead_at, each.seen_at is None) for each in deliveries(hub, ref)] == [(None, False)]
