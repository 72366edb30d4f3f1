"""Resources: what can be read and followed by an address, by whom, and how following ends."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx2
import pytest

from hubbub.core.actions import inbox
from hubbub.core.work import tasks
from hubbub.model.people.rights import Role
from hubbub.serve.mcp import resource_updates
from tests.serve.conftest import with_own_hub
from tests.serve.mcp.wire import LEGACY, MODERN, Connect, Peer
from tests.serve.served_hub import Hub
from tests.support.waiting import until

NOT_FOUND = {LEGACY: -32002, MODERN: -32602}


def read(peer: Peer, uri: str) -> Any:
    """The content of a resource."""
    return json.loads(peer.ask("resources/read", uri=uri)["contents"][0]["text"])


def uris(peer: Peer) -> list[str]:
    return [resource["uri"] for resource in peer.ask("resources/list")["resources"]]


def updates(uri: str) -> dict[str, Any]:
    """Return the content of a notification, without its stream."""
    return {"method": "notifications/resources/updated", "uri": uri}


def said(frame: dict[str, Any]) -> dict[str, Any]:
    return {"method": frame["method"], "uri": frame["params"]["uri"]}


def test_everyone_is_offered_agents_and_tasks_and_a_bound_token_its_inbox(
    hub: Hub, connect: Connect, revision: str
) -> None:
    """Resources that need no name are listed; the rest are templates."""
    assert uris(connect(hub.token(), revision)) == ["hubbub://agents", "hubbub://tasks"]
    bound = connect(hub.token("指挥室"), revision)
    assert uris(bound)[-1] == f"hubbub://inbox/{quote('指挥室')}"
    templates = bound.ask("resources/templates/list")["resourceTemplates"]
    assert [each["uriTemplate"] for each in templates] == ["hubbub://tasks/{id}", "hubbub://inbox/{name}"]


def test_reading_what_there_is(hub: Hub, connect: Connect, revision: str) -> None:
    """Agents, tasks, one task and an inbox are JSON."""
    hub.meet("指挥室")
    task_id = hub.send_task("指挥室", "count the lines\n\nall of them")
    peer = connect(hub.token("指挥室"), revision)
    (agent,) = read(peer, "hubbub://agents")
    assert (agent["name"], agent["project"], agent["condition"]) == ("指挥室", "default", "offline")
    (listed,) = read(peer, "hubbub://tasks")
    assert (listed["id"], listed["title"], listed["status"]) == (task_id, "count the lines", "delivered")
    assert "description" not in listed
    assert read(peer, f"hubbub://tasks/{task_id}")["description"] == "count the lines\n\nall of them"
    for address in ("hubbub://inbox/指挥室", f"hubbub://inbox/{quote('指挥室')}"):
        (letter,) = read(peer, address)
        assert (letter["task_id"], letter["kind"], letter["sender"]) == (task_id, "task", "hub")


def test_a_task_is_read_and_followed_by_its_number(hub: Hub, connect: Connect, revision: str) -> None:
    """A task's number, written in any way, is an address of it; a number of another project leads nowhere."""
    hub.meet("ada")
    task_id = hub.send_task("ada")
    peer = connect(hub.token("ada"), revision)
    for name in ("1", "T-1", quote("#1", safe="")):
        assert read(peer, f"hubbub://tasks/{name}")["id"] == task_id
    with peer.following("hubbub://tasks/T-1") as frames:
        hub.cancel_task(task_id)
        assert said(next(frames)) == updates("hubbub://tasks/T-1")
    stranger = connect(hub.token("eve", project=hub.other_project()), revision)
    assert stranger.request("resources/read", uri="hubbub://tasks/1")["error"]["code"] == NOT_FOUND[revision]


