"""A hub's outbox at work over a store, and what a test can wait for."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from hubbub.core.agents import agents
from hubbub.core.log import outbox, webhooks
from hubbub.core.people import projects
from hubbub.core.work import completion, tasks
from hubbub.model.lifecycle import Event
from hubbub.model.log.outbox_items import OutboxItem, OutboxItemKind
from hubbub.model.log.webhooks import Webhook
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Activity, Project, Task
from hubbub.serve.live.log_tail import LogTail
from hubbub.serve.outbox.github_comments import GitHubComments
from hubbub.serve.outbox.runner import Deliverer, Outbox
from hubbub.serve.outbox.webhook_delivery import WebhookDelivery
from hubbub.store.log import activity as log_of
from hubbub.store.tx import Store, Tx
from tests.serve.outbox.receivers import Receiver
from tests.support.waiting import patience

TOKEN = "ghp_secret"
HUB_URL = "https://hub.example.org"


class Desk:
    """A project over a store whose outbox is delivered to one receiver."""

    def __init__(self, store: Store, receiver: Receiver, project: Project | None = None) -> None:
        self.store, self.receiver = store, receiver
        self.project = project or store.write_now(SYSTEM, _begin)
        self._changed = asyncio.Event()

    @property
    def id(self) -> UUID:
        return self.project.id

    def do(self, operation: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return self.store.write_now(SYSTEM, lambda tx: operation(tx, *args, **kwargs))

    def complete(self, text: str = "three", issue: str = "octo/parser#7") -> Task:
        """A task about an issue, completed by bob."""

        def complete(tx: Tx) -> Task:
            task = tasks.send(tx, self.id, sender="ann", to="bob", text="count the lines", issue=issue)
            return completion.end(tx, task, Event.COMPLETE, by="bob", text=text, result=text)

        task: Task = self.do(complete)
        return task

    def add_webhook(self, *events: str, url: str | None = None) -> Webhook:
        address = url or f"{self.receiver.url}/hook?key=1"
        webhook, _secret = self.do(webhooks.add, self.project, address, events or ("task.*",))
        made: Webhook = webhook
        return made

    def happen(self, *kinds: str) -> None:
        for kind in kinds:
            self.do(lambda tx, kind=kind: tx.record(kind, project_id=self.id, detail={"text": "代"}))

    def parcels(self) -> list[OutboxItem]:
        return list(self.do(outbox.of_project, self.id, limit=500))[::-1]

    def log(self, kind: str) -> list[Activity]:
        found = self.do(log_of.history, self.id, limit=1000)[::-1]
        return [each for each in found if each.kind == kind]

    async def until(self, kind: str, times: int = 1) -> Activity:
        """Wait until that has happened so many times; the last of them."""
        async with asyncio.timeout(patience()):
            while len(found := self.log(kind)) < times:
                await self._changed.wait()
                self._changed.clear()
        return found[times - 1]

    async def arrived(self) -> Any:
        """Wait for the next request."""
        return await asyncio.to_thread(self.receiver.arrived)

    @asynccontextmanager
    async def delivering(
        self,
        *,
        token: str | None = TOKEN,
        allow_private: bool = True,
        chance: Callable[[], float] = lambda: 0.0,
        store: Store | None = None,
    ) -> AsyncIterator[None]:
        """A hub that delivers, with waits as short as they can be, until the context ends."""
        store = store or self.store
        feed = LogTail(store)
        await feed.start()
        couriers: dict[OutboxItemKind, Deliverer] = {
            OutboxItemKind.COMMENT: GitHubComments(self.receiver.url, token),
            OutboxItemKind.WEBHOOK: WebhookDelivery(allow_private=allow_private, url=HUB_URL),
        }
        leaving = Outbox(store, couriers, chance=chance)
        feed.listen(leaving.hear)
        feed.listen(lambda _activities: self._changed.set())
        working = [asyncio.create_task(feed.run()), asyncio.create_task(leaving.run())]
        try:
            yield
        finally:
            for each in working:
                each.cancel()
            outcomes = await asyncio.gather(*working, return_exceptions=True)
        assert all(isinstance(outcome, asyncio.CancelledError) for outcome in outcomes), outcomes


def _begin(tx: Tx) -> Project:
    project = projects.create(tx, "lab")
    for name in ("ann", "bob"):
        agents.meet(tx, project.id, name)
    return project
