"""The hub's leave for a machine's own agent to use its model: asked before it begins and while it works.

A spent budget, a stop or a paused account ends its work: its program is asked to end, and killed soon after. A limit
that its program reports pauses its account. If the hub cannot be asked, work goes on.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from datetime import timedelta
from typing import Any, TypeVar

from hubbub.model.errors import HubError
from hubbub.model.fleet.calls import Principal
from hubbub.model.limits.usage_limits import NOTICES, UsageLimit, read
from hubbub.node.requests.hub_client import HubClient, Leave
from hubbub.node.runtimes.conversation import RuntimeFailed
from hubbub.processes.log import structlog

LOOK = timedelta(seconds=5)  # between two questions while it works, or waits for the end of a pause

log = structlog.get_logger("hubbub")

T = TypeVar("T")


class RuntimePaused(RuntimeFailed):
    """A pause of its account stopped the agent, which may go on after it."""


class UsageGate:
    """The leave for one piece of work, for `who`, or on a task of theirs."""

    def __init__(self, hub: HubClient, who: Principal, task_id: str | None) -> None:
        self._hub, self._who, self._task_id = hub, who, task_id

    async def while_open(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of `work`, which is stopped when the leave ends.

        Raises `RuntimeFailed` with the reason, or `RuntimePaused` if there is an end to wait for.
        """
        try:
            _require(await self._leave())
        except RuntimeFailed:
            work.close()
            raise
        doing = asyncio.create_task(work)
        try:
            while not (await asyncio.wait({doing}, timeout=LOOK.total_seconds()))[0]:
                _require(await self._leave())
            return doing.result()
        except RuntimeFailed as failed:
            await self._report(failed)
            raise
        finally:
            doing.cancel()
            with suppress(asyncio.CancelledError, RuntimeFailed):
                await doing

    async def opened(self) -> None:
        """Wait until the account goes on."""
        while True:
            if not (await self._leave()).is_paused:
                return
            await asyncio.sleep(LOOK.total_seconds())

    async def _leave(self) -> Leave:
        try:
            return await self._hub.leave(self._who, self._task_id)
        except HubError as error:
            log.debug("the hub was not asked whether the agent may go on", reason=str(error))
            return Leave()

    async def _report(self, failed: RuntimeFailed) -> None:
        """Report the limit that ended a run, if one did. Raises `RuntimePaused` if that pauses our account.

        Only a program of a maker, or an endpoint, can report one: what others print is only text.
        """
        is_told = failed.program is not None and not isinstance(failed, RuntimePaused)
        if not is_told or _limit(failed, 0) is None:
            return
        leave = await self._leave()  # by the hub's time: a machine's own clock may be wrong
        limit = _limit(failed, leave.now) if leave.now is not None else None
        if limit is None:
            return
        try:
            is_paused = await self._hub.limit(self._who, limit, failed.program)
        except HubError as error:
            log.warning("the hub was not told of a limit", reason=str(error))
            return
        if is_paused:
            raise RuntimePaused(str(failed)) from failed


def _limit(failed: RuntimeFailed, now: int) -> UsageLimit | None:
    return read(failed.said, now=now, program=failed.program if failed.program in NOTICES else None)


def _require(leave: Leave) -> None:
    if leave.stopped is not None:
        raise (RuntimePaused if leave.is_paused else RuntimeFailed)(leave.stopped)
