"""execute_command, shell_tasks and shell_kill: commands on this machine, in the foreground and in the background."""

import asyncio
import signal
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hubbub.model.fleet.calls import NodeCall, Principal, RefusalCode, ToolResult, refused
from hubbub.node.commands import environment, job_folder
from hubbub.node.commands.command_runner import RUNNER, CommandLost
from hubbub.node.commands.command_spec import CommandSpec
from hubbub.node.commands.job_folder import JobStatus
from hubbub.node.system import safe_open
from hubbub.node.system.safe_open import NotOpened
from hubbub.node.tools.tool_context import Tool, ToolContext
from shellgate import paths
from shellgate.paths import Access
from shellgate.shell import bash

TIMEOUT = timedelta(minutes=2)
MOST_IN_BACKGROUND = 64  # on one machine at the same time
SIGNALS = ("TERM", "INT", "HUP", "QUIT", "KILL")


async def execute_command(place: ToolContext, order: NodeCall) -> ToolResult:
    """Run a command by bash, in the sandbox; return its output and exit code, or that it goes on in the background."""
    command, cwd = str(order.arguments["command"]), str(order.arguments.get("cwd") or ".")
    for argument, fault in (("command", _fault(command)), ("cwd", _fault(cwd))):
        if fault:
            return refused(RefusalCode.INVALID, f"{argument}: {fault}")
    real = place.world.files.resolve(paths.named(cwd, place.world))
    try:
        with safe_open.folder(real, place.world, Access.READ) as at:
            return await _execute(place, order, at, real)
    except NotOpened as error:
        return refused(error.code, f"the folder {cwd!r} {error.clause}")


async def _execute(place: ToolContext, order: NodeCall, at: int, cwd: str) -> ToolResult:
    in_background = order.arguments.get("background") is True
    if in_background:
        await asyncio.to_thread(job_folder.forget_oldest, place.data)
    given = order.arguments.get("timeout_ms")
    timeout = timedelta(milliseconds=given) if isinstance(given, int) else None
    work = await asyncio.to_thread(_work, place, order, cwd, timeout, in_background=in_background)
    patience = None if in_background else place.policy.background_after
    try:
        answer = await RUNNER.run(work, at, patience=patience)
    except CommandLost:
        return refused(RefusalCode.FAILED, "the command was killed together with its starter")
    return _outcome(answer, Path(work.folder).name, timeout or TIMEOUT)


def _work(
    place: ToolContext, order: NodeCall, cwd: str, timeout: timedelta | None, *, in_background: bool
) -> CommandSpec:
    """Make the order for the command's keeper."""
    command, kept = str(order.arguments["command"]), job_folder.of(place.data, job_folder.new_id())
    launch = place.sandbox.around(
        bash.argv(command),
        cwd=cwd,
        environment=environment.passed_on(place.world.variables, place.world.home),
        world=place.world,
    )
    return CommandSpec.of(
        launch,
        record={
            "id": kept.task_id,
            "project": order.who.project,
            "name": order.who.name,
            "command": command,
            "started_at": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        },
        folder=str(kept.path),
        data=str(place.data),
        in_background=in_background,
        most_in_background=MOST_IN_BACKGROUND,
        timeout=(timeout or TIMEOUT).total_seconds(),
        lasting=timeout and timeout.total_seconds(),
    )


def _outcome(answer: Mapping[str, Any], task_id: str, timeout: timedelta) -> ToolResult:
    if "fault" in answer:
        return refused(RefusalCode.FAILED, answer["fault"])
    if answer["status"] == JobStatus.RUNNING:
        return ToolResult(value={"task_id": task_id, "status": JobStatus.RUNNING})
    printed = {"stdout": answer["stdout"], "stderr": answer["stderr"]}
    if answer["status"] == JobStatus.TIMEOUT:
        sentence = f"the command did not end within {timeout.total_seconds():g} seconds and was killed"
        return refused(RefusalCode.TIMEOUT, sentence, **printed, exit_code=None)
    return ToolResult(value={**printed, "exit_code": answer["exit_code"]})


async def shell_tasks(place: ToolContext, order: NodeCall) -> ToolResult:
    """List the caller's commands in the background, recently ended ones too; a person sees the project's."""
    return ToolResult(value=await asyncio.to_thread(_rows, place.data, order.who))


def _rows(data: Path, who: Principal) -> list[dict[str, object]]:
    return [_row(each, record) for each, record in job_folder.every(data) if _is_of(record, who)]


def _row(each: job_folder.JobFolder, record: Mapping[str, Any]) -> dict[str, object]:
    seen = each.look()
    code = {} if seen.get("exit_code") is None else {"exit_code": seen["exit_code"]}
    return {
        "id": record["id"],
        "command": record["command"],
        "started_at": record["started_at"],
        "status": seen["status"],
        "output_tail": seen["output_tail"],
        **code,
    }


async def shell_kill(place: ToolContext, order: NodeCall) -> ToolResult:
    """End one of the caller's commands in the background; tell whether this ended it."""
    task_id, name = str(order.arguments["task_id"]), str(order.arguments.get("signal") or SIGNALS[0])
    name = name.upper().removeprefix("SIG")
    if name not in SIGNALS:
        return refused(RefusalCode.INVALID, f"signal: must be one of {', '.join(SIGNALS)}")
    found = await asyncio.to_thread(job_folder.find, place.data, task_id)
    if found is None or not _is_of(found[1], order.who):
        return refused(RefusalCode.NOT_FOUND, f"there is no task {task_id!r} of yours")
    try:
        killed = await asyncio.to_thread(found[0].end, signal.Signals[f"SIG{name}"])
    except TimeoutError:
        return refused(
            RefusalCode.FAILED, "the command was killed and has not ended yet; the system holds it"
        )
    return ToolResult(value={"killed": killed})


def _is_of(record: Mapping[str, Any], who: Principal) -> bool:
    return record["project"] == who.project and (who.is_person or record["name"] == who.name)


def _fault(text: str) -> str | None:
    """Return why no program can be given this text, as a clause; None if it can."""
    if "\0" in text:
        return "must not have a NUL character"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "must not have half a character"
    return None


TOOLS: Mapping[str, Tool] = {
    "execute_command": execute_command,
    "shell_tasks": shell_tasks,
    "shell_kill": shell_kill,
}
