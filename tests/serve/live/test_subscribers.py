"""Followers: a reader is told of each change once, however slowly it reads, and let go when it must be."""

import asyncio
from contextlib import ExitStack
from dataclasses import replace
from uuid import uuid4

import pytest

from hubbub.core.people.quotas import MOST_OF_BROWSER
from hubbub.model.errors import TooMany
from hubbub.model.people.rights import Actor
from hubbub.model.records import Activity
from hubbub.serve.live.resources import Resource, ResourceKind, Topic
from hubbub.serve.live.subscribers import ENDINGS, Subscribers

PROJECT = uuid4()
INBOX: Topic = (PROJECT, Resource(ResourceKind.INBOX, "ada"))
TASKS: Topic = (PROJECT, Resource(ResourceKind.TASKS))


def activity(kind: str = "task.sent", **values: object) -> Activity:
    given = {
        "project_id": PROJECT,
        "agent": "ada",
        "task_id": uuid4(),
        "message_id": None,
        "detail": {},
        **values,
    }
    return Activity(tx=0, seq=1, at=0, kind=kind, actor="hub", **given)  # type: ignore[arg-type]


def someone() -> Actor:
    return Actor(token_id=uuid4(), project_id=PROJECT)


def signed_in() -> Actor:
    """A person, by a browser."""
    return Actor(token_id=uuid4(), user_id=uuid4(), is_browser=True)


async def heard(followers: Subscribers, actor: Actor) -> list[str]:
    """Return the events for a reader that reads only after ten things have happened and the hub has closed."""
    with followers.open(actor) as follower:
        followers.want(follower, [INBOX], "inbox")
        followers.want(follower, [TASKS], "tasks")
        for _ in range(10):
            followers.hear([activity()])
        followers.close()
        return [name async for name in follower.changes()]


@pytest.mark.anyio
async def test_a_slow_reader_hears_of_each_change_once() -> None:
    """The pile for a slow reader is bounded by what it follows, and is not lost when it is let go."""
    assert sorted(await heard(Subscribers(), someone())) == ["inbox", "tasks"]


@pytest.mark.anyio
async def test_only_what_is_wanted_is_told() -> None:
    """Dropped items, and those of another project, are not told."""
    followers = Subscribers()
    with followers.open(someone()) as follower:
        followers.want(follower, [INBOX], "inbox")
        followers.want(follower, [TASKS], "tasks")
        followers.drop(follower, "tasks")
        followers.hear([activity(project_id=uuid4()), activity(agent="bob"), activity(kind="agent.checkin")])
        followers.hear([activity(detail={"taken_from": "ada"}, agent="bob")])
        follower.end()
        assert [name async for name in follower.changes()] == ["inbox"]


@pytest.mark.anyio
@pytest.mark.parametrize("kind", sorted(ENDINGS))
async def test_a_token_that_is_revoked_while_its_stream_opens_opens_none(kind: str) -> None:
    """Between looking a token up and opening its stream there is no gap."""
    followers, actor = Subscribers(), someone()
    followers.hear([activity(kind, detail={"token_id": str(actor.token_id)})])
    with followers.open(actor) as follower:
        await follower.ended()


@pytest.mark.anyio
async def test_a_stream_for_the_old_name_ends() -> None:
    """A rename ends the streams of the tokens that stood for the old name, and no others."""
    followers = Subscribers()
    renamed = activity("agent.renamed", agent="eve", detail={"old": "ada", "new": "eve"})
    with followers.open(replace(someone(), agent="ada")) as old, followers.open(someone()) as other:
        followers.hear([renamed])
        await old.ended()
        assert other.has_ended is False


@pytest.mark.anyio
async def test_nothing_is_kept_of_those_who_left() -> None:
    """When the last reader is gone there is nothing left of any."""
    followers = Subscribers()
    with followers.open(someone()) as follower:
        followers.want(follower, [INBOX], "inbox")
        assert len(followers) == 1
    assert len(followers) == 0
    followers.hear([activity()])
    follower.end()
    assert [name async for name in follower.changes()] == []


@pytest.mark.anyio
async def test_a_reader_waits_for_what_comes() -> None:
    """Nothing is told before it happens."""
    followers = Subscribers()
    with followers.open(someone()) as follower:
        followers.want(follower, [INBOX], "inbox")
        waiting = asyncio.ensure_future(anext(follower.changes()))
        await asyncio.sleep(0)
        assert not waiting.done()
        followers.hear([activity()])
        assert await waiting == "inbox"


@pytest.mark.anyio
async def test_a_browser_holds_only_so_many_open() -> None:
    """A login that has too many responses open gets no more until one ends; other logins and tokens do."""
    followers, login = Subscribers(), signed_in()
    with ExitStack() as open_ones:
        for _ in range(MOST_OF_BROWSER - 1):
            open_ones.enter_context(followers.open(login))
        with followers.open(login), pytest.raises(TooMany), followers.open(login):
            pass
        for other in (login, signed_in()):
            open_ones.enter_context(followers.open(other))
    agent = someone()
    with ExitStack() as open_ones:
        for _ in range(MOST_OF_BROWSER + 1):
            open_ones.enter_context(followers.open(agent))
        assert len(followers) == MOST_OF_BROWSER + 1
