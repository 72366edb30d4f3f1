"""Live events over SSE: what the followers of an inbox are told, in which frames, and what they missed."""

from datetime import timedelta

import httpx2
import pytest

from hubbub.model.people.rights import Role
from hubbub.serve.live import sse
from tests.dialects.commhub.callers import Fleet, Frames
from tests.dialects.commhub.requirements import requires
from tests.dialects.conftest import both_engines
from tests.dialects.running_hub import NO_TLS
from tests.support.waiting import patience


def _denied(fleet: Fleet, name: str, secret: str | None, query: str = "") -> int:
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    url = f"{fleet.hub.url}/events/{name}{query}"
    return httpx2.get(url, headers=headers, timeout=patience(), verify=NO_TLS).status_code


@requires("events.unnamed", "events.connected", "events.names", "words.names")
@pytest.mark.parametrize("name", ["代码1号", "coder 1", "a/b", "100%?#&=;+", "Ünïcode 🦊", "می\u200cروم"])
def test_a_stream_says_hello(fleet: Fleet, name: str) -> None:
    """The first frame is connected, with the name and the network; frames have an id and data, and no name."""
    fleet.online(name)

    with fleet.events(name) as frames:  # which compares the first frame
        assert frames.fields == ["id", "data"]
        assert int(frames.last_id) > 0
        fleet.program().send_message(alias=name, message="m")
        frames.next()
        assert frames.fields == ["id", "data"]


@requires("events.new_task", "send_task.event", "retry_task.event", "reassign_task.event")
@both_engines
def test_a_new_task_is_heard_of(fleet: Fleet) -> None:
    """A task that is sent, retried or reassigned is a new_task to who gets it: inbox_count, priority, from, task_id."""
    fleet.online("coder-1")
    fleet.online("coder-2")
    boss = fleet.agent("commander")

    with fleet.events("coder-1") as first, fleet.events("coder-2") as second:
        boss.send_message(alias="coder-1", message="m")
        assert first.next()["type"] == "new_message"
        task_id = boss.send_task(alias="coder-1", task="t", priority="high")["message_id"]
        told = {
            "type": "new_task",
            "inbox_count": 2,
            "priority": "high",
            "from": "commander",
            "task_id": task_id,
        }
        assert first.next() == told

        fleet.program().reassign_task(task_id=task_id, new_alias="coder-2")
        assert second.next() == {**told, "inbox_count": 1}

        fleet.agent("coder-2").send_reply(alias="commander", text="no", in_reply_to=task_id, status="failed")
        fleet.program().retry_task(task_id=task_id)
        assert second.next() == {**told, "inbox_count": 1}


@requires("events.new_message", "events.broadcast")
def test_messages_and_broadcasts_are_heard_of(fleet: Fleet) -> None:
    """A message is new_message with from and message_id, the id in the inbox; a broadcast is told with inbox_count."""
    fleet.online("coder-1")

    with fleet.events("coder-1") as frames:
        sent = fleet.agent("指挥室").send_message(alias="coder-1", message="m")
        assert frames.next() == {"type": "new_message", "from": "指挥室", "message_id": sent["message_id"]}
        fleet.program().broadcast(message="b")
        assert frames.next() == {"type": "broadcast", "inbox_count": 2}


@requires("events.new_reply")
@pytest.mark.parametrize("status", ["replied", "failed", "cancelled"])
def test_a_reply_is_heard_of(fleet: Fleet, status: str) -> None:
    """A reply is new_reply, with what it answers and how that ended, to who asked for it."""
    coder = fleet.online("coder-1")
    with fleet.events("commander") as frames:
        task_id = fleet.agent("commander").send_task(alias="coder-1", task="t")["message_id"]
        sent = coder.send_reply(alias="commander", text="r", in_reply_to=task_id, status=status)
        assert frames.next() == {
            "type": "new_reply",
            "from": "coder-1",
            "message_id": sent["message_id"],
            "in_reply_to": task_id,
            "status": status,
        }
        coder.send_reply(alias="commander", text="r")
        unlinked = frames.next()
        assert (unlinked["in_reply_to"], unlinked["status"]) == (None, "replied")


