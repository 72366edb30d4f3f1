"""Live events, through real HTTP."""

import asyncio
import socket
from collections import deque
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from queue import Queue
from urllib.parse import quote, urlsplit

import httpx2
import pytest

from hubbub.core.mail import messages
from hubbub.core.people import access
from hubbub.core.snapshots import keyframes
from hubbub.model.people.rights import Role
from hubbub.model.programs.proxy_trust import authorities
from hubbub.model.records import Activity
from hubbub.serve.background.log_retention import LogRetention
from hubbub.serve.live import sse
from hubbub.serve.live.delivery_receipts import DeliveryReceipts
from hubbub.store.log import activity as log_of
from hubbub.store.tx import Tx
from tests.serve.conftest import both_engines
from tests.serve.live.event_streams import following
from tests.serve.served_hub import Hub, running_hub
from tests.support.waiting import patience

NAME = "代码1号"


def inbox_of(name: str) -> str:
    return f"/events/{quote(name, safe='')}"


def cut_log(hub: Hub) -> None:
    """Forget everything that has happened in the project up to now."""

    def take_anew(tx: Tx) -> None:
        tx.run("DELETE FROM keyframes")
        keyframes.keep(tx, keyframes.take_keyframe(tx, hub.project.id))
        keyframes.forget(tx, timedelta())

    hub.do(take_anew)


def get(hub: Hub, path: str, secret: str | None = None, **headers: str) -> httpx2.Response:
    bearer = {"Authorization": f"Bearer {secret}"} if secret else {}
    with httpx2.Client(
        base_url=hub.url, timeout=patience(10), verify=authorities(hub.url), trust_env=False
    ) as http:
        return http.get(path, headers={**bearer, **headers})


@both_engines
def test_the_project_stream_tells_everything(hub: Hub) -> None:
    """`/events` tells each activity with its id, kind, time, actor, agent, task, message and detail."""
    with following(hub.url, hub.token()) as stream:
        hub.meet(NAME)
        task_id = hub.send_task(NAME)
        met, sent = stream.next(), stream.next()
    assert (met.data["kind"], met.data["agent"]) == ("agent.met", NAME)
    assert sent.data["kind"] == "task.sent"
    assert sent.data["task_id"] == task_id
    assert sent.data["id"] == sent.id > met.id
    assert sent.data.keys() == {"id", "kind", "at", "actor", "agent", "task_id", "message_id", "detail"}


def test_the_project_stream_is_of_one_project(hub: Hub) -> None:
    """A token hears of its own project only; a person of all of theirs, or of the one named by `?project=`."""
    other = hub.other_project()
    with (
        following(hub.url, hub.token()) as bound,
        following(hub.url, hub.owner_secret) as person,
        following(hub.url, hub.owner_secret, project="elsewhere") as named,
    ):
        hub.do(lambda tx: tx.record("there", project_id=other.id))
        hub.do(lambda tx: tx.record("here", project_id=hub.project.id))
        assert bound.next().data["kind"] == "here"
        assert [person.next().data["kind"] for _ in range(2)] == ["there", "here"]
        assert named.next().data["kind"] == "there"


def test_the_project_stream_can_be_narrowed_to_an_agent(hub: Hub) -> None:
    """`?agent=` leaves only what concerns that agent."""
    hub.meet("a")
    hub.meet("b")
    with following(hub.url, hub.token(), agent="b") as stream:
        hub.send_task("a")
        task_id = hub.send_task("b")
        assert stream.next().data["task_id"] == task_id


def test_the_project_stream_can_be_narrowed_to_kinds(hub: Hub) -> None:
    """`?kind=`, once or more, leaves only what is of those kinds."""
    kinds = ("area.put", "run.noted", "area.put", "todo.written")
    with following(hub.url, hub.token(), "/events?kind=todo.written&kind=run.noted") as stream:
        hub.do(lambda tx: [tx.record(kind, project_id=hub.project.id) for kind in kinds])
        assert [stream.next().data["kind"] for _ in range(2)] == ["run.noted", "todo.written"]


@pytest.mark.parametrize(
    ("kind", "instead"),
    [("task.zz", "of task there are task.accepted, "), ("zzz", "as task.completed"), ("task.*", "task.sent"), ("", "")],
)  # fmt: skip
def test_a_kind_that_is_none_is_refused(hub: Hub, kind: str, instead: str) -> None:
    """A `kind` of which nothing can ever happen is a 400, which says what there is instead."""
    response = get(hub, f"/events?kind=task.sent&kind={kind}", hub.token())
    assert (response.status_code, response.json()["error"]) == (400, "invalid")
    assert f"there is no kind '{kind}': " in response.json()["message"]
    assert instead in response.json()["message"]


