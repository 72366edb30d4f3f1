"""Live events over SSE: `/events`, everything in a project, and `/events/{name}`, the letters of one inbox.

Written to ASGI directly: a waiting stream costs a few kilobytes, and a frame for many streams is encoded once. A client
that returns with the last id it saw (`Last-Event-ID`) gets exactly the events it missed; the first frame
already carries an id, so that nothing is lost to a client that leaves before anything happened.
"""

import asyncio
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

from hubbub.core.agents import agents
from hubbub.core.log import activity as log_of
from hubbub.core.log.activity import START, Position
from hubbub.core.people import access
from hubbub.core.snapshots import keyframes
from hubbub.core.transaction import Transactions
from hubbub.model.errors import Invalid, NotFound, StoreUnavailable
from hubbub.model.json_text import compact
from hubbub.model.log.event_types import require_kind
from hubbub.model.people.rights import HUB, SYSTEM
from hubbub.model.records import Activity, Project
from hubbub.serve.http.guard import actor_of, error_response
from hubbub.serve.live.delivery_receipts import DeliveryReceipts
from hubbub.serve.live.log_tail import REMEMBERED, LogReader, LogTail
from hubbub.serve.live.subscribers import Subscriber, Subscribers
from hubbub.store.tx import Tx, unix_ms

log = logging.getLogger(__name__)

KEEP_ALIVE = timedelta(seconds=30)  # as programs that follow inboxes expect it
KEEP_ALIVE_PATCHED = timedelta(seconds=15)  # for people, who see whether the connection is alive
METHODS = "GET, HEAD, OPTIONS"
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # a proxy that collected frames would defeat them
]
NEWS, PAUSE = "news", "pause"

RESET = "reset"  # the kind of a frame that says: missed events cannot be sent, read everything again

Frame = tuple[Activity, bytes]


@dataclass(frozen=True, slots=True)
class StreamSubject:
    """The subject of a stream: its projects, its starting place, and its first words."""

    projects: frozenset[UUID]
    agent: str | None
    after: Position
    greeting: Mapping[str, object] | None = None
    kinds: frozenset[str] | None = None
    patches: bool = False  # each frame includes the change of the project's picture
    is_cut: bool = False  # some activities after the requested place are gone


@dataclass(frozen=True, slots=True)
class InboxWords:
    """A dialect's words for followers of an inbox: the greeting, and each event."""

    greeting: Callable[[str, Project], Mapping[str, object]]
    event: Callable[[Tx, Activity], Mapping[str, object] | None]


def frame(content: Mapping[str, object], seq: int) -> bytes:
    """Encode one event: unnamed, with its place in the log as its id."""
    return _framed(compact(content), seq)


def _framed(data: str, seq: int) -> bytes:
    return f"id: {seq}\ndata: {data}\n\n".encode()


def with_patch(encoded: str, activity: Activity) -> str:
    """Add the patch, which is JSON already, to the JSON of an activity."""
    return f'{encoded[:-1]},"patch":{activity.patch or "null"}}}'


def activity_json(activity: Activity) -> dict[str, object]:
    """Return an activity as JSON, the same over SSE and REST."""
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


class EventStream:
    """The ASGI application of one kind of stream."""

    def __init__(self, transactions: Transactions, feed: LogTail, followers: Subscribers) -> None:
        self.transactions = transactions
        self.feed = feed
        self.followers = followers

    def subject(self, tx: Tx, request: Request) -> StreamSubject:
        """Return the subject of the request. Raises `ProjectDenied`, `Forbidden`, `NotFound` or `Invalid`."""
        raise NotImplementedError

    async def frames(self, activities: Sequence[Activity], subject: StreamSubject) -> list[Frame]:
        """Return the stream's frames for those of the activities that belong to it."""
        raise NotImplementedError

    def sent(self, activities: Sequence[Activity]) -> None:
        """Note that the activities were sent."""

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

    async def _asked(self, scope: Scope) -> StreamSubject:
        """Return the subject of the request, which is then released, as a stream may live for days."""
        request = Request(scope)
        return await self.transactions.read(actor_of(scope), lambda tx: self.subject(tx, request))

    async def _follow(
        self, subject: StreamSubject, follower: Subscriber, receive: Receive, send: Send
    ) -> None:
        wake = partial(follower.tell, NEWS)
        place = subject.projects, subject.agent, subject.after, subject.kinds
        with self.feed.reading(wake, *place) as reading:
            leaving = asyncio.create_task(_end_when_gone(receive, follower))
            try:
                await _start(send)
                greeting = _first(subject, reading.position.seq)
                await send({"type": "http.response.body", "body": greeting, "more_body": True})
                wake()
                await self._pass_on(reading, subject, follower, send)
            except StoreUnavailable as error:
                log.warning("a stream ends, its reader may come back: %s", error)
            finally:
                leaving.cancel()
            await send({"type": "http.response.body"})

    async def _pass_on(
        self, reading: LogReader, subject: StreamSubject, follower: Subscriber, send: Send
    ) -> None:
        later = asyncio.get_running_loop().call_later
        silence = (KEEP_ALIVE_PATCHED if subject.patches else KEEP_ALIVE).total_seconds()
        timer = later(silence, follower.tell, PAUSE)
        try:
            async for change in follower.changes():
                if change == PAUSE:
                    await send({"type": "http.response.body", "body": b":\n\n", "more_body": True})
                    timer = later(silence, follower.tell, PAUSE)
                while not follower.has_ended and (activities := await reading.take()):
                    if frames := await self.frames(activities, subject):
                        body = b"".join([encoded for _activity, encoded in frames])
                        await send({"type": "http.response.body", "body": body, "more_body": True})
                        self.sent([activity for activity, _encoded in frames])
        finally:
            timer.cancel()


