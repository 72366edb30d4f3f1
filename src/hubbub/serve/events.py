"""Live events over SSE: `/events`, everything in a project, and `/events/{name}`, what reaches one inbox.

Written to ASGI directly: a stream that waits costs a few kilobytes, and what many streams send is encoded once. A
client that comes back with the id it saw last (`Last-Event-ID`) gets what it missed, neither more nor less; the first
frame already carries an id, so that nothing is lost to a client that leaves before anything happened.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from hubbub.core import access, agents
from hubbub.core.transaction import Transactions
from hubbub.model.errors import Forbidden, Invalid, NotFound, StoreUnavailable
from hubbub.model.records import Activity, Project
from hubbub.model.rights import HUB, SYSTEM
from hubbub.serve.auth import actor_of, error_response
from hubbub.serve.feed import REMEMBERED, Feed, Reading
from hubbub.serve.followers import Follower, Followers
from hubbub.serve.notified import Notified
from hubbub.store import activity as log_of
from hubbub.store.activity import START, Position
from hubbub.store.tx import Tx

log = logging.getLogger(__name__)

KEEP_ALIVE = timedelta(seconds=30)
METHODS = "GET, HEAD, OPTIONS"
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # a proxy that collected frames would defeat them
]
NEWS, PAUSE = "news", "pause"

Frame = tuple[Activity, bytes]


@dataclass(frozen=True, slots=True)
class Subject:
    """What a stream is about: where it reads, from what place on, and what it says first."""

    projects: frozenset[UUID]
    agent: str | None
    after: Position | None
    greeting: Mapping[str, object] | None = None
    kinds: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Words:
    """How followers of an inbox are met, and told of what concerns it: a dialect's words."""

    greeting: Callable[[str, Project], Mapping[str, object]]
    event: Callable[[Tx, Activity], Mapping[str, object] | None]


def frame(content: Mapping[str, object], seq: int) -> bytes:
    """One event as it goes over the line: unnamed, with its place in the log as its id."""
    return f"id: {seq}\ndata: {json.dumps(content, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()


def content_of(activity: Activity) -> dict[str, object]:
    """An activity as JSON, the same over SSE and REST."""
    return {
        "id": activity.seq,
        "kind": activity.kind,
        "at": activity.at,
        "actor": activity.actor,
        "agent": activity.agent,
        "task_id": str(activity.task_id) if activity.task_id else None,
        "message_id": str(activity.message_id) if activity.message_id else None,
        "detail": dict(activity.detail),
    }


