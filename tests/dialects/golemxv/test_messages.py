"""Messages: who hears what, and how the project's history is read."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from tests.dialects.conftest import both_engines
from tests.dialects.golemxv.callers import Crew, no
from tests.dialects.golemxv.requirements import requires
from tests.dialects.running_hub import Json


@requires("send_message.reply", "send_message.to", "send_message.sender", "get_messages.row",
          "get_messages.reply", "words.numbers", "words.times")  # fmt: skip
def test_a_message_is_kept_to_the_letter(crew: Crew) -> None:
    """A message comes back with its number, sender, receiver, type and time, and its text unchanged."""
    ann = crew.checkin("ann")
    crew.checkin("代码1号")
    text = 'Which files?\n\n  ## 🦊 {"a": 1} \x1b[0m  '

    told = ann.send_message(to="代码1号", content=text)

    assert told == {"sent": True, "id": 1}
    now = f"{datetime.fromtimestamp(crew.hub.clock() / 1000, UTC):%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "002"
    assert crew.viewer().get_messages() == {
        "messages": [{"id": 1, "from": "ann", "to": "代码1号", "type": "text", "content": text, "at": now}],
        "count": 1,
    }
    assert ann.send_message(to="ann", content="c")["id"] == 2


@requires("send_message.type", "get_messages.row")
@pytest.mark.parametrize("kind", ["text", "status", "request", None])
def test_a_message_has_a_type(crew: Crew, kind: str | None) -> None:
    """text, status and request come back as they were given; text is what it is without."""
    ann = crew.checkin("ann")
    ann.send_message(to="ann", content="c", type=kind)
    ann.send_message(to="broadcast", content="b", type=kind)

    assert [row["type"] for row in crew.messages()] == [kind or "text"] * 2


@requires("send_message.broadcast", "get_messages.all", "send_message.sender")
def test_a_broadcast_reaches_all(crew: Crew) -> None:
    """A broadcast shows to all, once, and lies in the inbox of everyone who was ever there, but not of its sender."""
    crew.fleet.online("coder-1")
    crew.checkin("bob").checkout()
    ann = crew.checkin("ann")

    told = ann.send_message(to="broadcast", content="Starting on auth")

    assert [(row["id"], row["from"], row["to"]) for row in crew.messages()] == [(told["id"], "ann", "all")]
    for name in ("coder-1", "bob"):
        (row,) = crew.fleet.inbox(name)
        assert (row["type"], row["content"], row["from_session"]) == ("broadcast", "Starting on auth", "ann")
    assert crew.fleet.inbox("ann") == []


@requires("send_message.type")
@pytest.mark.parametrize(
    ("kind", "letter"), [("status", "message"), ("request", "broadcast"), ("text", "broadcast")]
)
def test_a_status_to_all_is_only_read(crew: Crew, kind: str, letter: str) -> None:
    """Whoever works for broadcasts, as CommHub's agents do, does nothing for it."""
    crew.fleet.online("coder-1")

    crew.checkin("ann").send_message(to="broadcast", content="on auth", type=kind)

    assert [row["type"] for row in crew.fleet.inbox("coder-1")] == [letter]


@requires("send_message.to")
def test_the_word_that_broadcasts_show_is_nobody(crew: Crew) -> None:
    """A message to all, as a broadcast shows, is refused with the word that means it."""
    ann = crew.checkin("ann")

    with crew.unchanged():
        assert no(ann, "send_message", to="all", content="c") == (
            "to: 'all' is how a broadcast shows; 'broadcast' sends to all agents"
        )


@requires("send_message.broadcast")
def test_a_broadcast_may_reach_nobody(crew: Crew) -> None:
    """Where nobody else was ever there a broadcast is kept all the same."""
    crew.checkin("ann").send_message(to="broadcast", content="b")

    assert [row["content"] for row in crew.messages()] == ["b"]


@requires("send_message.unknown", "envelope.clean")
def test_a_stranger_is_refused(crew: Crew) -> None:
    """An agent that the project has never seen gets no message, and the error names it and who is called alike."""
    ann = crew.checkin("anna")

    with crew.unchanged():
        error = no(ann, "send_message", to="ana", content="c")
    assert "'ana'" in error
    assert "anna" in error


@requires("send_message.to")
def test_who_is_gone_still_gets_mail(crew: Crew) -> None:
    """An agent that has checked out, that was only named, or the hub itself, is a legal receiver."""
    crew.checkin("bob").checkout()
    crew.task(to="cyd")
    ann = crew.checkin("ann")

    for name in ("bob", "cyd", "hub"):
        assert ann.send_message(to=name, content="c")["sent"] is True
    assert [row["to"] for row in crew.messages()] == ["hub", "cyd", "bob"]


@requires("get_messages.newest", "get_messages.limit", "words.numbers")
@both_engines
def test_the_newest_come_first(crew: Crew) -> None:
    """Twenty are given without a limit, a hundred at most; they are numbered in their order, also when sent at once."""
    ann = crew.checkin("ann")
    crew.say("ann", *map(str, range(81)))
    ann.at_once("send_message", [{"to": "ann", "content": str(number)} for number in range(20)])

    assert [row["id"] for row in crew.messages()] == [*range(101, 81, -1)]
    assert [row["id"] for row in crew.messages(limit=100)] == [*range(101, 1, -1)]
    assert [row["id"] for row in crew.messages(limit=1)] == [101]
    assert crew.viewer().get_messages(limit=3)["count"] == 3


