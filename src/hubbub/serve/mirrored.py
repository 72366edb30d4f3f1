"""The hub's own relay folder: the memory and the summaries of one project, mirrored where the hub runs."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TypeVar

from hubbub.core import memory, projects, summaries
from hubbub.core.transaction import Transactions
from hubbub.model.errors import HubError, NotFound, StoreUnavailable
from hubbub.model.memory import Part
from hubbub.model.records import Project
from hubbub.model.rights import HUB, SYSTEM
from hubbub.serve.feed import Feed
from hubbub.store.tx import Operation, Tx
from hubbub.workspace.documents import KINDS, PROJECT, Away, Held, Kind, Subject, subject_of
from hubbub.workspace.folder import Workspace
from hubbub.workspace.mirror import Mirror

log = logging.getLogger(__name__)

T = TypeVar("T")

PAUSE = 1.0  # seconds with a store that cannot be read


class OwnDocuments:
    """`Documents` of a project, by one of its own hub."""

    def __init__(self, transactions: Transactions, project: Project) -> None:
        self._transactions = transactions
        self._project = project

    async def versions(self) -> Mapping[Subject, int]:
        def look(tx: Tx) -> dict[Subject, int]:
            memories = memory.documents(tx, self._project.id)
            said = summaries.editions(tx, self._project.id)
            return {_memory_of(each.agent): each.version for each in memories} | {
                Subject(Kind.RUN, run): version for run, version in said
            }

        return await self._read(look)

    async def fetch(self, subject: Subject) -> Held:
        version, parts = await self._read(lambda tx: self._found(tx, subject))
        return Held(str(self._project.id), version, parts)

    async def replace(self, subject: Subject, parts: Sequence[Part], version: int) -> int:
        def put(tx: Tx) -> int:
            if subject.kind is Kind.RUN:
                text = "".join(part.content for part in parts)
                return summaries.save(tx, self._project.id, subject.name, HUB, text, version=version).version
            agent = _agent_of(subject)
            return memory.replace(
                tx, self._project.id, agent, parts, version=version, by=agent or HUB
            ).version

        try:
            return await self._transactions.write(SYSTEM, put)
        except StoreUnavailable as error:
            raise Away(str(error)) from None

    def _found(self, tx: Tx, subject: Subject) -> tuple[int, tuple[Part, ...]]:
        """The document's version and parts; 0 and none if it is not there."""
        if subject.kind is not Kind.RUN:
            document = memory.read(tx, self._project.id, _agent_of(subject))
            return (document.version, document.parts) if document else (0, ())
        try:
            summary = summaries.find(tx, self._project.id, subject.name)
        except NotFound:
            return 0, ()
        return summary.version, (Part(None, summary.text),)

    async def _read(self, look: Operation[T]) -> T:
        try:
            return await self._transactions.read(SYSTEM, look)
        except StoreUnavailable as error:
            raise Away(str(error)) from None


async def keep_in_step(transactions: Transactions, feed: Feed, workspace: Workspace, slug: str) -> None:
    """Mirror the project of that slug in the relay folder, for as long as the hub runs."""
    try:
        project = await transactions.read(SYSTEM, lambda tx: projects.find(tx, slug))
    except HubError as error:
        log.warning("the relay folder is not kept in step: %s", error)
        return
    mirror = Mirror(workspace.folder, OwnDocuments(transactions, project))
    await mirror.run(_changes(feed, project), log.warning)


async def _changes(feed: Feed, project: Project) -> AsyncIterator[Subject | None]:
    """The documents of the project that change from now on, and None whenever some may have."""
    news = asyncio.Event()
    with feed.reading(news.set, frozenset({project.id}), kinds=frozenset(KINDS)) as reading:
        yield None
        while True:
            news.clear()
            try:
                activities = await reading.take()
            except StoreUnavailable:
                await asyncio.sleep(PAUSE)
                news.set()
                continue
            for each in activities:
                yield subject_of(each.kind, each.agent, each.detail)
            if not activities:
                await news.wait()


def _memory_of(agent: str | None) -> Subject:
    return Subject(Kind.AGENT, agent) if agent is not None else PROJECT


def _agent_of(subject: Subject) -> str | None:
    return subject.name if subject.kind is Kind.AGENT else None
