"""Changes of mirrored documents, as the hub tells its listeners."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from hubbub.bridge.companions.document_changes import changes
from hubbub.workspace.documents import PROJECT, DocumentKind, Subject
from tests.cli.processes import RunningHub


def remember(hub: RunningHub, path: str) -> None:
    hub.client().put(path, {"text": "## k\n\nc\n" if "memory" in path else "c"})


def test_what_changes(hub: RunningHub) -> None:
    """A listener is told first that anything may have changed, then the changed documents, and nothing else."""

    async def listen() -> list[Subject | None]:
        async with aclosing(changes(hub.client)) as heard:
            found = [await anext(heard)]
            await asyncio.to_thread(hub.meet, "fe")
            for path in ("/memory/project", "/memory/agents/fe", "/summaries/r1"):
                await asyncio.to_thread(remember, hub, path)
                found.append(await anext(heard))
            return found

    assert asyncio.run(listen()) == [
        None,
        PROJECT,
        Subject(DocumentKind.AGENT, "fe"),
        Subject(DocumentKind.RUN, "r1"),
    ]


@pytest.mark.system
def test_hub_that_was_away(own_hub: RunningHub) -> None:
    """When the hub was away anything may have changed."""

    async def listen() -> list[Subject | None]:
        async with aclosing(changes(own_hub.client)) as heard:
            found = [await anext(heard)]
            await asyncio.to_thread(own_hub.stop, signal.SIGKILL)
            await asyncio.to_thread(own_hub.start)
            return [*found, await anext(heard)]

    assert asyncio.run(listen()) == [None, None]


def test_who_may_not_listen(hub: RunningHub) -> None:
    """When the hub does not let us listen the news have ended."""

    async def everything(heard: AsyncIterator[Subject | None]) -> list[Subject | None]:
        return [each async for each in heard]

    assert asyncio.run(everything(changes(lambda: hub.client().acting_with("ntok_1")))) == []
