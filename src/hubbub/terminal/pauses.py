"""Pauses of accounts in words for a terminal: until when nothing is begun, and whose work stands still."""

from collections.abc import Mapping, Sequence
from typing import Any

from hubbub.client import Hub, TaskReply
from hubbub.model.timestamps import utc_time


def status(account: Mapping[str, Any]) -> str:
    """Say whether an account is paused, and until when."""
    if account["paused_at"] is None:
        return "goes"
    until = account["paused_until"]
    return "paused until it is resumed" if until is None else f"paused until {utc_time(until)}"


def of_tasks(hub: Hub, tasks: Sequence[TaskReply]) -> dict[str, str]:
    """Say of each task that its agent's account keeps from going on until when, by the task's id."""
    open_tasks = [each for each in tasks if each["assignee"] is not None and each["ended_at"] is None]
    if not open_tasks:
        return {}
    paused = {
        agent: status(each["account"])
        for each in hub.get("/accounts")["accounts"]
        if each["account"]["paused_at"] is not None
        for agent in each["agents"]
    }
    return {each["id"]: paused[each["assignee"]] for each in open_tasks if each["assignee"] in paused}
