"""`inbox` and `send`: mail."""

from datetime import timedelta

import pytest

from hubbub.core.people import members
from hubbub.model.mail.wakes import WakeResult
from hubbub.model.people.rights import Role
from tests.dialects.conftest import both_engines
from tests.dialects.every_row import every_row
from tests.dialects.own_tongue.requirements import requires
from tests.dialects.own_tongue.team import NOWHERE, Team
from tests.dialects.running_hub import Json

UNCLEAR: list[tuple[Json, str]] = [
    ({"kind": "message"}, "to is missing: say who gets it, or everyone"),
    ({"kind": "reply", "to": "ember"}, "reply_to is missing: say which message or task you answer"),
    (
        {"kind": "broadcast", "to": "ember"},
        "a broadcast is to everyone: leave `to` out, or send a message",
    ),
    ({"kind": "task", "text": " "}, "text: must say what to do"),
    ({"to": "ember", "text": ""}, "text: must say something"),
    ({"to": "everyone", "text": "\n"}, "text: must say something"),
    ({"to": "ember", "done_when": ["commit"]}, "done_when is of a task: say kind='task'"),
    (
        {
            "to": "ember",
            "title": "x",
            "priority": "high",
            "needs": [],
            "area": "a",
            "expires_in": 9,
            "anyway": True,
        },
        "title, priority, needs, area, expires_in, anyway are of a task: say kind='task'",
    ),
    ({"to": "all"}, "no agent is called 'all'; to write to each of them, say to='everyone'"),
    (
        {"kind": "task", "to": "broadcast"},
        "no agent is called 'broadcast'; to write to each of them, say to='everyone'",
    ),
]


@requires("inbox.letters", "send.message")
def test_a_letter(team: Team) -> None:
    """A message comes with its id, its kind, who sent it, its text and when; a task with its priority as well."""
    ada = team.joined("ada")
    team.joined("ember")
    sent_at = team.hub.clock()
    assert ada.send(to="ember", text="hello 🦊")["id"] == "M-1"
    team.work("Write the docs\nall of them", by="ada", to="ember", priority="high")
    team.later(seconds=5)

    times = {"stored_at": sent_at, "seen_at": sent_at + 5_000}
    assert team.mail("ember") == [
        {
            "id": "T-1", "kind": "task", "from": "ada", "text": "Write the docs\nall of them", "priority": "high",
            **times,
        },
        {"id": "M-1", "kind": "message", "from": "ada", "text": "hello 🦊", **times},
    ]  # fmt: skip


@requires("inbox.again", "inbox.ack")
@both_engines
def test_mail_comes_again_until_it_is_acknowledged(team: Team) -> None:
    """An unacknowledged letter is there the next time; an acknowledged one is not; repeating that changes nothing."""
    ada, ember = team.joined("ada"), team.joined("ember")
    for text in ("one", "two", "three", "four"):
        ada.send(to="ember", text=text)

    def texts(**said: object) -> list[str]:
        return [each["text"] for each in team.mail("ember", **said)]

    assert texts(limit=2) == ["one", "two"]
    assert ember.inbox(limit=2)["more"] == 2
    assert texts(ack=["M-1"], limit=1) == ["two"]
    assert ember.inbox(ack="all", limit=1)["acked"] == 1
    assert texts(ack="M-1") == ["three", "four"]
    assert texts(ack=["all"]) == []


@requires("inbox.ack_task")
def test_a_task_that_is_acknowledged_is_accepted(team: Team) -> None:
    """Acknowledging a task means saying yes to it."""
    ref = team.work(to="ember", by="ember")
    team.agent("ember").inbox(ack=[ref])
    assert team.task(ref).status == "accepted"


@requires("inbox.ack_foreign")
def test_what_is_not_ones_own_cannot_be_acknowledged(anywhere: Team) -> None:
    """The letter of somebody else, or of nobody, is refused, and with it the whole call."""
    ada = anywhere.joined("ada")
    ember = anywhere.joined("ember")
    anywhere.joined("bob")
    ada.send(to="ember", text="mine")
    ada.send(to="bob", text="his")
    anywhere.work(to="bob")
    with every_row() as row, anywhere.unchanged():
        for ref in ("M-2", "T-1", "M-9", NOWHERE, "nonsense"):
            with row(ref):
                refused = ember.wrong("inbox", ack=["M-1", ref])
                assert refused["error"] == "not_found"
                assert repr(ref) in refused["message"]
    assert [each["id"] for each in anywhere.mail("ember")] == ["M-1"]


