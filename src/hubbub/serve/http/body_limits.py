"""Limits of a body's content, checked before it is parsed as JSON, since parsing makes much of little.

Ten MiB of `{},{},…` are three million objects, and as many steps for any code that reads them. So the values of a
body are counted in its bytes, which takes a few milliseconds, and one with too many is never parsed. A large body is
counted and parsed in a thread, and parsed so that each text is in memory once.
"""

import asyncio
import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, NamedTuple, TypeVar

import pydantic_core

T = TypeVar("T")

VALUES = 20_000  # members of objects and items of lists, in all
DEPTH = 64  # of values in values
AT_ONCE = 64 * 1024  # bytes that are scanned on the event loop; more are scanned in a thread


class BodyExcess(NamedTuple):
    """The reason why a body is not parsed."""

    status: HTTPStatus
    code: str
    sentence: str


TOO_MANY = BodyExcess(
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too_large", f"the body holds more than {VALUES:,} values"
)
TOO_DEEP = BodyExcess(
    HTTPStatus.BAD_REQUEST, "invalid", f"the body holds values that are nested deeper than {DEPTH}"
)

_TO_LISTS = bytes.maketrans(b"{}", b"[]")
_BUT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


async def body_excess_off_loop(body: bytes) -> BodyExcess | None:
    """Return `body_excess` without blocking the event loop longer than for a small body."""
    return await run_off_loop(body_excess, body)


async def run_off_loop(work: Callable[[bytes], T], body: bytes) -> T:
    """Do some work on a body; for a large one in a thread, beside the event loop."""
    return work(body) if len(body) <= AT_ONCE else await asyncio.to_thread(work, body)


def parse_json(body: bytes) -> Any:
    """Parse JSON. Raises `json.JSONDecodeError` like `json`.

    `json` decodes a large body to one text first, and copies each text of it: twice the memory, and twice the time.
    """
    try:
        return pydantic_core.from_json(body)
    except ValueError:
        return json.loads(body)


def body_excess(body: bytes, most: int = VALUES) -> BodyExcess | None:
    """Return why a body is too much to be parsed, with at most `most` values allowed; None if it is not.

    Malformed JSON is left to its parser, which will say so.
    """
    if body.count(b",") + body.count(b"[") + body.count(b"{") <= DEPTH:
        return None
    if body.count(b'"') - body.count(b'\\"') > 4 * most:  # two around each name, two around each text
        return TOO_MANY
    structure = _without_texts(body)
    brackets = structure.translate(_TO_LISTS, _BUT_BRACKETS)
    if b"[" * (DEPTH + 1) in brackets:
        return TOO_DEEP
    if structure.count(b",") + brackets.count(b"[") > most:
        return TOO_MANY
    for _ in range(DEPTH):
        if not brackets:
            return None
        brackets = brackets.replace(b"[]", b"")
    return TOO_DEEP if b"[]" in brackets or brackets.count(b"[") > DEPTH else None


def _without_texts(body: bytes) -> bytes:
    """Return the parts of JSON outside of texts."""
    if b"\\" in body:
        body = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(body.split(b'"')[::2])
