"""The hub's own relay folder: the memory and the summaries of one project, mirrored where the hub runs."""

import asyncio
import logging
from collections.abc import AsyncIterator

from hubbub.core.people import projects
from hubbub.core.transaction import Transactions
from hubbub.model.errors import NotFound, StoreUnavailable
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Project
from hubbub.serve.background.hub_documents import HubDocuments
from hubbub.serve.live.log_tail import LogTail
from hubbub.workspace.documents import KINDS, Subject, subject_of
from hubbub.workspace.locations import Workspace
from hubbub.workspace.memory_sync import Mirror

log = logging.getLogger(__name__)

PAUSE = 1.0  # seconds, with a store that cannot be read


async def mirror_project(transactions: Transactions, feed: LogTail, workspace: Workspace, slug: str) -> None:
    """Mirror the project with that slug in the relay folder, while the hub runs."""
    try:
        project = await transactions.read(SYSTEM, lambda tx: projects.find(tx, slug))
    except NotFound as error:
        log.warning("the relay folder is not kept in step: %s", error)
        return
    mirror = Mirror(workspace.folder, HubDocuments(transactions, project.id))
    await mirror.run(_changes(feed, project), log.warning)


async def _changes(feed: LogTail, project: Project) -> AsyncIterator[Subject | None]:
    """Yield the project's documents as they change; first a None, since any may have changed before."""
    news = asyncio.Event()
    with feed.reading(news.set, frozenset({project.id}), kinds=frozenset(KINDS)) as reading:
        yield None
        while True:
            news.clear()
            try:
                activities = await reading.take()
            except StoreUnavailable:
                await asyncio.sleep(PAUSE)
                continue
            for each in activities:
                yield subject_of(each.kind, each.agent, each.detail)
            if not activities:
                await news.wait()