def test_a_project_of_others_is_not_found(hub: Hub) -> None:
    """Asking for a project that is not one's own is a 404."""
    hub.other_project()
    response = get(hub, "/events?project=elsewhere", hub.token())
    assert (response.status_code, response.json()["error"]) == (404, "project_denied")


def test_an_inbox_stream_greets(hub: Hub) -> None:
    """The first frame of an inbox stream says whose it is and of which network; the name may be of any script."""
    hub.meet(NAME)
    with following(hub.url, hub.token(NAME), inbox_of(NAME)) as stream:
        network = f"net_{hub.project.id.hex[-12:]}"
        assert stream.next().data == {"type": "connected", "session": NAME, "network_id": network}


@both_engines
def test_an_inbox_stream_tells_what_comes_into_the_inbox(hub: Hub) -> None:
    """Tasks, messages and replies to the agent are told in CommHub's words; nothing of what comes to others is."""
    for name in (NAME, "boss"):
        hub.meet(name)
    project_id = hub.project.id
    with following(hub.url, hub.token(), inbox_of(NAME)) as stream:
        stream.next()
        hub.send_task("boss")
        task_id = hub.send_task(NAME)
        hub.do(lambda tx: messages.send(tx, project_id, sender="boss", to=NAME, body="hello"))
        task, message = stream.next().data, stream.next().data
    assert task == {
        "type": "new_task",
        "inbox_count": task["inbox_count"],
        "priority": "normal",
        "from": "hub",
        "task_id": task_id,
    }
    assert task["inbox_count"] in (1, 2)  # the message may have come before it was counted
    assert (message["type"], message["from"]) == ("new_message", "boss")


def test_a_persons_inbox_can_be_followed_by_their_username(hub: Hub) -> None:
    """A person may follow the inbox of their own username, also before anybody wrote to it."""
    with following(hub.url, hub.owner_secret, "/events/owner") as stream:
        assert stream.next().data["session"] == "owner"


def test_an_inbox_of_another_agent_is_forbidden(hub: Hub) -> None:
    """A token bound to one agent may not follow another's inbox, whether there is such an agent or not."""
    hub.meet("other")
    for name in ("other", "nobody"):
        assert get(hub, inbox_of(name), hub.token("me")).status_code == 403


def test_an_inbox_of_nobody_is_not_found(hub: Hub) -> None:
    """The inbox of a name that the project has never seen is a 404 with a JSON body."""
    response = get(hub, inbox_of("nobody"), hub.token())
    assert (response.status_code, response.json()["error"]) == (404, "not_found")


def test_the_token_may_come_in_the_query(hub: Hub) -> None:
    """On an event stream, and nowhere else, the token may be given as `?token=`."""
    with following(hub.url, None, token=hub.token()) as stream:
        hub.meet("a")
        assert stream.next().data["kind"] == "agent.met"
    assert get(hub, f"/api/v1/me?token={hub.token()}").status_code == 401


@both_engines
def test_who_comes_back_gets_what_it_missed(hub: Hub) -> None:
    """With `Last-Event-ID`, as a header or in the query, a client gets each frame after that one exactly once."""
    hub.meet(NAME)
    secret = hub.token()
    with following(hub.url, secret, inbox_of(NAME)) as stream:
        stream.next()
        first = hub.send_task(NAME)
        seen = stream.next()
        assert seen.data["task_id"] == first
    missed = [hub.send_task(NAME) for _ in range(5)]
    for how in ({"after": seen.id}, {"last_event_id": str(seen.id)}):
        with following(hub.url, secret, inbox_of(NAME), **how) as stream:
            stream.next()
            last = hub.send_task(NAME)
            told = [frame["task_id"] for frame in stream.until(task_id=last)]
        missed.append(last)
        assert told == missed


def test_who_left_before_anything_happened_misses_nothing(hub: Hub) -> None:
    """The greeting carries an id too, so that a client that was cut off right after it gets what came since."""
    hub.meet("a")
    with following(hub.url, hub.token(), inbox_of("a")) as stream:
        greeting = stream.next()
    task_id = hub.send_task("a")
    with following(hub.url, hub.token(), inbox_of("a"), after=greeting.id) as stream:
        stream.next()
        assert stream.next().data["task_id"] == task_id


