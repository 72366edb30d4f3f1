"""Background tasks: work of a machine that goes on after the answer to its call. Each is a task of the hub.

A note of it is in the machine's folder, locked while its process lives: the next process ends the tasks of a killed
one, so that none seems under way for ever.
"""

import asyncio
import json
import os
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from hubbub.model.errors import HubError, StoreUnavailable
from hubbub.node.requests.hub_client import HubClient
from hubbub.node.runtimes.conversation import Answer, RuntimeFailed
from hubbub.processes import durable_files, file_locks
from hubbub.processes.log import structlog

log = structlog.get_logger("hubbub")

FOLDER = "errands"


@dataclass(frozen=True, slots=True)
class TaskReport:
    """The result of a background task, or the reason why there is none."""

    text: str
    failed: bool = False


STOPPED = TaskReport("the machine stopped before this was done", failed=True)
BROKEN = TaskReport("the machine could not go on with this; its log says why", failed=True)


class BackgroundTasks:
    """The background tasks of this process, one object for its whole life; `close` it at the end."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def start(
        self, hub: HubClient, data: Path, task_id: str, work: Coroutine[Any, Any, Answer]
    ) -> "asyncio.Task[Answer]":
        """Continue `work`, and end the hub's task with it, whether or not anybody waits here.

        Cancelling it ends the task as failed. It ends with `RuntimeFailed` if there is no answer.
        """
        errand = asyncio.create_task(_carried(hub, data / FOLDER, task_id, work))
        self._mind(errand)
        return errand

    def keep(self, work: Coroutine[Any, Any, None]) -> None:
        """Continue `work`, which is no task of the hub, for as long as the process lives."""
        self._mind(asyncio.create_task(work))

    def drop(self, work: "asyncio.Task[Any]") -> None:
        """Cancel `work`, without waiting until it has cleaned up."""
        work.cancel()
        self._mind(work)

    async def close(self) -> None:
        """End the remaining work; its tasks report that it was not finished."""
        await asyncio.sleep(0)  # work that never began could not end its task either
        running = tuple(self._running)
        for errand in running:
            errand.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def settle(self, hub: HubClient, data: Path) -> None:
        """End the tasks of processes that are gone, and those whose end the hub could not be told."""
        for file in sorted((data / FOLDER).glob("*.json")):
            note = _Note.taken(file)
            if note is not None:
                await note.settle(hub)

    def _mind(self, work: "asyncio.Task[Any]") -> None:
        self._running.add(work)
        work.add_done_callback(self._ended)

    def _ended(self, work: "asyncio.Task[Any]") -> None:
        self._running.discard(work)
        error = None if work.cancelled() else work.exception()
        if error is not None and not isinstance(error, RuntimeFailed):
            log.error("work in the background broke off", exc_info=error)


async def _carried(hub: HubClient, folder: Path, task_id: str, work: Coroutine[Any, Any, Answer]) -> Answer:
    note, report = _Note.made(folder, task_id), BROKEN
    try:
        answer = await work
        report = TaskReport(answer.text)
    except RuntimeFailed as failed:
        report = TaskReport(str(failed), failed=True)
        raise
    except asyncio.CancelledError:
        report = STOPPED
        raise
    finally:
        note.write(report)
        await note.settle(hub)
    return answer


class _Note:
    """A note of a task under way, on disk; it is ours as long as we hold its lock."""

    def __init__(self, file: Path, descriptor: int | None, task_id: str, report: TaskReport) -> None:
        self._file, self._descriptor = file, descriptor
        self._task_id, self._report = task_id, report

    @classmethod
    def made(cls, folder: Path, task_id: str) -> "_Note":
        durable_files.make_folder(folder, 0o700)
        note = cls(folder / f"{uuid4().hex}.json", None, task_id, STOPPED)
        note.write(STOPPED)
        return note

    @classmethod
    def taken(cls, file: Path) -> "_Note | None":
        """Take over the note of a vanished process; None if it lives, or there is nothing to read."""
        try:
            descriptor = os.open(file, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        if file_locks.take(descriptor):  # else it is at work
            with suppress(FileNotFoundError):  # done meanwhile
                if not os.path.samestat(os.fstat(descriptor), file.stat()):
                    raise FileNotFoundError
                written = json.loads(file.read_text("utf-8"))
                return cls(file, descriptor, written["task_id"], TaskReport(**written["report"]))
        os.close(descriptor)
        return None

    def write(self, report: TaskReport) -> None:
        """Replace the note; the new one is locked before it has the name."""
        self._report = report
        content = json.dumps({"task_id": self._task_id, "report": asdict(report)})
        with durable_files.draft(self._file, content) as finished:
            before, self._descriptor = self._descriptor, os.open(finished, os.O_RDWR | os.O_CLOEXEC)
            file_locks.wait(self._descriptor)
            finished.replace(self._file)
        if before is not None:
            os.close(before)
        durable_files.sync(self._file.parent)

    async def settle(self, hub: HubClient) -> None:
        """Tell the hub how it ended. If the hub is out of reach the note stays, for another time."""
        try:
            await hub.end_task(self._task_id, text=self._report.text, failed=self._report.failed)
        except StoreUnavailable as error:
            log.warning("the hub could not be told how a task ended", task=self._task_id, reason=str(error))
        except HubError as error:  # cancelled by its sender, or reassigned
            log.info("the hub does not take the end of a task", task=self._task_id, reason=str(error))
            self._file.unlink(missing_ok=True)
        else:
            self._file.unlink(missing_ok=True)
        finally:
            if self._descriptor is not None:
                os.close(self._descriptor)
