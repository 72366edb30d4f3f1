"""Relay's part on the agent's machine: the run, the team's files, the hooks, the files of memory.

The hub keeps everything; a call that concerns this machine goes to it too, with our past or coming steps in `_meta`.
The hub reads those in `dialects/relay/task_hooks.py` and `dialects/relay/team_tools.py`.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from hubbub.bridge.companions.companion import Ask
from hubbub.bridge.companions.document_changes import changes
from hubbub.bridge.companions.hook_approvals import HookApprovals
from hubbub.bridge.companions.hook_runner import HookRunner
from hubbub.bridge.companions.memory_calls import MemoryCalls, memory_of, summary_of
from hubbub.bridge.companions.remote_documents import RemoteDocuments
from hubbub.bridge.companions.tool_calls import ClientCall, refused, reply_of, with_reply
from hubbub.bridge.messages.json_rpc import Message
from hubbub.bridge.messages.mcp_client import McpClient
from hubbub.client import Hub
from hubbub.model.errors import Invalid
from hubbub.workspace import locations, team_listing, teams
from hubbub.workspace.hook_steps import LISTS
from hubbub.workspace.locations import Workspace
from hubbub.workspace.team_errors import TeamError
from hubbub.workspace.team_listing import Row

RUN_VARIABLE = "RELAY_SESSION_ID"
RUN_HEADER = "X-Relay-Session"


class RelayContext(NamedTuple):
    """A client's folders, and the run in its environment; None for the project's current one."""

    workspace: Workspace
    run: str | None
    data: Path  # the machine's own, with the hooks that a person has seen


class RelayCompanion:
    """One client's half of Relay."""

    def __init__(self, place: RelayContext, remembered: MemoryCalls, people: HookApprovals) -> None:
        self.workspace, self.run, data = place
        hooked = HookRunner(self.workspace, data, people)
        self._tools: Mapping[object, Callable[[ClientCall], Awaitable[Message | None]]] = {
            "start_session": self._start,
            "list_agents": self._list_team,
            "list_pool_agents": self._list_pool,
            "claim_task": hooked.claim,
            "update_task": hooked.update,
            "read_memory": partial(remembered.read, find=memory_of),
            "write_memory": partial(remembered.write, find=memory_of),
            "append_memory": partial(remembered.write, find=memory_of),
            "save_session_summary": partial(remembered.write, find=summary_of),
            "get_session_summary": partial(remembered.read, find=summary_of),
            "list_sessions": partial(remembered.read, find=remembered.summaries_only_here),
        }

    @property
    def headers(self) -> Mapping[str, str]:
        return {RUN_HEADER: self.run} if self.run is not None else {}

    def meet(self, client: McpClient) -> None:
        """Do nothing: the client is not needed."""

    async def call(self, message: Message, ask: Ask) -> Message | None:
        call = ClientCall(message, ask)
        tool = self._tools.get(call.tool)
        return await tool(call) if tool else None

    async def _start(self, call: ClientCall) -> Message:
        """Note the run that this connection has started, and works in from now on."""
        answer = await call.ask()
        run = reply_of(answer).get("session_id")
        if isinstance(run, str):
            self.run = run
        return answer

    async def _list_team(self, call: ClientCall) -> Message | None:
        run = call.arguments.get("session_id")
        return await self._listed(call, lambda: team_listing.team(self.workspace, run)) if run else None

    async def _list_pool(self, call: ClientCall) -> Message:
        return await self._listed(call, lambda: team_listing.pool(self.workspace))

    async def _listed(self, call: ClientCall, read: Callable[[], list[Row]]) -> Message:
        """Return the agents in a file of this machine, if the hub lets the caller ask."""
        answer = await call.ask({LISTS: True})
        if not reply_of(answer).get("success"):
            return answer
        try:
            return with_reply(answer, {"success": True, "agents": await asyncio.to_thread(read)})
        except TeamError as error:
            return refused(answer, error)


def find_context(environment: Mapping[str, str], cwd: Path, data: Path) -> RelayContext:
    """Return where a client in the folder `cwd` works. Raises `Invalid` for an impossible run."""
    run = environment.get(RUN_VARIABLE) or None
    if run is not None and not teams.RUN.fullmatch(run):
        allowed = "1 to 128 letters from A to Z, digits, '-' or '_'"
        raise Invalid(f"{RUN_VARIABLE} must be {allowed}, not {run!r}")
    return RelayContext(locations.find(environment, cwd), run, data)


@asynccontextmanager
async def companion(place: RelayContext, hub: Callable[[], Hub]) -> AsyncIterator[RelayCompanion]:
    """Yield the companion of a client, and mirror its files meanwhile. `hub` returns the present hub."""
    remembered = MemoryCalls(place.workspace.folder, RemoteDocuments(hub))
    async with asyncio.TaskGroup() as tasks:
        staying = tasks.create_task(remembered.stay_in_step(changes(hub)))
        yield RelayCompanion(place, remembered, HookApprovals(hub, place.data))
        staying.cancel()
