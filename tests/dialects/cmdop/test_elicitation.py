"""Where the operator lets it, whoever sits at the client answers for a person; in both eras of the protocol."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from anyio.from_thread import BlockingPortal
from mcp import types
from mcp.client import Client
from mcp.client.client import ConnectMode
from mcp.client.streamable_http import streamable_http_client

from hubbub.core.fleet import approvals
from hubbub.model.fleet.approvals import ApprovalStatus
from tests.dialects.cmdop.requirements import requires
from tests.dialects.cmdop.workshop import PATH, Workshop
from tests.dialects.plain_line import NEWEST
from tests.dialects.running_hub import NO_TLS, Json
from tests.serve.live.event_streams import Stream
from tests.support.waiting import patience

OPTED_IN = "elicitation = true\napproval_timeout = 600"
TOUCH = {"command": "touch asked"}
EACH_ERA = pytest.mark.parametrize("mode", [NEWEST, "legacy"])


class Desk:
    """Answers for the person at the client: the same to every question; it records the questions."""

    def __init__(self, action: Any, content: Json | None = None) -> None:
        self.action, self.content = action, content
        self.asked: list[str] = []
        self.told: list[str] = []

    async def answer(self, context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        self.asked.append(params.message)
        return types.ElicitResult(action=self.action, content=self.content)

    async def hear(self, progress: float, total: float | None, message: str | None) -> None:
        self.told.append(message or "")


@asynccontextmanager
async def connected(workshop: Workshop, mode: ConnectMode, desk: Desk | None) -> AsyncIterator[Client]:
    """The official client, with or without somebody who can be asked."""
    headers = {"Authorization": f"Bearer {workshop.agent().secret}"}
    http = httpx2.AsyncClient(headers=headers, timeout=patience(), verify=NO_TLS)
    transport = streamable_http_client(f"{workshop.hub.url}{PATH}", http_client=http)
    callback = desk.answer if desk is not None else None
    async with http, Client(transport, mode=mode, elicitation_callback=callback) as client:
        yield client


async def called(
    workshop: Workshop, mode: ConnectMode, desk: Desk | None, tool: str, arguments: Json
) -> tuple[Json, bool]:
    async with connected(workshop, mode, desk) as client:
        hear = desk.hear if desk is not None else None
        result = await client.call_tool(tool, arguments, progress_callback=hear)
        return dict(result.structured_content or {}), bool(result.is_error)


@requires("gate.unanswered")
@EACH_ERA
def test_a_question_ends_with_its_call(machine: Workshop, portal: BlockingPortal, mode: ConnectMode) -> None:
    """Nobody is asked any longer about a call that its client cancels."""

    async def cancel(asked: Stream) -> Json:
        async with connected(machine, mode, None) as client:
            call = asyncio.ensure_future(client.call_tool("write_file", {"path": "a", "content": "b"}))
            question: Json = (await asyncio.to_thread(asked.next)).data["detail"]
            call.cancel()
            await asyncio.wait({call})
            return question

    with machine.hearing("approval.asked") as asked, machine.hearing("approval.withdrawn") as withdrawn:
        question = portal.call(cancel, asked)
        assert withdrawn.next().data["detail"]["approval_id"] == question["approval_id"]


@requires("gate.elicitation")
@EACH_ERA
@pytest.mark.parametrize(
    ("action", "content", "is_done"),
    [
        ("accept", {"approve": True}, True),
        ("accept", {"approve": False}, False),
        ("decline", None, False),
    ],
)
def test_the_client_answers(
    machine: Workshop, portal: BlockingPortal, mode: ConnectMode, action: str, content: Any, *, is_done: bool
) -> None:
    """Yes lets this one call through, and is on record as the client's; no and half a yes are denials."""
    machine.policy(OPTED_IN)
    made, desk = machine.root / "asked", Desk(action, content)

    answer, is_error = portal.call(called, machine, mode, desk, "execute_command", TOUCH)

    assert made.exists() is is_done is not is_error
    made.unlink(missing_ok=True)
    (question,) = desk.asked
    assert question.startswith("ada wants execute_command on ")
    assert "touch asked" in question
    if not is_done:
        assert (answer["code"], answer["source"]) == ("denied", "person")
    last = machine.hub.do(lambda tx: approvals.search(tx, [machine.hub.project.id]), machine.hub.owner)[-1]
    assert last.answered_by == "elicitation"
    assert last.status is (ApprovalStatus.SPENT if is_done else ApprovalStatus.DENIED)


@requires("gate.not_opted_in")
@EACH_ERA
def test_without_the_operators_word_no_client_answers(
    machine: Workshop, portal: BlockingPortal, mode: ConnectMode
) -> None:
    """Then the question goes to people alone, and the client is not even asked."""
    machine.policy("approval_timeout = 0.05")
    desk = Desk("accept", {"approve": True})

    answer, is_error = portal.call(called, machine, mode, desk, "execute_command", TOUCH)

    assert is_error
    assert answer["code"] == "needs_approval"
    assert desk.asked == []


@EACH_ERA
def test_who_cannot_be_asked_waits_for_people(
    machine: Workshop, portal: BlockingPortal, mode: ConnectMode
) -> None:
    """A client that shows no questions, and a question that was put away, leave it to the queue."""
    machine.policy("elicitation = true\napproval_timeout = 0.2")

    for desk in (None, Desk("cancel")):
        answer, is_error = portal.call(called, machine, mode, desk, "execute_command", TOUCH)
        assert is_error
        assert answer["code"] == "needs_approval"


@requires("ask_agent.stream")
@EACH_ERA
def test_the_text_of_an_agent_comes_as_progress(
    machine: Workshop, portal: BlockingPortal, mode: ConnectMode
) -> None:
    """The words of the machine's agent are told while they come, and whole at the end."""
    machine.policy('mode = "bypass"', '[runtime]\nkind = "command"\ncommand = ["sed", "s/^/so: /"]')
    hostname = machine.agent().connect(operation="whoami")["hostname"]
    desk = Desk("decline")
    asked = {"hostname": hostname, "prompt": "one\ntwo"}

    answer, is_error = portal.call(called, machine, mode, desk, "ask_agent_stream", asked)

    assert not is_error
    assert answer["text"] == "so: one\nso: two"
    assert "".join(desk.told).strip() == answer["text"]