def test_replay_from_the_beginning(hub: Hub) -> None:
    """After the id 0 the whole log is told."""
    hub.meet("a")
    with following(hub.url, hub.token(), after=0) as stream:
        assert stream.next().data["kind"] == "project.created"


@pytest.mark.parametrize("query", [{}, {"patches": "true"}])
def test_an_id_that_is_unknown_resets_and_begins_now(hub: Hub, query: dict[str, str]) -> None:
    """After an id that the log does not hold (any more) the stream says `reset`, and goes on from now."""
    hub.meet("a")
    with following(hub.url, hub.token(), after=10**12, **query) as stream:
        hub.meet("b")
        assert stream.next().data["kind"] == "reset"
        assert stream.next().data["agent"] == "b"


@both_engines
@pytest.mark.parametrize("query", [{}, {"project": "default"}, {"patches": "true"}])
def test_what_was_cut_out_of_the_log_is_not_passed_over_in_silence(hub: Hub, query: dict[str, str]) -> None:
    """After an id that the log still holds, while something that followed is gone, the stream says `reset` too."""
    hub.do(lambda tx: tx.record("user.created", project_id=None))  # of no project, so it is not cut with one
    before = hub.do(log_of.head)
    hub.meet("missed")
    cut_log(hub)
    hub.meet("held")
    assert hub.do(lambda tx: log_of.position_of(tx, before.seq)) == before

    with following(hub.url, hub.owner_secret, after=before.seq, **query) as stream:
        hub.meet("next")
        assert stream.next().data["kind"] == "reset"
        assert stream.next().data["agent"] == "next"


@both_engines
def test_a_log_that_was_cut_goes_on_from_what_it_holds(hub: Hub) -> None:
    """After the id 0, and after one since which nothing was cut, the stream tells what there is."""
    hub.meet("missed")
    hub.do(lambda tx: tx.record("user.created", project_id=None))
    cut_log(hub)
    hub.meet("held")
    held = hub.do(log_of.head)
    hub.meet("last")
    with following(hub.url, hub.owner_secret, after=held.seq) as stream:
        assert stream.next().data["agent"] == "last"
    with following(hub.url, hub.owner_secret, after=0) as stream:
        assert [stream.next().data["agent"] for _ in range(2)] == ["held", "last"]


def test_a_project_older_than_pictures_is_told_whole(hub: Hub) -> None:
    """Where the log is whole, who comes back gets what it missed, though its first picture was taken later."""
    hub.meet("seen")
    seen = hub.do(log_of.head)
    hub.meet("missed")
    hub.do(lambda tx: tx.run("DELETE FROM keyframes"))
    asyncio.run(LogRetention(hub.store, None).keep())
    with following(hub.url, hub.owner_secret, after=seen.seq) as stream:
        assert stream.next().data["agent"] == "missed"
    with following(hub.url, hub.owner_secret, after=seen.seq, patches="true") as stream:
        assert stream.next().data["kind"] == "reset"


def test_patches_are_told_to_whoever_asks(hub: Hub) -> None:
    """With `patches=true` each frame says what the activity made of the picture; streams without stay as they are."""
    token = hub.token()
    with (
        following(hub.url, token, patches="true") as patched,
        following(hub.url, token) as plain,
    ):
        hub.meet(NAME)
        hub.do(lambda tx: tx.record("nothing.shown", project_id=hub.project.id))
        met, other = patched.next().data, patched.next().data
        assert "patch" not in plain.next().data
    assert met["patch"]["agents"][NAME]["condition"] == "offline"
    assert other["patch"] is None


def test_patches_is_yes_or_no(hub: Hub) -> None:
    """Anything else than true or false is a 400 that says so."""
    response = get(hub, "/events?patches=maybe", hub.token())
    assert (response.status_code, response.json()["error"]) == (400, "invalid")


@pytest.mark.parametrize("nonsense", ["abc", "-1", "9" * 30, "١٢"])
def test_an_id_that_is_no_number_is_refused(hub: Hub, nonsense: str) -> None:
    """A last event id that cannot be one is a 400 that says so."""
    response = get(hub, f"/events?last_event_id={quote(nonsense)}", hub.token())
    assert (response.status_code, response.json()["error"]) == (400, "invalid")


