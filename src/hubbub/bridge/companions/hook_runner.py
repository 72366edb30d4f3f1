"""Claiming and completing tasks, with the hooks in the team's files around them.

The hub decides and the hooks run here, so each is a dialogue, in the words of `workspace/hook_steps.py`. The hub
meanwhile holds a lease for it: if we die the lease ends by itself, and the next one runs the hook anew.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path

from hubbub.bridge.companions.hook_approvals import HookApprovals
from hubbub.bridge.companions.tool_calls import ClientCall, Reply, refused, reply_of, with_reply
from hubbub.bridge.messages.json_rpc import Message
from hubbub.workspace import task_hooks, teams
from hubbub.workspace.hook_steps import CHECK, OUTPUT, STEP, HookStep
from hubbub.workspace.locations import Workspace
from hubbub.workspace.team_errors import TeamError
from hubbub.workspace.teams import TeamAgent

RENEW_EVERY = timedelta(seconds=10)  # a third of the hub's lease for a running hook
FAREWELL = timedelta(seconds=2)  # for the hub to hear that a hook came to nothing


class HookRunner:
    """The calls around which the hooks of a workspace run."""

    def __init__(
        self, workspace: Workspace, data: Path | None = None, people: HookApprovals | None = None
    ) -> None:
        """Set up the calls; `people` are asked about hooks that nobody has seen, which do not run without them."""
        self.workspace, self._data, self._people = workspace, data, people

    async def claim(self, call: ClientCall) -> Message:
        """Check whether the task is available, run the claimer's hook, then claim it."""
        if not await self._has_teams():
            return await call.ask({STEP: HookStep.DIRECT})
        looked = await call.step(HookStep.LOOK)
        seen = reply_of(looked)
        if not seen.get("ready"):
            return await call.ask({STEP: HookStep.LOOK}) if call.has_key else looked
        reason = await self._before(call, seen)
        if reason is not None:
            return with_reply(looked, {"success": True, "claimed": False, "reason": reason})
        return await call.ask({STEP: HookStep.DIRECT})

    async def update(self, call: ClientCall) -> Message | None:
        """Have the holder's hook check the task before it is done; other changes are left to the hub."""
        if call.arguments.get("status") != "done":
            return None
        if not await self._has_teams():
            return await self._begun(call, HookStep.DIRECT)
        begun = await self._begun(call, HookStep.BEGIN)
        check = reply_of(begun).get("check")
        return await self._check(call, begun, check) if isinstance(check, str) else begun

    async def _has_teams(self) -> bool:
        return await asyncio.to_thread(teams.are_there, self.workspace)

    async def _begun(self, call: ClientCall, step: HookStep) -> Message:
        """Return the hub's answer to the first step, once no other hook is running for the same task."""
        begun = await call.step(step)
        while (other := reply_of(begun).get("busy")) is not None:
            begun = await call.step(step, {CHECK: other})
        return begun

    async def _check(self, call: ClientCall, begun: Message, check: str) -> Message:
        """Run the hook, and report its result to the hub."""
        try:
            async with _renewed(call, check):
                failure = await self._after(call, reply_of(begun))
            if failure is None:
                return await call.step(HookStep.PASSED, {CHECK: check})
            return await call.step(HookStep.FAILED, {CHECK: check, OUTPUT: failure})
        except TeamError as error:
            await call.step(HookStep.DROPPED, {CHECK: check})
            return refused(begun, error)
        except asyncio.CancelledError:
            with suppress(TimeoutError):
                async with asyncio.timeout(FAREWELL.total_seconds()):
                    await call.step(HookStep.DROPPED, {CHECK: check})
            raise

    async def _before(self, call: ClientCall, seen: Reply) -> str | None:
        """Run the hook before a task; return why the task is not to be claimed, or None."""
        try:
            persona = await self._persona(seen, call.arguments.get("agent_id"))
        except TeamError as error:
            return str(error)
        commands = persona.before_task if persona else ()
        return await self._run(task_hooks.before_task, persona, commands, call, seen)

    async def _after(self, call: ClientCall, begun: Reply) -> str | None:
        """Run the hook after a task; return its failure, or None. Raises `TeamError`."""
        persona = await self._persona(begun, begun["holder"])
        commands = persona.after_task if persona else ()
        return await self._run(task_hooks.after_task, persona, commands, call, begun)

    async def _persona(self, seen: Reply, agent_id: object) -> TeamAgent | None:
        return await asyncio.to_thread(
            teams.team_agent, self.workspace, str(seen["session_id"]), str(agent_id)
        )

    async def _run(
        self,
        run: task_hooks.HookRun,
        persona: TeamAgent | None,
        commands: tuple[str, ...],
        call: ClientCall,
        seen: Reply,
    ) -> str | None:
        """Run hooks at the root of the project; return the sentence about the first that failed, or None."""
        if persona is None:
            return None
        await self._show(commands, persona.id)
        return await run(
            commands,
            root=self.workspace.root,
            agent_id=persona.id,
            task_id=str(call.arguments["task_id"]),
            run_name=str(seen["session_id"]),
            judge=self._denial,
        )

    async def _show(self, commands: tuple[str, ...], agent: str) -> None:
        """Show people the hooks that nobody has seen, until they say no to one."""
        if self._people is None or not commands:
            return
        from hubbub.node.gate import hook_trust as judged

        for command in commands:
            denial = await asyncio.to_thread(self._denial, command, self.workspace.root)
            if denial == judged.UNSEEN and not await self._people.allows(command, self.workspace.root, agent):
                return

    def _denial(self, command: str, root: Path) -> str | None:
        """Return the machine's objection to a hook, if any. The gate is loaded only if there are hooks."""
        from hubbub.node.gate import hook_trust as judged

        return judged.denial(command, root, self._data)


@asynccontextmanager
async def _renewed(call: ClientCall, check: str) -> AsyncIterator[None]:
    """Renew the check at the hub, for as long as it goes on."""

    async def renew() -> None:
        while True:
            await asyncio.sleep(RENEW_EVERY.total_seconds())
            await call.step(HookStep.RENEW, {CHECK: check})

    renewing = asyncio.create_task(renew())
    try:
        yield
    finally:
        renewing.cancel()
