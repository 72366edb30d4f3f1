"""The live view: `/ws`, a WebSocket that shows one run of a project, and then every event in it.

The dialect makes the messages; their transport is here. The log is read from a place before the snapshot, without the
activities in the snapshot: nothing is missing, nothing comes twice. A watcher makes nobody wait: for a slow one the hub
keeps its place in the log, and drops it when it reads nothing for too long.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from uuid import UUID

from starlette.requests import HTTPConnection
from starlette.routing import Route, WebSocketRoute
from starlette.types import Message, Receive, Scope, Send

from hubbub.core.log import activity as log_of
from hubbub.core.people import access
from hubbub.core.transaction import Transactions
from hubbub.dialects.call import HubContext
from hubbub.dialects.relay import live_view
from hubbub.model.errors import StoreUnavailable
from hubbub.model.json_text import compact
from hubbub.model.people.rights import SYSTEM, Right
from hubbub.model.records import Activity, Run
from hubbub.serve.http.guard import actor_of, error_response
from hubbub.serve.live.ephemeral import EphemeralBroadcast
from hubbub.serve.live.log_tail import LogReader, LogTail
from hubbub.serve.live.subscribers import Subscriber, Subscribers
from hubbub.serve.live.throttle import Throttle
from hubbub.store.tx import Tx, unix_ms

log = logging.getLogger(__name__)

PATH = "/ws"
PATIENCE = timedelta(seconds=30)  # with a watcher that reads nothing
STATUS_PAUSE = timedelta(seconds=5)  # between two statuses of the same agent
MOST_THOUGHTS = 100  # waiting for a slow watcher; the oldest are dropped
LARGEST_FRAME = 1024  # characters or bytes; watchers have nothing to say
MOST_RECEIVED, WINDOW = 100, 10.0  # frames that a watcher may send, in that many seconds

NEWS, THOUGHTS, STATUSES = "news", "thoughts", "statuses"
POLICY, TOO_LARGE, TRY_AGAIN = 1008, 1009, 1013  # codes by which a WebSocket is closed


class WatcherLost(Exception):
    """The connection to the watcher is lost."""


@dataclass(frozen=True, slots=True)
class LiveView:
    """The ASGI application, and the state that its watchers share."""

    transactions: Transactions
    feed: LogTail
    followers: Subscribers
    whispers: EphemeralBroadcast
    site: HubContext

    def routes(self) -> list[Route | WebSocketRoute]:
        return [WebSocketRoute(PATH, self), Route(PATH, self)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            status, upgrade = HTTPStatus.UPGRADE_REQUIRED, {"Upgrade": "websocket", "Connection": "Upgrade"}
            refusal = error_response(
                status, "upgrade_required", "this address speaks WebSocket only", upgrade
            )
            await refusal(scope, receive, send)
            return
        actor, query = actor_of(scope), HTTPConnection(scope).query_params
        name = query.get("session") or None

        def asked(tx: Tx) -> UUID:
            project_id = access.enter(tx, query.get("project") or None, Right.READ).id
            live_view.watched_run(tx, project_id, name)
            return project_id

        project_id = await self.transactions.read(actor, asked)
        with self.followers.open(actor) as follower:
            await Watcher(self, follower, project_id, name, send).watch(receive)


class Watcher:
    """One watcher: the run that it sees, and the messages still to be sent."""

    def __init__(
        self, view: LiveView, follower: Subscriber, project_id: UUID, name: str | None, send: Send
    ) -> None:
        self._view, self._follower, self._send = view, follower, send
        self._project_id, self._name = project_id, name
        self._run: Run
        self._known: frozenset[int] = frozenset()  # activities whose outcome the snapshot held
        self._thoughts: deque[tuple[int, Mapping[str, object]]] = deque(maxlen=MOST_THOUGHTS)
        self._due: deque[str] = deque()
        self._statuses = Throttle(STATUS_PAUSE, self._say_soon, asyncio.get_running_loop().call_later)
        self._parting: tuple[int, str] | None = (POLICY, "the token is not valid any more")

    async def watch(self, receive: Receive) -> None:
        """Show the run and its events, until the watcher leaves or has to."""
        view, projects = self._view, frozenset({self._project_id})
        listening = asyncio.create_task(self._listen(receive))
        with ExitStack() as held:
            held.callback(listening.cancel)
            held.callback(self._statuses.close)
            held.enter_context(view.whispers.heard(self._project_id, self._overhear))
            reading = held.enter_context(view.feed.reading(partial(self._follower.tell, NEWS), projects))
            with suppress(WatcherLost):
                await self._pass({"type": "websocket.accept"})
                try:
                    await self._show(reading)
                    await self._follow(reading)
                except StoreUnavailable as error:
                    log.warning("a watcher is sent away, it may come back: %s", error)
                    self._parting = (TRY_AGAIN, "the store cannot be read now")
                if self._parting is not None:
                    code, reason = self._parting
                    await self._pass({"type": "websocket.close", "code": code, "reason": reason})

    async def _follow(self, reading: LogReader) -> None:
        self._follower.tell(NEWS)  # for activities before anybody waited
        async for change in self._follower.changes():
            if change == NEWS:
                while not self._follower.has_ended and (activities := await reading.take()):
                    await self._tell(activities, reading)
            elif change == THOUGHTS:
                await self._tell_thoughts(reading)
            while self._due:
                await self._say(self._due.popleft())

    async def _show(self, reading: LogReader, began_at: int | None = None) -> None:
        """Send the snapshot; before it, if the run has just begun, the message of that."""
        position = reading.position

        def look(tx: Tx) -> tuple[Run, frozenset[int], list[str]]:
            run = live_view.watched_run(tx, self._project_id, self._name)
            told = [live_view.run_started(run, began_at)] if began_at is not None else []
            told.append(live_view.snapshot(tx, run, self._view.site))
            return run, log_of.visible(tx, self._project_id, position), [compact(each) for each in told]

        read = self._view.transactions.read
        self._run, self._known, told = await read(self._follower.actor, look, long=True)
        for content in told:
            await self._say(content)

    async def _tell(self, activities: Sequence[Activity], reading: LogReader) -> None:
        run, known = self._run, self._known

        def look(tx: Tx) -> list[tuple[str | None, str]]:
            return [
                (each.about, compact(each.content)) for each in live_view.frames(tx, run, activities, known)
            ]

        for about, content in await self._view.transactions.store.read(SYSTEM, look):
            await self._tell_one(about, content)
        new = [each for each in activities if each.seq not in known]
        began = [
            each.at for each in new if live_view.begins_anew(run, each, is_chosen=self._name is not None)
        ]
        if began:
            await self._show(reading, began[-1])

    async def _tell_one(self, about: str | None, content: str) -> None:
        """Send content now, or an agent's state once nothing else was sent about that agent for a while."""
        if about is None:
            await self._say(content)
        else:
            self._statuses.offer(about, content)

    async def _tell_thoughts(self, reading: LogReader) -> None:
        while self._thoughts:
            at, whisper = self._thoughts.popleft()
            told = live_view.thinking(self._run, whisper, at)
            if not told and await self._has_moved_on():
                await self._show(reading, at)
                told = live_view.thinking(self._run, whisper, at)
            for each in told:
                await self._tell_one(each.about, compact(each.content))

    async def _has_moved_on(self) -> bool:
        """Tell whether another run has begun that the log has not shown yet; ephemeral messages are faster."""
        project_id, name = self._project_id, self._name
        run = await self._view.transactions.store.read(
            SYSTEM, lambda tx: live_view.watched_run(tx, project_id, name)
        )
        return (run.id, run.name) != (self._run.id, self._run.name)

    def _overhear(self, whisper: Mapping[str, object]) -> None:
        self._thoughts.append((unix_ms(), whisper))
        self._follower.tell(THOUGHTS)

    def _say_soon(self, content: str) -> None:
        self._due.append(content)
        self._follower.tell(STATUSES)

    async def _say(self, content: str) -> None:
        if not self._follower.has_ended:
            await self._pass({"type": "websocket.send", "text": content})

    async def _pass(self, message: Message) -> None:
        """Send a message over the connection. Raises `WatcherLost` if that is gone, or reads nothing for too long."""
        try:
            async with asyncio.timeout(PATIENCE.total_seconds()):
                await self._send(message)
        except TimeoutError:
            log.warning("a watcher that took nothing for %s is let go", PATIENCE)
            raise WatcherLost from None
        except OSError:
            raise WatcherLost from None

    async def _listen(self, receive: Receive) -> None:
        """Ignore the watcher's messages, and end the watch when it leaves, or says too much."""
        clock = asyncio.get_running_loop().time
        began, received = clock(), 0
        while (message := await receive())["type"] != "websocket.disconnect":
            if clock() - began > WINDOW:
                began, received = clock(), 0
            received += message["type"] == "websocket.receive"
            if len(message.get("text") or message.get("bytes") or "") > LARGEST_FRAME:
                self._parting = (TOO_LARGE, "a watcher has nothing to say")
                self._follower.end()
                return
            if received > MOST_RECEIVED:
                self._parting = (POLICY, "a watcher has nothing to say")
                self._follower.end()
                return
        self._parting = None
        self._follower.end()
