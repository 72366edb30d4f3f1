"""The events that a webhook wants, and its signature."""

import hashlib
import hmac
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from hubbub.model.errors import Invalid
from hubbub.model.log.attention import Need, NeedKind
from hubbub.model.log.projection import NeedCard
from hubbub.model.log.webhooks import Webhook, host_of, require_events, require_url, signature
from hubbub.model.records import Activity
from tests.support.each_row import each_row

NOW = 1_000_000


def webhook(*events: str, url: str = "https://example.org/hook") -> Webhook:
    return Webhook(
        id=uuid4(),
        project_id=uuid4(),
        url=url,
        events=events,
        secret="whsec_x",
        after_tx=0,
        after_seq=0,
        created_by="owner",
        created_at=0,
    )


def happened(kind: str, agent: str | None = None, detail: dict[str, object] | None = None) -> Activity:
    return Activity(
        seq=1,
        project_id=uuid4(),
        at=0,
        kind=kind,
        actor="ann",
        agent=agent,
        task_id=None,
        message_id=None,
        detail=detail or {},
    )


def test_a_webhook_wants_what_its_patterns_say() -> None:
    """A kind means itself, a group all its kinds, and a star everything."""
    chosen = webhook("task.*", "message.sent")
    assert [
        kind for kind in ("task.sent", "task.completed", "message.sent") if chosen.wants(happened(kind))
    ] == [
        "task.sent",
        "task.completed",
        "message.sent",
    ]
    assert not [kind for kind in ("message.acked", "tasks.sent", "agent.met") if chosen.wants(happened(kind))]
    assert webhook("*").wants(happened("agent.met"))


@each_row(
    ("kind", "cards", "is_needed"),
    [("approval.asked", {"approvals": {"a": {"need": NOW}}}, True),
     ("approval.approved", {"approvals": {"a": None}}, False),
     ("task.blocked", {"tasks": {"t": {"need": NOW}}}, True),
     ("task.noted", {"tasks": {"t": {"need": NOW - 1}}}, False),
     ("task.described", {"tasks": {"t": {"need": NOW}}}, False),
     ("task.started", {"tasks": {"t": {"need": NOW + 1}}}, False),
     ("task.completed", {"tasks": {"t": {"need": None}}}, False),
     ("agent.timeout", {"agents": {"a": {"need": NOW}}}, True),
     ("agent.timeout", {"agents": {"a": {"need": None}}}, False),
     ("message.sent", None, False)],
)  # fmt: skip
def test_needs_is_what_begins_to_need_a_person(kind: str, cards: Any, is_needed: bool) -> None:
    """`needs` stands for what needs a person from then on; not for what did before, or will if nothing happens."""
    patch: Any = cards and {
        noun: {key: card and {"need": _need(card["need"])} for key, card in each.items()}
        for noun, each in cards.items()
    }
    told = replace(happened(kind), at=NOW, patch=json.dumps(patch) if patch else None)
    assert webhook("needs").wants(told) is is_needed
    assert require_events(["needs"]) == ("needs",)


def _need(since: int | None) -> NeedCard | None:
    return Need(NeedKind.QUESTION, since).shape() if since is not None else None


def test_no_webhook_is_told_of_deliveries() -> None:
    """The fates of deliveries would make more of them, so that not even a star stands for them."""
    assert not webhook("*").wants(happened("outbox.delivered"))


@each_row(
    "pattern",
    ["", "task", "task.", ".sent", "*.sent", "task.*.x", "Task.sent", "task.se*", "outbox.*", "outbox.dead"],
)
def test_a_pattern_that_means_nothing_is_refused(pattern: str) -> None:
    """A word that is no kind, no group and no star is refused, as is a kind that no webhook is told."""
    with pytest.raises(Invalid, match=r"task\.completed|deliveries"):
        require_events(["task.sent", pattern])


@each_row(
    ("pattern", "near"),
    [
        ("task.complete", r"did you mean task\.completed\?"),
        ("agents.checkin", r"did you mean agent\.checkin\?"),
        ("user.created", r"not in a project; the nearest event is user\.invited$"),
        (
            "login.*",
            "login.ended, login.started: it happens in the hub, not in a project; the nearest event is ",
        ),
        ("password.*", "not in a project"),
    ],
)
def test_what_no_project_is_told_is_refused_with_the_nearest(pattern: str, near: str) -> None:
    """A kind that no event of a project has, or a group of such kinds, is refused, and the nearest is named."""
    with pytest.raises(Invalid, match=near):
        require_events([pattern])


def test_events_are_kept_once_and_needed() -> None:
    """The same pattern twice counts once; none at all is refused."""
    assert require_events(["task.*", "*", "task.*", "agent.scope_change"]) == (
        "task.*",
        "*",
        "agent.scope_change",
    )
    with pytest.raises(Invalid, match="at least one"):
        require_events([])


@each_row(
    "url",
    ["", "example.org", "ftp://example.org/", "https://", "https:///path", "http://host:0/", "http://host:99999/",
     "https://a b/", "https://example.org/\n", "https://user@example.org/", "https://user:pass@example.org/",
     "https://example.org/#part", "https://example.org/" + "x" * 2000, "http://[::1"],
)  # fmt: skip
def test_an_address_that_cannot_be_posted_to_is_refused(url: str) -> None:
    """Only a whole http or https address without a password in it will do."""
    with pytest.raises(Invalid, match="webhook's address"):
        require_url(url)


def test_what_may_be_secret_in_an_address_is_not_told() -> None:
    """Only the host of an address is shown; neither address nor secret is in the printed form of a webhook."""
    chosen = webhook("*", url="https://example.org:8443/T0/secret?key=1")
    assert (chosen.host, require_url(chosen.url)) == ("example.org:8443", chosen.url)
    assert host_of("http://[2001:db8::1]/x") == "[2001:db8::1]"
    assert "secret?" not in repr(chosen)
    assert "whsec_" not in repr(chosen)


def test_the_signature_covers_the_time_and_the_body() -> None:
    """It is the time, and the HMAC-SHA256 of the time, a dot and the body, in hexadecimal digits."""
    expected = hmac.new(b"whsec_x", b'1700000000.{"a":1}', hashlib.sha256).hexdigest()
    assert signature("whsec_x", 1_700_000_000, b'{"a":1}') == f"t=1700000000,v1={expected}"


def test_a_receiver_can_check_the_signature() -> None:
    """The lines of Python that the documentation offers accept what is signed just now, and nothing else."""
    page = Path(__file__).parents[3] / "docs" / "how-to" / "webhooks.md"
    code = page.read_text("utf-8").partition("```python\n")[2].partition("```")[0]
    offered: dict[str, Any] = {}
    exec(code, offered)
    now, body = int(time.time()), b'{"a":1}'
    header = signature("whsec_x", now, body)
    assert offered["is_genuine"]("whsec_x", header, body)
    assert not offered["is_genuine"]("whsec_x", header, body + b" ")
    assert not offered["is_genuine"]("whsec_y", header, body)
    assert not offered["is_genuine"]("whsec_x", header.replace(str(now), str(now + 1)), body)
    assert not offered["is_genuine"]("whsec_x", signature("whsec_x", now - 3600, body), body)
