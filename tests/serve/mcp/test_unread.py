"""`?unread=true`: an answer is followed by the unread mail, for agents that get it in no other way."""

import json
from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest

from hubbub.core.mail import messages
from hubbub.core.presence import wakes
from hubbub.model.mail.wakes import WakeMethod, Waker
from tests.serve.mcp.wire import PATH, Peer, call, post
from tests.serve.served_hub import Hub

ASKING = f"{PATH}?unread=true"
READS = {
    "commhub": "get_all_status",
    "relay": "get_all_tasks",
    "golemxv": "presence",
    "cmdop": "issue_list",
}


def sent(hub: Hub, to: str = "ada") -> str:
    """A message in the inbox of `to`, by its number."""
    hub.meet(to)
    letter = hub.do(lambda tx: messages.send(tx, hub.project.id, sender="bea", to=to, body="<b>do it</b>"))
    return f"M-{letter.number}"


def beside(result: Any) -> list[str]:
    """Return the text beside the answer, having checked that the answer is there and the same in both its forms."""
    first, *more = result["content"]
    assert json.loads(first["text"]) == result["structuredContent"]
    return [block["text"] for block in more]


def test_new_mail_is_told_once_beside_an_answer(hub: Hub, revision: str) -> None:
    """The block names numbers only, comes with the next answer and not again, until something new has come."""
    first = sent(hub)
    peer = Peer(hub, hub.token("ada"), revision, ASKING)
    with closing(peer.http):

        def told() -> list[str]:
            return beside(peer.ask("tools/call", name="echo", arguments={"text": "hello"}))

        assert told() == [f"hubbub: 1 unread ({first}). Read your hubbub inbox."]
        assert told() == []
        second = sent(hub)
        assert told() == [f"hubbub: 2 unread ({first}, {second}). Read your hubbub inbox."]
        assert told() == []


def test_an_address_that_does_not_ask_tells_nothing(hub: Hub, revision: str) -> None:
    """Without the query, or with `false`, an answer is the answer alone, and the mail stays to be told of."""
    sent(hub)
    for path in (PATH, f"{PATH}?unread=false"):
        peer = Peer(hub, hub.token("ada"), revision, path)
        with closing(peer.http):
            assert beside(peer.ask("tools/call", name="echo", arguments={"text": "hello"})) == []
    assert hub.do(lambda tx: wakes.last(tx, hub.project.id, "ada")) is None


@pytest.mark.parametrize(("name", "tool"), READS.items(), ids=READS)
def test_every_documented_tool_set_tells_of_mail(hub: Hub, name: str, tool: str) -> None:
    """Calls on their own are told too, in each of the four tool sets; with `tools=` beside it as well."""
    ref = sent(hub)
    path = f"/mcp/{name}?tools={tool}&unread=true"
    result = post(hub, hub.token("ada"), call(tool), path=path).json()["result"]
    *_answer, last = result["content"]
    to_do = (
        "Your tasks are in issue_list, and what was said about each in issue_get."
        if name == "cmdop"
        else "Read your hubbub inbox."
    )
    assert last["text"] == f"hubbub: 1 unread ({ref}). {to_do}"
    assert "hubbub:" not in json.dumps(result["structuredContent"])


def test_where_a_waker_is_there_nothing_is_told_beside(hub: Hub) -> None:
    """An agent that is woken or told by its client's hooks hears of each letter by these alone."""
    waker = Waker(
        project_id=hub.project.id,
        agent="ada",
        instance="one",
        client="test",
        method=WakeMethod.MONITOR,
        idle=True,
    )
    sent(hub)
    hub.do(lambda tx: wakes.register(tx, waker, timedelta(seconds=45)))
    answer = post(hub, hub.token("ada"), call("echo", text="hello"), path=ASKING)
    assert beside(answer.json()["result"]) == []
    hub.do(lambda tx: wakes.leave(tx, hub.project.id, "ada", "one"))
    answer = post(hub, hub.token("ada"), call("echo", text="hello"), path=ASKING)
    assert len(beside(answer.json()["result"])) == 1


def test_who_reads_the_mail_by_that_call_is_not_told_of_it(hub: Hub) -> None:
    """The block tells of what is unread after the call."""
    sent(hub)
    path = "/mcp/commhub?unread=true"
    result = post(hub, hub.token("ada"), call("get_inbox", alias="ada"), path=path).json()["result"]
    assert beside(result) == []


def test_nobody_is_told_of_the_mail_of_others(hub: Hub) -> None:
    """A call whose caller is not known is told of nothing."""
    sent(hub)
    answer = post(hub, hub.token(), call("echo", text="hello"), path=ASKING)
    assert beside(answer.json()["result"]) == []


def test_a_refusal_is_followed_by_the_mail_as_well(hub: Hub) -> None:
    """An answer that says no is an answer."""
    ref = sent(hub)
    result = post(hub, hub.token("ada"), call("nonsense"), path=ASKING).json()["result"]
    assert (result["isError"], beside(result)) == (
        True,
        [f"hubbub: 1 unread ({ref}). Read your hubbub inbox."],
    )


@pytest.mark.parametrize("query", ["unread=", "unread=yes", "unread=true&unread=1"])
def test_what_is_neither_true_nor_false(hub: Hub, query: str) -> None:
    """Anything else is a 400 that says what is allowed."""
    answer = post(hub, hub.token(), call("echo", text="hello"), path=f"{PATH}?{query}")
    assert answer.status_code == 400
    said = "?unread= is true to be told of unread mail beside each answer, else false"
    assert answer.json()["error"]["message"] == said
