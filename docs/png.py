"""PNG files made smaller, with the same pixels: what browsers write is quick to make, and a fourth too large.

They guess for each line how it is best told by its difference from others. Our pages are flat areas, which are shorter
as they are.
"""

import struct
import zlib
from collections.abc import Iterator

LARGEST = 250_000  # bytes of one picture: whoever opens a page waits for it
SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {2: 3, 6: 4}  # bytes of a pixel, by the kind of colour: without transparency, and with it


def smaller(png: bytes) -> bytes:
    """The same picture in fewer bytes. Raises ValueError for one that is not of 8 bits a colour."""
    parts = list(_parts(png))
    width, _height, depth, colour = struct.unpack(">IIBB", parts[0][1][:10])
    if depth != 8 or colour not in CHANNELS:
        raise ValueError("only pictures of 8 bits a colour, without a palette, can be made smaller")
    data = zlib.decompress(b"".join(body for kind, body in parts if kind == b"IDAT"))
    plain = b"".join(b"\0" + line for line in _lines(data, width * CHANNELS[colour], CHANNELS[colour]))
    kept = [(b"IHDR", parts[0][1]), (b"IDAT", zlib.compress(plain, 9)), (b"IEND", b"")]
    return SIGNATURE + b"".join(_part(kind, body) for kind, body in kept)


def _parts(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    place = len(SIGNATURE)
    while place < len(png):
        (length,) = struct.unpack_from(">I", png, place)
        yield png[place + 4 : place + 8], png[place + 8 : place + 8 + length]
        place += length + 12


def _part(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def _lines(data: bytes, length: int, step: int) -> Iterator[bytes]:
    """The lines as they are, of `length` bytes; `step` is that of a pixel."""
    above = bytearray(length)
    for start in range(0, len(data), length + 1):
        line = bytearray(data[start + 1 : start + 1 + length])
        _undo(data[start], line, above, step)
        yield bytes(line)
        above = line


def _undo(way: int, line: bytearray, above: bytearray, step: int) -> None:
    """Turn differences into bytes, by one of the five ways of the format."""
    if way == 0:
        return
    for place, difference in enumerate(line):
        left, corner = (line[place - step], above[place - step]) if place >= step else (0, 0)
        up = above[place]
        guess = (0, left, up, (left + up) // 2, _paeth(left, up, corner))[way]
        line[place] = (difference + guess) & 0xFF


def _paeth(left: int, up: int, corner: int) -> int:
    """Which of the three is nearest to what they lead one to expect."""
    expected = left + up - corner
    return min((left, up, corner), key=lambda each: abs(expected - each))
