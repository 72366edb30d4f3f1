"""The hub as a machine elsewhere sees it: over REST, with the token of the agent that the machine works for.

While people think, the machine asks again and again, each time for as long as the hub lets it wait. A hub that is away
meanwhile may come back; if it does not in time, nobody has answered, which is a no.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx2

from hubbub.client import CONNECT_SECONDS, READ_SECONDS, WAIT_SECONDS, quoted, refusal
from hubbub.model.approvals import ApprovalStatus
from hubbub.model.errors import Conflict, Forbidden, HubError, Invalid, StoreUnavailable
from hubbub.model.machines import NODE_PREFIX
from hubbub.model.orders import Answered, Principal, Question, Ruling
from hubbub.model.placements import Credentials, Fares
from hubbub.model.rights import HUB
from hubbub.model.shown import SHOWN_LENGTH, abridged, cut, visible
from hubbub.model.ways import authorities, trusts_environment
from hubbub.node.hub import NO_AGENTS, TEXT_LENGTH, TITLE_LENGTH

RETRY_EVERY = 1.0  # seconds, while the hub is away
LATE = 3.0  # seconds that the hub may need to say that a question's time is over

REFUSALS: Mapping[str, type[HubError]] = {"conflict": Conflict, "forbidden": Forbidden, "invalid": Invalid}


@dataclass(frozen=True, slots=True)
class _Asked:
    """What we know of a question that we have put; `until` is the time of the event loop."""

    receipt: str
    digest: str
    until: float


class RemoteHub:
    """What a machine turns to, where the hub is another program.

    `address` gives the hub's URL, anew for each request; `node` is the machine's name. Belongs to one event loop.
    """

    def __init__(
        self, address: Callable[[], str], token: str, node: str, *, project: str | None = None
    ) -> None:
        self._address, self._node = address, node
        self._query = {"project": project} if project is not None else {}
        self._asked: dict[str, _Asked] = {}
        self._lent: dict[str, str] = {}  # ids of tokens, by their secrets
        self._http = httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {token}"},
            limits=httpx2.Limits(max_connections=None),
            verify=authorities(address()),
            trust_env=trusts_environment(address()),
        )

    async def close(self) -> None:
        await self._http.aclose()

    async def ask(self, question: Question, patience: timedelta) -> Answered:
        """Put a question before people and wait for their answer, `patience` at most."""
        return await self.answer(await self.put(question, patience))

    async def put(self, question: Question, patience: timedelta, *, elicitation: bool = False) -> str:
        """Put a question before people without waiting: the id of its approval."""
        body = {
            "who": None if question.who.is_person else question.who.name,
            "kind": question.kind,
            "node": visible(question.node),
            "tool": visible(question.tool),
            "arguments": abridged(question.arguments),
            "folder": visible(question.folder),
            "shown": cut(visible(question.shown), SHOWN_LENGTH),
            "reason": cut(visible(question.reason), TEXT_LENGTH),
            "digest": question.digest,
            "patience_seconds": patience.total_seconds(),
            "elicitation": elicitation,
            **({"dangerous": True} if question.dangerous else {}),  # which an older hub does not know
        }
        reply = await self._call("POST", "/approvals", body)
        now = asyncio.get_running_loop().time()
        self._forget_before(now)
        approval_id: str = reply["approval"]["id"]
        until = now + patience.total_seconds() + LATE
        self._asked[approval_id] = _Asked(reply["receipt"], question.digest, until)
        return approval_id

    async def answer(self, approval_id: str) -> Answered:
        """What became of a question that was put here; waits until it is answered or its time is over."""
        asked = self._known(approval_id)
        loop = asyncio.get_running_loop()
        while (left := asked.until - loop.time()) > 0:
            try:
                found = await self._look(approval_id, wait_seconds=min(left, WAIT_SECONDS))
            except StoreUnavailable:
                await asyncio.sleep(min(left, RETRY_EVERY))
                continue
            if found["status"] != ApprovalStatus.PENDING:
                return await self._told(approval_id, asked, found)
        self._asked.pop(approval_id, None)
        return Answered(Ruling.EXPIRED, approval_id)

    async def resolve(self, approval_id: str, *, approved: bool, by: str) -> Answered:
        """The answer that came by the client that made the call; where a person was faster, it is theirs."""
        asked = self._known(approval_id)
        body = {"approved": approved, "receipt": asked.receipt}
        with suppress(Conflict):
            await self._call("POST", f"/approvals/{quoted(approval_id)}/resolve", body)
        return await self._told(approval_id, asked, await self._look(approval_id))

    async def seal(self, node: str, seq: int, digest: str) -> None:
        """Keep the head of the machine's audit log; one that cannot be true is in the hub's log from then on.

        Where the machine has joined, or the hub runs on it, it tells of the same log itself.
        """
        with suppress(Conflict, Forbidden):
            await self._call("POST", "/audit/heads", {"node": node, "seq": seq, "hash": digest})

    async def key(self) -> str | None:
        """None: the hub gives a project's key to its own machine alone."""
        return None

    async def begin_task(self, who: Principal, title: str, description: str, assignee: str) -> str:
        """The id of a new task of `who`, begun by the machine `assignee`."""
        body = {
            "title": cut(title, TITLE_LENGTH),
            "text": cut(description, TEXT_LENGTH),
            "who": None if who.is_person else who.name,
        }
        reply = await self._call("POST", f"/nodes/{quoted(assignee.removeprefix(NODE_PREFIX))}/tasks", body)
        task_id: str = reply["task_id"]
        return task_id

    async def end_task(self, task_id: str, *, text: str, failed: bool) -> None:
        """End a task with its result, or with why there is none."""
        path = f"/nodes/{quoted(self._node)}/tasks/{quoted(task_id)}/end"
        await self._call("POST", path, {"text": cut(text, TEXT_LENGTH), "failed": failed})

    async def lend(self, who: Principal, task_id: str | None = None) -> Credentials:
        """With what a program acts that is this machine's agent, while it works for `who`."""
        body = {"node": self._node, "who": None if who.is_person or who.name == HUB else who.name}
        reply = await self._call("POST", "/tokens/lent", body)
        self._lent[reply["secret"]] = reply["token"]["id"]
        return Credentials(url=self._address(), token=reply["secret"])

    async def give_back(self, lent: Credentials) -> None:
        """Tell that what was lent is not needed any more: it ends."""
        await self._call("DELETE", f"/tokens/{quoted(self._lent.pop(lent.token))}", None)

    async def credentials(self, agent: str) -> Credentials:
        """Raises `Forbidden`: it ends with its client, and no agent lives there."""
        raise Forbidden(NO_AGENTS)

    async def fare(self, agents: Sequence[Fares]) -> None:
        """Raises `Forbidden`, as `credentials` does."""
        raise Forbidden(NO_AGENTS)

    async def _told(self, approval_id: str, asked: _Asked, found: Mapping[str, Any]) -> Answered:
        """What is told of a question, which is then forgotten here; a yes is spent by it."""
        self._asked.pop(approval_id, None)
        ruling = Ruling.DENIED if found["status"] == ApprovalStatus.DENIED else Ruling.EXPIRED
        if found["status"] == ApprovalStatus.APPROVED:
            body = {"digest": asked.digest, "receipt": asked.receipt}
            with suppress(Conflict):  # its minute is over
                await self._call("POST", f"/approvals/{quoted(approval_id)}/spend", body)
                ruling = Ruling.APPROVED
        return Answered(ruling, approval_id, found["answered_by"], found.get("signature"))

    async def _look(self, approval_id: str, **query: float) -> Mapping[str, Any]:
        reply = await self._call("GET", f"/approvals/{quoted(approval_id)}", None, **query)
        found: Mapping[str, Any] = reply["approval"]
        return found

    async def _call(
        self, method: str, path: str, body: Mapping[str, object] | None, **query: float
    ) -> Mapping[str, Any]:
        """The hub's reply. Raises `StoreUnavailable` where there is none, and as another `HubError` what it refuses."""
        patience = READ_SECONDS + query.get("wait_seconds", 0)
        try:
            response = await self._http.request(
                method,
                f"{self._address()}/api/v1{path}",
                params={**self._query, **query},
                json=body,
                timeout=httpx2.Timeout(patience, connect=CONNECT_SECONDS, pool=None),
            )
        except (httpx2.TransportError, httpx2.InvalidURL) as error:
            raise StoreUnavailable("the hub cannot be reached") from error
        if response.is_error:
            refused = refusal(response)
            kind = StoreUnavailable if refused.is_temporary else REFUSALS.get(refused.code, HubError)
            raise kind(str(refused))
        reply: Mapping[str, Any] = response.json()
        return reply

    def _known(self, approval_id: str) -> _Asked:
        asked = self._asked.get(approval_id)
        if asked is None:
            raise Conflict("this machine does not know of such a question any more; make the call again")
        return asked

    def _forget_before(self, moment: float) -> None:
        """Forget the questions that nobody came back for."""
        for over in [each for each, asked in self._asked.items() if asked.until < moment]:
            del self._asked[over]
