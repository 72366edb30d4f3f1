"""What of Relay happens on the agent's machine: which run it is, the team's files, the hooks, the files of memory.

The hub keeps everything; a call that has something to do with this machine goes to it too, with what we did or are
about to do in `_meta`. How the hub takes that is in `dialects/relay/finishing.py` and `dialects/relay/beginning.py`.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from hubbub.cli.bridge.calls import Call, refused, reply_of, with_reply
from hubbub.cli.bridge.client import Client
from hubbub.cli.bridge.companion import Ask
from hubbub.cli.bridge.hook_questions import HookQuestions
from hubbub.cli.bridge.hooked import Hooked
from hubbub.cli.bridge.news import changes
from hubbub.cli.bridge.remembered import Remembered, memory_of, summary_of
from hubbub.cli.bridge.wire import Message
from hubbub.cli.documents import RemoteDocuments
from hubbub.client import Hub
from hubbub.model.errors import Invalid
from hubbub.workspace import folder, listing, teams
from hubbub.workspace.errors import TeamError
from hubbub.workspace.folder import Workspace
from hubbub.workspace.listing import Row
from hubbub.workspace.steps import LISTS

RUN_VARIABLE = "RELAY_SESSION_ID"
RUN_HEADER = "X-Relay-Session"


class Place(NamedTuple):
    """Where a client works: its folders, and the run that its environment names; None for the project's current one."""

    workspace: Workspace
    run: str | None
    data: Path  # of the machine's own, where it is kept which hooks a person has seen


class RelayCompanion:
    """One client's half of Relay."""

    def __init__(self, place: Place, remembered: Remembered, people: HookQuestions) -> None:
        self.workspace, self.run, data = place
        hooked = Hooked(self.workspace, data, people)
        self._tools: Mapping[object, Callable[[Call], Awaitable[Message | None]]] = {
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

    def meet(self, client: Client) -> None:
        """There is nothing to say to it."""

    async def call(self, message: Message, ask: Ask) -> Message | None:
        call = Call(message, ask)
        tool = self._tools.get(call.tool)
        return await tool(call) if tool else None

    async def _start(self, call: Call) -> Message:
        """From now on this connection works in the run that it started."""
        answer = await call.ask()
        run = reply_of(answer).get("session_id")
        if isinstance(run, str):
            self.run = run
        return answer

    async def _list_team(self, call: Call) -> Message | None:
        run = call.arguments.get("session_id")
        return await self._listed(call, lambda: listing.team(self.workspace, run)) if run else None

    async def _list_pool(self, call: Call) -> Message:
        return await self._listed(call, lambda: listing.pool(self.workspace))

    async def _listed(self, call: Call, read: Callable[[], list[Row]]) -> Message:
        """The agents in a file of this machine, if the hub lets the caller ask."""
        answer = await call.ask({LISTS: True})
        if not reply_of(answer).get("success"):
            return answer
        try:
            return with_reply(answer, {"success": True, "agents": await asyncio.to_thread(read)})
        except TeamError as error:
            return refused(answer, error)


def find_place(environment: Mapping[str, str], cwd: Path, data: Path) -> Place:
    """Return where a client in the folder `cwd` works. Raises `Invalid` for a run that can be none."""
    run = environment.get(RUN_VARIABLE) or None
    if run is not None and not teams.RUN.fullmatch(run):
        allowed = "1 to 128 letters from A to Z, digits, '-' or '_'"
        raise Invalid(f"{RUN_VARIABLE} must be {allowed}, not {run!r}")
    return Place(folder.find(environment, cwd), run, data)


@asynccontextmanager
async def companion(place: Place, hub: Callable[[], Hub]) -> AsyncIterator[RelayCompanion]:
    """The companion of a client, and its files kept in step meanwhile. `hub` gives the hub as it is now."""
    remembered = Remembered(place.workspace.folder, RemoteDocuments(hub))
    async with asyncio.TaskGroup() as tasks:
        staying = tasks.create_task(remembered.stay_in_step(changes(hub)))
        yield RelayCompanion(place, remembered, HookQuestions(hub, place.data))
        staying.cancel()
