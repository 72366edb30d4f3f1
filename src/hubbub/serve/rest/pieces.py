"""Answers as large as a project: made in pieces, and kept packed until they are sent, so that nobody else waits."""

import zlib
from collections.abc import AsyncIterator, Iterable, Iterator

from fastapi.responses import StreamingResponse

LEVEL = 1  # of gzip: such answers are asked for by browsers that are near
GZIP = 16 + zlib.MAX_WBITS
SENT, PACKED = 256 * 1024, 16 * 1024  # bytes that are sent at once, and unpacked


def answered(pieces: Iterable[bytes], *, is_packed: bool) -> StreamingResponse:
    """The JSON of these pieces, all of which are taken now; sent as it is, or packed by gzip."""
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
    return StreamingResponse(_one_by_one(sent), media_type="application/json", headers=headers)


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


async def _one_by_one(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece
