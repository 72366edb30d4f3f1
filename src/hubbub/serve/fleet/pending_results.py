"""Orders that callers wait for: each caller hears the progress and the result."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from uuid import UUID

from hubbub.model.fleet.calls import RefusalCode, ToolResult, refused
from hubbub.model.fleet.dispatches import Dispatch, DispatchStatus

Progress = Callable[[str], Awaitable[None]]
LOST = "the machine lost its record of this; whether it was done is not known, so look before you repeat it"
FORGOTTEN = "this was done a while ago, and its result is not kept any more"
LONGEST_PENDING = 1024 * 1024  # characters that wait for a slow caller, who gets the rest only at the end


class ProgressListener:
    """One caller's listener to an order's text: in order, never faster than the caller takes it."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._pending = ""
        self._telling: asyncio.Task[None] | None = None

    def hear(self, text: str) -> None:
        if self._progress is None or len(self._pending) + len(text) > LONGEST_PENDING:
            return
        self._pending += text
        if self._telling is None or self._telling.done():
            self._telling = asyncio.create_task(self._tell(self._progress))

    async def heard(self) -> None:
        """Wait until the caller has got everything."""
        if self._telling is not None:
            await self._telling

    def close(self) -> None:
        if self._telling is not None:
            self._telling.cancel()

    async def _tell(self, progress: Progress) -> None:
        while self._pending:
            text, self._pending = self._pending, ""
            await progress(text)


@dataclass(slots=True)
class PendingResult:
    """The future result of one order."""

    outcome: asyncio.Future[ToolResult]
    ears: list[ProgressListener] = field(default_factory=list)


class PendingResults:
    """All orders that callers of this hub wait for."""

    def __init__(self) -> None:
        self._awaited: dict[UUID, PendingResult] = {}

    def __contains__(self, dispatch_id: UUID) -> bool:
        return dispatch_id in self._awaited

    def ids(self) -> frozenset[UUID]:
        return frozenset(self._awaited)

    @contextmanager
    def waiting(
        self, dispatch_id: UUID, progress: Progress | None
    ) -> Iterator[tuple[PendingResult, ProgressListener]]:
        """Register a caller that waits for the order while the context lasts."""
        awaited = self._awaited.get(dispatch_id)
        if awaited is None:
            awaited = PendingResult(asyncio.get_running_loop().create_future())
            self._awaited[dispatch_id] = awaited
        ear = ProgressListener(progress)
        awaited.ears.append(ear)
        try:
            yield awaited, ear
        finally:
            ear.close()
            awaited.ears.remove(ear)
            if not awaited.ears:
                del self._awaited[dispatch_id]

    def hear(self, dispatch_id: UUID, text: str) -> None:
        """Pass on a piece of an order's text."""
        awaited = self._awaited.get(dispatch_id)
        for ear in awaited.ears if awaited is not None else ():
            ear.hear(text)

    def settle(self, dispatch_id: UUID, outcome: ToolResult) -> None:
        """Tell the order's callers its result."""
        awaited = self._awaited.get(dispatch_id)
        if awaited is not None:
            with suppress(asyncio.InvalidStateError):  # told already
                awaited.outcome.set_result(outcome)


def result_of(dispatch: Dispatch) -> ToolResult:
    """Return the result of an order that has ended."""
    if dispatch.outcome is not None:
        return dispatch.outcome
    match dispatch.status:
        case DispatchStatus.WITHDRAWN:
            return refused(
                RefusalCode.OFFLINE, f"the machine {dispatch.node!r} is not connected; nothing was done"
            )
        case DispatchStatus.LOST:
            return refused(RefusalCode.FAILED, LOST)
        case _:
            return refused(RefusalCode.FAILED, FORGOTTEN)
