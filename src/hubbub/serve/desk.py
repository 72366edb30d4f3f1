"""The hub as its own machine sees it: people to ask, a place for the audit log's head, tasks for what it starts.

What `hubbub.node` wants of a hub; the two do not know each other. Here it is done in this process, by the hub itself:
what a question is about says who asks.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from hubbub.core import approvals, keys, loans, nodes, placements, projects, seals
from hubbub.core.transaction import Transactions
from hubbub.model.approvals import Approval, ApprovalStatus
from hubbub.model.errors import Conflict, NotFound
from hubbub.model.ids import new_id, parse_id
from hubbub.model.moments import milliseconds
from hubbub.model.orders import Answered, Principal, Question, Ruling
from hubbub.model.placements import Credentials, Fares
from hubbub.model.rights import SYSTEM, Actor
from hubbub.serve.news import LiveNews
from hubbub.store.tx import Tx

MOMENT = timedelta(milliseconds=20)  # after a question's time, so that it is over for whoever looks
KEEP = timedelta(minutes=10)  # what is known of a question, for whoever comes back late


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the desk knows of a question that it has put."""

    approval: Approval
    receipt: str


class Desk:
    """What the hub's own machine turns to. `project` is the machine's, `node` its name, `url` where the hub listens."""

    def __init__(
        self, transactions: Transactions, news: LiveNews, project: str, *, node: str = "", url: str = ""
    ) -> None:
        self._transactions = transactions
        self._news = news
        self._project = project
        self._node, self._url = node, url
        self._asked: dict[str, _Asked] = {}
        self._lent: dict[str, UUID] = {}  # for what, by the tokens' secrets

    async def ask(self, question: Question, patience: timedelta) -> Answered:
        """Put a question before people and wait for their answer, `patience` at most."""
        return await self.answer(await self.put(question, patience))

    async def take_up(
        self, approval_id: UUID, machine: UUID, question: Question, patience: timedelta
    ) -> Answered | None:
        """As `ask`, by an id that a machine elsewhere made: asked again it is the same question, and told again.

        None if it has ended as the machine was gone: asked again, it goes on.
        """
        asked = self._known(await self.put(question, patience, approval_id=approval_id, machine=machine))
        if asked.approval.status is ApprovalStatus.SPENT:
            self._asked.pop(str(approval_id), None)
            return _answered(Ruling.APPROVED, asked.approval)
        found = await self._ruled(asked)
        return None if found.is_forsaken else await self._told(asked, found)

    async def put(
        self,
        question: Question,
        patience: timedelta,
        *,
        elicitation: bool = False,
        approval_id: UUID | None = None,
        machine: UUID | None = None,
    ) -> str:
        """Put a question before people without waiting: the id of its approval."""

        def ask(tx: Tx) -> tuple[Approval, str]:
            project = projects.find(tx, question.who.project)
            return approvals.put(
                tx,
                project,
                question,
                patience,
                elicitation=elicitation,
                approval_id=approval_id,
                machine=machine,
            )

        approval, receipt = await self._transactions.write(SYSTEM, ask)
        self._forget_before(approval.created_at)
        self._asked[str(approval.id)] = _Asked(approval, receipt)
        return str(approval.id)

    async def answer(self, approval_id: str) -> Answered:
        """What became of a question that was put here; waits until it is answered or its time is over."""
        asked = self._known(approval_id)
        return await self._told(asked, await self._ruled(asked))

    async def _ruled(self, asked: _Asked) -> Approval:
        """The question, once it does not wait any more."""
        approval = asked.approval
        patience = timedelta(milliseconds=approval.expires_at - approval.created_at) + MOMENT

        async def look() -> Approval:
            return await self._transactions.read(
                SYSTEM, lambda tx: approvals.find(tx, [approval.project_id], str(approval.id))
            )

        return await until_answered(look, self._news, SYSTEM, approval, patience)

    async def resolve(self, approval_id: str, *, approved: bool, by: str) -> Answered:
        """The answer that came by the client that made the call; where a person was faster, it is theirs."""
        asked = self._known(approval_id)

        def tell(tx: Tx) -> Approval:
            with suppress(Conflict):
                return approvals.resolve(tx, asked.approval.id, receipt=asked.receipt, approved=approved)
            return approvals.find(tx, [asked.approval.project_id], approval_id)

        return await self._told(asked, await self._transactions.write(SYSTEM, tell))

    async def seal(self, node: str, seq: int, digest: str) -> None:
        """Keep the head of the machine's audit log; one that cannot be true is in the hub's log from then on."""
        await self._transactions.write(
            SYSTEM, lambda tx: seals.keep(tx, projects.find(tx, self._project), node, seq, digest)
        )

    async def key(self) -> str | None:
        """The project's API key, if it has one."""
        return await self._transactions.read(
            SYSTEM, lambda tx: keys.use(tx, projects.find(tx, self._project))
        )

    async def begin_task(self, who: Principal, title: str, description: str, assignee: str) -> str:
        """The id of a new task of `who`, begun by the machine `assignee`."""

        def begin(tx: Tx) -> str:
            project = projects.find(tx, who.project)
            sender = None if who.is_person else who.name
            begun = nodes.begin_task(
                tx, project, sender=sender, title=title, description=description, node=assignee
            )
            return str(begun.id)

        return await self._transactions.write(SYSTEM, begin)

    async def end_task(self, task_id: str, *, text: str, failed: bool) -> None:
        """End a task with its result, or with why there is none."""
        await self._transactions.write(
            SYSTEM, lambda tx: nodes.end_task(tx, task_id, text=text, failed=failed)
        )

    async def lend(self, who: Principal, task_id: str | None = None) -> Credentials:
        """With what a program acts that is this machine's agent, while it works for `who`, or on a task of theirs."""
        purpose = parse_id(task_id or "") or new_id()

        def lend(tx: Tx) -> str:
            _token, secret = loans.lend(
                tx, projects.find(tx, who.project), who, node=self._node, purpose=purpose
            )
            return secret

        lent = Credentials(self._url, await self._transactions.write(SYSTEM, lend))
        self._lent[lent.token] = purpose
        return lent

    async def give_back(self, lent: Credentials) -> None:
        """Tell that what was lent is not needed any more: it ends."""
        purpose = self._lent.pop(lent.token)
        await self._transactions.write(SYSTEM, lambda tx: loans.end(tx, purpose))

    async def credentials(self, agent: str) -> Credentials:
        """With what an agent that was placed on this machine acts; what it had before is worth nothing from now on."""

        def equip(tx: Tx) -> str:
            machine = nodes.find(tx, projects.find(tx, self._project), self._node)
            return placements.equip(tx, machine, agent)

        return Credentials(self._url, await self._transactions.write(SYSTEM, equip))

    async def fare(self, agents: Sequence[Fares]) -> None:
        """Tell how the agents that were placed on this machine fare."""

        def tell(tx: Tx) -> None:
            placements.fare(tx, nodes.find(tx, projects.find(tx, self._project), self._node), agents)

        await self._transactions.write(SYSTEM, tell)

    async def _told(self, asked: _Asked, approval: Approval) -> Answered:
        """What is told of a question, which is then forgotten here; a yes is spent by it."""
        self._asked.pop(str(approval.id), None)
        ruling = Ruling.DENIED if approval.status is ApprovalStatus.DENIED else Ruling.EXPIRED
        if approval.status is ApprovalStatus.APPROVED:
            # Somebody else may have been told of it or have taken it up, or its minute is over.
            with suppress(Conflict, NotFound):
                await self._transactions.write(
                    SYSTEM,
                    lambda tx: approvals.spend(tx, approval.id, approval.digest, receipt=asked.receipt),
                )
                ruling = Ruling.APPROVED
        return _answered(ruling, approval)

    def _known(self, approval_id: str) -> _Asked:
        asked = self._asked.get(approval_id)
        if asked is None:
            raise NotFound(approvals.NOUN, approval_id)
        return asked

    def _forget_before(self, moment: int) -> None:
        """Forget the questions that nobody came back for."""
        limit = moment - milliseconds(KEEP)
        over = [each for each, asked in self._asked.items() if asked.approval.expires_at < limit]
        for each in over:
            del self._asked[each]


def _answered(ruling: Ruling, approval: Approval) -> Answered:
    return Answered(ruling, str(approval.id), approval.answered_by, approval.signature)


async def until_answered(
    look: Callable[[], Awaitable[Approval]],
    news: LiveNews,
    actor: Actor,
    approval: Approval,
    patience: timedelta,
) -> Approval:
    """What `look` finds of a question once it does not wait any more, or after `patience`.

    It is looked at again when something is told of it. Ends early, with the question as it is, when the actor's token
    ends or the hub closes.
    """
    with suppress(TimeoutError):
        async with (
            asyncio.timeout(patience.total_seconds()),
            news.follow(actor, approval.project_id) as batches,
        ):
            approval = await look()  # for what happened before we followed
            while approval.status is ApprovalStatus.PENDING:
                happened = await anext(batches, None)
                if happened is None:
                    return approval
                if any(each.detail.get("approval_id") == str(approval.id) for each in happened):
                    approval = await look()
    return approval if approval.status is not ApprovalStatus.PENDING else await look()
