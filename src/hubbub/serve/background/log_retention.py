"""Retention of the log: keyframes of every project, and the log's length."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial

from hubbub.core.snapshots import keyframes
from hubbub.model.errors import StoreUnavailable
from hubbub.model.people.rights import SYSTEM
from hubbub.store.tx import Store

log = logging.getLogger(__name__)

LOOK_EVERY = timedelta(seconds=10)  # for projects that are due for a keyframe
FORGET_EVERY = timedelta(hours=1)


class LogRetention:
    """Works while `run` runs. The log is kept for `keep_days`; None for ever."""

    def __init__(self, store: Store, keep_days: int | None) -> None:
        self._store = store
        self._keep_for = timedelta(days=keep_days) if keep_days is not None else None

    async def run(self) -> None:
        """Keep keyframes and cut the log, until cancelled."""
        async with asyncio.TaskGroup() as both:
            both.create_task(self._every(LOOK_EVERY, self.keep))
            both.create_task(self._every(FORGET_EVERY, self.cut))

    async def _every(self, pause: timedelta, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                await work()
            except StoreUnavailable as error:
                log.warning("the past is not put in order: %s", error)
            await asyncio.sleep(pause.total_seconds())

    async def keep(self) -> None:
        """Store a keyframe of every project that is due for one."""
        read, write = self._store.read, self._store.write
        for project_id in await read(SYSTEM, keyframes.due, long=True):
            taken = partial(keyframes.take_keyframe, project_id=project_id)
            frame = await read(SYSTEM, taken, long=True)
            await write(SYSTEM, partial(keyframes.keep, frame=frame))

    async def cut(self) -> None:
        """Drop activities older than the limit, a little at a time."""
        if self._keep_for is None:
            return
        is_more = True
        while is_more:  # a page at a time: others write in between
            is_more = await self._store.write(SYSTEM, partial(keyframes.forget, keep_for=self._keep_for))
