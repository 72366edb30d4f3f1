"""The bridge itself: every message of the client goes to the hub, every message of the hub to the client.

An absent hub is waited for. In the older revisions its transport session is then gone; the bridge opens another with
the client's own `initialize` and restores the client's subscriptions. In the newer revision it sends the
open `subscriptions/listen` again. Possible changes meanwhile are announced as changes, so that nobody waits for
news that was missed. Repeated writes carry the key of the first time, so that they are done once, and the number of
the attempt, so that a late one is not done after a refusal.

The contents of tool calls and their answers are passed on unchanged.
"""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from uuid import uuid4

from hubbub.bridge.companions.companion import Companion, Hear, NoCompanion
from hubbub.bridge.messages import json_rpc
from hubbub.bridge.messages.json_rpc import Message
from hubbub.bridge.messages.mcp_client import McpClient
from hubbub.bridge.transport.mcp_upstream import HttpRefused, SessionGone, Upstream, read
from hubbub.bridge.transport.transport import Away
from hubbub.model.ids import new_id

Write = Callable[[bytes], Awaitable[None]]  # takes a message, as one line without its end

PATIENCE = timedelta(seconds=30)  # with an absent hub, before a request is answered with an error
BACK_OFF = (0.1, 0.2, 0.5, 1.0, 2.0)  # seconds between tries
LAST_WORDS = timedelta(seconds=5)  # for pending requests when the client's input ends
FAREWELL = timedelta(seconds=2)  # for the hub to hear that the transport session ends
LISTEN = "subscriptions/listen"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


