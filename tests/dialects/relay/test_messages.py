"""send_message and get_messages: who gets what, in which order, and from where on."""

import re

import pytest

from hubbub.model.people.rights import Role
from tests.dialects.conftest import both_engines
from tests.dialects.relay.callers import Team, no, yes
from tests.dialects.relay.requirements import requires
from tests.dialects.running_hub import Json

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _contents(rows: list[Json]) -> list[str]:
    return [row["content"] for row in rows]


@requires("send_message.reply", "rows.send_message", "get_messages.row", "rows.get_messages", "rows.metadata",
          "send_message.to", "send_message.thread_id", "all.times", "all.ids")  # fmt: skip
def test_a_message_is_sent_and_read(team: Team) -> None:
    """send_message answers the id and the row, and the receiver reads that very row, with all that was said."""
    lead = team.agent("lead")
    lead.start_session(session_id="r")
    metadata = {"kind": "问", "": "empty"}

    sent = yes(lead.send_message(to="代码1号", content="你好\n## 🦊", thread_id="th/1", metadata=metadata))

    assert sent.keys() == {"message_id", "message"}
    assert sent["message"] == {
        "id": sent["message_id"],
        "seq": 1,
        "from_agent": "lead",
        "to_agent": "代码1号",
        "content": "你好\n## 🦊",
        "thread_id": "th/1",
        "metadata": metadata,
        "created_at": team.hub.clock() // 1000,
        "session_id": "r",
    }
    assert UUID.fullmatch(sent["message_id"])
    assert team.mail("代码1号") == [sent["message"]]


@requires("send_message.thread_id", "rows.metadata", "envelope.null")
@pytest.mark.parametrize(
    "nothing", [{}, {"thread_id": None, "metadata": None}, {"thread_id": "", "metadata": {}}]
)
def test_what_is_left_out_is_null(team: Team, nothing: Json) -> None:
    """Without thread and metadata, or with empty ones, the row has null for them."""
    row = yes(team.agent("lead").send_message(content="", to="fe", **nothing))["message"]

    assert (row["content"], row["thread_id"], row["metadata"]) == ("", None, None)


@requires("rows.metadata", "envelope.invalid")
def test_metadata_is_a_json_object(team: Team) -> None:
    """What is no map, or has too many keys, is refused in JSON's words."""
    many = {str(number): "" for number in range(21)}
    given = [{"agent_id": "lead", "content": "", "metadata": each} for each in ("kind", many)]

    answers = [team.agent("lead").ask("send_message", each) for each in given]

    assert answers == [
        ({"success": False, "error": "metadata: must be a valid object"}, True),
        ({"success": False, "error": "metadata: object should have at most 20 items"}, True),
    ]


@requires("get_messages.both", "messages.order", "messages.own", "messages.others", "send_message.to")
@both_engines
def test_who_gets_what(team: Team) -> None:
    """Direct rows and broadcasts come in order; not one's own broadcasts, but what one sent to oneself."""
    lead, fe = team.agent("lead"), team.agent("fe")
    lead.send_message(content="1 to all")
    lead.send_message(content="2 to fe", to="fe")
    fe.send_message(content="3 fe to all", to=None)
    lead.send_message(content="4 to be", to="be")
    fe.send_message(content="5 fe to fe", to="fe")
    fe.send_message(content="6 fe to lead", to="lead")

    assert _contents(team.mail("fe")) == ["1 to all", "2 to fe", "5 fe to fe"]
    assert _contents(team.mail("lead")) == ["3 fe to all", "6 fe to lead"]
    assert _contents(team.mail("be")) == ["1 to all", "3 fe to all", "4 to be"]


@requires("messages.kept", "messages.after_seq")
@both_engines
def test_reading_consumes_nothing(team: Team) -> None:
    """The same call gives the same rows again; after_seq gives those after that one, which it leaves out."""
    for number in range(5):
        team.agent("lead").send_message(content=str(number), to="fe" if number % 2 else None)

    rows = team.mail("fe")

    assert team.mail("fe") == rows
    assert team.mail("fe", after_seq=0) == rows
    for index, row in enumerate(rows):
        assert team.mail("fe", after_seq=row["seq"]) == rows[index + 1 :]


