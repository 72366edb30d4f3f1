"""Webhooks and deliveries over the REST interface, of a hub that delivers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from hubbub.model.people.rights import Role
from tests.serve.outbox.receivers import Answer, FakeGitHub, Receiver
from tests.serve.served_hub import Hub, running_hub
from tests.serve.web_client import Json, Visit, Web, done, not_refused, refusal


@pytest.fixture
def open_hub(tmp_path: Path, github: FakeGitHub) -> Iterator[Hub]:
    """A hub that may reach the receivers of this machine, and has a token for GitHub."""
    settings: dict[str, Any] = {
        "webhook_private": True,
        "github_api": github.url,
        "github_token": "ghp_secret",
    }
    with running_hub(tmp_path / "open", **settings) as running:
        yield running


@pytest.fixture
def admin(open_hub: Hub, visit: Visit) -> Web:
    return visit(open_hub, open_hub.token(role=Role.ADMIN))


def add(web: Web, url: str = "https://example.org/hook", **more: object) -> Json:
    return done(web.post("/webhooks", {"url": url, **more}))


def deliveries(web: Web, **query: object) -> list[Json]:
    found: list[Json] = done(web.get("/webhooks/deliveries", **query))["deliveries"]
    return found


def until(hub: Hub, web: Web, kind: str) -> None:
    """Wait until an activity of that kind is in the log."""
    with web.http.stream("GET", hub.url + "/events", params={"kind": kind, "last_event_id": "0"}) as stream:
        for line in stream.iter_lines():
            if line.startswith("data:"):
                return


def test_a_webhook_is_added_listed_and_removed(admin: Web) -> None:
    """The secret is told once, with the webhook; lists and removals show everything else."""
    made = add(admin, events=["task.*", "message.sent"])
    assert made["secret"].startswith("whsec_")
    assert made["webhook"]["events"] == ["task.*", "message.sent"]
    told = {"id", "url", "events", "form", "created_by", "created_at", "answers_by"}
    assert (set(made["webhook"]), made["webhook"]["answers_by"]) == (told, None)
    assert done(admin.get("/webhooks"))["webhooks"] == [made["webhook"]]
    assert done(admin.delete(f"/webhooks/{made['webhook']['id']}"))["webhook"] == made["webhook"]
    assert done(admin.get("/webhooks"))["webhooks"] == []
    assert refusal(admin.delete(f"/webhooks/{made['webhook']['id']}")) == (404, "not_found")


def test_without_events_a_webhook_is_told_everything(admin: Web) -> None:
    """No events at all mean all of them; an empty list is a mistake."""
    assert add(admin)["webhook"]["events"] == ["*"]
    assert refusal(admin.post("/webhooks", {"url": "https://example.org/", "events": []})) == (400, "invalid")


def test_what_will_not_do_is_refused(admin: Web) -> None:
    """A bad address or a bad event is refused in a sentence, and nothing is kept."""
    table: list[Json] = [
        {},
        {"url": ""},
        {"url": "example.org"},
        {"url": "https://u:p@example.org/"},
        {"url": "https://x\x00.org/"},
        {"url": "https://xn--\u00e4.org/"},
        {"url": "https://example.org/", "events": ["outbox.*"]},
        {"url": "https://example.org/", "events": "task.*"},
        {"url": "https://example.org/", "events": ["task.sent", "task.zz"]},
        {"url": "https://example.org/", "events": ["tasks.*"]},
    ]
    assert not_refused(lambda body: admin.post("/webhooks", body), table) == []
    assert done(admin.get("/webhooks"))["webhooks"] == []


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "2130706433", "[::1]", "10.0.0.1", "169.254.169.254"]
)
def test_a_private_address_is_refused_when_it_is_added(hub: Hub, visit: Visit, host: str) -> None:
    """Unless the hub allows it, an address of the own network is no webhook."""
    answer = visit(hub, hub.token(role=Role.ADMIN)).post("/webhooks", {"url": f"http://{host}/"})
    assert refusal(answer) == (400, "invalid")
    assert "HUBBUB_WEBHOOK_PRIVATE" in answer.json()["message"]


def test_webhooks_are_for_who_manages(open_hub: Hub, admin: Web, visit: Visit) -> None:
    """Members and viewers neither see nor change webhooks and deliveries."""
    made = add(admin)["webhook"]["id"]
    for role in (Role.MEMBER, Role.VIEWER):
        web = visit(open_hub, open_hub.token(role=role))
        for answer in (
            web.get("/webhooks"),
            web.get("/webhooks/deliveries"),
            web.post("/webhooks", {"url": "https://example.org/"}),
            web.delete(f"/webhooks/{made}"),
            web.post(f"/webhooks/deliveries/{uuid4()}/retry"),
        ):
            assert refusal(answer) == (403, "forbidden")


def test_webhooks_of_another_project_are_not_there(open_hub: Hub, admin: Web, visit: Visit) -> None:
    """A webhook of another project is neither listed nor found."""
    made = add(admin)["webhook"]["id"]
    other = visit(open_hub, open_hub.token(role=Role.ADMIN, project=open_hub.other_project()))
    assert done(other.get("/webhooks"))["webhooks"] == []
    assert deliveries(other) == []
    for ref in (made, "nonsense"):
        assert refusal(other.delete(f"/webhooks/{ref}")) == (404, "not_found")


def test_the_secret_is_told_once(admin: Web) -> None:
    """With the same Idempotency-Key no second webhook is made, and the secret is not told again."""
    body = {"url": "https://example.org/"}
    done(admin.post("/webhooks", body, **{"Idempotency-Key": "k"}))
    assert refusal(admin.post("/webhooks", body, **{"Idempotency-Key": "k"})) == (409, "conflict")
    assert len(done(admin.get("/webhooks"))["webhooks"]) == 1


def test_a_webhook_is_told_as_it_happens(open_hub: Hub, admin: Web, receiver: Receiver) -> None:
    """The hub's events reach the webhook, the first being that it was added."""
    add(admin, url=receiver.url, events=["webhook.*", "task.sent"])
    assert receiver.arrived().json["kind"] == "webhook.added"
    done(admin.post("/tasks", {"text": "work"}))
    assert receiver.arrived().json["kind"] == "task.sent"


