"""Codes by which machines join, as people hand them on: with the hub's address, so that the one code is enough."""

import base64

from starlette.requests import Request

from hubbub.core.fleet.enrolment import PREFIX


def hub_url(request: Request) -> str:
    """Where the hub is found: by its public address, else as whoever asks has found it."""
    public: str | None = request.app.state.public_url
    return public or f"{request.url.scheme}://{request.headers['host']}"


def invitation_code(secret: str, url: str) -> str:
    """The whole code: the secret, a dot, and the address in base64url without padding."""
    return f"{secret}.{base64.urlsafe_b64encode(url.encode()).decode().rstrip('=')}"


def invitation_secret(request: Request) -> str | None:
    """The secret of the code that the request has as its bearer token, with or without the address, if it has one."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    secret = given.strip().partition(".")[0]
    return secret if scheme.lower() == "bearer" and secret.startswith(PREFIX) else None
