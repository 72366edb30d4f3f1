"""A teammate: an agent of a Relay team, made with the official Python client, which starts `hubbub mcp relay` itself.

Nobody gives it orders. A maker takes what is its own or free and may be begun, does it as the other agents' commands
do, shows what is to be reviewed, and sleeps until there is something new. A critic reviews what it is asked to. Each
is a process of its own, `python -m demo.teammate NAME`, and ends when its standard input does.
"""

import asyncio
import logging
import os
import re
import sys
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from demo import gate
from demo.cast import CRITIC, REVIEWED
from demo.jobs.__main__ import perform
from demo.jobs.desk import VARIABLE, Desk

NAP = 45  # seconds, unless something happens
ATTEMPT = 1


class Teammate(ABC):
    """An agent that has read its mail up to `seen`."""

    def __init__(self, hub: Client, name: str) -> None:
        self.hub, self.name = hub, name
        self.seen = 0
        self.looked: int | None = None  # where the log was when it last looked for work

    async def call(self, tool: str, **arguments: object) -> Any:
        """Return the answer of a tool. Raises `RuntimeError` for a failure, which no play expects."""
        called = await self.hub.call_tool(tool, {"agent_id": self.name, **arguments})
        answer = called.structured_content
        if answer is None or not answer["success"]:
            raise RuntimeError(f"{tool}: {answer}")
        return answer

    async def mail(self) -> list[dict[str, Any]]:
        """Wait for new messages; return none after a nap, or as soon as there may be work."""
        place = {"after_event": self.looked} if self.looked is not None else {}
        answer = await self.call("get_messages", after_seq=self.seen, wait_seconds=NAP, **place)
        messages: list[dict[str, Any]] = answer["messages"]
        self.seen = messages[-1]["seq"] if messages else self.seen
        return messages

    @abstractmethod
    async def work(self) -> None:
        """Take part, until cancelled."""


class Maker(Teammate):
    """Does tasks."""

    async def work(self) -> None:
        while True:
            listed = await self.call(
                "get_all_tasks", status="todo", include_description=True, include_last_event=True
            )
            self.looked = listed["last_event"]
            for task in listed["tasks"]:
                if task["assignee"] in (None, self.name):
                    claim = await self.call("claim_task", task_id=task["id"])
                    if claim["claimed"]:
                        await self._do(task)
            await self.mail()

    async def _do(self, task: dict[str, Any]) -> None:
        desk = Desk(Path(os.environ[VARIABLE]))
        execution = desk.ledger.begin(task=task["id"], attempt=ATTEMPT, agent=self.name)
        report = await anyio.to_thread.run_sync(perform, desk, task["title"])
        description = task["description"] or ""
        if gate.HALFWAY in description:
            held = await anyio.to_thread.run_sync(gate.stop, task["id"], ATTEMPT)
            held.close()
        if REVIEWED in description:
            report = await self._reviewed(task, report)
        desk.ledger.end(execution, exit_code=0, output=report)
        await self.call("send_message", to=self.name, content=report, thread_id=task["id"])  # is the result
        await self.call("update_task", task_id=task["id"], status="done")

    async def _reviewed(self, task: dict[str, Any], report: str) -> str:
        """The report as the critic approves of it."""
        while True:
            shown = {"name": task["title"], "type": "report", "content": report, "task_id": task["id"]}
            artifact = await self.call("post_artifact", **shown)
            asked = {"artifact_id": artifact["artifact_id"], "reviewer": CRITIC}
            review = await self.call("request_review", **asked)
            await self.call("update_task", task_id=task["id"], status="in_review")
            if "approved" in await self._verdict(review["review_id"]):
                return report
            report = f"{report}\n\nsigned: {self.name}"

    async def _verdict(self, review_id: str) -> str:
        while True:
            for message in await self.mail():
                if message["thread_id"] == review_id:
                    return str(message["content"])


class Critic(Teammate):
    """Reviews the tasks it is asked to: a report has to be signed."""

    async def work(self) -> None:
        while True:
            for message in await self.mail():
                if asked := re.match(r"Please review the artifact '(.+)' \(", message["content"]):
                    await self._review(message["thread_id"], asked[1])

    async def _review(self, review_id: str, name: str) -> None:
        content = (await self.call("get_artifact", name=name))["artifact"]["content"]
        verdict = (
            {"status": "approved"}
            if "signed: " in content
            else {"status": "changes_requested", "comments": "please sign it"}
        )
        await self.call("submit_review", review_id=review_id, **verdict)


async def dismissed() -> None:
    """Wait for the end of standard input."""
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    await lines.read()


async def main(name: str) -> None:
    logging.disable(logging.ERROR)  # the client logs with traces
    server = StdioServerParameters(command="hubbub", args=["mcp", "relay"], env=dict(os.environ))
    async with Client(stdio_client(server)) as hub, anyio.create_task_group() as together:
        agent = Critic(hub, name) if name == CRITIC else Maker(hub, name)
        together.start_soon(agent.work)
        await dismissed()
        together.cancel_scope.cancel()


if __name__ == "__main__":
    anyio.run(main, sys.argv[1])
