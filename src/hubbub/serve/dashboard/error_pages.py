"""Error pages: a browser gets a refusal's sentence on a page, a program gets it as JSON."""

import json
import re
from http import HTTPStatus

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hubbub.serve.dashboard.pages import Pages

_OF_PROGRAMS = re.compile(r"/(api|mcp|_gxv|events|ws|assets|health|ready|metrics)(/.*)?")
_JSON = b"application/json"


class ErrorPages:
    """ASGI middleware: replaces a refusal by a page if a browser asks for a page."""

    def __init__(self, app: ASGIApp, pages: Pages) -> None:
        self.app = app
        self.pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _wants_page(scope):
            await self.app(scope, receive, send)
            return
        refused: Message | None = None

        async def shown(message: Message) -> None:
            nonlocal refused
            if message["type"] == "http.response.start" and _is_refusal(message):
                refused = message
            elif refused is None:
                await send(message)
            else:
                page = self.pages.error(Request(scope), refused["status"], _sentence(message))
                page.raw_headers += [
                    each for each in refused["headers"] if each[0] in (b"retry-after", b"allow")
                ]
                await page(scope, receive, send)

        await self.app(scope, receive, shown)


def _wants_page(scope: Scope) -> bool:
    if scope["method"] not in ("GET", "HEAD") or _is_for_programs(scope):
        return False
    return "text/html" in Request(scope).headers.get("accept", "")


def _is_for_programs(scope: Scope) -> bool:
    return _OF_PROGRAMS.fullmatch(scope["path"]) is not None


def _is_refusal(start: Message) -> bool:
    kinds = [value for name, value in start["headers"] if name == b"content-type"]
    return bool(start["status"] >= HTTPStatus.BAD_REQUEST and kinds and kinds[0].startswith(_JSON))


def _sentence(body: Message) -> str:
    """Return the sentence of a refusal, which is sent in one piece."""
    try:
        sentence: str = json.loads(body["body"])["message"]
    except (ValueError, KeyError, TypeError):
        return ""
    return sentence