@requires("events.chained_reply", "report_completion.chains", "life.chain")
@pytest.mark.parametrize("how", ["report_completion", "send_reply"])
@both_engines
def test_a_chained_reply_is_heard_of(fleet: Fleet, how: str) -> None:
    """The end of a child is told to the parent's originator: parent_task_id, child_task_id, child_alias."""
    lead, coder = fleet.online("lead"), fleet.online("coder-1")
    with fleet.events("commander") as frames:
        parent = fleet.agent("commander").send_task(alias="lead", task="whole")["message_id"]
        child = lead.send_task(alias="coder-1", task="part", parent_task_id=parent)["message_id"]
        if how == "send_reply":
            coder.send_reply(alias="lead", text="r", in_reply_to=child)
        else:
            coder.report_completion(alias="coder-1", task=child, result="r")

        told = [frames.next() for _ in range(2)]
        assert {
            "type": "new_reply",
            "from": "coder-1",
            "in_reply_to": parent,
            "status": "replied",
            "child_task_id": child,
        }.items() <= next(each for each in told if each["type"] == "new_reply").items()
        assert {
            "type": "chained_reply",
            "parent_task_id": parent,
            "child_task_id": child,
            "child_alias": "coder-1",
        } in told


@requires("events.replay")
@both_engines
def test_what_was_missed_comes_after_the_last_id(fleet: Fleet) -> None:
    """A follower that comes back with the id it saw last gets what it missed, in order, once, and then what is new."""
    fleet.online("coder-1")
    program = fleet.program()
    with fleet.events("coder-1") as frames:
        hello = frames.last_id
        program.send_message(alias="coder-1", message="0")
        seen = frames.next()
        first = frames.last_id
    missed = [program.send_message(alias="coder-1", message=str(n))["message_id"] for n in range(1, 4)]
    program.send_message(alias="hub", message="not for it")

    with fleet.events("coder-1", after=first) as frames:
        assert [frames.next()["message_id"] for _ in missed] == missed
        new = program.send_message(alias="coder-1", message="new")["message_id"]
        assert frames.next()["message_id"] == new
    with fleet.events("coder-1", after=hello) as frames:
        assert frames.next() == seen


@requires("events.committed", "events.private")
@both_engines
def test_only_what_happened_is_heard_of(fleet: Fleet, elsewhere: Fleet) -> None:
    """Refused calls, other inboxes, other networks and one's own acknowledgements are not heard of."""
    coder = fleet.online("coder-1")
    fleet.online("coder-2")
    elsewhere.online("coder-1")
    program = fleet.program()

    with fleet.events("coder-1") as frames:
        program.send_task(alias="coder-1", task="t", parent_task_id="none")
        program.wrong("send_task", alias="coder-1", task="t" * 10_001)
        fleet.program(Role.VIEWER).send_message(alias="coder-1", message="m")
        fleet.agent("coder-2").send_message(alias="coder-1", message="m", from_session="commander")
        program.send_message(alias="coder-2", message="m")
        elsewhere.program().send_message(alias="coder-1", message="m")
        sent = program.send_message(alias="coder-1", message="the only one")
        coder.ack_inbox(alias="coder-1", message_id=sent["message_id"])
        last = program.send_message(alias="coder-1", message="the end")

        assert frames.next()["message_id"] == sent["message_id"]
        assert frames.next()["message_id"] == last["message_id"]


@requires("events.private", "tokens.foreign")
def test_an_inbox_is_followed_by_those_who_may_read_it(fleet: Fleet, elsewhere: Fleet) -> None:
    """Its own agent, unbound tokens and people of the network may; a token of another agent or network may not."""
    fleet.online("coder-1")
    person = fleet.person((fleet.project, Role.VIEWER))

    for secret in (fleet.token(), fleet.token(role=Role.VIEWER), fleet.token("coder-1"), person.secret):
        with fleet.events("coder-1", secret) as frames:
            fleet.program().send_message(alias="coder-1", message="m")
            assert frames.next()["type"] == "new_message"
    assert _denied(fleet, "coder-1", fleet.token("coder-2")) == 403
    assert _denied(fleet, "coder-1", elsewhere.token()) == 404
    assert _denied(fleet, "nobody", fleet.token()) == 404


@requires("events.person")
def test_a_person_follows_their_own_name(fleet: Fleet) -> None:
    """Name in the address may be a username: what is written to that name is heard of there."""
    person = fleet.person((fleet.project, Role.MEMBER))
    row = fleet.hub.look(lambda tx: tx.one("SELECT name FROM users ORDER BY id DESC LIMIT 1"))
    assert row is not None
    name = row["name"]

    with fleet.events(name, person.secret) as frames:
        fleet.online(name)
        fleet.program().send_message(alias=name, message="m")
        assert frames.next()["type"] == "new_message"


