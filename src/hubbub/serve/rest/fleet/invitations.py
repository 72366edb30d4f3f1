"""Codes by which machines join, in the form for people: including the hub's address, so that one code is enough."""

import base64

from starlette.requests import Request

from hubbub.core.fleet.enrolment import PREFIX


def hub_url(request: Request) -> str:
    """Return the hub's public address, else the one that the caller used."""
    public: str | None = request.app.state.public_url
    return public or f"{request.url.scheme}://{request.headers['host']}"


def invitation_code(secret: str, url: str) -> str:
    """Return the whole code: the secret, a dot, and the address in base64url without padding."""
    return f"{secret}.{base64.urlsafe_b64encode(url.encode()).decode().rstrip('=')}"


def invitation_secret(request: Request) -> str | None:
    """Return the secret of the code in the request's bearer token, with or without the address, if it has one."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    secret = given.strip().partition(".")[0]
    return secret if scheme.lower() == "bearer" and secret.startswith(PREFIX) else None
