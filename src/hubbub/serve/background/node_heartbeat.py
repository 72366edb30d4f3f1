"""The hub's own machine, present in its project for as long as the hub runs."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import structlog

from hubbub.core.fleet import nodes
from hubbub.core.people import projects
from hubbub.core.transaction import Transactions
from hubbub.model.errors import HubError
from hubbub.model.fleet.calls import Node
from hubbub.model.fleet.nodes import Load
from hubbub.model.people.rights import SYSTEM
from hubbub.store.tx import Tx

log = structlog.get_logger(__name__)

REPORT_EVERY = timedelta(seconds=30)


@asynccontextmanager
async def own_node_present(
    transactions: Transactions, node: Node, slug: str, measured: Callable[[], Load | None]
) -> AsyncIterator[None]:
    """Report the machine to the project while the context lasts; at its end the machine leaves.

    `measured` returns its load.
    """

    def report(tx: Tx) -> None:
        reported = nodes.report(tx, projects.find(tx, slug), node.about, runtime=node.runtime)
        if (load := measured()) is not None:
            nodes.note_load(tx, reported.id, load)

    async def tell() -> None:
        try:
            await transactions.write(SYSTEM, report)
        except HubError as error:
            log.warning("the hub's own machine could not be reported", reason=str(error))

    async def keep() -> None:
        while True:
            await asyncio.sleep(REPORT_EVERY.total_seconds())
            await tell()

    await tell()
    keeping = asyncio.create_task(keep())
    try:
        yield
    finally:
        keeping.cancel()
        with suppress(HubError):
            await transactions.write(SYSTEM, lambda tx: nodes.leave(tx, projects.find(tx, slug), node.name))