@requires("inbox.ack")
@both_engines
def test_a_broadcast_is_acknowledged_by_each(team: Team) -> None:
    """Each receiver of one message has a letter of its own."""
    ada, ember, bob = team.joined("ada"), team.joined("ember"), team.joined("bob")
    ada.send(to="everyone", text="hi")
    ember.inbox(ack=["M-1"])
    assert team.mail("ember") == []
    assert [each["id"] for each in bob.inbox()["letters"]] == ["M-1"]


@requires("inbox.wait")
@both_engines
def test_waiting(team: Team) -> None:
    """A waiting agent is woken by a message and by a task, and not by what it has seen before."""
    ada, ember = team.joined("ada"), team.joined("ember")
    ada.send(to="ember", text="old")
    ember.inbox()
    for sent in ({"text": "new"}, {"text": "work", "kind": "task"}):
        waiting = ember.soon("inbox", wait=45)
        team.hub.followers.wait_for(1, team.project)
        ada.send(to="ember", **sent)
        assert sent["text"] in [each["text"] for each in waiting()["letters"]]
        team.hub.followers.wait_for(0, team.project)


@requires("inbox.wait")
def test_waiting_ends(anywhere: Team) -> None:
    """When nothing comes the call ends in time, with what was there before; when something is new it does not wait."""
    ada, ember = anywhere.joined("ada"), anywhere.joined("ember")
    assert ember.inbox(wait=1) == {"letters": []}
    ada.send(to="ember", text="old")
    assert len(ember.inbox(wait=45)["letters"]) == 1
    assert len(ember.inbox(wait=1)["letters"]) == 1


@requires("inbox.ack_first")
@both_engines
def test_what_is_acknowledged_while_waiting_is_kept(team: Team) -> None:
    """An acknowledgement counts from the beginning of the call, and does not touch what comes meanwhile."""
    ada, ember = team.joined("ada"), team.joined("ember")
    ada.send(to="ember", text="old")
    ember.inbox()
    waiting = ember.soon("inbox", wait=45, ack="all")
    team.hub.followers.wait_for(1, team.project)
    sent = ada.inbox(history="sent")["history"][0]
    assert sent["delivery"][0]["state"] == "acked"
    ada.send(to="ember", text="new")
    answer = waiting()
    assert (answer["acked"], [each["text"] for each in answer["letters"]]) == (1, ["new"])
    assert [each["text"] for each in team.mail("ember")] == ["new"]


@requires("send.outlook")
@pytest.mark.parametrize("result", [WakeResult.WOKEN, WakeResult.QUEUED])
def test_the_sender_hears_how_the_wake_went(team: Team, result: WakeResult) -> None:
    """The outcome of waking the receiver stands beside each message that the wake pointed at, and at no other."""
    ada, _ember = team.joined("ada"), team.joined("ember")
    ada.send(to="ember", text="hi")
    ada.send(to="ember", text="do it", kind="task")
    team.woken("ember", result)
    ada.send(to="ember", text="and")
    later, first = ada.inbox(history="sent")["history"]
    task = ada.task(action="show", task="T-1")["task"]
    assert "wake" not in later["delivery"][0]
    assert [each["delivery"][0]["wake"] for each in (first, task)] == [result, result]


@requires("send.outlook")
def test_who_waits_will_see_it(team: Team) -> None:
    """To an agent that waits in a call a letter is as good as delivered."""
    ada, ember = team.joined("ada"), team.joined("ember")
    waiting = ember.soon("inbox", wait=45)
    team.hub.followers.wait_for(1, team.project)
    sent = ada.send(to="ember", text="hi")
    assert (sent["wake"], sent["likely_seen"]) == ("native", True)
    assert waiting()["letters"]