@requires("tokens.network_id", "events.person")
@both_engines
def test_a_person_follows_an_inbox_of_one_network(fleet: Fleet, elsewhere: Fleet) -> None:
    """With network_id in the address, a person hears of the inbox in that network only; of another's, it is refused."""
    person = fleet.person((fleet.project, Role.MEMBER), (elsewhere.project, Role.MEMBER))
    for each in (elsewhere, fleet):
        each.online("coder-1")

    with fleet.events("coder-1", person.secret, network_id=fleet.network_id) as frames:
        elsewhere.program().broadcast(message="elsewhere")
        fleet.program().send_message(alias="coder-1", message="here")
        assert frames.next()["type"] == "new_message"

    foreign = f"?network_id={elsewhere.network_id}"
    assert _denied(fleet, "coder-1", fleet.program().secret, foreign) == 404


@requires("life.hub_receives", "events.new_reply")
def test_the_mail_of_hub_is_heard_of(fleet: Fleet) -> None:
    """Mail for hub, which is nobody in particular, may be followed by unbound tokens and people."""
    fleet.online("coder-1")
    task_id = fleet.program().send_task(alias="coder-1", task="t")["message_id"]

    with fleet.events("hub", fleet.program().secret) as frames:
        fleet.agent("coder-1").report_completion(alias="coder-1", task=task_id, result="r")
        told = frames.next()
    assert (told["type"], told["from"], told["in_reply_to"]) == ("new_reply", "coder-1", task_id)


@requires("events.keep_alive")
def test_a_silent_stream_is_kept_alive(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every 30 seconds a comment comes, so that nothing on the way takes the line for dead."""
    assert timedelta(seconds=30) == sse.KEEP_ALIVE
    monkeypatch.setattr(sse, "KEEP_ALIVE", timedelta(milliseconds=5))
    fleet.online("coder-1")

    with fleet.events("coder-1") as frames:
        assert [line for line, _ in zip(frames.lines, range(4), strict=False)] == [":", "", ":", ""]


@requires("inbox.offline_told", "inbox.ten_minutes")
@both_engines
def test_an_absence_is_told_to_who_follows_the_network(fleet: Fleet) -> None:
    """A follower of the whole network hears that an agent came, left, or fell silent."""
    headers = {"Authorization": f"Bearer {fleet.program().secret}"}
    with httpx2.stream(
        "GET", f"{fleet.hub.url}/events", headers=headers, timeout=patience(), verify=NO_TLS
    ) as response:
        frames = Frames(response)
        next(frames.lines)  # the stream is open
        fleet.online("coder-1")
        fleet.later(minutes=10)
        assert fleet.row("coder-1")["status"] == "offline"
        told = iter(frames.next, None)
        kinds = [
            next(each for each in told if each["kind"] == kind) for kind in ("agent.checkin", "agent.timeout")
        ]
    assert [each["agent"] for each in kinds] == ["coder-1", "coder-1"]
    assert kinds[1]["detail"]["reason"] == "silent"


@requires("transport.query_token", "transport.unauthorized")
def test_a_token_may_stand_in_the_query_of_a_stream_only(fleet: Fleet) -> None:
    """EventSource cannot set headers, so a stream takes ?token=; a bad one, or none, is 401; nothing else takes it."""
    fleet.online("coder-1")
    secret = fleet.token("coder-1")

    with httpx2.stream(
        "GET", f"{fleet.hub.url}/events/coder-1?token={secret}", timeout=patience(), verify=NO_TLS
    ) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
    assert _denied(fleet, "coder-1", None) == 401
    assert _denied(fleet, "coder-1", None, "?token=ntok_00000000000000000000000000000000") == 401
    posted = httpx2.post(f"{fleet.hub.url}/mcp?token={secret}", json={}, timeout=patience(), verify=NO_TLS)
    assert posted.status_code == 401


@requires("tokens.revoked")
def test_a_stream_ends_with_its_token(fleet: Fleet) -> None:
    """When the token of an open stream is revoked, the stream ends, after what had happened before."""
    fleet.online("coder-1")
    secret = fleet.token("coder-1", ttl=timedelta(days=1))

    with fleet.events("coder-1", secret) as frames:
        fleet.program().send_message(alias="coder-1", message="last")
        assert frames.next()["type"] == "new_message"
        fleet.revoke(secret)
        with pytest.raises(EOFError):
            frames.next()


@requires("life.back_again", "inbox.ten_minutes")
@both_engines
def test_redelivered_work_is_heard_of(fleet: Fleet) -> None:
    """Work that comes again to an agent that was gone is a new_task to it."""
    coder = fleet.online("coder-1")
    task_id = fleet.agent("commander").send_task(alias="coder-1", task="t")["message_id"]
    coder.ack_inbox(alias="coder-1", message_id=task_id)
    fleet.later(minutes=10)

    with fleet.events("coder-1") as frames:
        fleet.online("coder-1")
        told = frames.next()
    assert (told["type"], told["task_id"], told["inbox_count"]) == ("new_task", task_id, 1)