@requires("messages.seq")
@both_engines
def test_seq_rises_strictly(team: Team) -> None:
    """Each of many messages sent at once, to one or to all, has its own seq; they are read in its order."""
    team.begin()
    sent = [{"agent_id": f"fe{n}", "content": str(n), "to": "reader" if n % 2 else None} for n in range(40)]

    answers = team.program().at_once("send_message", sent)

    rows = team.mail("reader")
    assert len(rows) == 40
    assert [row["seq"] for row in rows] == sorted({row["seq"] for row in rows})
    assert {row["id"] for row in rows} == {answer["message_id"] for answer in answers}


@requires("messages.seq", "messages.after_seq")
@both_engines
def test_a_cursor_misses_nothing(team: Team) -> None:
    """A reader that goes on from the last seq, while many send, in the end has read every message once."""
    team.begin()
    reader = team.agent("reader")
    read: list[Json] = []
    sending = [
        team.member(f"fe{n}").soon("send_message", content=f"{n}", to="reader" if n % 2 else None)
        for n in range(30)
    ]

    for each in sending:
        read += yes(reader.get_messages(after_seq=read[-1]["seq"] if read else 0))["messages"]
        yes(each())
    read += yes(reader.get_messages(after_seq=read[-1]["seq"] if read else 0))["messages"]

    assert sorted(map(int, _contents(read))) == list(range(30))


@requires("messages.late")
def test_a_newcomer_gets_earlier_broadcasts(team: Team) -> None:
    """An agent that is first seen after a broadcast, or after a message to its name, reads them all the same."""
    team.agent("lead").send_message(content="to all")
    team.agent("lead").send_message(content="to you", to="newcomer")

    assert _contents(team.mail("newcomer")) == ["to all", "to you"]


@requires("limits.names.awaited", "limits.names")
def test_a_receiver_may_still_come(team: Team) -> None:
    """A well-formed name that nobody has is a legal receiver; one that is not well-formed is if an agent has it."""
    lead = team.agent("lead")
    with team.unchanged():
        assert "to:" in lead.wrong("send_message", content="c", to="Dr. No")["error"]

    team.fleet.online("Dr. No")
    yes(lead.send_message(content="c", to="Dr. No"))
    task = team.task()
    yes(lead.update_task(task_id=task, assignee="Dr. No"))

    assert team.row(task)["assignee"] == team.row(team.task(assignee="Dr. No"))["assignee"] == "Dr. No"
    messages = [row for row in team.fleet.inbox("Dr. No") if row["type"] == "message"]
    assert _contents(messages) == ["c"]
    assert _contents(team.mail("Dr. No")) == ["c"]


@requires("messages.bound", "tokens.bound")
@pytest.mark.parametrize("role", [Role.MEMBER, Role.VIEWER])
def test_mail_is_private(team: Team, role: Role) -> None:
    """A token bound to one agent, a viewer's too, that reads as another: permission denied; an unbound one may."""
    team.agent("lead").send_message(content="secret", to="fe")
    other = team.agent("be", role)

    with team.unchanged():
        assert no(other.get_messages(agent_id="fe")) == "permission denied"
    assert _contents(yes(team.member("fe").get_messages())["messages"]) == ["secret"]


@requires("tokens.viewer_reads")
def test_what_a_viewer_reads_counts_as_unread(team: Team) -> None:
    """A message that only a viewer has read is not noted as seen by its receiver."""
    team.agent("lead").send_message(content="c", to="fe")
    before = team.hub.notified.asked

    assert _contents(yes(team.watcher().get_messages(agent_id="fe"))["messages"]) == ["c"]
    assert team.hub.notified.asked == before
    assert _contents(team.mail("fe")) == ["c"]
    assert team.hub.notified.asked == before + 1
