"""Pictures of the documentation made smaller: `docs.png`."""

import struct
import zlib
from random import Random

import pytest

from docs import png

WIDTH, STEP = 24, 3


def _guess(way: int, left: int, up: int, corner: int) -> int:
    """Return the value with which the format compares a byte."""
    nearest = sorted((left, up, corner), key=lambda each: abs(left + up - corner - each))[0]
    return (0, left, up, (left + up) // 2, nearest)[way]


def _told(line: bytes, above: bytes, way: int) -> bytes:
    """A line as its differences."""
    before = bytes(STEP) + line
    corner = bytes(STEP) + above
    told = ((each - _guess(way, before[i], above[i], corner[i])) & 0xFF for i, each in enumerate(line))
    return bytes([way, *told])


def _file(lines: list[bytes], data: bytes, depth: int = 8) -> bytes:
    head = struct.pack(">IIBBBBB", WIDTH, len(lines), depth, 2, 0, 0, 0)
    parts = [(b"IHDR", head), (b"tEXt", b"made by\0a test"), (b"IDAT", data[:20]), (b"IDAT", data[20:])]
    return png.SIGNATURE + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in [*parts, (b"IEND", b"")]
    )


def test_the_pixels_stay() -> None:
    """In whichever of the five ways each line was told, the smaller file has the same bytes for it."""
    random = Random(5)
    lines = [random.randbytes(WIDTH * STEP) for _ in range(20)]
    told = [
        _told(line, above, row % 5)
        for row, (line, above) in enumerate(zip(lines, [bytes(WIDTH * STEP), *lines[:-1]], strict=True))
    ]

    made = png.smaller(_file(lines, zlib.compress(b"".join(told))))

    kinds, bodies = zip(*png._parts(made), strict=True)
    assert kinds == (b"IHDR", b"IDAT", b"IEND")
    assert zlib.decompress(bodies[1]) == b"".join(b"\0" + line for line in lines)


def test_a_picture_of_another_kind_is_refused() -> None:
    """Only what browsers write is read; anything else is left as it is, and said."""
    with pytest.raises(ValueError, match="8 bits"):
        png.smaller(_file([bytes(WIDTH * STEP)], zlib.compress(bytes(WIDTH * STEP + 1)), depth=16))
