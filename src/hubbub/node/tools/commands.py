"""execute_command, shell_tasks and shell_kill: commands on this machine, in the foreground and in the background."""

import asyncio
import signal
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hubbub.model.orders import Code, Order, Outcome, Principal, refused
from hubbub.node import opening
from hubbub.node.commands import environment, folder
from hubbub.node.commands.folder import Status
from hubbub.node.commands.running import RUNNING, CommandLost
from hubbub.node.commands.work import Work
from hubbub.node.opening import NotOpened
from hubbub.node.place import Place, Tool
from shellgate.paths import Access
from shellgate.shell import bash

TIMEOUT = timedelta(minutes=2)
MOST_IN_BACKGROUND = 64  # on one machine at the same time
SIGNALS = ("TERM", "INT", "HUP", "QUIT", "KILL")


async def execute_command(place: Place, order: Order) -> Outcome:
    """Run a command by bash, inside the wall: what it printed and its exit code, or that it goes on without us."""
    command, cwd = str(order.arguments["command"]), str(order.arguments.get("cwd") or ".")
    for argument, fault in (("command", _fault(command)), ("cwd", _fault(cwd))):
        if fault:
            return refused(Code.INVALID, f"{argument}: {fault}")
    real = place.world.files.resolve(place.world.absolute(cwd))
    try:
        with opening.folder(real, place.world, Access.READ) as at:
            return await _execute(place, order, at, real)
    except NotOpened as error:
        return refused(error.code, f"the folder {cwd!r} {error.clause}")


async def _execute(place: Place, order: Order, at: int, cwd: str) -> Outcome:
    in_background = order.arguments.get("background") is True
    if in_background and (fault := await asyncio.to_thread(_make_room, place.data)):
        return refused(Code.FAILED, fault)
    given = order.arguments.get("timeout_ms")
    timeout = timedelta(milliseconds=given) if isinstance(given, int) else None
    work = await asyncio.to_thread(_work, place, order, cwd, timeout, in_background=in_background)
    patience = None if in_background else place.policy.background_after
    try:
        answer = await RUNNING.run(work, at, patience=patience)
    except CommandLost:
        return refused(Code.FAILED, "the command was killed together with what had started it")
    return _outcome(answer, Path(work.folder).name, timeout or TIMEOUT)


def _work(place: Place, order: Order, cwd: str, timeout: timedelta | None, *, in_background: bool) -> Work:
    """What the keeper of the command is told."""
    command, kept = str(order.arguments["command"]), folder.of(place.data, folder.new_id())
    launch = place.sandbox.around(
        bash.argv(command),
        cwd=cwd,
        environment=environment.passed_on(place.world.variables, place.world.home),
        world=place.world,
    )
    return Work.of(
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
        timeout=(timeout or TIMEOUT).total_seconds(),
        lasting=timeout and timeout.total_seconds(),
    )


def _outcome(answer: Mapping[str, Any], task_id: str, timeout: timedelta) -> Outcome:
    if "fault" in answer:
        return refused(Code.FAILED, answer["fault"])
    if answer["status"] == Status.RUNNING:
        return Outcome(value={"task_id": task_id, "status": Status.RUNNING})
    printed = {"stdout": answer["stdout"], "stderr": answer["stderr"]}
    if answer["status"] == Status.TIMEOUT:
        sentence = f"the command did not end within {timeout.total_seconds():g} seconds and was killed"
        return refused(Code.TIMEOUT, sentence, **printed, exit_code=None)
    return Outcome(value={**printed, "exit_code": answer["exit_code"]})


async def shell_tasks(place: Place, order: Order) -> Outcome:
    """The caller's commands in the background, those that ended not long ago too; a person's project's."""
    return Outcome(value=await asyncio.to_thread(_rows, place.data, order.who))


def _rows(data: Path, who: Principal) -> list[dict[str, object]]:
    return [_row(each, record) for each, record in folder.every(data) if _is_of(record, who)]


def _row(each: folder.Folder, record: Mapping[str, Any]) -> dict[str, object]:
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


async def shell_kill(place: Place, order: Order) -> Outcome:
    """End one of the caller's commands in the background: whether it was this that ended it."""
    task_id, name = str(order.arguments["task_id"]), str(order.arguments.get("signal") or SIGNALS[0])
    name = name.upper().removeprefix("SIG")
    if name not in SIGNALS:
        return refused(Code.INVALID, f"signal: must be one of {', '.join(SIGNALS)}")
    found = await asyncio.to_thread(folder.find, place.data, task_id)
    if found is None or not _is_of(found[1], order.who):
        return refused(Code.NOT_FOUND, f"there is no task {task_id!r} of yours")
    try:
        killed = await asyncio.to_thread(found[0].end, signal.Signals[f"SIG{name}"])
    except TimeoutError:
        return refused(Code.FAILED, "the command was killed and has not ended yet; the system holds it")
    return Outcome(value={"killed": killed})


def _is_of(record: Mapping[str, Any], who: Principal) -> bool:
    return record["project"] == who.project and (who.is_person or record["name"] == who.name)


def _make_room(data: Path) -> str | None:
    """Forget old commands; why there cannot be one more, if there cannot."""
    folder.forget_oldest(data)
    if folder.count_running(data) < MOST_IN_BACKGROUND:
        return None
    return f"{MOST_IN_BACKGROUND} commands run in the background of this machine; end one by shell_kill first"


def _fault(text: str) -> str | None:
    """Why no program can be given this text, as a clause; None if it can."""
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
