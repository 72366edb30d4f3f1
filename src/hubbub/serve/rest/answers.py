"""What the addresses of the dialects have in common: a JSON object comes in, a tool's answer goes out."""

import json
from collections.abc import Mapping
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from hubbub.model.errors import Invalid, TooMany
from hubbub.model.orders import Outcome
from hubbub.serve.errors import status_of


async def json_object(request: Request) -> Mapping[str, object]:
    """The JSON object in a body; none is an empty one. Raises `Invalid`."""
    try:
        content = json.loads(await request.body() or b"{}")
    except (ValueError, RecursionError):
        raise Invalid("the body must be JSON, in UTF-8 and not too deep") from None
    if not isinstance(content, dict):
        raise Invalid("the body must be a JSON object")
    return content


def response(answer: Outcome) -> Response:
    """A tool's answer, with the status of HTTP that goes with it."""
    refusal = answer.refusal
    status = status_of(refusal) if refusal else HTTPStatus.BAD_REQUEST if answer.is_error else HTTPStatus.OK
    headers = {"Retry-After": str(refusal.retry_after)} if isinstance(refusal, TooMany) else None
    return JSONResponse(answer.content, status, headers)
