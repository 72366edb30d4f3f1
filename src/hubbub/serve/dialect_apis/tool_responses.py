"""Common parts of the dialects' addresses: a JSON object comes in, a tool's answer goes out."""

import json
from collections.abc import Mapping
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from hubbub.model.errors import Invalid, TooMany
from hubbub.model.fleet.calls import ToolResult, as_json
from hubbub.model.json_chunks import encoded, gathered, is_large
from hubbub.serve.http.error_responses import status_of
from hubbub.serve.rest.base.chunked_json import one_by_one


async def json_object(request: Request) -> Mapping[str, object]:
    """Parse the JSON object in a body; an empty body counts as an empty object. Raises `Invalid`."""
    try:
        content = json.loads(await request.body() or b"{}")
    except (ValueError, RecursionError):
        raise Invalid("the body must be JSON, in UTF-8 and not too deep") from None
    if not isinstance(content, dict):
        raise Invalid("the body must be a JSON object")
    return content


def response(answer: ToolResult) -> Response:
    """Return a tool's answer, with its HTTP status."""
    refusal = answer.refusal
    status = status_of(refusal) if refusal else HTTPStatus.BAD_REQUEST if answer.is_error else HTTPStatus.OK
    headers = {"Retry-After": str(refusal.retry_after)} if isinstance(refusal, TooMany) else None
    if (pieces := answer.encoded.get(_encode)) is None:
        return JSONResponse(answer.content, status, headers)
    size = {"Content-Length": str(sum(map(len, pieces)))}
    return StreamingResponse(one_by_one(pieces), status, size, media_type="application/json")


def encode_large(answer: ToolResult) -> ToolResult:
    """Encode a large answer in the transaction that reads it."""
    if is_large(answer.value):
        answer.encoded[_encode] = gathered(encoded(answer.value, _encode))
    return answer


def _encode(value: object) -> bytes:
    """Encode a value like `JSONResponse`."""
    return as_json(value).encode()
