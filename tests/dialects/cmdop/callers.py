"""Those who talk to a running hub as cmdop's agents do."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from mcp.client import Client

from hubbub.core.agents import agents
from hubbub.core.mail import messages
from hubbub.core.work import tasks
from hubbub.model.records import Task
from hubbub.store.tx import Tx
from tests.dialects.running_hub import Caller, Json, Place


class CmdopCaller(Caller):
    """Somebody who calls tools; an array stands alone as text, and some results are read as Markdown."""

    def ask(self, tool: str, arguments: Json, **meta: object) -> tuple[Json, bool]:
        return self.hub.portal.call(_asked, self.client, tool, {**self.says, **arguments}, meta)

    def texts(self, tool: str, **arguments: object) -> list[str]:
        """Return the texts of the answer for people and models."""
        return self.hub.portal.call(_read, self.client, tool, arguments)


async def _asked(client: Client, tool: str, arguments: Json, meta: Json) -> tuple[Json, bool]:
    """The structured content, and whether it is called an error; the first text must say the same."""
    result = await client.call_tool(tool, arguments, meta=meta or None)  # type: ignore[arg-type]
    answer: Json = dict(result.structured_content or {})
    first = result.content[0]
    assert first.type == "text"
    assert first.text == answer.get("rendered") or json.loads(first.text) in (answer, answer.get("result"))
    return answer, bool(result.is_error)


async def _read(client: Client, tool: str, arguments: Json) -> list[str]:
    result = await client.call_tool(tool, arguments)
    return [item.text for item in result.content if item.type == "text"]


@dataclass
class Board(Place):
    """One project of a running hub, fresh for one test, and everybody who works in it."""

    path = "/mcp/cmdop"

    def caller(self, secret: str) -> Caller:
        return CmdopCaller(self.hub, secret, self.path, self.closing)

    def with_headers(self, caller: Caller, **headers: str) -> Caller:
        """The same caller, whose requests carry these headers."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return replace(caller, headers=named)

    def meet(self, *names: str) -> None:
        """Let the project know agents."""

        def meet(tx: Tx) -> None:
            for name in names:
                agents.meet(tx, self.project.id, name)

        self.hub.do(meet)

    def task(self, issue: str) -> Task:
        """The task behind an issue."""
        return self.hub.look(lambda tx: tasks.find(tx, [self.project.id], issue))

    def say(self, sender: str, issue: str, text: str) -> None:
        """Say something in the thread of an issue's task, to everyone's knowledge."""
        task = self.task(issue)
        self.hub.do(
            lambda tx: messages.send(
                tx,
                self.project.id,
                sender=sender,
                to="hub",
                body=text,
                thread=messages.Thread(name=str(task.id)),
            )
        )


def refusal(answer: Mapping[str, object]) -> str:
    """The code of a refusal, which is one sentence and that."""
    assert set(answer) == {"error", "code"}
    assert answer["error"]
    return str(answer["code"])
