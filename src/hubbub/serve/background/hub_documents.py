"""The documents of one project, mirrored by the hub itself into its relay folder."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from hubbub.core.transaction import Transactions
from hubbub.core.work import memory, summaries
from hubbub.model.errors import NotFound
from hubbub.model.people.rights import HUB, SYSTEM
from hubbub.model.work.memory import MemoryPart
from hubbub.store.tx import Tx
from hubbub.workspace.documents import PROJECT, DocumentKind, HubDocument, Subject


class HubDocuments:
    """`Documents` of a project, through the core; edits of files count as the hub's own. Never away."""

    def __init__(self, transactions: Transactions, project_id: UUID) -> None:
        self._transactions = transactions
        self._project_id = project_id

    async def versions(self) -> Mapping[Subject, int]:
        def look(tx: Tx) -> Mapping[Subject, int]:
            memories = {_subject(each.agent): each.version for each in memory.documents(tx, self._project_id)}
            runs = summaries.versions(tx, self._project_id)
            return memories | {Subject(DocumentKind.RUN, run): version for run, version in runs}

        return await self._transactions.read(SYSTEM, look)

    async def fetch(self, subject: Subject) -> HubDocument:
        return await self._transactions.read(SYSTEM, lambda tx: self._held(tx, subject))

    async def replace(self, subject: Subject, parts: Sequence[MemoryPart], version: int) -> int:
        return await self._transactions.write(SYSTEM, lambda tx: self._replace(tx, subject, parts, version))

    def _held(self, tx: Tx, subject: Subject) -> HubDocument:
        project = str(self._project_id)
        if subject.kind is DocumentKind.RUN:
            try:
                summary = summaries.find(tx, self._project_id, subject.name)
            except NotFound:
                return HubDocument(project, 0, ())
            return HubDocument(project, summary.version, (MemoryPart(None, summary.text),))
        document = memory.read(tx, self._project_id, _agent(subject))
        return (
            HubDocument(project, document.version, document.parts)
            if document
            else HubDocument(project, 0, ())
        )

    def _replace(self, tx: Tx, subject: Subject, parts: Sequence[MemoryPart], version: int) -> int:
        if subject.kind is DocumentKind.RUN:
            text = "".join(part.content for part in parts)
            return summaries.save(tx, self._project_id, subject.name, HUB, text, version=version).version
        agent = _agent(subject)
        return memory.replace(tx, self._project_id, agent, parts, version=version, by=HUB).version


def _subject(agent: str | None) -> Subject:
    return Subject(DocumentKind.AGENT, agent) if agent is not None else PROJECT


def _agent(subject: Subject) -> str | None:
    return subject.name if subject.kind is DocumentKind.AGENT else None