class Outage:
    """The time since the hub's first failure."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._tries = 0

    async def wait(self) -> bool:
        """Wait before the next try; False after enough tries."""
        now = asyncio.get_running_loop().time()
        self._since = now if self._since is None else self._since
        if now - self._since > PATIENCE.total_seconds():
            return False
        await asyncio.sleep(BACK_OFF[min(self._tries, len(BACK_OFF) - 1)])
        self._tries += 1
        return True

    def over(self) -> None:
        self._since, self._tries = None, 0


@dataclass(slots=True)
class PendingRequest:
    """A request that waits for its answer, and the destination of that."""

    message: Message
    line: bytes
    answer: Write
    key: str = field(default_factory=lambda: new_id().hex)  # rising: the hub keeps them side by side
    attempt: int = 0  # how often it was sent
    outage: Outage = field(default_factory=Outage)
    is_heard: bool = False  # whether messages before the answer are wanted, too
    is_acknowledged: bool = False  # of `subscriptions/listen`: the client knows that it is subscribed
    opening: bytes = field(init=False)  # of the answer

    def __post_init__(self) -> None:
        self.opening = json_rpc.opening(self.message)


class Bridge:
    """One client on stdio, one endpoint of a hub; a `companion` may answer tool calls in the hub's place."""

    def __init__(self, upstream: Upstream, write: Write, companion: Companion | None = None) -> None:
        self.upstream, self.write = upstream, write
        self.client = McpClient(self._write)
        self.companion = companion or NoCompanion()
        self.companion.meet(self.client)
        self._hello: Message | None = None
        self._is_initialized = False
        self._subscribed: dict[str, None] = {}
        self._renewing = asyncio.Lock()
        self._open: dict[object, tuple[asyncio.Task[None], Message]] = {}
        self._ear: asyncio.Task[None] | None = None

    async def run(self, lines: AsyncIterable[bytes]) -> None:
        """Carry messages until the client's lines end; then end the transport session."""
        try:
            async with asyncio.TaskGroup() as self._tasks:
                async for line in lines:
                    message = json_rpc.decoded(line)
                    if message is None:
                        sentence = (
                            "each line must be one JSON-RPC message: a JSON object, its id a text or a number"
                        )
                        await self._write(json_rpc.error(None, json_rpc.PARSE_ERROR, sentence))
                    else:
                        await self._carry(message, line)
                await self._finish()
        finally:
            await self._leave()

    async def ask(self, message: Message, hear: Hear | None = None) -> Message:
        """Return the hub's answer to a request of the companion; an error, if the hub refuses it or stays away."""
        answers: list[Message] = []

        async def take(line: bytes) -> None:
            said = read(line)
            if json_rpc.answers(said, message):
                answers.append(said)
            elif json_rpc.is_request(said):
                await self._write(said)  # the client answers it, like any question of the hub
            elif hear is not None:
                await hear(said)

        try:
            await self._request(
                PendingRequest(message, json_rpc.encoded(message), take, is_heard=hear is not None)
            )
        except asyncio.CancelledError:
            if hear is not None:
                await self._take_back(message)
            raise
        return answers[-1]

    async def _carry(self, message: Message, line: bytes) -> None:
        """Send on one message; leave slow answers to a task, and wait for messages that later ones depend on."""
        if message.get("method") == "initialize" and json_rpc.is_request(message):
            await self._initialize(message)
        elif json_rpc.is_request(message):
            is_call = message["method"] == json_rpc.CALL
            asked = PendingRequest(message, line, self.write)
            task = self._tasks.create_task(self._call(asked) if is_call else self._request(asked))
            self._open[message["id"]] = task, message
            task.add_done_callback(lambda _: self._closed(message["id"], task))
        elif message.get("method") == "notifications/cancelled":
            await self._cancel(message)
        elif not self.client.hears(message):
            await self._notify(message)

    def _closed(self, request_id: object, task: asyncio.Task[None]) -> None:
        if self._open.get(request_id, (None,))[0] is task:
            del self._open[request_id]

    # ---- the client's messages -----------------------------------------------------------------------------------

    async def _initialize(self, message: Message) -> None:
        self._hello, self._is_initialized = message, False
        self.client.met(message)
        self._subscribed.clear()
        outage = Outage()
        while True:
            try:
                await self._write(await self.upstream.open(message))
                return
            except Away as error:
                if not await outage.wait():
                    await self._write(_unreachable(message, error))
                    return
            except HttpRefused as error:
                await self._write(_refusal(message, error))
                return

    async def _notify(self, message: Message) -> None:
        """Send a notification, or an answer to a question of the hub."""
        outage = Outage()
        try:
            while not await self._sent(message):
                if not await outage.wait():
                    return
        except HttpRefused:
            return  # nobody waits for an answer to it
        if message.get("method") == "notifications/initialized":
            self._is_initialized = True
            self._ear = self._ear or self._tasks.create_task(self._hear())

    async def _sent(self, message: Message) -> bool:
        """Send a notification once; False if it did not get through."""
        session_id = await self._session_id()
        try:
            try:
                await self.upstream.post(message, self._hear_unasked)
                return True
            except SessionGone:
                await self._renew(session_id)
        except Away:
            pass
        return False

    async def _call(self, asked: PendingRequest) -> None:
        """Have a tool call answered, by the companion or else by the hub."""
        answer = await self.companion.call(asked.message, self.ask)
        if answer is None:
            await self._request(asked)
        else:
            await self._write({**answer, "id": asked.message["id"]})

    async def _request(self, asked: PendingRequest) -> None:
        """Send a request until it is answered, by the hub or because the hub stays away."""
        while True:
            try:
                if await self._ask(asked):
                    return
                raise Away("it ended the stream before it answered")
            except Away as error:
                if not await asked.outage.wait():
                    await asked.answer(json_rpc.encoded(_unreachable(asked.message, error)))
                    return
            except HttpRefused as error:
                await asked.answer(json_rpc.encoded(_refusal(asked.message, error)))
                return

    async def _ask(self, asked: PendingRequest) -> bool:
        """Send a request once, and pass on the messages that come; True once it is answered."""
        session_id = await self._session_id()
        asked.attempt += 1
        numbered = {"Idempotency-Key": asked.key, "Idempotency-Attempt": str(asked.attempt)}
        headers = {**numbered, **self.companion.headers}
        try:
            return await self.upstream.post(
                asked.message, partial(self._pass_on, asked), asked.line, headers, is_heard=asked.is_heard
            )
        except SessionGone:
            await self._renew(session_id)
        return False

    async def _pass_on(self, asked: PendingRequest, line: bytes) -> bool:
        """Pass on a message for a request; True if it is the answer."""
        asked.outage.over()
        if asked.message["method"] == json_rpc.CALL and line.startswith(asked.opening) and b"\n" not in line:
            await asked.answer(line)
            return True
        reply = read(line)
        is_listening = asked.message["method"] == LISTEN
        is_result = json_rpc.answers(reply, asked.message) and "result" in reply
        if is_listening and is_result:
            return False  # the hub shuts down properly; we listen again, and the client need not know
        if is_listening and reply.get("method") == ACKNOWLEDGED:
            if asked.is_acknowledged:
                await self._announce(_listened_to(asked.message), asked.message["id"])
                return False
            asked.is_acknowledged = True
        if is_result:
            self._remember(asked.message)
        await asked.answer(json_rpc.encoded(reply))
        return json_rpc.answers(reply, asked.message)

    async def _session_id(self) -> str | None:
        """Return the transport session to use, once it is ready."""
        async with self._renewing:
            return self.upstream.session_id

    def _remember(self, message: Message) -> None:
        """Remember the client's subscriptions in its transport session."""
        uri = json_rpc.parameters(message).get("uri")
        if message["method"] == "resources/subscribe" and isinstance(uri, str):
            self._subscribed[uri] = None
        elif message["method"] == "resources/unsubscribe" and isinstance(uri, str):
            self._subscribed.pop(uri, None)

    async def _cancel(self, message: Message) -> None:
        """Give up a request: in the newer revision by closing its connection, in the older ones also by a message."""
        request_id = json_rpc.parameters(message).get("requestId")
        task, request = self._open.get(request_id, (None, None)) if _is_id(request_id) else (None, None)
        if request is None or json_rpc.modern_version(request) is None:
            await self._notify(message)
        if task is not None:
            task.cancel()

    async def _take_back(self, message: Message) -> None:
        """Tell the hub that nobody waits for an answer any more; in the newer revision it knows that already."""
        if json_rpc.modern_version(message) is None:
            with suppress(Away, HttpRefused, TimeoutError):
                async with asyncio.timeout(FAREWELL.total_seconds()):
                    await self._sent(json_rpc.cancelled(message))

    async def _write(self, message: Message) -> None:
        await self.write(json_rpc.encoded(message))

    # ---- the hub's messages --------------------------------------------------------------------------------------

    async def _hear(self) -> None:
        """Pass on the hub's unsolicited messages, for as long as there is a client."""
        outage = Outage()

        async def hear(line: bytes) -> bool:
            outage.over()
            return await self._hear_unasked(line)

        while True:
            session_id = await self._session_id()
            try:
                await self.upstream.listen(self._listening, hear)
            except SessionGone:
                with suppress(Away, HttpRefused):
                    await self._renew(session_id)
            except Away:
                pass
            except HttpRefused:
                return  # this endpoint sends no unsolicited messages
            if not await outage.wait():
                outage.over()

    async def _hear_unasked(self, line: bytes) -> bool:
        """Pass on an unsolicited message; False, as there may always be another."""
        await self._write(read(line))
        return False

    async def _listening(self) -> None:
        """Announce all subscriptions as changed, since earlier changes may have been missed."""
        await self._announce(list(self._subscribed))

    async def _renew(self, gone: str | None) -> None:
        """Open a new transport session in place of the one that is gone, if nobody has done so yet."""
        async with self._renewing:
            if self._hello is None or self.upstream.session_id != gone:
                return
            try:
                await self.upstream.open(self._hello)
                if self._is_initialized:
                    await self._say({"jsonrpc": "2.0", "method": "notifications/initialized"})
                for uri in self._subscribed:
                    again = {"method": "resources/subscribe", "params": {"uri": uri}}
                    await self._say({"jsonrpc": "2.0", "id": str(uuid4()), **again})
            except SessionGone:
                raise Away("the hub went away again") from None
            except (Away, HttpRefused):
                self.upstream.session_id = gone
                raise

    async def _say(self, message: Message) -> None:
        """Send a message of our own, whose answer is not for the client."""
        await self.upstream.post(message, _ignore)

    async def _announce(self, uris: list[str], subscription_id: object = None) -> None:
        for uri in uris:
            await self._write(json_rpc.updated(uri, subscription_id))

    # ---- the end -------------------------------------------------------------------------------------------------

    async def _finish(self) -> None:
        """Let pending requests be answered; nobody listens any longer."""
        asked = [task for task, message in self._open.values() if message["method"] != LISTEN]
        if asked:
            await asyncio.wait(asked, timeout=LAST_WORDS.total_seconds())
        for task in [*(task for task, _ in self._open.values()), *([self._ear] if self._ear else [])]:
            task.cancel()

    async def _leave(self) -> None:
        with suppress(Away, HttpRefused, SessionGone, TimeoutError):
            async with asyncio.timeout(FAREWELL.total_seconds()):
                await self.upstream.leave()
        await self.upstream.close()


async def _ignore(_line: bytes) -> bool:
    return False


def _is_id(value: object) -> bool:
    return isinstance(value, (str, int))


def _unreachable(message: Message, error: Away) -> Message:
    sentence = f"the hub cannot be reached ({error}); the request may be tried again"
    return json_rpc.error(message["id"], json_rpc.UNAVAILABLE, sentence)


def _refusal(message: Message, error: HttpRefused) -> Message:
    reply = error.reply or json_rpc.error(None, json_rpc.INVALID_REQUEST, str(error))
    return {**reply, "id": message["id"]}


def _listened_to(message: Message) -> list[str]:
    """Return the resources that a `subscriptions/listen` asks for."""
    wanted = json_rpc.parameters(message).get("notifications")
    uris = wanted.get("resourceSubscriptions") if isinstance(wanted, dict) else None
    return [uri for uri in uris if isinstance(uri, str)] if isinstance(uris, list) else []