def test_reading_an_inbox_acknowledges_nothing(hub: Hub, connect: Connect, revision: str) -> None:
    """Mail that was read as a resource is neither seen nor acknowledged."""
    hub.meet("ada")
    task_id = hub.send_task("ada")
    read(connect(hub.token("ada"), revision), "hubbub://inbox/ada")
    (letter,) = hub.do(lambda tx: inbox.read(tx, hub.project.id, "ada", 10))
    assert letter.delivery.seen_at is None
    assert hub.do(lambda tx: tasks.find(tx, [hub.project.id], task_id)).status == "delivered"


def test_an_inbox_is_read_by_its_agent_by_unbound_tokens_and_by_people(
    hub: Hub, connect: Connect, revision: str
) -> None:
    """The project's unbound tokens and its people read every inbox of it."""
    hub.meet("ada")
    hub.send_task("ada")
    for secret in (hub.token("ada"), hub.token(), hub.token(role=Role.VIEWER), hub.owner_secret):
        assert len(read(connect(secret, revision), "hubbub://inbox/ada")) == 1


def test_what_may_not_be_read_is_as_if_it_did_not_exist(hub: Hub, connect: Connect, revision: str) -> None:
    """Another agent's inbox, another project's task, and what nobody ever heard of are refused alike."""
    hub.meet("ada")
    task_id = hub.send_task("ada")
    stranger = connect(hub.token("eve", project=hub.other_project()), revision)
    sibling = connect(hub.token("bob"), revision)
    tries = [
        (sibling, "hubbub://inbox/ada"),
        (sibling, "hubbub://inbox/nobody"),
        (stranger, "hubbub://inbox/ada"),
        (stranger, f"hubbub://tasks/{task_id}"),
        (stranger, f"hubbub://tasks/{uuid4()}"),
        (stranger, "hubbub://tasks/nonsense"),
        (stranger, "hubbub://nonsense"),
        (stranger, "file:///etc/passwd"),
    ]
    for peer, uri in tries:
        error = peer.request("resources/read", uri=uri)["error"]
        sentence = "there is no such resource, or it is not yours to read"
        assert error == {"code": NOT_FOUND[revision], "message": sentence, "data": {"uri": uri}}


def test_a_change_is_told_to_whoever_follows_the_resource(hub: Hub, connect: Connect, revision: str) -> None:
    """A new task changes the tasks and its assignee's inbox; a follower hears of what it asked for, and of no more."""
    hub.meet("ada")
    hub.meet("bob")
    peer = connect(hub.token(), revision)
    with peer.following("hubbub://inbox/ada", "hubbub://agents") as frames:
        hub.send_task("bob")
        hub.send_task("ada")
        heard = [said(next(frames))]
        while heard[-1] == updates(
            "hubbub://agents"
        ):  # of ada and bob, if the hub only now comes to tell of them
            heard.append(said(next(frames)))
        assert heard[-1] == updates("hubbub://inbox/ada")
        hub.meet("eve")
        assert said(next(frames)) == updates("hubbub://agents")


def test_a_task_can_be_followed(hub: Hub, connect: Connect, revision: str) -> None:
    """A follower of a task hears of its steps, by the address that it used."""
    hub.meet("ada")
    task_id = hub.send_task("ada")
    address = f"hubbub://tasks/{task_id.upper()}"
    with connect(hub.token(), revision).following(address) as frames:
        hub.send_task("ada")
        hub.cancel_task(task_id)
        assert said(next(frames)) == updates(address)


def test_what_may_not_be_read_may_not_be_followed(hub: Hub, connect: Connect, revision: str) -> None:
    """Following another agent's inbox is refused as reading it is, and so is following what does not exist."""
    hub.meet("ada")
    peer = connect(hub.token("bob"), revision)
    for uri in ("hubbub://inbox/ada", "hubbub://inbox/nobody", f"hubbub://tasks/{uuid4()}"):
        if revision == LEGACY:
            answer = peer.request("resources/subscribe", uri=uri)
        else:
            answer = peer.request("subscriptions/listen", notifications={"resourceSubscriptions": [uri]})
        assert answer["error"]["code"] == NOT_FOUND[revision]