def test_letters_told_are_noted_as_notified(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """News told to a follower of an inbox is noted as notified; other news is not."""
    noted: Queue[Activity] = Queue()
    monkeypatch.setattr(DeliveryReceipts, "note", lambda _self, activities: deque(map(noted.put, activities)))
    hub.meet("a")
    with following(hub.url, hub.token(), inbox_of("a")) as stream:
        stream.next()
        done = hub.send_task("a")
        hub.cancel_task(done)  # concerns the agent, but puts nothing into its inbox
        told = hub.send_task("a")
        stream.until(task_id=told)
        assert [str(noted.get(timeout=patience(10)).task_id) for _ in range(2)] == [done, told]


@both_engines
def test_a_stream_ends_when_its_token_is_revoked(hub: Hub) -> None:
    """Revoking a token ends the streams it opened, and what happens afterwards is not told there."""
    secret = hub.token()
    with following(hub.url, secret) as stream:
        hub.meet("before")
        assert stream.next().data["agent"] == "before"
        hub.revoke(secret)
        hub.meet("after")
        assert "after" not in [frame["agent"] for frame in stream.rest()]


def test_a_stream_ends_when_its_token_expires(hub: Hub, expiring: Callable[[timedelta], str]) -> None:
    """A stream lasts no longer than its token is valid."""
    with following(hub.url, expiring(timedelta(seconds=patience(0.5)))) as stream:
        assert [frame["kind"] for frame in stream.rest()] == []


def test_streams_end_when_the_hub_stops(tmp_path: Path) -> None:
    """A hub that stops ends its streams properly, rather than cutting them off."""
    with running_hub(tmp_path / "hub") as hub, following(hub.url, hub.token()) as stream:
        hub.meet("a")
        stream.until(kind="agent.met")
        hub.served.stop()
        stream.rest()


def test_a_comment_keeps_an_idle_stream_alive(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """An idle stream says something now and then, in a line that clients pass over."""
    monkeypatch.setattr(sse, "KEEP_ALIVE", timedelta(milliseconds=10))
    with following(hub.url, hub.token()) as stream:
        lines = stream.response.iter_lines()
        assert [next(lines) for _ in range(6)][2::2] == [":", ":"]


def test_head_and_options(hub: Hub) -> None:
    """HEAD answers with the headers of the stream and no stream; OPTIONS names the methods; others are a 405."""
    headers = {"Authorization": f"Bearer {hub.token()}"}
    with httpx2.Client(
        base_url=hub.url, headers=headers, timeout=patience(10), verify=authorities(hub.url), trust_env=False
    ) as http:
        head, options, post = http.head("/events"), http.options("/events"), http.post("/events")
    assert (head.status_code, head.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    assert (options.status_code, options.headers["allow"]) == (204, "GET, HEAD, OPTIONS")
    assert (post.status_code, post.json()["error"]) == (405, "method_not_allowed")


@pytest.mark.system
def test_a_reader_that_reads_nothing_holds_up_nobody(hub: Hub) -> None:
    """However long a reader takes nothing, others hear at once; and it gets everything when it reads again."""
    address = urlsplit(hub.url)
    number, text = 300, "x" * 20_000
    with socket.create_connection((address.hostname, address.port), timeout=patience(10)) as stuck:
        request = (
            f"GET /events HTTP/1.1\r\nHost: {address.netloc}\r\nAuthorization: Bearer {hub.token()}\r\n\r\n"
        )
        stuck.sendall(request.encode())
        assert stuck.recv(12) == b"HTTP/1.1 200"
        with following(hub.url, hub.token()) as quick:
            for each in range(number):
                hub.do(
                    lambda tx, each=each: tx.record(
                        f"k{each}", project_id=hub.project.id, detail={"text": text}
                    )
                )
            kinds = [frame["kind"] for frame in quick.until(kind=f"k{number - 1}")]
        assert kinds == [f"k{each}" for each in range(number)]
        received = b""
        while f'"kind":"k{number - 1}"'.encode() not in received:
            received += stuck.recv(1 << 20)
    assert [received.count(f'"kind":"k{each}",'.encode()) for each in range(number)] == [1] * number


def test_viewers_may_follow(hub: Hub) -> None:
    """Following changes nothing, so a viewer may."""
    secret = hub.token(role=Role.VIEWER)
    with following(hub.url, secret) as stream:
        hub.do(lambda tx: access.speak(tx, hub.project.id, "somebody"))
        assert stream.next().data["agent"] == "somebody"