@requires("inbox.history")
@both_engines
def test_history(team: Team) -> None:
    """Sent messages show how far each got with each receiver, newest first, page by page."""
    ada, ember = team.joined("ada"), team.joined("ember")
    at = team.hub.clock()
    ada.send(to="ember", text="one")
    ember.send(to="ada", text="two")
    ada.send(to="everyone", text="three")
    ember.inbox(limit=1)

    def brief(rows: list[Json]) -> list[tuple[str, str, str]]:
        return [(each["id"], each["to"], each["delivery"][0]["state"]) for each in rows]

    assert brief(ada.inbox(history="sent")["history"]) == [
        ("M-3", "everyone", "stored"),
        ("M-1", "ember", "seen"),
    ]
    first = ada.inbox(history="all", limit=2)
    assert brief(first["history"]) == [("M-3", "everyone", "stored"), ("M-2", "ada", "stored")]
    rest = ada.inbox(history="all", limit=2, before=first["next"])
    assert rest["history"] == [
        {
            "id": "M-1", "kind": "message", "from": "ada", "to": "ember", "text": "one", "sent_at": at,
            "delivery": [{"to": "ember", "state": "seen", "stored_at": at, "seen_at": at}],
        }
    ]  # fmt: skip


@requires("inbox.about")
def test_what_was_said_about_something(team: Team) -> None:
    """A message shows all that answers it, and a task all that was said about it, oldest first."""
    ada, ember = team.joined("ada"), team.joined("ember")
    ada.send(to="ember", text="why?")
    ember.send(text="because", reply_to="M-1")
    ada.send(text="ah", reply_to="M-2")
    ref = team.work(by="ada", to="ember")
    ember.send(text="when?", reply_to=ref)
    ada.send(text="now", reply_to=ref)

    assert [each["text"] for each in ada.inbox(about="M-2")["history"]] == ["why?", "because", "ah"]
    assert [each["text"] for each in ada.inbox(about=ref)["history"]] == ["when?", "now"]


@requires("inbox.about")
@both_engines
def test_what_was_said_comes_in_pages(team: Team) -> None:
    """Each page of a task or a message has the newest entries that the pages before had not, until none is left."""
    ada, ember = team.joined("ada"), team.joined("ember")
    ref = team.work(by="ada", to="ember")
    for number in range(5):
        ember.task(action="comment", task=ref, text=f"c{number}")
    root = ada.send(to="ember", text="m0")["id"]
    for number in range(1, 5):
        ember.send(reply_to=root, text=f"m{number}")

    def pages(about: str) -> list[list[str]]:
        told: list[list[str]] = []
        cursor: dict[str, int] = {}
        while True:
            page = ada.inbox(about=about, limit=2, **cursor)
            told.append([each["text"] for each in page["history"]])
            if "next" not in page:
                return told
            cursor = {"before": page["next"]}

    assert pages(ref) == [["c3", "c4"], ["c1", "c2"], ["c0"]]
    assert pages(root) == [["m3", "m4"], ["m1", "m2"], ["m0"]]


@requires("inbox.ack", "inbox.history")
def test_acknowledging_and_looking_back_at_once(team: Team) -> None:
    """Letters acknowledged in a call that looks back are so before it looks."""
    ada, ember = team.joined("ada"), team.joined("ember")
    ada.send(to="ember", text="one")
    told = ember.inbox(ack=["M-1"], history="all")
    assert told["acked"] == 1
    assert [each["delivery"][0]["state"] for each in told["history"]] == ["acked"]
    assert ember.inbox() == {"letters": []}
    assert ember.wrong("inbox", ack=["M-9"], about="M-1")["error"] == "not_found"


@requires("send.outlook")
def test_a_letter_to_oneself(team: Team) -> None:
    """It lies in one's own inbox; nothing is said to wake whoever wrote it, even while they wait for mail."""
    ember = team.joined("ember")
    waiting = ember.soon("inbox", wait=45)
    team.hub.followers.wait_for(1, team.project)
    for sent in (ember.send(to="ember", text="note"), ember.send(to="ember", text="work", kind="task")):
        assert (sent["state"], sent["wake"], sent["likely_seen"]) == ("stored", "none", False)
    team.joined("ada").send(to="ember", text="wake up")
    assert waiting()["letters"]


