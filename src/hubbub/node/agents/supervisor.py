"""All agents placed on this machine: started, stopped, followed, and reported to the hub."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from itertools import chain, repeat
from pathlib import Path

from hubbub.model.errors import Conflict, HubError, NotFound, StoreUnavailable
from hubbub.model.fleet.calls import NodeCall, ToolResult
from hubbub.model.fleet.managed_agents import OVER, AgentCredentials, ManagedAgentStatus, ProcessStatus
from hubbub.node.agents import agent_records
from hubbub.node.agents.agent_log import AgentLog
from hubbub.node.agents.agent_process import Words, environment_of, worker_command
from hubbub.node.agents.agent_records import AgentRecord
from hubbub.node.agents.supervised_agent import SupervisedAgent, SupervisionTimings
from hubbub.node.requests.hub_client import HubClient
from hubbub.processes.log import structlog

log = structlog.get_logger("hubbub")

NOUN = "agent on this machine"

Resume = Callable[[NodeCall, str], Awaitable[ToolResult]]
Key = tuple[str, str]  # the project, and the agent's name


class AgentSupervisor:
    """The agents of one machine. `open` it once orders can be carried out, and `close` it at the end."""

    def __init__(
        self,
        hub: HubClient,
        data: Path,
        redact: Callable[[str], str],
        *,
        pace: SupervisionTimings | None = None,
        words: Words = worker_command,
    ) -> None:
        """Set up the supervisor; `data` is the machine's own folder, `words` the command of an agent's program."""
        self._hub, self._data, self._redact = hub, data, redact
        self._pace, self._words = pace or SupervisionTimings(), words
        self._minded: dict[Key, SupervisedAgent] = {}
        self._begins: set[Key] = set()
        self._ready: dict[Key, AgentCredentials] = {}  # for those that are being resumed
        self._outputs: dict[Key, AgentLog] = {}
        self._changed = asyncio.Event()
        self._due: asyncio.TimerHandle | None = None  # the next report of output to the hub
        self._work: list[asyncio.Task[None]] = []

    async def open(self, resume: Resume) -> None:
        """Begin to report the agents' statuses to the hub, and restart those recorded as running.

        `resume` has the gate check again the order that started an agent, with the digest of its permission, and
        carries it out if nothing forbids it by now.
        """
        resumed = []
        for folder, note in agent_records.every(self._data):
            minded = self._minded[note.project, note.agent] = self._as_noted(note, folder)
            if note.status not in OVER:
                resumed.append(self._resume(minded, resume))
        self._changed.set()
        self._work = [asyncio.create_task(each) for each in (self._tell(), *resumed)]

    async def close(self) -> None:
        """End all of them. They are restarted with this machine's process."""
        for each in self._work:
            each.cancel()
        await asyncio.gather(*self._work, return_exceptions=True)
        if self._due is not None:
            self._due.cancel()
        await asyncio.gather(*(each.close() for each in self._minded.values()))

    async def start(self, note: AgentRecord, at: int) -> ProcessStatus:
        """Start an agent in the folder of the descriptor `at`.

        Raises `Conflict` if it runs here already, `OSError` if it cannot be started, and what the hub refuses.
        """
        key = (note.project, note.agent)
        before = self._minded.get(key)
        if key in self._begins or (before is not None and before.is_running):
            raise Conflict(f"{note.agent!r} runs on this machine already")
        self._begins.add(key)
        try:
            credentials = self._ready.pop(key, None) or await self._hub.credentials(note.agent)
            folder = agent_records.home(self._data, *key)
            minded = self._as_noted(note, folder)
            environment = environment_of(os.environ, folder, credentials, note.project)
            await minded.begin(self._words, environment, at)
            self._minded[key] = minded
            self._changed.set()
        finally:
            self._begins.discard(key)
        return minded.fares

    async def stop(self, project: str, agent: str) -> None:
        """Stop an agent so that it can hand back its work. Raises `NotFound` if it does not run."""
        minded = self._minded.get((project, agent))
        if minded is None or minded.note.status is ManagedAgentStatus.STOPPED:
            raise NotFound(NOUN, agent)
        await minded.stop()

    def output(self, project: str, agent: str) -> AgentLog:
        """Return an agent's output. Raises `NotFound` if it never ran here."""
        key = (project, agent)
        if key not in self._outputs and not agent_records.home(self._data, *key).is_dir():
            raise NotFound(NOUN, agent)
        return self._output_of(key)

    # ---- resuming ------------------------------------------------------------------------------------------------

    async def _resume(self, minded: SupervisedAgent, resume: Resume) -> None:
        note = minded.note
        try:
            self._ready[note.project, note.agent] = await self._credentials(note.agent)
        except HubError as error:
            await minded.fail(f"it is not started again: {error}")
            return
        outcome = await resume(note.order, note.digest)
        if outcome.is_error:
            self._ready.pop((note.project, note.agent), None)
            await minded.fail(f"it is not started again: {outcome.why}")

    async def _credentials(self, agent: str) -> AgentCredentials:
        """Return the agent's key, as soon as the hub is there. Raises the hub's refusal."""
        pauses = _pauses()
        while True:
            try:
                return await self._hub.credentials(agent)
            except StoreUnavailable:
                await asyncio.sleep(next(pauses))

    def _as_noted(self, note: AgentRecord, folder: Path) -> SupervisedAgent:
        output = self._output_of((note.project, note.agent))
        return SupervisedAgent(note, folder, output, pace=self._pace, changed=self._changed.set)

    def _output_of(self, key: Key) -> AgentLog:
        if key not in self._outputs:
            output = AgentLog(agent_records.home(self._data, *key), self._redact, self._tell_soon)
            output.close()
            self._outputs[key] = output
        return self._outputs[key]

    # ---- reporting -----------------------------------------------------------------------------------------------

    def _tell_soon(self) -> None:
        if self._due is None:
            self._due = asyncio.get_running_loop().call_later(
                self._pace.telling.total_seconds(), self._tell_now
            )

    def _tell_now(self) -> None:
        self._due = None
        self._changed.set()

    async def _tell(self) -> None:
        pauses = _pauses()
        while True:
            await self._changed.wait()
            self._changed.clear()
            told = {key: each.note for key, each in self._minded.items()}
            try:
                if told:
                    await self._hub.fare([each.fares for each in self._minded.values()])
                pauses = _pauses()
            except StoreUnavailable:
                self._changed.set()
                await asyncio.sleep(next(pauses))
            except HubError as error:
                log.warning("the hub does not take how agents fare", reason=str(error))
            else:
                self._forget(told)

    def _forget(self, told: dict[Key, AgentRecord]) -> None:
        """Forget stopped agents whose end the hub knows."""
        for key, note in told.items():
            minded = self._minded.get(key)
            if minded is not None and minded.note == note and note.status is ManagedAgentStatus.STOPPED:
                del self._minded[key]
                with suppress(OSError):
                    agent_records.forget(agent_records.home(self._data, *key))


def _pauses() -> Iterator[float]:
    """Yield the seconds before each further attempt, while the hub is away."""
    return chain((1.0, 5.0), repeat(30.0))