def test_a_dead_delivery_is_listed_and_tried_again(open_hub: Hub, admin: Web, receiver: Receiver) -> None:
    """A failed delivery is listed with the reason, and is sent when it is tried again by hand."""
    receiver.script += [Answer(410)]
    made = add(admin, url=receiver.url, events=["webhook.*"])["webhook"]
    until(open_hub, admin, "outbox.dead")
    (dead,) = deliveries(admin, outcome="dead")
    assert (dead["webhook_id"], dead["event"], dead["attempts"]) == (made["id"], "webhook.added", 1)
    assert dead["last_error"] == "it answered 410: it wants no more"
    again = done(admin.post(f"/webhooks/deliveries/{dead['id']}/retry"))["delivery"]
    assert again["outcome"] is None
    until(open_hub, admin, "outbox.delivered")
    assert deliveries(admin, outcome="dead") == []
    (delivered,) = deliveries(admin, outcome="delivered")
    assert delivered["id"] == dead["id"]
    assert refusal(admin.post(f"/webhooks/deliveries/{dead['id']}/retry")) == (409, "conflict")
    assert refusal(admin.post("/webhooks/deliveries/nonsense/retry")) == (404, "not_found")


def test_a_completed_task_is_told_to_its_issue(open_hub: Hub, admin: Web, github: FakeGitHub) -> None:
    """A task that was sent with an issue shows it, and its result becomes a comment there."""
    open_hub.meet("ada")
    task = done(admin.post("/tasks", {"text": "count", "to": "ada", "issue": "octo/parser#7"}))["task"]
    assert task["issue"] == "octo/parser#7"
    done(admin.post(f"/tasks/{task['id']}/start", {"by": "ada"}))
    done(admin.post(f"/tasks/{task['id']}/complete", {"by": "ada", "result": "there are three"}))
    assert "there are three" in github.arrived().json["body"]
    until(open_hub, admin, "outbox.delivered")
    kinds = [each["kind"] for each in done(admin.get(f"/tasks/{task['id']}"))["activity"]]
    assert kinds[0] == "outbox.delivered"
    assert [each["issue"] for each in deliveries(admin)] == ["octo/parser#7"]
    assert refusal(admin.post("/tasks", {"text": "x", "issue": "parser#7"})) == (400, "invalid")