def test_there_is_an_end_to_what_one_client_may_follow(
    hub: Hub, connect: Connect, revision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So many resources can be followed at once, and not one more."""
    monkeypatch.setattr(resource_updates, "MOST", 2)
    peer = connect(hub.token("ada"), revision)
    addresses = ["hubbub://agents", "hubbub://tasks", "hubbub://inbox/ada"]
    with peer.following(*addresses[:2]):
        if revision == LEGACY:
            answer = peer.request("resources/subscribe", uri=addresses[2])
        else:
            answer = peer.request("subscriptions/listen", notifications={"resourceSubscriptions": addresses})
    assert answer["error"]["message"] == "at most 2 resources can be followed at once"


def test_after_unsubscribing_nothing_is_told(hub: Hub, connect: Connect) -> None:
    """Up to 2025-11-25 a subscription can be taken back; taking back what there was not changes nothing."""
    hub.meet("ada")
    peer = connect(hub.token(), LEGACY)
    with peer.following("hubbub://tasks", "hubbub://inbox/ada") as frames:
        assert peer.ask("resources/unsubscribe", uri="hubbub://tasks") == {}
        assert peer.ask("resources/unsubscribe", uri="hubbub://nonsense") == {}
        hub.send_task("ada")
        hub.send_task("ada")
        assert said(next(frames)) == updates("hubbub://inbox/ada")


def test_a_foreign_address_may_be_followed_and_is_never_heard_of(hub: Hub, connect: Connect) -> None:
    """An address outside the hub cannot be followed here."""
    assert connect(hub.token(), LEGACY).ask("resources/subscribe", uri="test://watched") == {}


def test_a_revoked_token_ends_its_streams(hub: Hub, connect: Connect, revision: str) -> None:
    """Nobody goes on listening with a token that was taken back; others do."""
    hub.meet("ada")
    mine, other = hub.token(), hub.token()
    with (
        connect(mine, revision).following("hubbub://tasks") as frames,
        connect(other, revision).following("hubbub://tasks") as others,
    ):
        hub.revoke(mine)
        assert [frame.get("method") for frame in frames if "method" in frame] == []
        hub.send_task("ada")
        assert said(next(others)) == updates("hubbub://tasks")


def test_an_expiring_token_ends_its_streams(
    expiring: Callable[[timedelta], str], connect: Connect, revision: str
) -> None:
    """A stream lasts no longer than the token that opened it."""
    peer = connect(expiring(timedelta(seconds=1)), revision)
    with peer.following("hubbub://tasks") as frames:
        assert [frame for frame in frames if "method" in frame] == []


@with_own_hub
def test_the_hub_closes_with_streams_open(hub: Hub, connect: Connect, revision: str) -> None:
    """When the hub is asked to stop, its streams end properly and it stops."""
    with connect(hub.token(), revision).following("hubbub://tasks") as frames:
        hub.served.stop()
        assert [frame for frame in frames if "method" in frame] == []


@with_own_hub
def test_a_transport_session_that_ends_leaves_nothing_behind(hub: Hub, connect: Connect) -> None:
    """With a transport session ends its stream, and what was subscribed in it."""
    peer = connect(hub.owner_secret, LEGACY)
    with peer.following("hubbub://tasks") as frames:
        assert open_streams(hub) == 1
        assert peer.http.delete(peer.url).status_code == 200
        assert list(frames) == []
    until(lambda: not open_streams(hub), "the end of the stream, which comes right after the answer")
    assert hub.do(lambda tx: tx.all("SELECT * FROM followed")) == []


def open_streams(hub: Hub, secret: str = "") -> int:
    """The number of followers that the hub reports to its owner, or to the holder of `secret`."""
    owner = {"Authorization": f"Bearer {secret or hub.owner_secret}"}
    metrics = httpx2.get(hub.url + "/metrics", headers=owner).text
    (line,) = (line for line in metrics.splitlines() if line.startswith("hubbub_open_streams "))
    return int(float(line.split()[1]))