@requires("send.unknown")
def test_an_agent_nobody_has_seen(anywhere: Team) -> None:
    """Mail for a name that was never seen goes nowhere, and the sender is told which names are like it."""
    ada = anywhere.joined("ada")
    anywhere.joined("ember")
    with anywhere.unchanged():
        refused = ada.wrong("send", to="embr", text="hi")
        assert ada.wrong("send", to="zzz", text="hi", kind="task")["error"] == "unknown_agent"
    assert (refused["error"], refused["near"]) == ("unknown_agent", ["ember"])


@requires("send.task", "send.task_fields")
def test_a_task(team: Team) -> None:
    """A task is for an agent or for anyone, and says all that there is to say of it."""
    ada = team.joined("ada")
    team.joined("ember")
    free = ada.send(text="anyone", kind="task")
    assert (free["id"], free["state"], free["wake"], free["likely_seen"]) == ("T-1", "stored", "none", False)
    sent = ada.send(
        text="Do it", kind="task", to="ember", title="It", priority="critical", area="auth", expires_in=60,
        reply_to="T-1",
    )  # fmt: skip
    made = team.task(sent["id"])
    assert (made.title, made.text, made.assignee, made.area) == ("It", "It\n\nDo it", "ember", "auth")
    assert (made.priority.name, made.expires_at) == ("CRITICAL", team.hub.clock() + 60_000)
    assert made.parent_id == team.task("T-1").id
    assert team.task("T-1").assignee is None


@requires("send.needs")
def test_a_task_that_needs_others(team: Team) -> None:
    """It is held back, its sender hears that, and it is delivered when what it needs is completed."""
    ada, ember = team.joined("ada"), team.joined("ember")
    ada.send(text="first", kind="task", to="ember")
    held = ada.send(text="second", kind="task", to="ember", needs=["T-1"])
    assert (held["state"], held["likely_seen"]) == ("held", False)
    assert [each["id"] for each in team.mail("ember")] == ["T-1"]
    ember.task(action="complete", task="T-1", text="done")
    assert "T-2" in [each["id"] for each in team.mail("ember")]
    assert ada.wrong("send", text="x", kind="task", needs=["T-9"])["error"] == "not_found"


@requires("send.reply")
def test_a_reply_finds_its_way(team: Team) -> None:
    """An answer to a message goes to its sender, one to a task to the agent at its other end."""
    ada, ember = team.joined("ada"), team.joined("ember")
    ada.send(to="ember", text="why?")
    assert ember.send(text="because", reply_to="M-1")["to"] == "ada"
    ref = team.work(by="ada", to="ember")
    assert ember.send(text="when?", reply_to=ref)["to"] == "ada"
    assert ada.send(text="now", reply_to=ref, kind="reply")["to"] == "ember"
    letters = team.mail("ada")
    assert [(each["kind"], each["text"]) for each in letters] == [("reply", "because"), ("reply", "when?")]
    assert [each["reply_to"] for each in letters] == ["M-1", "T-1"]
    assert team.task(ref).status == "delivered"


@requires("send.person")
def test_a_person_has_one_name(team: Team) -> None:
    """Who sent a task or a message as a person is named so, and that name is a receiver and a sender to look for."""
    ember, person = team.joined("ember"), team.person((team.project, Role.MEMBER))
    known = team.hub.look(lambda tx: members.of_project(tx, team.project))
    (name,) = [name for _id, name, role in known if role is Role.MEMBER]
    person.send(to="ember", text="look here")
    ref = person.send(to="ember", text="count", kind="task")["id"]
    assert [each["from"] for each in ember.inbox()["letters"]] == [name, name]
    assert ember.task(action="show", task=ref)["task"]["from"] == name
    assert [each["id"] for each in ember.board(sender=name)["tasks"]] == [ref]
    assert ember.send(text="I see", reply_to="M-1")["to"] == name
    assert ember.send(to=name, text="and more")["to"] == name
    assert [each["to"] for each in ember.inbox(history="sent")["history"]] == [name, name]
    assert [each["from"] for each in person.inbox()["letters"]] == ["ember", "ember"]


