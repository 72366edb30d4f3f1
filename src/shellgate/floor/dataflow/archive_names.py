"""The names in an archive, if every program that unpacks it would see the same."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from functools import lru_cache

MOST = 2_000  # names that are read
UNPACKED = 32 * 1024 * 1024  # bytes that are read of a packed archive
_BLOCK = 512  # bytes, the unit of a tar archive
_OTHER_NAMES = 0x7075  # an extra field of zip that gives a file another name to some programs


@lru_cache(maxsize=4)
def names(data: bytes) -> tuple[str, ...] | None:
    """Return the names in a tar or zip archive; None for another, a large or a broken one, and one with links in it."""
    try:
        found = _of_zip(data) if data[:2] == b"PK" else _of_tar(data)
    except (OSError, EOFError, ValueError, RuntimeError, NotImplementedError):
        return None
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError):
        return None
    return None if found is None else tuple(found)


def _of_zip(data: bytes) -> list[str] | None:
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        entries = opened.infolist()
    if len(entries) > MOST or any(_is_odd(entry) for entry in entries):
        return None
    return [entry.filename.replace("\\", "/") for entry in entries]


def _is_odd(entry: zipfile.ZipInfo) -> bool:
    """Tell whether it is a link, or may have another name for other programs."""
    is_link = (entry.external_attr >> 28) == 0o12
    return is_link or _OTHER_NAMES.to_bytes(2, "little") in entry.extra or "\0" in entry.orig_filename


def _of_tar(data: bytes) -> list[str] | None:
    text = _plain(data)
    if text is None or len(text) < _BLOCK:
        return None
    found: list[str] = []
    with tarfile.open(fileobj=io.BytesIO(text), mode="r:") as opened:
        for entry in opened:
            if len(found) >= MOST or not (entry.isreg() or entry.isdir()):
                return None
            found.append(entry.name)
        if text[opened.offset :].strip(b"\0"):  # some programs would read on
            return None
    return found


def _plain(data: bytes) -> bytes | None:
    """Return the data, unpacked if it is packed; None if that is too large."""
    packed = _opened(io.BytesIO(data), data[:3])
    text = data if packed is None else packed.read(UNPACKED + 1)
    return text if packed is None or len(text) <= UNPACKED else None


def _opened(data: io.BytesIO, sign: bytes) -> gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile | None:
    """Return a reader of packed data; None for data that are not packed."""
    if sign.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=data)
    if sign == b"BZh":
        return bz2.BZ2File(data)
    return lzma.LZMAFile(data) if sign == b"\xfd7z" else None
