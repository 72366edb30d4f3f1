"""Ephemeral messages: stored nowhere, heard by the project's present watchers at any hub of the store."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from uuid import UUID

from hubbub.store.tx import Store

Hear = Callable[[Mapping[str, object]], None]


class EphemeralBroadcast:
    """Belongs to one event loop. It receives the messages of other hubs once `start` was called."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._hearers: dict[UUID, dict[Hear, None]] = {}

    def start(self) -> None:
        """Begin to pass on the messages of other hubs."""
        loop = asyncio.get_running_loop()

        def hear(news: str) -> None:
            told = json.loads(news)
            with suppress(RuntimeError):  # the loop is closed, and nobody watches any more
                loop.call_soon_threadsafe(self._pass_on, UUID(told["project"]), told["content"])

        self._store.on_news(hear)

    def tell(self, project_id: UUID, content: Mapping[str, object]) -> None:
        """Send content to every listener of the project, here and at the other hubs."""
        self._pass_on(project_id, content)
        self._store.tell_hubs(json.dumps({"project": str(project_id), "content": content}))

    def _pass_on(self, project_id: UUID, content: Mapping[str, object]) -> None:
        for hear in list(self._hearers.get(project_id, ())):
            hear(content)

    @contextmanager
    def heard(self, project_id: UUID, hear: Hear) -> Iterator[None]:
        """Call `hear` with the content, while the context lasts; it must not block."""
        self._hearers.setdefault(project_id, {})[hear] = None
        try:
            yield
        finally:
            del self._hearers[project_id][hear]
            if not self._hearers[project_id]:
                del self._hearers[project_id]