@requires("get_messages.sender")
def test_messages_of_one_sender(crew: Crew) -> None:
    """`sender` leaves only what that agent has sent; a stranger has sent none."""
    ann, bob = crew.checkin("ann"), crew.checkin("bob")
    ann.send_message(to="bob", content="1")
    bob.send_message(to="ann", content="2")
    ann.send_message(to="broadcast", content="3")

    assert [row["content"] for row in crew.messages(sender="ann")] == ["3", "1"]
    assert [row["content"] for row in crew.messages(sender="ann", limit=1)] == ["3"]
    assert crew.messages(sender="nobody") == []


def _zoned(moment: datetime) -> list[str]:
    """The same moment, spelled in several ways."""
    tokyo = moment.astimezone(timezone(timedelta(hours=9)))
    return [
        f"{moment:%Y-%m-%dT%H:%M:%S}",
        f"{moment:%Y-%m-%d %H:%M:%S}",
        f"{moment:%Y-%m-%dT%H:%M:%S}Z",
        moment.isoformat(),
        tokyo.isoformat(),
        f"{moment:%Y-%m-%dT%H:%M:%S}.000",
    ]


@requires("get_messages.since", "get_messages.exclusive", "get_messages.zone")
@both_engines
def test_messages_since_a_time(crew: Crew) -> None:
    """`since` leaves what was sent after that moment, not in it, in whatever zone it is told; without one it is UTC."""
    crew.later(milliseconds=-crew.hub.clock() % 1000)  # so that it can be told in whole seconds
    ann = crew.checkin("ann")
    ann.send_message(to="ann", content="before")
    crew.later(seconds=1)
    moment = datetime.fromtimestamp(crew.hub.clock() / 1000, UTC)
    ann.send_message(to="ann", content="then")
    crew.later(milliseconds=1)
    ann.send_message(to="ann", content="after")

    for since in _zoned(moment):
        assert [row["content"] for row in crew.messages(since=since)] == ["after"], since
    for since in _zoned(moment - timedelta(seconds=1)):
        assert [row["content"] for row in crew.messages(since=since)] == ["after", "then"], since
    exact = (moment + timedelta(milliseconds=1)).isoformat(timespec="milliseconds")
    assert crew.messages(since=exact) == []


@requires("get_messages.since", "get_messages.exclusive")
@both_engines
def test_reading_on_from_the_last_moment(crew: Crew) -> None:
    """Handing back an `at` gives the messages after that one, also in the same millisecond, and not that again."""
    ann = crew.checkin("ann")
    texts = [str(number) for number in range(4)]
    for text in texts:
        ann.send_message(to="ann", content=text)

    oldest_first = crew.messages()[::-1]
    assert [row["content"] for row in oldest_first] == texts
    for place, row in enumerate(oldest_first):
        newer = [each["content"] for each in crew.messages(since=row["at"])]
        assert newer == texts[:place:-1], row
    assert {datetime.fromisoformat(row["at"]).second for row in oldest_first} == {
        datetime.fromtimestamp(crew.hub.clock() / 1000, UTC).second
    }


@requires("get_messages.since")
@both_engines
@pytest.mark.parametrize(("since", "number"), [("0001-01-01", 1), ("9999-12-31T23:59:59", 0)])
def test_the_ends_of_time(crew: Crew, since: str, number: int) -> None:
    """Since the first day there is everything, since the last nothing."""
    crew.checkin("ann").send_message(to="ann", content="c")

    assert len(crew.messages(since=since)) == number


@requires("get_messages.since", "get_messages.sender", "get_messages.limit")
def test_what_narrows_narrows_together(crew: Crew) -> None:
    """sender, since and limit hold at once."""
    ann, bob = crew.checkin("ann"), crew.checkin("bob")
    ann.send_message(to="bob", content="old")
    moment = datetime.fromtimestamp(crew.hub.clock() / 1000, UTC)
    crew.later(seconds=1)
    for text in ("new", "newer"):
        ann.send_message(to="bob", content=text)
        bob.send_message(to="ann", content="no")

    narrowed: Json = {"sender": "ann", "since": moment.isoformat()}
    assert [row["content"] for row in crew.messages(**narrowed)] == ["newer", "new"]
    assert [row["content"] for row in crew.messages(**narrowed, limit=1)] == ["newer"]


@requires("get_messages.others", "get_messages.all", "words.numbers")
def test_messages_of_other_dialects_are_there(crew: Crew) -> None:
    """CommHub's messages, replies and broadcasts and Relay's are in the history, as text, and numbered on."""
    coder = crew.fleet.online("coder-1")
    coder.send_message(alias="coder-1", message="m")
    coder.broadcast(message="b")
    coder.send_reply(alias="coder-1", text="r")
    lead = crew.team.member("lead")
    lead.send_message(to="coder-1", content="direct")
    lead.send_message(content="to everyone")
    crew.checkin("ann").send_message(to="lead", content="c")

    assert [(row["id"], row["from"], row["to"], row["type"], row["content"]) for row in crew.messages()] == [
        (6, "ann", "lead", "text", "c"),
        (5, "lead", "all", "text", "to everyone"),
        (4, "lead", "coder-1", "text", "direct"),
        (3, "coder-1", "coder-1", "text", "r"),
        (2, "hub", "all", "text", "b"),
        (1, "coder-1", "coder-1", "text", "m"),
    ]


@requires("words.numbers")
@both_engines
def test_numbers_are_counted_per_project(crew: Crew, elsewhere: Crew) -> None:
    """The first message and the first task of each project have the number 1."""
    for place in (crew, elsewhere):
        assert place.checkin("ann").send_message(to="ann", content="c")["id"] == 1
        assert place.task() == 1
        assert [row["id"] for row in place.messages()] == [1]
        assert [row["id"] for row in place.viewer().list_tasks()["tasks"]] == [1]
