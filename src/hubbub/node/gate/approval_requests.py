"""Asking a person before a call goes on: through the hub, or by the calling client, if the operator allows it."""

import asyncio
from datetime import timedelta

from hubbub.model.fleet.calls import Answered, Client, Question
from hubbub.node.policy.node_policy import Policy
from hubbub.node.requests.hub_client import HubClient

MOST = 1000  # questions that clients took away, whose calls are remembered


class ApprovalRequests:
    """The questions of one machine."""

    def __init__(self, hub: HubClient) -> None:
        self._hub = hub
        self._taken: dict[str, str] = {}  # by clients: digests of calls, by the approval's id

    async def ask(
        self, question: Question, client: Client | None, policy: Policy, patience: timedelta
    ) -> Answered:
        """Ask a person and return their answer, within `patience`.

        Raises `InputRequired` if the client has to make the call again, and a `HubError`.
        """
        if client is None or not policy.elicitation or policy.approvers:  # clients cannot sign for it
            return await self._hub.ask(question, patience)
        approval_id = await self._asked_already(question, client)
        if approval_id is None:
            approval_id = await self._put(question, patience)
        approved = await self._said(question, client, approval_id, patience)
        self._taken.pop(approval_id, None)
        if approved is None:
            return await self._hub.answer(approval_id)
        return await self._hub.resolve(approval_id, approved=approved)

    async def _said(
        self, question: Question, client: Client, approval_id: str, patience: timedelta
    ) -> bool | None:
        """Return the client's answer; None if it gives none in time."""
        try:
            async with asyncio.timeout(patience.total_seconds()):
                return await client.ask(question, approval_id)
        except TimeoutError:
            return None

    async def _asked_already(self, question: Question, client: Client) -> str | None:
        """Return the approval for which the client brings an answer, if it is for this very call."""
        known = client.approval_id
        return known if known is not None and self._taken.get(known) == question.digest else None

    async def _put(self, question: Question, patience: timedelta) -> str:
        approval_id = await self._hub.put(question, patience, elicitation=True)
        while len(self._taken) >= MOST:
            del self._taken[next(iter(self._taken))]
        self._taken[approval_id] = question.digest
        return approval_id
