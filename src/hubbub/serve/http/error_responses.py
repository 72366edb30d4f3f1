"""Refusals over plain HTTP, and their statuses. The codes and sentences are those of `model.errors`."""

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from hubbub.model import errors
from hubbub.model.errors import HubError, TooMany
from hubbub.serve.http.guard import error_response

STATUS: dict[type[HubError], HTTPStatus] = {
    errors.Unauthorized: HTTPStatus.UNAUTHORIZED,
    errors.Forbidden: HTTPStatus.FORBIDDEN,
    errors.WrongIdentity: HTTPStatus.FORBIDDEN,
    errors.ProjectRequired: HTTPStatus.BAD_REQUEST,
    errors.ProjectDenied: HTTPStatus.NOT_FOUND,
    errors.NotFound: HTTPStatus.NOT_FOUND,
    errors.InvalidTransition: HTTPStatus.CONFLICT,
    errors.NotHolder: HTTPStatus.CONFLICT,
    errors.NotYours: HTTPStatus.FORBIDDEN,
    errors.NotReviewer: HTTPStatus.FORBIDDEN,
    errors.Unavailable: HTTPStatus.CONFLICT,
    errors.Conflict: HTTPStatus.CONFLICT,
    errors.Invalid: HTTPStatus.BAD_REQUEST,
    errors.BeingChecked: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.TooMany: HTTPStatus.TOO_MANY_REQUESTS,
    errors.NotDone: HTTPStatus.CONFLICT,
    errors.StoreUnavailable: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.StoreRefused: HTTPStatus.CONFLICT,
}


def status_of(error: HubError) -> HTTPStatus:
    """Return the status of a refusal: that of its nearest base class with one."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), HTTPStatus.BAD_REQUEST)


def refusal(error: HubError) -> Response:
    """Return the response to a refused call, or to a refused WebSocket."""
    headers = {"Retry-After": str(error.retry_after)} if isinstance(error, TooMany) else None
    return error_response(status_of(error), error.code, str(error), headers)


async def hub_error(_request: Request, error: Exception) -> Response:
    """Return the response to a refused call. Any other error is a bug, and is raised again."""
    if not isinstance(error, HubError):
        raise error
    return refusal(error)


async def server_error(_request: Request, _error: Exception) -> Response:
    """Return the response to a bug of the hub, without details; the request's logger logs those."""
    sentence = "something is wrong in the hub; its log says what"
    return error_response(HTTPStatus.INTERNAL_SERVER_ERROR, "internal", sentence)


async def http_error(_request: Request, error: Exception) -> Response:
    """Return the response for an unknown path or method, or an unreadable body."""
    status = HTTPStatus(error.status_code if isinstance(error, HTTPException) else 500)
    sentence = {
        HTTPStatus.NOT_FOUND: "there is nothing at this address",
        HTTPStatus.METHOD_NOT_ALLOWED: "this address does not take that method",
        HTTPStatus.BAD_REQUEST: "the body must be JSON, in UTF-8 and not too deep",
    }.get(status, status.phrase.lower())
    return error_response(status, status.name.lower(), sentence, getattr(error, "headers", None))
