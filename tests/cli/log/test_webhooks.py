"""`hubbub webhook`, and what leaves a hub that is killed."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from hubbub.model.people.rights import SYSTEM
from hubbub.store.engine.postgres import Postgres
from hubbub.store.engine.sqlite import SQLite
from hubbub.store.tx import Store
from tests.cli.processes import RunningHub
from tests.conftest import address_of
from tests.serve.outbox.receivers import CUTS, HANGS, FakeGitHub, Receiver

URL = "https://example.org/hook"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    server = Receiver()
    with server.serving():
        yield server


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    server = FakeGitHub()
    with server.serving():
        yield server


@pytest.fixture(params=["sqlite", "postgres"])
def killable(
    request: pytest.FixtureRequest, tmp_path: Path, github: FakeGitHub
) -> Iterator[tuple[RunningHub, str | None]]:
    """A hub of its own on either engine, with a token for the fake GitHub; and the address of its database."""
    settings = {
        "HUBBUB_GITHUB_TOKEN": "ghp_secret",
        "HUBBUB_GITHUB_API": github.url,
        "HUBBUB_WEBHOOK_PRIVATE": "1",
    }
    database = None
    if request.param == "postgres":
        database = address_of(request.getfixturevalue("postgres_url"))
        settings["HUBBUB_DATABASE"] = database
    running = RunningHub(tmp_path / "data", settings=settings)
    running.start()
    yield running, database
    running.close()


def let_the_lease_end(hub: RunningHub, database: str | None) -> None:
    """Let every lease run out, as if its time had passed while no hub ran."""
    store: Store = Postgres.open(database) if database else SQLite.open(hub.data)
    store.write_now(SYSTEM, lambda tx: tx.run("UPDATE outbox SET leased_until = 0"))
    store.close()


def complete(hub: RunningHub, text: str = "count") -> None:
    hub.meet("ada")
    added = hub.json("task", "add", text, "--to", "ada", "--github", "octo/parser#7")
    hub.client().step(added["id"], "start", by="ada")
    hub.client().step(added["id"], "complete", by="ada", result="there are three")


def test_life_of_a_webhook(hub: RunningHub) -> None:
    """A webhook is added, which prints its secret and only that, listed without it, and removed."""
    secret = hub.secret("webhook", "add", URL, "--events", "task.*,message.sent", "--events", "agent.met")
    assert secret.startswith("whsec_")
    (listed,) = hub.json("webhook", "list")
    assert (listed["url"], listed["events"]) == (URL, ["task.*", "message.sent", "agent.met"])
    assert listed["form"] == "json"
    assert secret not in hub.run("webhook", "list").stdout
    assert hub.run("webhook", "list").stdout.split("\t")[:3] == [
        listed["id"],
        URL,
        "task.*,message.sent,agent.met",
    ]
    assert hub.run("webhook", "remove", listed["id"]).stdout == f"removed {listed['id']}\n"
    assert hub.json("webhook", "list") == []
    assert hub.run("webhook", "remove", listed["id"]).returncode == 1


def test_a_webhook_for_a_telephone(hub: RunningHub) -> None:
    """With `--form ntfy` a webhook pushes sentences: of what waits for people, unless it is said otherwise."""
    hub.secret("webhook", "add", URL, "--form", "ntfy")
    hub.secret("webhook", "add", URL, "--form", "ntfy", "--events", "needs,task.completed")
    listed = hub.json("webhook", "list")
    assert [(each["form"], each["events"]) for each in listed] == [
        ("ntfy", ["needs"]),
        ("ntfy", ["needs", "task.completed"]),
    ]
    assert hub.run("webhook", "list").stdout.split("\n")[0].endswith("\tntfy")


def test_without_events_it_is_everything(hub: RunningHub) -> None:
    """A webhook that names no events is told all of them; a bad event or address is refused in a sentence."""
    assert hub.json("webhook", "add", URL)["webhook"]["events"] == ["*"]
    for arguments in ((URL, "--events", "tasks"), ("http://127.0.0.1/",), ("example.org",)):
        refused = hub.run("webhook", "add", *arguments)
        assert refused.returncode == 2
        assert refused.stderr.count("\n") == 1


def test_a_task_with_an_issue(hub: RunningHub) -> None:
    """A task that is about an issue shows it; a hub without a token says in its deliveries that it lacks it."""
    complete(hub)
    assert "about octo/parser#7 on GitHub\n" in hub.run("task", "show", "1").stdout
    hub.until("outbox.skipped")
    (skipped,) = hub.json("webhook", "deliveries")
    assert (skipped["outcome"], skipped["issue"]) == ("skipped", "octo/parser#7")
    assert "HUBBUB_GITHUB_TOKEN" in hub.run("webhook", "deliveries", "--outcome", "skipped").stdout
    assert hub.json("webhook", "deliveries", "--outcome", "dead") == []
    assert hub.run("webhook", "retry", skipped["id"][:13]).stdout == f"trying {skipped['id']} again\n"
    hub.until("outbox.skipped", times=2)
    refused = hub.run("task", "add", "x", "--github", "parser")
    assert (refused.returncode, refused.stderr.count("owner/repository#number")) == (2, 1)


@pytest.mark.system
def test_a_hub_that_is_killed_before_it_knows_comments_once(
    killable: tuple[RunningHub, str | None], github: FakeGitHub
) -> None:
    """A hub that dies between the comment and the note of it finds the comment when it is back, and makes no other."""
    hub, database = killable
    github.script += [HANGS]
    complete(hub)
    github.comments.append(github.arrived().json["body"])  # it was made, and the answer does not come
    hub.stop(signal.SIGKILL)
    let_the_lease_end(hub, database)
    hub.start()
    delivered = hub.until("outbox.delivered")
    assert github.calls == ["POST", "GET"]
    assert len(github.comments) == 1
    assert delivered["detail"]["attempt"] == 2


@pytest.mark.system
def test_a_hub_that_is_killed_while_it_delivers_loses_nothing(
    killable: tuple[RunningHub, str | None], receiver: Receiver
) -> None:
    """After a kill in the middle a webhook is told the rest, in order; only what was under way comes twice."""
    hub, database = killable
    receiver.script += [CUTS, HANGS]
    hub.secret("webhook", "add", receiver.url, "--events", "task.sent")
    for number in range(5):
        hub.client().post("/tasks", {"text": f"work {number}"})
    receiver.arrived()
    receiver.arrived()
    hub.stop(signal.SIGKILL)
    let_the_lease_end(hub, database)
    hub.start()
    hub.until("outbox.delivered", times=5)
    told = [received.json["detail"]["number"] for received in receiver.received]
    assert told == [1, 1, 1, 2, 3, 4, 5]
    assert len({received.headers["Hubbub-Delivery"] for received in receiver.received}) == 5


@pytest.mark.system
def test_a_hub_that_is_stopped_ends_in_time(
    killable: tuple[RunningHub, str | None], receiver: Receiver
) -> None:
    """A receiver that keeps silent does not keep the hub from stopping; the next one tells it at once."""
    hub, _database = killable
    receiver.script += [HANGS]
    hub.secret("webhook", "add", receiver.url, "--events", "task.sent")
    hub.client().post("/tasks", {"text": "work"})
    receiver.arrived()
    hub.stop(signal.SIGTERM)
    hub.start()
    hub.until("outbox.delivered")
    first, second = receiver.received
    assert first.headers["Hubbub-Delivery"] == second.headers["Hubbub-Delivery"]
