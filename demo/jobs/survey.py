"""A survey: an agent hands two parts of its task to a colleague, through the hub, and puts together what comes back."""

import os

from demo.jobs.desk import Desk, Unable
from hubbub.client import AgentReply, Hub

PARTS = ("count lines in", "list open comments in")
FAILED = ("task.failed", "task.cancelled", "task.expired")


def report(desk: Desk, folder: str) -> str:
    """The first line of each part."""
    hub = Hub(os.environ["HUBBUB_URL"], os.environ["HUBBUB_TOKEN"], project=os.environ["HUBBUB_PROJECT"])
    place = hub.get("/activity", limit=1)["activity"][0]["id"]
    parts = _hand_out(hub, folder, parent=os.environ["HUBBUB_TASK_ID"])
    _wait(hub, parts, after=str(place))
    results = [hub.task(part)["result"] or "" for part in parts]
    text = "\n".join([f"{folder} in {len(PARTS)} parts", *(result.partition("\n")[0] for result in results)])
    desk.put("survey", text)
    return text


def _hand_out(hub: Hub, folder: str, *, parent: str) -> list[str]:
    """Send the parts to a colleague; sent again in a second attempt, they are still the same two tasks."""
    colleague = _colleague(hub, hub.agent(os.environ["HUBBUB_AGENT"]))
    tasks = [{"text": f"{part} {folder}", "to": colleague, "parent_id": parent} for part in PARTS]
    return [hub.post("/tasks", task, key=f"{parent} {task['text']}")["task"]["id"] for task in tasks]


def _colleague(hub: Hub, me: AgentReply) -> str:
    """Somebody who is there, and is the same kind of agent. Raises `Unable`."""
    agents: list[AgentReply] = hub.get("/agents")["agents"]
    for agent in agents:
        if agent["live"] and agent["runtime"] == me["runtime"] and agent["name"] != me["name"]:
            return agent["name"]
    raise Unable("there is no colleague to help")


def _wait(hub: Hub, parts: list[str], *, after: str) -> None:
    """Until all parts are done. Raises `Unable` if one will not be."""
    waiting = set(parts)
    for frame in hub.follow(after=after):
        if frame.data["task_id"] in waiting and frame.data["kind"] in FAILED:
            raise Unable("a colleague could not do a part of it")
        if frame.data["kind"] == "task.completed":
            waiting.discard(frame.data["task_id"])
        if not waiting:
            return
