"""Snapshots and replay, through real HTTP: a snapshot followed by the events gives the hub's own state."""

import asyncio
import gzip
import http.client
import json
from collections.abc import Iterable
from contextlib import closing
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from hubbub.core.snapshots import keyframes
from hubbub.model.log.projection import NOUNS, Projector
from hubbub.model.people.rights import Role
from hubbub.serve.background.log_retention import LogRetention
from hubbub.serve.rest.base.chunked_json import SENT
from hubbub.store.people import projects
from hubbub.store.tx import Tx
from tests.serve.conftest import both_engines
from tests.serve.live.event_streams import following
from tests.serve.served_hub import Hub
from tests.serve.web_client import Visit, Web, done, refusal
from tests.support.waiting import patience

NAME = "代码1号"


@pytest.fixture
def web(hub: Hub, visit: Visit) -> Web:
    """The owner of the hub, with a task for an agent."""
    hub.meet(NAME)
    hub.send_task(NAME, "count the lines")
    return visit(hub, hub.owner_secret)


def fold(start: Projector, activities: Iterable[dict[str, Any]]) -> dict[str, Any]:
    for each in activities:
        start.apply(each["id"], each["patch"])
    return start.picture


@both_engines
def test_a_snapshot_and_the_events_after_it_are_the_next_snapshot(hub: Hub, web: Web) -> None:
    """The events of `/events?patches=true` after the snapshot's id lead from it to the next, for any change."""
    before = done(web.get("/snapshot"))
    assert before["project"] == "default"
    assert [task["title"] for task in before["picture"]["tasks"].values()] == ["count the lines"]
    assert set(before["picture"]) == set(NOUNS)

    hub.cancel_task(hub.send_task(NAME, "and the words"))
    hub.meet("last")
    with following(hub.url, hub.token(), after=before["id"], patches="true") as stream:
        told = stream.until(agent="last")
    after = done(web.get("/snapshot"))

    assert fold(Projector.of(before["picture"], before["seen"]), told) == after["picture"]


@both_engines
def test_a_young_project_is_replayed_from_nothing(hub: Hub, web: Web) -> None:
    """A reel begins with a keyframe, of a young project the empty picture, and all that followed it leads to now."""
    reel, now = done(web.get("/replay")), done(web.get("/snapshot"))
    assert not any(reel["start"]["picture"].values())
    assert (reel["earlier"], now["first"]["id"]) == (False, reel["start"]["id"])
    assert fold(Projector.of(reel["start"]["picture"]), reel["activities"]) == now["picture"]
    assert reel["activities"][-1]["id"] <= now["id"] or reel["activities"][-1]["id"] in now["seen"]

    until = reel["activities"][2]["id"]
    assert done(web.get("/replay", until=until))["activities"] == reel["activities"][:3]


@both_engines
def test_replay_goes_back_from_keyframe_to_keyframe(
    hub: Hub, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two keyframes lies a reel; the one before ends where the next begins."""
    monkeypatch.setattr(keyframes, "EVERY", 2)
    archive = LogRetention(hub.store, None)
    asyncio.run(archive.keep())
    middle = done(web.get("/snapshot"))["picture"]
    hub.meet("another")
    last = done(web.get("/replay"))
    assert last["start"]["picture"] == middle
    assert [each["agent"] for each in last["activities"]] == ["another"]
    assert last["earlier"]

    first = done(web.get("/replay", until=last["start"]["id"]))
    assert not first["earlier"]
    assert fold(Projector.of(first["start"]["picture"]), first["activities"]) == middle


@both_engines
def test_what_is_not_in_the_log_is_not_replayed(web: Web) -> None:
    """A moment that the log does not hold is a 404."""
    assert refusal(web.get("/replay", until=10**12)) == (404, "not_found")


@both_engines
def test_only_who_may_look_sees_pictures(hub: Hub, web: Web, visit: Visit) -> None:
    """A viewer sees a project's picture; a token of another project does not."""
    viewer = visit(hub, hub.token(role=Role.VIEWER))
    stranger = visit(hub, hub.token(project=hub.other_project()))
    assert (
        done(viewer.get("/snapshot"))["picture"] == done(web.get("/snapshot", project="default"))["picture"]
    )
    for path in ("/snapshot", "/replay"):
        assert refusal(stranger.get(path, project="default"))[0] in (403, 404)


@both_engines
def test_the_activity_is_told_with_patches(hub: Hub, web: Web) -> None:
    """`/activity` says what each made of the picture, if asked to."""
    plain = done(web.get("/activity", limit=1))["activity"]
    patched = done(web.get("/activity", limit=1, patches="true"))["activity"]
    assert "patch" not in plain[0]
    assert [*patched[0]["patch"]] == ["tasks"]
    assert patched[0]["id"] == plain[0]["id"]


@both_engines
def test_who_comes_back_after_the_log_was_cut_starts_anew(
    hub: Hub, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An id from before the first keyframe that is left is answered by `reset`: the patches in between are gone."""
    before = done(web.get("/snapshot"))
    hub.meet("another")
    monkeypatch.setattr(keyframes, "EVERY", 2)
    asyncio.run(LogRetention(hub.store, None).keep())
    hub.do(lambda tx: keyframes.forget(tx, timedelta()))

    with following(hub.url, hub.token(), after=before["id"], patches="true") as stream:
        assert stream.next().data["kind"] == "reset"
    after = done(web.get("/snapshot"))
    assert after["first"]["id"] >= before["id"]
    assert "another" in after["picture"]["agents"]
    assert done(web.get("/activity", after=0))["activity"][0]["kind"] == "agent.met"  # the newest stays


def cut_whole(tx: Tx) -> None:
    """Forget what has happened in each project up to now."""
    tx.run("DELETE FROM keyframes")
    for project_id in projects.ids(tx):
        keyframes.keep(tx, keyframes.take_keyframe(tx, project_id))
    while keyframes.forget(tx, timedelta()):
        pass


@both_engines
@pytest.mark.parametrize("is_of_another", [False, True])
def test_a_snapshot_is_followed_where_all_before_it_was_cut(hub: Hub, web: Web, is_of_another: bool) -> None:
    """The place of a snapshot is in the log, whatever was cut: else who came back would begin anew for ever."""
    if is_of_another:
        hub.other_project()
    hub.do(cut_whole)
    place = done(web.get("/snapshot", project="default"))["id"]
    token = hub.owner_secret
    with following(hub.url, token, after=place, patches="true", project="default") as stream:
        hub.meet("next")
        assert stream.next().data["agent"] == "next"


@pytest.mark.system
@pytest.mark.parametrize("path", ["/api/v1/snapshot", "/api/v1/replay"])
def test_large_answers_are_the_same_packed_or_not(hub: Hub, web: Web, path: str) -> None:
    """A client without gzip is told the same, however much it is, and either way how long the answer is."""
    for number in range(600):
        hub.send_task(NAME, f"{number}: {uuid4()}")
    texts = []
    for encoding in ("gzip", "identity"):
        asking = http.client.HTTPConnection(urlsplit(hub.url).netloc, timeout=patience())
        with closing(asking):
            headers = {"Authorization": f"Bearer {hub.owner_secret}", "Accept-Encoding": encoding}
            asking.request("GET", path, headers=headers)
            answer = asking.getresponse()
            body = answer.read()
        assert answer.headers["content-length"] == str(len(body))
        assert answer.headers.get("content-encoding", "identity") == encoding
        texts.append(json.loads(gzip.decompress(body) if encoding == "gzip" else body))
    for text in texts:
        text.pop("at", None)
    assert texts[0] == texts[1]
    assert len(body) > SENT
