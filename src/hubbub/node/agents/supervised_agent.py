"""One supervised agent: restarted when its program dies, given up after repeated deaths, ended on request."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from hubbub.model.fleet.managed_agents import ManagedAgentStatus, ProcessStatus
from hubbub.node.agents import agent_records
from hubbub.node.agents.agent_log import AgentLog
from hubbub.node.agents.agent_process import AgentProcess, Words
from hubbub.node.agents.agent_records import AgentRecord
from hubbub.processes.log import structlog

log = structlog.get_logger("hubbub")

S = ManagedAgentStatus
Start = Callable[[], Awaitable[AgentProcess]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SupervisionTimings:
    """The supervisor's times."""

    first: timedelta = timedelta(seconds=1)  # until a program that died is restarted; doubled each time,
    longest: timedelta = timedelta(seconds=60)  # up to this,
    healthy: timedelta = timedelta(seconds=60)  # and reset once it has lived as long
    deaths: int = 10  # in a row, after which it has failed
    ending: timedelta = timedelta(seconds=5)  # for its current work, once it was asked to end
    giving_back: timedelta = timedelta(
        seconds=12
    )  # for stopping that, and telling the hub; then it is killed
    closing: timedelta = timedelta(seconds=5)  # for both, if the machine's own process ends
    telling: timedelta = timedelta(seconds=5)  # between two reports of output to the hub


class SupervisedAgent:
    """An agent's record, and its program while it runs. `changed` is called when its status changes."""

    def __init__(
        self,
        note: AgentRecord,
        folder: Path,
        output: AgentLog,
        *,
        pace: SupervisionTimings,
        changed: Callable[[], None],
    ) -> None:
        self.note, self.output = note, output
        self._folder, self._pace, self._changed = folder, pace, changed
        self._life: AgentProcess | None = None
        self._minding: asyncio.Task[None] | None = None
        self._told_to_end = asyncio.Event()
        self._begun = 0.0  # start of its program, by the monotonic clock

    @property
    def is_running(self) -> bool:
        """Tell whether it is supervised: its program runs, or is about to."""
        return self._minding is not None

    @property
    def fares(self) -> ProcessStatus:
        note, last = self.note, self.output.last
        return ProcessStatus(
            agent=note.agent,
            command=note.command,
            status=note.status,
            since=note.since,
            pid=self._life.pid if self._life is not None else None,
            restarts=note.restarts,
            exit_code=note.exit_code,
            last_output=last.text if last else None,
            last_output_at=last.at if last else None,
        )

    async def begin(self, words: Words, environment: Mapping[str, str], at: int) -> None:
        """Start its program in the folder of the descriptor `at`, and supervise it. Raises `OSError`."""
        agent_records.write(self._folder, self.note)
        at = os.dup(at)
        self.output.open()

        async def start() -> AgentProcess:
            return await AgentProcess.begin(words(self.note), environment, at, self.output)

        try:
            self._life = await start()
        except BaseException:
            os.close(at)
            agent_records.forget(self._folder)
            raise
        self._begun = time.monotonic()
        self._now(S.RUNNING)

        async def mind() -> None:
            try:
                await self._mind(start)
            finally:
                os.close(at)

        self._minding = asyncio.create_task(mind())

    async def stop(self) -> None:
        """End its program: its work may end or is given back; then it is killed. It stays stopped."""
        await self._end(self._pace.ending, self._pace.giving_back)
        self._now(S.STOPPED)
        self.output.close()

    async def close(self) -> None:
        """End its program with the machine's own process: it is recorded as running, and restarts with that."""
        await self._end(timedelta(0), self._pace.closing)
        self.output.close()

    async def fail(self, sentence: str, *, exit_code: int | None = None) -> None:
        """Record that it does not run, with the reason."""
        await self.output.say(sentence)
        self._now(S.FAILED, exit_code=exit_code)
        self.output.close()

    async def _mind(self, start: Start) -> None:
        deaths = 0
        while (code := await self._lived()) is not None:
            is_healthy = time.monotonic() - self._begun >= self._pace.healthy.total_seconds()
            deaths = 1 if is_healthy else deaths + 1
            ended = f"its program ended with exit code {code}"
            if deaths >= self._pace.deaths:
                self._minding = None
                await self.fail(f"{ended}, {deaths} times in a row; it is given up", exit_code=code)
                return
            pause = min(self._pace.first * 2 ** (deaths - 1), self._pace.longest)
            self._now(S.RESTARTING, exit_code=code)
            await self.output.say(f"{ended}, and is started again in {pause.total_seconds():g} s")
            if await self._is_told_within(pause):
                return
            try:
                self._life = await start()
            except OSError as error:
                self._minding = None
                await self.fail(f"its program cannot be started again: {error.strerror}")
                return
            if self._told_to_end.is_set():
                self._life.kill()  # the request to end could not reach this one
            self._begun = time.monotonic()
            self._now(S.RUNNING, restarts=self.note.restarts + 1)

    async def _lived(self) -> int | None:
        """Wait until the program has ended by itself; return its exit code, or None if it was told to end."""
        assert self._life is not None
        code = await self._life.ended()
        self._life = None
        return None if self._told_to_end.is_set() else code

    async def _is_told_within(self, pause: timedelta) -> bool:
        """Tell whether it is asked to end before the pause is over."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._told_to_end.wait(), pause.total_seconds())
        return self._told_to_end.is_set()

    async def _end(self, *patience: timedelta) -> None:
        """Ask the program to end, once for each time span, and then kill it."""
        self._told_to_end.set()
        minding = self._minding
        if minding is None:
            return
        for span in patience:
            if self._life is not None:
                self._life.ask()
            done, _ = await asyncio.wait({minding}, timeout=span.total_seconds())
            if done:
                break
        if self._life is not None:
            self._life.kill()
        await minding
        self._minding = None

    def _now(
        self, status: ManagedAgentStatus, *, restarts: int | None = None, exit_code: int | None = None
    ) -> None:
        """Set its new status, and have the hub told."""
        before = self.note
        self.note = replace(
            before,
            status=status,
            since=time.time_ns() // 1_000_000,
            restarts=before.restarts if restarts is None else restarts,
            exit_code=before.exit_code if exit_code is None else exit_code,
        )
        try:
            agent_records.write(self._folder, self.note)
        except OSError as error:
            log.error("how an agent fares could not be noted", agent=self.note.agent, reason=error.strerror)
        self._changed()
