"""Answers as large as a project: made in pieces, and kept compressed until they are sent, so that nobody waits."""

import asyncio
import heapq
import zlib
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeVar

from fastapi import Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from hubbub.model.json_text import compact

LEVEL = 1  # of gzip: such answers go to browsers that are near
GZIP = 16 + zlib.MAX_WBITS
SENT, PACKED = 256 * 1024, 16 * 1024  # bytes that are sent at once, and bytes decompressed at once
SORTED = 1_000  # members that are sorted at once
Member = TypeVar("Member", bound=tuple[Any, ...])


def chunked_response(pieces: Iterable[bytes], *, is_packed: bool) -> StreamingResponse:
    """Return the JSON of these pieces, all of which are taken now; sent as it is, or compressed by gzip."""
    packing, length, packed = zlib.compressobj(LEVEL, wbits=GZIP), 0, []
    for piece in pieces:
        length += len(piece)
        packed.append(packing.compress(piece))
    kept = b"".join((*packed, packing.flush()))
    headers = {"Cache-Control": "no-store", "Vary": "Accept-Encoding"}
    headers["Content-Length"] = str(len(kept) if is_packed else length)
    if is_packed:
        headers["Content-Encoding"] = "gzip"
    sent = _cut(kept, SENT) if is_packed else _unpacked(kept)
    return StreamingResponse(one_by_one(sent), media_type="application/json", headers=headers)


def list_object(about: Mapping[str, object], noun: str, members: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the JSON of an object with some members and a list of many things, which are JSON already."""
    first, comma = {**about, noun: []}, b""
    yield compact(first).encode()[:-2]
    for each in members:
        yield comma + each
        comma = b","
    yield b"]}"


def in_order(members: Iterable[Member]) -> Iterator[Member]:
    """Yield the members sorted, a part at a time: sorting all at once would keep every other thread waiting."""
    waiting = iter(members)
    parts = iter(lambda: sorted(islice(waiting, SORTED)), [])
    return heapq.merge(*parts)


def as_bytes(shape: BaseModel) -> bytes:
    """Encode one thing among many."""
    return compact(shape.model_dump(mode="json")).encode()


def takes_gzip(request: Request) -> bool:
    """Tell whether the client takes a compressed answer."""
    offered = request.headers.get("accept-encoding", "").replace(" ", "").lower().split(",")
    return "gzip" in offered or "gzip;q=1" in offered


def _cut(text: bytes, size: int) -> Iterator[bytes]:
    for place in range(0, len(text), size):
        yield text[place : place + size]


def _unpacked(packed: bytes) -> Iterator[bytes]:
    unpacking = zlib.decompressobj(GZIP)
    for piece in _cut(packed, PACKED):
        left = piece
        while left:
            yield unpacking.decompress(left, SENT)
            left = unpacking.unconsumed_tail


async def one_by_one(pieces: Iterable[bytes]) -> AsyncIterator[bytes]:
    """Yield the pieces, giving others a turn after each: a fast reader takes many at once."""
    for piece in pieces:
        yield piece
        await asyncio.sleep(0)
