"""`/api/v1/nodes/link`: where machines connect, each by a WebSocket that lasts until one side ends it.

Its pings, which the server sends, are the heartbeat. The store gets one report for all present machines.
"""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.routing import Route, WebSocketRoute
from starlette.types import Receive, Scope, Send

from hubbub.core.fleet import nodes
from hubbub.core.work import machine_keys
from hubbub.model.errors import HubError, Invalid, StoreUnavailable, Unauthorized
from hubbub.model.fleet.link_protocol import PATH, CloseReason, Hello, MessageKind, hello_of, message
from hubbub.model.fleet.nodes import Machine
from hubbub.model.fleet.protocol_versions import VERSIONS, agreed, disagreement, versions_of
from hubbub.model.people.rights import SYSTEM
from hubbub.serve.fleet.linked_nodes import LinkedNodes
from hubbub.serve.fleet.node_link import NodeLink
from hubbub.serve.fleet.node_reports import NodeReports
from hubbub.serve.fleet.node_socket import NodeSocket, SocketLost
from hubbub.serve.fleet.proof_signing import ProofSigning
from hubbub.serve.fleet.reconciliation import LocalState, Reconciled, reconcile
from hubbub.serve.http.guard import actor_of, error_response
from hubbub.serve.live.subscribers import Subscribers
from hubbub.store.tx import Tx

log = logging.getLogger(__name__)

MOST_HELD = 5_000  # orders and questions that a machine may report as held
LONGEST_INSTANCE = 200  # characters
PARTINGS: Mapping[type[HubError], CloseReason] = {
    Invalid: CloseReason.BROKEN,
    StoreUnavailable: CloseReason.CLOSING,
    Unauthorized: CloseReason.REVOKED,
}


class OtherVersion(Exception):
    """The machine and this hub share no version of the link protocol; the message says what to do."""


@dataclass(frozen=True, slots=True)
class LinkEndpoint:
    """The ASGI application for machines. `public_url` is the hub's public address, if it has one."""

    fleet: LinkedNodes
    hearing: NodeReports
    signing: ProofSigning
    followers: Subscribers
    public_url: str | None

    def routes(self) -> list[Route | WebSocketRoute]:
        return [WebSocketRoute(PATH, self), Route(PATH, self)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        actor = actor_of(scope)
        project, machine = await self.fleet.transactions.read(actor, nodes.find_by_key)
        if scope["type"] == "http":
            status, upgrade = HTTPStatus.UPGRADE_REQUIRED, {"Upgrade": "websocket", "Connection": "Upgrade"}
            refusal = error_response(status, "upgrade_required", "machines speak WebSocket here", upgrade)
            await refusal(scope, receive, send)
            return
        line = NodeSocket(receive, send, self.fleet.pace.stall)
        with self.followers.open(actor) as follower, suppress(SocketLost):
            await line.accept()
            try:
                hello, version = await self._greeted(line)
            except Invalid:
                await line.bye(CloseReason.BROKEN)
                return
            except OtherVersion as error:
                log.warning("the machine %r is not linked: %s", machine.name, error)
                await line.bye(CloseReason.VERSION, versions=VERSIONS)
                return
            link = NodeLink(
                line,
                follower,
                project,
                machine,
                instance=hello.instance,
                url=self._url(scope),
                version=version,
            )
            why = await self.fleet.admit(link)
            if why is not None:
                await line.bye(why)
                return
            try:
                await self._stand(link, line, hello)
            finally:
                self.fleet.lose(link)

    async def _greeted(self, line: NodeSocket) -> tuple[Hello, int]:
        """Return the machine's first message, and the version to go on in.

        Raises `Invalid` for anything else, `OtherVersion`, and `SocketLost` if it says nothing.
        """
        try:
            async with asyncio.timeout(self.fleet.pace.hello.total_seconds()):
                said = await line.hear()
        except TimeoutError:
            raise Invalid("a machine's first message must say who it is") from None
        if said["kind"] != MessageKind.HELLO:
            raise Invalid("a machine's first message must say who it is")
        theirs = versions_of(said)
        version = agreed(theirs)
        if version is None:
            raise OtherVersion(disagreement(hub=VERSIONS, machine=theirs))
        hello = hello_of(said)
        held = (*hello.running, *hello.ended, *(hello.asked or ()))
        if len(hello.instance) > LONGEST_INSTANCE or len(held) > MOST_HELD:
            raise Invalid(f"a machine holds at most {MOST_HELD} orders and questions")
        return hello, version

    async def _stand(self, link: NodeLink, line: NodeSocket, hello: Hello) -> None:
        """Exchange messages until the link ends."""
        try:
            await self._take_up(link, hello)
        except tuple(PARTINGS) as error:
            await line.bye(next(why for kind, why in PARTINGS.items() if isinstance(error, kind)))
            return
        listening = asyncio.create_task(self._listen(link, line))
        try:
            await link.write(welcome=message(MessageKind.WELCOME, version=link.version))
            otherwise = CloseReason.CLOSING if self.followers.are_closed else CloseReason.REVOKED
            await link.close(otherwise)
        finally:
            listening.cancel()
            with suppress(asyncio.CancelledError):
                await listening

    async def _take_up(self, link: NodeLink, hello: Hello) -> None:
        """Compare the machine's orders with the hub's records, and go on from there."""
        fleet, taken = self.fleet, self.hearing.taken(link)

        def take_up(tx: Tx) -> tuple[Machine, Reconciled]:
            machine = nodes.link(
                tx,
                link.machine,
                hub=fleet.instance,
                about=hello.about,
                runtime=hello.runtime,
                labels=hello.labels,
                ttl=fleet.pace.ttl,
            )
            if hello.signing_key is not None:
                machine_keys.introduce(tx, machine, hello.signing_key)
            known = LocalState(taken, fleet.waiters.ids(), fleet.pace.back)
            return machine, reconcile(tx, machine, hello, known)

        link.machine, resumed = await fleet.transactions.write(SYSTEM, take_up)
        fleet.held |= {dispatch.id: dispatch for dispatch in resumed.held}
        self.hearing.fare(link, hello.fares)
        self.signing.ask(link)
        for dispatch in resumed.over:
            fleet.settle(dispatch)
        for dispatch in resumed.send:
            fleet.hand_over(dispatch)
        for each in resumed.unwanted:
            link.cancel(each)

    async def _listen(self, link: NodeLink, line: NodeSocket) -> None:
        """Receive the machine's messages until it leaves, or sends nonsense.

        The link ends with this, even if the hub itself fails here: a machine that is not heard any more must not look
        linked.
        """
        why: CloseReason | None = CloseReason.BROKEN
        try:
            while not link.has_ended:
                self.hearing.hear(link, await line.hear())
                await link.has_room()
        except Invalid:
            pass
        except SocketLost:
            why = None
        finally:
            link.part(why)

    def _url(self, scope: Scope) -> str:
        """Return the hub's URL for the machine: the public one, else the one that the machine used."""
        if self.public_url is not None and urlsplit(self.public_url).hostname:
            return self.public_url
        scheme = "https" if scope["scheme"] == "wss" else "http"
        return f"{scheme}://{Headers(scope=scope)['host']}"
