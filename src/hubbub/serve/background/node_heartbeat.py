"""The hub's own machine, present in the projects that it serves for as long as the hub runs."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from functools import partial
from uuid import UUID

from hubbub.core.fleet import nodes, own_machine
from hubbub.core.transaction import Transactions
from hubbub.model.errors import HubError
from hubbub.model.fleet.calls import Node
from hubbub.model.fleet.nodes import Load
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Activity, Project
from hubbub.processes.log import structlog
from hubbub.store.tx import Tx

log = structlog.get_logger(__name__)

REPORT_EVERY = timedelta(seconds=30)
CHANGES = frozenset({"project.created", "project.changed", "member.put", "member.removed"})


class OwnMachinePresence:
    """Reports the machine to the projects that it serves. `measured` returns its load."""

    def __init__(self, transactions: Transactions, node: Node, measured: Callable[[], Load | None]) -> None:
        self._transactions, self._node, self._measured = transactions, node, measured
        self._told: dict[UUID, Project] = {}
        self._news = asyncio.Event()

    def hear(self, activities: Iterable[Activity]) -> None:
        """Note that the served projects may be others now; it does not block."""
        if any(each.kind in CHANGES for each in activities):
            self._news.set()

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Keep the machine present while the context lasts; at its end it leaves."""
        await self._report(anew=True)
        keeping = asyncio.create_task(self._keep())
        try:
            yield
        finally:
            keeping.cancel()
            await self._leave(self._told.values())

    async def _keep(self) -> None:
        loop, every = asyncio.get_running_loop(), REPORT_EVERY.total_seconds()
        due = loop.time() + every  # however often there is news of some of them until then
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(due):
                    await self._news.wait()
            is_due = loop.time() >= due
            await self._report(anew=is_due)
            due = loop.time() + every if is_due else due

    async def _report(self, *, anew: bool) -> None:
        """Report to the projects that it serves now; not `anew`: only to those that are new or have changed."""
        self._news.clear()
        try:
            served = {each.id: each for each in await self._transactions.read(SYSTEM, own_machine.served)}
            await self._leave(self._told.pop(key) for key in self._told.keys() - served.keys())
        except HubError as error:
            log.warning("the hub's own machine could not be reported", reason=str(error))
            return
        for key, project in served.items():
            if not anew and self._told.get(key) == project:
                continue
            self._told[key] = project
            try:
                await self._transactions.write(SYSTEM, partial(self._tell, project=project))
            except HubError as error:
                del self._told[key]
                log.warning(
                    "the hub's own machine could not be reported", project=project.slug, reason=str(error)
                )

    def _tell(self, tx: Tx, project: Project) -> None:
        if not own_machine.serves(tx, project.id):
            return  # not any more
        reported = nodes.report(tx, project, self._node.about, runtime=self._node.runtime)
        if (load := self._measured()) is not None:
            nodes.note_load(tx, reported.id, load)

    async def _leave(self, projects: Iterable[Project]) -> None:
        for project in projects:
            with suppress(HubError):
                await self._transactions.write(
                    SYSTEM, partial(nodes.leave, project=project, name=self._node.name)
                )
