"""The HTTP client for endpoints of models, which differ in how much of an answer they send.

Many leave out what says nothing, such as the id of an answer or the place of its only choice, and some answer as a
whole where a stream was asked for. The library behind the runtime insists on both, so they are added here.
"""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from uuid import uuid4

import httpx2

EVENTS = "text/event-stream"
ANSWER = {"id": "", "object": "chat.completion", "created": 0, "model": ""}
USAGE = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}

Json = dict[str, Any]


class ModelClient(httpx2.AsyncClient):
    """Completes the answers of an endpoint; what is no answer of a model, such as an error, comes as it is."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        response = await super().send(request, **options)
        if response.status_code != HTTPStatus.OK or response.headers.get("content-type", "").startswith(
            EVENTS
        ):
            return response
        await response.aread()
        try:
            answer, asked = response.json(), json.loads(request.content)
        except ValueError:
            return response
        if not isinstance(answer, dict) or not isinstance(answer.get("choices"), list):
            return response
        whole = _completed(answer)
        if asked.get("stream"):
            return httpx2.Response(
                HTTPStatus.OK, headers={"content-type": EVENTS}, content=_events(whole), request=request
            )
        return httpx2.Response(HTTPStatus.OK, json=whole, request=request)


def _completed(answer: Json) -> Json:
    usage = {"usage": USAGE | _said(answer["usage"])} if isinstance(answer.get("usage"), dict) else {}
    choices = [_choice(place, each) for place, each in enumerate(answer["choices"]) if isinstance(each, dict)]
    return ANSWER | _said(answer) | usage | {"choices": choices}


def _choice(place: int, choice: Json) -> Json:
    message: Json = {"role": "assistant", "content": None} | _said(choice.get("message") or {})
    if isinstance(message.get("tool_calls"), list):
        message["tool_calls"] = [
            {"id": f"call_{uuid4().hex}", "type": "function"} | _said(each) for each in message["tool_calls"]
        ]
    return {"index": place, "finish_reason": "stop"} | _said(choice) | {"message": message}


def _said(fields: Mapping[str, Any]) -> Json:
    """Return the fields that say something."""
    return {name: value for name, value in fields.items() if value is not None}


def _events(whole: Json) -> str:
    """Return a whole answer as a stream of one piece."""
    choices = []
    for each in whole["choices"]:
        delta = dict(each["message"])
        calls = [{"index": place} | call for place, call in enumerate(delta.pop("tool_calls", ()))]
        choices.append(
            {
                "index": each["index"],
                "delta": delta | ({"tool_calls": calls} if calls else {}),
                "finish_reason": each["finish_reason"],
            }
        )
    piece = whole | {"object": "chat.completion.chunk", "choices": choices}
    return f"data: {json.dumps(piece)}\n\ndata: [DONE]\n\n"