class ProjectStream(EventStream):
    """The activities of one project, or of all that the caller may see; narrowed to an agent or to kinds on request."""

    def __init__(self, transactions: Transactions, feed: LogTail, followers: Subscribers) -> None:
        super().__init__(transactions, feed, followers)
        self._made: dict[tuple[int, bool], bytes] = {}

    def subject(self, tx: Tx, request: Request) -> StreamSubject:
        projects = access.visible(tx, request.query_params.get("project"))
        ids = frozenset(project.id for project in projects)
        patches = _is_wanted(request, "patches")
        place = _place(tx, request)
        is_cut = place is None and _asked_place(request) is not None
        if place is not None and (patches or place != START):
            is_cut = any(_is_cut(tx, project_id, place, patches=patches) for project_id in ids)
        return StreamSubject(
            ids,
            request.query_params.get("agent"),
            log_of.head(tx) if is_cut or place is None else place,
            is_cut=is_cut,
            kinds=frozenset(map(require_kind, request.query_params.getlist("kind"))) or None,
            patches=patches,
        )

    async def frames(self, activities: Sequence[Activity], subject: StreamSubject) -> list[Frame]:
        return [(activity, self._encoded(activity, patched=subject.patches)) for activity in activities]

    def _encoded(self, activity: Activity, *, patched: bool) -> bytes:
        """Return the frame of an activity, encoded once for all streams that send it at about the same time."""
        key = activity.seq, patched
        known = self._made.get(key)
        if known is None:
            if len(self._made) >= 2 * REMEMBERED:
                self._made.clear()
            encoded = compact(activity_json(activity))
            known = _framed(with_patch(encoded, activity) if patched else encoded, activity.seq)
            self._made[key] = known
        return known


class InboxStream(EventStream):
    """The events of one inbox, in the words of the clients that follow inboxes."""

    def __init__(
        self,
        transactions: Transactions,
        feed: LogTail,
        followers: Subscribers,
        words: InboxWords,
        notified: DeliveryReceipts,
    ) -> None:
        super().__init__(transactions, feed, followers)
        self.words = words
        self.notified = notified

    def subject(self, tx: Tx, request: Request) -> StreamSubject:
        name, query = request.path_params["name"], request.query_params
        access.require_inbox(tx, name)
        projects = [
            project
            for project in access.visible(tx, query.get("project") or query.get("network_id") or None)
            if name in (HUB, tx.actor.user_name) or agents.is_known(tx, project.id, name)
        ]
        if not projects:
            raise NotFound("agent", name)
        ids = frozenset(project.id for project in projects)
        place = _place(tx, request)
        after = log_of.head(tx) if place is None else place
        return StreamSubject(ids, name, after, self.words.greeting(name, projects[0]))

    async def frames(self, activities: Sequence[Activity], _subject: StreamSubject) -> list[Frame]:
        said = await self.transactions.store.read(
            SYSTEM, lambda tx: [(each, self.words.event(tx, each)) for each in activities]
        )
        return [(each, frame(content, each.seq)) for each, content in said if content is not None]

    def sent(self, activities: Sequence[Activity]) -> None:
        self.notified.note(activities)


def routes(project: ProjectStream, inbox: InboxStream) -> list[Route]:
    """Return the routes of both streams. A name may contain anything, also a slash."""
    return [Route("/events", project), Route("/events/{name:path}", inbox)]


def _first(subject: StreamSubject, seq: int) -> bytes:
    """Return the stream's first frame, which shows the client that the stream is there."""
    if subject.is_cut:  # with the members of every activity, as clients look at them
        nothing: dict[str, object] = dict.fromkeys(("agent", "task_id", "message_id"))
        reset = {"id": seq, "kind": RESET, "at": unix_ms(), "actor": HUB, **nothing, "detail": {}}
        return frame(reset, seq)
    return frame(subject.greeting, seq) if subject.greeting else b": following\n\n"


def _place(tx: Tx, request: Request) -> Position | None:
    """Return the place to go on from; None for now. An id that is not (any more) in the log means now."""
    asked = _asked_place(request)
    if asked is None:
        return None
    return START if asked == 0 else log_of.position_of(tx, asked)


def _asked_place(request: Request) -> int | None:
    """Return the id to go on from."""
    asked = request.headers.get("last-event-id") or request.query_params.get("last_event_id")
    if not asked:
        return None
    if not (asked.isascii() and asked.isdigit() and len(asked) < len(str(2**63))):
        raise Invalid("the last event id must be the id of an event, a whole number")
    return int(asked)


def _is_cut(tx: Tx, project_id: UUID, place: Position, *, patches: bool) -> bool:
    """Tell whether activities after a place are missing: dropped from the log, or without a patch."""
    if not keyframes.is_lost(tx, project_id, place):
        return False
    oldest = log_of.since(tx, project_id, START, 1)  # a project that is older than pictures may have it all
    return patches or not oldest.activities or place < oldest.position


def _is_wanted(request: Request, name: str) -> bool:
    """Return a parameter that is `true` or `false`, by default `false`."""
    asked = request.query_params.get(name, "false")
    if asked not in ("true", "false"):
        raise Invalid(f"{name} is true or false")
    return asked == "true"


async def _start(send: Send) -> None:
    await send({"type": "http.response.start", "status": HTTPStatus.OK, "headers": HEADERS})


async def _end_when_gone(receive: Receive, follower: Subscriber) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    follower.end()