class Stream:
    """The ASGI application of one kind of stream."""

    def __init__(self, transactions: Transactions, feed: Feed, followers: Followers) -> None:
        self.transactions = transactions
        self.feed = feed
        self.followers = followers

    def subject(self, tx: Tx, request: Request) -> Subject:
        """What is asked for. Raises `ProjectDenied`, `Forbidden`, `NotFound` or `Invalid`."""
        raise NotImplementedError

    async def frames(self, activities: Sequence[Activity]) -> list[Frame]:
        """What the stream says of those of the activities that it speaks of."""
        raise NotImplementedError

    def sent(self, activities: Sequence[Activity]) -> None:
        """Called after it was said."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = scope["method"]
        if method == "OPTIONS":
            await Response(status_code=HTTPStatus.NO_CONTENT, headers={"Allow": METHODS})(
                scope, receive, send
            )
        elif method not in ("GET", "HEAD"):
            refusal = error_response(
                HTTPStatus.METHOD_NOT_ALLOWED, "method_not_allowed", f"use {METHODS}", {"Allow": METHODS}
            )
            await refusal(scope, receive, send)
        else:
            actor, subject = actor_of(scope), await self._asked(scope)
            if method == "HEAD":
                await _start(send)
                await send({"type": "http.response.body"})
            else:
                with self.followers.open(actor) as follower:
                    await self._follow(subject, follower, receive, send)

    async def _asked(self, scope: Scope) -> Subject:
        """What is asked for; the request itself is then let go of, as a stream may live for days."""
        request = Request(scope)
        return await self.transactions.read(actor_of(scope), lambda tx: self.subject(tx, request))

    async def _follow(self, subject: Subject, follower: Follower, receive: Receive, send: Send) -> None:
        wake = partial(follower.tell, NEWS)
        place = subject.projects, subject.agent, subject.after, subject.kinds
        with self.feed.reading(wake, *place) as reading:
            leaving = asyncio.create_task(_end_when_gone(receive, follower))
            try:
                await _start(send)
                greeting = (
                    frame(subject.greeting, reading.position.seq) if subject.greeting else b": following\n\n"
                )
                await send({"type": "http.response.body", "body": greeting, "more_body": True})
                wake()
                await self._pass_on(reading, follower, send)
            except StoreUnavailable as error:
                log.warning("a stream ends, its reader may come back: %s", error)
            finally:
                leaving.cancel()
            await send({"type": "http.response.body"})

    async def _pass_on(self, reading: Reading, follower: Follower, send: Send) -> None:
        later = asyncio.get_running_loop().call_later
        timer = later(KEEP_ALIVE.total_seconds(), follower.tell, PAUSE)
        try:
            async for change in follower.changes():
                if change == PAUSE:
                    await send({"type": "http.response.body", "body": b":\n\n", "more_body": True})
                    timer = later(KEEP_ALIVE.total_seconds(), follower.tell, PAUSE)
                while not follower.has_ended and (activities := await reading.take()):
                    if frames := await self.frames(activities):
                        body = b"".join([encoded for _activity, encoded in frames])
                        await send({"type": "http.response.body", "body": body, "more_body": True})
                        self.sent([activity for activity, _encoded in frames])
        finally:
            timer.cancel()


class ProjectStream(Stream):
    """What happens in one project, or in all that the caller may see; narrowed, if asked, to an agent or to kinds."""

    def __init__(self, transactions: Transactions, feed: Feed, followers: Followers) -> None:
        super().__init__(transactions, feed, followers)
        self._made: dict[int, bytes] = {}

    def subject(self, tx: Tx, request: Request) -> Subject:
        projects = access.visible(tx, request.query_params.get("project"))
        ids = frozenset(project.id for project in projects)
        kinds = frozenset(request.query_params.getlist("kind")) or None
        return Subject(ids, request.query_params.get("agent"), _place(tx, request), kinds=kinds)

    async def frames(self, activities: Sequence[Activity]) -> list[Frame]:
        return [(activity, self._encoded(activity)) for activity in activities]

    def _encoded(self, activity: Activity) -> bytes:
        """The frame of an activity, made once for all streams that send it at about the same time."""
        known = self._made.get(activity.seq)
        if known is None:
            if len(self._made) >= REMEMBERED:
                self._made.clear()
            known = self._made[activity.seq] = frame(content_of(activity), activity.seq)
        return known


class InboxStream(Stream):
    """What reaches one inbox, in the words of the clients that follow inboxes."""

    def __init__(
        self,
        transactions: Transactions,
        feed: Feed,
        followers: Followers,
        words: Words,
        notified: Notified,
    ) -> None:
        super().__init__(transactions, feed, followers)
        self.words = words
        self.notified = notified

    def subject(self, tx: Tx, request: Request) -> Subject:
        name = request.path_params["name"]
        if not access.may_read_inbox(tx, name):
            raise Forbidden(f"this token may follow the inbox of {tx.actor.agent!r} only")
        projects = [
            project
            for project in access.visible(tx, request.query_params.get("project"))
            if name in (HUB, tx.actor.user_name) or agents.is_known(tx, project.id, name)
        ]
        if not projects:
            raise NotFound("agent", name)
        ids = frozenset(project.id for project in projects)
        return Subject(ids, name, _place(tx, request), self.words.greeting(name, projects[0]))

    async def frames(self, activities: Sequence[Activity]) -> list[Frame]:
        said = await self.transactions.store.read(
            SYSTEM, lambda tx: [(each, self.words.event(tx, each)) for each in activities]
        )
        return [(each, frame(content, each.seq)) for each, content in said if content is not None]

    def sent(self, activities: Sequence[Activity]) -> None:
        self.notified.note(activities)


def routes(project: ProjectStream, inbox: InboxStream) -> list[Route]:
    """Both streams. A name may hold anything, also a slash."""
    return [Route("/events", project), Route("/events/{name:path}", inbox)]


def _place(tx: Tx, request: Request) -> Position | None:
    """The place after which the caller wants to go on; None for now. An id that is not (any more) in the log is now."""
    asked = request.headers.get("last-event-id") or request.query_params.get("last_event_id")
    if not asked:
        return None
    if not (asked.isascii() and asked.isdigit() and len(asked) < len(str(2**63))):
        raise Invalid("the last event id must be the id of an event, a whole number")
    return START if int(asked) == 0 else log_of.position_of(tx, int(asked))


async def _start(send: Send) -> None:
    await send({"type": "http.response.start", "status": HTTPStatus.OK, "headers": HEADERS})


async def _end_when_gone(receive: Receive, follower: Follower) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    follower.end()
