"""Requests of a program beside an agent to the hub, by `POST /desk`."""

import json
from secrets import token_hex
from typing import Any
from uuid import uuid4

import httpx2

from tests.serve.web_client import Json, Web, done

DIGEST = "0123456789abcdef" * 4
QUESTION: Json = {
    "who": {"project": "", "name": "hub"},  # whoever has the token
    "node": "another machine",
    "tool": "execute_command",
    "arguments": {"command": "git push"},
    "folder": "/srv/app",
    "shown": "git push",
    "reason": "it changes what others have",
    "digest": DIGEST,
    "kind": "call",
}


def need(web: Web, name: str, content: Json, node: str = "box", **headers: str) -> httpx2.Response:
    """Return the answer to a request of a program on the machine `node`."""
    body = json.dumps({"node": node, "need": name, "content": content})
    return web.http.post("/desk", content=body, headers={"Content-Type": "application/json", **headers})


def granted(answer: httpx2.Response) -> Any:
    """The value of what was granted."""
    return done(answer)["value"]


def asking(patience_seconds: float = 60, elicitation: bool = False, **question: object) -> Json:
    """A question as it is put, asked about and resolved."""
    return {
        "approval_id": str(uuid4()),
        "receipt": token_hex(16),
        "patience_seconds": patience_seconds,
        "elicitation": elicitation,
        "question": {**QUESTION, **question},
    }


def put(web: Web, node: str = "box", /, **more: Any) -> Json:
    """A question that waits, as it was put."""
    content = asking(**more)
    assert granted(need(web, "put", content, node)) == {}
    return content


def for_agent(name: str) -> Json:
    return {"project": "", "name": name}
