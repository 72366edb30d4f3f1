"""A model server on loopback that speaks the Anthropic Messages API and answers as a test has written.

The real client talks to it as to its vendor: it streams its answers, counts tokens and forgets nothing. What it says
is decided by a script: a function from what the client just told to the words and calls that follow.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, ClassVar

from tests.support.waiting import patience

Block = dict[str, Any]  # one block of a message's content, in the form of the API
Script = Callable[["Turn"], list[Block]]

LIMITED = (
    b'{"type": "error", "error": {"type": "rate_limit_error", "message": "This would exceed your limit."}}'
)

# What each answer uses, in the words of the API.
USED = {
    "input_tokens": 100,
    "cache_creation_input_tokens": 50,
    "cache_read_input_tokens": 1000,
    "output_tokens": 10,
}

_calls = count(1)


@dataclass(frozen=True)
class Turn:
    """One request of the client: the whole conversation, and which tools it offers."""

    request: dict[str, Any]

    @property
    def tools(self) -> list[str]:
        return [tool["name"] for tool in self.request.get("tools", ())]

    @property
    def told(self) -> str:
        """All text that came since the model spoke last: prompts, tool results, reminders."""
        parts: list[str] = []
        for message in reversed(self.request["messages"]):
            if message["role"] == "assistant":
                break
            parts[:0] = _texts(message["content"])
        return "\n".join(parts)

    @property
    def everything(self) -> str:
        """The text of the whole conversation."""
        return "\n".join(text for message in self.request["messages"] for text in _texts(message["content"]))


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    parts: list[str] = []
    for block in content:
        if block["type"] == "text":
            parts.append(block["text"])
        elif block["type"] == "tool_result":
            parts += _texts(block.get("content", ""))
    return parts


def say(text: str) -> Block:
    """The model says something."""
    return {"type": "text", "text": text}


def call(tool: str, **arguments: object) -> Block:
    """The model calls a tool."""
    return {"type": "tool_use", "id": f"toolu_{next(_calls):08d}", "name": tool, "input": arguments}


@dataclass
class ScriptedModel:
    """The server while it runs, and all that it was asked."""

    script: Script
    url: str = ""
    turns: list[Turn] = field(default_factory=list)
    answered: int = 0  # requests, also those on the side
    limited_until: int | None = None  # Unix seconds: until then nothing is answered but that
    _came: threading.Condition = field(default_factory=threading.Condition)

    def answer(self, request: dict[str, Any]) -> list[Block]:
        """Return the scripted answer to this request; nothing where the account's limit is reached.

        Requests without tools are the client's side questions and no turn.
        """
        if self.limited_until is not None:
            return []
        turn = Turn(request)
        blocks = self.script(turn) if turn.tools else [say("ok")]
        with self._came:
            self.answered += bool(blocks)
            if blocks and turn.tools:
                self.turns.append(turn)
                self._came.notify_all()
        return blocks

    def limit(self) -> Mapping[str, str]:
        """What the vendor's server says beside its refusal, of a limit of some hours."""
        until = str(self.limited_until)
        told = {
            "status": "rejected",
            "reset": until,
            "5h-status": "rejected",
            "5h-reset": until,
            "5h-utilization": "1",
            "representative-claim": "five_hour",
            "overage-status": "rejected",
            "overage-disabled-reason": "org_level_disabled",
        }
        return {f"anthropic-ratelimit-unified-{name}": value for name, value in told.items()}

    def heard(self, *words: str, after: int = 0) -> Turn:
        """The first turn, from number `after` on, that was told all of these words; waits until it comes."""

        def found() -> Turn | None:
            return next((t for t in self.turns[after:] if all(w in t.told for w in words)), None)

        with self._came:
            turn = self._came.wait_for(found, patience(60))
        assert turn is not None, f"no turn told {words}, but {[t.told[:300] for t in self.turns]}"
        return turn


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ClassVar[ScriptedModel]

    def do_HEAD(self) -> None:
        self._send("application/json", b"")

    def do_GET(self) -> None:
        self._send("application/json", b"{}")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if "count_tokens" in self.path:
            self._send("application/json", b'{"input_tokens": 100}')
        elif not self.path.startswith("/v1/messages"):
            self._send("application/json", b"{}")
        else:
            request = json.loads(body)
            blocks = self.model.answer(request)
            if blocks:
                self._reply(request, _message(request, blocks))
            else:
                self._send("application/json", LIMITED, HTTPStatus.TOO_MANY_REQUESTS, self.model.limit())

    def _reply(self, request: dict[str, Any], message: dict[str, Any]) -> None:
        if request.get("stream"):
            stream = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in _events(message))
            self._send("text/event-stream", stream.encode())
        else:
            self._send("application/json", json.dumps(message).encode())

    def _send(
        self, kind: str, body: bytes, status: int = HTTPStatus.OK, more: Mapping[str, str] | None = None
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in (more or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


@contextmanager
def serving(script: Script) -> Iterator[ScriptedModel]:
    """A model that follows the script, served on a free port of loopback."""
    model = ScriptedModel(script)

    with ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"model": model})) as server:
        model.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield model
        finally:
            server.shutdown()
            thread.join()


def _message(request: dict[str, Any], blocks: list[Block]) -> dict[str, Any]:
    calls = any(block["type"] == "tool_use" for block in blocks)
    return {
        "id": f"msg_{next(_calls):08d}",
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": blocks,
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": USED,
    }


def _events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The message as the API streams it."""
    opened = {**message, "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": opened}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 10}}
    yield {"type": "message_stop"}
