"""A scripted model on loopback that speaks the Responses API, as Codex asks it."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

from tests.support.waiting import patience

Item = dict[str, Any]
Answers = Callable[["Asked"], Item | None]


_numbers = count()


@dataclass(frozen=True)
class Asked:
    """A request of the client to its model, with the whole conversation so far."""

    body: Mapping[str, Any]

    @property
    def said(self) -> str:
        """The whole conversation as text."""
        return json.dumps(self.body.get("input", []), ensure_ascii=False)

    @property
    def last(self) -> str:
        """The last item: a person's words, or a tool's answer."""
        return json.dumps(self.body["input"][-1], ensure_ascii=False)


def say(text: str) -> Item:
    """The model says something, and its turn ends."""
    content = [{"type": "output_text", "text": text}]
    return {"type": "message", "role": "assistant", "id": f"m{next(_numbers)}", "content": content}


def call(tool: str, **arguments: object) -> Item:
    """The model calls a tool of the hub."""
    return {
        "type": "function_call",
        "call_id": f"c{next(_numbers)}",
        "namespace": "mcp__hubbub",
        "name": tool,
        "arguments": json.dumps(arguments),
    }


def patch(text: str) -> Item:
    """The model edits files with the tool for it."""
    return {"type": "custom_tool_call", "call_id": f"c{next(_numbers)}", "name": "apply_patch", "input": text}


def patch_by_shell(text: str) -> Item:
    """The model edits files with its shell, as one does that is not offered the tool."""
    return by_shell(f"apply_patch <<'EOF'\n{text}EOF\n")


def by_shell(command: str, **more: str) -> Item:
    """The model runs a command."""
    return {
        "type": "function_call",
        "call_id": f"c{next(_numbers)}",
        "name": "exec_command",
        "arguments": json.dumps({"cmd": command, **more}),
    }


@dataclass
class ScriptedModel:
    """A model that records its requests and gives scripted answers."""

    answers: Answers
    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    limited_until: int | None = None  # Unix seconds: until then nothing is answered but that
    _came: threading.Condition = field(default_factory=threading.Condition)

    def answer(self, body: Mapping[str, Any]) -> Item | None:
        """Return the scripted answer to this request; nothing where the account's limit is reached.

        Requests without input are the client's side questions and no turn.
        """
        if self.limited_until is not None:
            return None
        if "input" not in body:
            return say("ok")
        asked = Asked(body)
        item = self.answers(asked)
        if item is not None:
            with self._came:
                self.asked.append(asked)
                self._came.notify_all()
        return item

    @property
    def limit(self) -> bytes:
        """What the vendor's server says of a limit of some hours."""
        told = {
            "type": "usage_limit_reached",
            "message": "The usage limit has been reached",
            "plan_type": "plus",
        }
        return json.dumps({"error": {**told, "resets_at": self.limited_until}}).encode()

    def heard(self, words: str) -> Asked:
        """Wait until the model was told these words last."""
        with self._came:
            came = self._came.wait_for(lambda: any(words in each.last for each in self.asked), patience(60))
            assert came, f"nobody told the model {words!r}, but {[each.last[:300] for each in self.asked]}"
            return next(each for each in self.asked if words in each.last)


@contextmanager
def serving(answers: Answers) -> Iterator[ScriptedModel]:
    """The model at an address of its own."""
    model = ScriptedModel(answers)

    class Api(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._begin("application/json")
            self.wfile.write(b'{"models": []}')

        def do_POST(self) -> None:
            item = model.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            if item is None:
                self._begin("application/json", HTTPStatus.TOO_MANY_REQUESTS)
                self.wfile.write(model.limit)
                return
            response = {"id": f"r{next(_numbers)}"}
            usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
            self._begin("text/event-stream")
            for kind, told in (
                ("response.created", {"response": response}),
                ("response.output_item.done", {"item": item}),
                ("response.completed", {"response": {**response, "usage": usage}}),
            ):
                self.wfile.write(f"event: {kind}\ndata: {json.dumps({'type': kind, **told})}\n\n".encode())

        def _begin(self, content: str, status: int = HTTPStatus.OK) -> None:
            self.send_response(status)
            self.send_header("Content-Type", content)
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
