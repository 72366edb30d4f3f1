"""An OpenAI-compatible endpoint on loopback whose model says what the test wrote down for it, turn by turn."""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Says:
    """A turn that is text, streamed in these pieces."""

    pieces: Sequence[str]


@dataclass(frozen=True)
class Calls:
    """A turn that calls tools; arguments as text are sent as they are, well-formed or not."""

    calls: Sequence[tuple[str, Mapping[str, object] | str]]


@dataclass(frozen=True)
class Scant:
    """A turn told by its message alone, and as a whole even where a stream was asked for."""

    turn: Says | Calls


@dataclass(frozen=True)
class Fails:
    """An answer that is no turn at all."""

    status: int
    message: str


@dataclass(frozen=True)
class Hangs:
    """No answer, until the test lets go of it."""

    begun: threading.Event = field(default_factory=threading.Event)
    let_go: threading.Event = field(default_factory=threading.Event)


Turn = Says | Calls | Scant | Fails | Hangs


@dataclass
class Endpoint:
    """The address to configure, and what the model was asked."""

    url: str
    turns: Iterator[Turn]
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)

    def tool_results(self) -> list[str]:
        """Return the results of its calls that the model was given, as of the last request."""
        return [each["content"] for each in self.asked[-1]["messages"] if each["role"] == "tool"]


def _calls(turn: Calls) -> list[dict[str, Any]]:
    return [
        {
            "index": index,
            "id": f"call_{index}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for index, (name, given) in enumerate(turn.calls)
    ]


def _whole(turn: Says | Calls, model: str) -> dict[str, Any]:
    said: dict[str, Any] = {"role": "assistant", "content": None}
    if isinstance(turn, Says):
        said["content"] = "".join(turn.pieces)
    else:
        said["tool_calls"] = _calls(turn)
    reason = "stop" if isinstance(turn, Says) else "tool_calls"
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": said, "finish_reason": reason}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def _scanty(turn: Says | Calls) -> dict[str, Any]:
    """Return a whole turn as far as it says something; its calls have a function, and neither id nor type."""
    (choice,) = _whole(turn, "")["choices"]
    calls = [{"function": each["function"]} for each in choice["message"].get("tool_calls", ())]
    said = {"tool_calls": calls} if calls else {"content": choice["message"]["content"]}
    return {"id": None, "choices": [{"message": said}], "usage": {"prompt_tokens": 1}}


def _chunks(turn: Says | Calls, model: str) -> Iterator[dict[str, Any]]:
    if isinstance(turn, Says):
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": piece} for piece in turn.pieces]
    else:
        deltas = [{"role": "assistant", "tool_calls": [call]} for call in _calls(turn)]
    reasons = [None] * len(deltas) + ["stop" if isinstance(turn, Says) else "tool_calls"]
    for delta, reason in zip([*deltas, {}], reasons, strict=True):
        yield {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        }


class _Handler(BaseHTTPRequestHandler):
    endpoint: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.path == "/v1/chat/completions"
        self.endpoint.asked.append(body)
        self.endpoint.keys.append(self.headers["Authorization"])
        turn = next(self.endpoint.turns)
        if isinstance(turn, Hangs):
            turn.begun.set()
            turn.let_go.wait()
        elif isinstance(turn, Fails):
            self._send(turn.status, "application/json", json.dumps({"error": {"message": turn.message}}))
        elif isinstance(turn, Scant):
            self._send(200, "application/json", json.dumps(_scanty(turn.turn)))
        elif body.get("stream"):
            events = [f"data: {json.dumps(chunk)}\n\n" for chunk in _chunks(turn, body["model"])]
            self._send(200, "text/event-stream", "".join([*events, "data: [DONE]\n\n"]))
        else:
            self._send(200, "application/json", json.dumps(_whole(turn, body["model"])))

    def _send(self, status: int, kind: str, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *arguments: object) -> None:
        pass


@contextmanager
def endpoint(*turns: Turn) -> Iterator[Endpoint]:
    """An endpoint whose model takes these turns, one a request."""

    class Handler(_Handler):
        pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made = Handler.endpoint = Endpoint(f"http://127.0.0.1:{server.server_port}/v1", iter(turns))
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield made
        finally:
            for turn in turns:
                if isinstance(turn, Hangs):
                    turn.let_go.set()
            server.shutdown()
            thread.join()