def test_an_answer_may_be_to_everyone(team: Team) -> None:
    """With reply_to, mail to everyone is known as an answer; an answer to nothing is refused, and sends none."""
    ada, ben = team.joined("ada"), team.joined("ben")
    asked = ada.send(to="ben", text="Which port?")["id"]

    ben.send(to="everyone", text="8420, for all", reply_to=asked)

    (heard,) = ada.inbox()["letters"]
    assert (heard["text"], heard["reply_to"]) == ("8420, for all", asked)
    assert [each["text"] for each in ada.inbox(about=asked)["history"]] == ["Which port?", "8420, for all"]
    refused = ben.wrong("send", to="everyone", text="lost", reply_to="M-99")
    assert refused["error"] == "not_found"
    assert len(ada.inbox()["letters"]) == 1


@requires("send.broadcast")
def test_mail_to_everyone(team: Team) -> None:
    """All who were ever there get a message, or a broadcast if it says so; the reply counts them by their wake."""
    ada = team.joined("ada")
    team.joined("ember")
    team.joined("bob")
    sent = ada.send(to="everyone", text="hi")
    assert sent == {"id": "M-1", "state": "stored", "receivers": 2, "wake": {"none": 2}, "likely_seen": 0}
    assert ada.send(kind="message", to="everyone", text="ha")["receivers"] == 2
    assert ada.send(kind="broadcast", text="ho")["receivers"] == 2
    for name in ("ember", "bob"):
        assert [each["kind"] for each in team.mail(name)] == ["message", "message", "broadcast"]
    assert team.mail("ada") == []


@requires("send.kinds")
def test_what_does_not_go_together(anywhere: Team) -> None:
    """A send that could mean several things, or nothing, is refused in one sentence."""
    anywhere.joined("ember")
    ada = anywhere.joined("ada")
    with every_row() as row, anywhere.unchanged():
        for said, sentence in UNCLEAR:
            with row(said):
                assert ada.wrong("send", **{"text": "x", **said}) == {"error": "invalid", "message": sentence}


@requires("send.outlook")
def test_what_a_sender_may_expect(team: Team) -> None:
    """An agent that only looks in by itself is not said to see it soon, and an absent one will not."""
    ada = team.joined("ada")
    team.joined("ember")
    here = ada.send(to="ember", text="hi")
    assert {**here, "note": ""} == {
        "id": "M-1", "to": "ember", "state": "stored", "wake": "none", "likely_seen": False, "note": "",
    }  # fmt: skip
    team.later(hours=1)
    gone = ada.send(to="ember", text="hi")
    assert (gone["wake"], gone["likely_seen"]) == ("none", False)
    assert here["note"] != gone["note"]


@requires("send.dead")
@both_engines
def test_what_nobody_came_to_read(team: Team) -> None:
    """A letter to an agent that never comes back is shown as dead to its sender, and is alive again once it is read."""
    ada = team.joined("ada")
    team.joined("ember")
    team.later(hours=1)
    ada.send(to="ember", text="are you there?")

    def state() -> str:
        return str(ada.inbox(history="sent")["history"][0]["delivery"][0]["state"])

    assert state() == "stored"
    team.later(hours=25)
    team.hub.bury(timedelta(hours=24))
    assert state() == "dead"
    assert "ember" in team.mail("ada")[0]["text"]
    team.mail("ember")
    assert state() == "seen"


def test_a_job_that_somebody_has_already(team: Team) -> None:
    """A task that is the same job as an open one is refused with that; anyway makes it, and who takes it is told."""
    ada, ember = team.joined("ada"), team.joined("ember")
    ada.send(kind="task", text="Solve #7", to="ember")
    ember.task(action="start", task="T-1")

    refused = ada.wrong("send", kind="task", text="Fix issue 7")
    assert (refused["error"], refused["task"]) == ("duplicate", "T-1")
    assert ada.send(kind="task", text="Fix issue 7", anyway=True)["id"] == "T-2"
    common = "T-1 'Solve #7' (working, with 'ember') is about #7 too"
    assert ada.task(action="claim", task="T-2")["beside"] == [common]
