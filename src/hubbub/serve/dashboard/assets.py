"""The dashboard's files, read once and kept in the form in which they are sent: the package's, without comments.

Their addresses hold a digest of all of them, and so do their relative imports of each other: a browser may
keep them for ever, and a new version of the hub is never mixed with files of the old one. A page names all modules that
its view imports, directly or not, so that a browser requests them at once and not one after the other.
"""

import gzip
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from posixpath import dirname, join, normpath

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hubbub.serve.http.guard import error_response

FOLDER = Path(__file__).parent / "static"
KINDS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}
PACKED = frozenset({".css", ".js", ".json", ".svg", ".txt"})  # the others are compressed already
FIRST_VIEWS = ("needs", "board")  # that do without later styles
START = "app.js"
STYLES = {
    "styles/first.css": "styles/FIRST",
    "styles/later.css": "styles/LATER",
}  # each made of the listed files, in that order
DIGITS = 16  # of the digest in addresses
HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Vary": "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
}
_COMMENT = re.compile(
    rb"^[ \t]*(?://.*|/\*(?:[^*]|\*(?!/))*\*/[ \t]*)$", re.MULTILINE
)  # lines without anything else
_IMPORT = re.compile(r"""^import\b(?:[^;"']*?\bfrom)?\s*["'](\.{1,2}/[^"']+)["']""", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Asset:
    """One file, plain, and packed if that makes it smaller."""

    kind: str
    plain: bytes
    packed: bytes | None


class Assets:
    """All files of a folder, by their names in it."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        plain = {name: _without_comments(name, content) for name, content in files.items()}
        served = {**plain, **_styles(plain)}
        self.files = {name: _asset(name, content) for name, content in served.items() if _kind(name)}
        self.digest = _digest(files)
        self._modules: dict[str, list[str]] = {}

    @staticmethod
    @cache
    def of(folder: Path = FOLDER) -> "Assets":
        """Read the files of the folder when this process first asks; its hubs share them."""
        found = (file for file in sorted(folder.rglob("*")) if file.is_file())
        return Assets({file.relative_to(folder).as_posix(): file.read_bytes() for file in found})

    @property
    def root(self) -> str:
        """Return the common beginning of the files' addresses."""
        return f"/assets/{self.digest}"

    def modules(self, view: str) -> list[str]:
        """Return the scripts needed before a view is shown, the first one first."""
        if view not in self._modules:
            self._modules[view] = self._needed(START, f"views/{view}.js")
        return self._modules[view]

    def styles(self, view: str) -> list[str]:
        """Return the styles needed before a view is shown."""
        return [*STYLES][: 1 if view in FIRST_VIEWS else None]

    def routes(self) -> list[Route]:
        return [Route("/assets/{digest}/{name:path}", self.answer, methods=["GET"])]

    async def answer(self, request: Request) -> Response:
        """Answer with the file of that name; a file of another version of the hub is not found."""
        asset = self.files.get(request.path_params["name"])
        if asset is None or request.path_params["digest"] != self.digest:
            return error_response(HTTPStatus.NOT_FOUND, "not_found", "there is nothing at this address")
        return self.response(request, asset, HEADERS)

    def response(self, request: Request, asset: Asset, headers: Mapping[str, str]) -> Response:
        """Answer with one file: packed for clients that accept it, and without a body for those that have it."""
        tag = f'"{self.digest}"'
        if request.headers.get("if-none-match") == tag:
            return Response(None, HTTPStatus.NOT_MODIFIED, {**headers, "ETag": tag})
        if asset.packed is None or not _takes_packed(request.headers.get("accept-encoding", "")):
            return Response(asset.plain, headers={**headers, "ETag": tag}, media_type=asset.kind)
        packed = {**headers, "ETag": tag, "Content-Encoding": "gzip"}
        return Response(asset.packed, headers=packed, media_type=asset.kind)

    def _needed(self, *names: str) -> list[str]:
        found = [name for name in names if name in self.files]
        for name in found:  # the list grows as they are read
            found += [each for each in self._imports(name) if each not in found]
        return found

    def _imports(self, name: str) -> Iterator[str]:
        text = self.files[name].plain.decode()
        for wanted in dict.fromkeys(_IMPORT.findall(text)):
            target = normpath(join(dirname(name), wanted))
            if target in self.files:
                yield target


def _asset(name: str, content: bytes) -> Asset:
    packed = gzip.compress(content, 9, mtime=0) if PurePosixPath(name).suffix in PACKED else None
    return Asset(_kind(name), content, packed if packed and len(packed) < len(content) else None)


def _without_comments(name: str, content: bytes) -> bytes:
    """Strip the comments of scripts and styles, which are half of their size; every line keeps its number."""
    is_ours = PurePosixPath(name).suffix in (".js", ".css") and not name.startswith("vendor/")
    return _COMMENT.sub(lambda found: b"\n" * found[0].count(b"\n"), content) if is_ours else content


def _styles(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Join the styles into a few files."""
    lists = {name: files[listed].decode().split() for name, listed in STYLES.items()}
    return {name: b"".join(files[f"styles/{each}"] for each in names) for name, names in lists.items()}


def _kind(name: str) -> str:
    return KINDS.get(PurePosixPath(name).suffix, "")


def _digest(files: Mapping[str, bytes]) -> str:
    sums = (f"{name} {hashlib.sha256(content).hexdigest()}" for name, content in sorted(files.items()))
    return hashlib.sha256("\n".join(sums).encode()).hexdigest()[:DIGITS]


def _takes_packed(accepted: str) -> bool:
    """Tell whether a browser takes gzip, by its `Accept-Encoding`."""
    for each in accepted.split(","):
        name, *parameters = (part.strip().replace(" ", "") for part in each.split(";"))
        if name in ("gzip", "*"):
            return not any(re.fullmatch(r"q=0(\.0*)?", part) for part in parameters)
    return False
