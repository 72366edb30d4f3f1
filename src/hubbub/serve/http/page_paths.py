"""Paths of the dashboard: its views, its login, the documents, and the paths that anyone may fetch."""

import re

VIEWS = ("board", "fleet", "messages", "files", "graph", "activity", "machines", "cost", "audit", "settings")
LOGIN, LOGOUT, REGISTER = "/login", "/logout", "/register"
DOCUMENTS = "/docs"
ANSWER = "/answer"  # the link itself is the secret
ICON, MANIFEST = "/favicon.ico", "/manifest.webmanifest"

ASSET = re.compile(r"/assets/[0-9a-f]+/(?P<name>.+)")
OF_THE_LOGIN = re.compile(
    r"login\.js|mark(-\d+)?\.(svg|png)|styles/(tokens|base|login|documents)\.css|fonts/[\w-]+\.woff2"
)  # assets of the pages for visitors who have not signed in yet

_VIEW = re.compile(rf"/|/({'|'.join(VIEWS)})|/t/[^/]+")
_OPEN = re.compile(
    rf"({LOGIN}|{REGISTER})(/[^/]*)?|{LOGOUT}|{re.escape(ICON)}|{re.escape(MANIFEST)}|{DOCUMENTS}(/.*)?"
)
_LOCAL = re.compile(
    r"/(?!/)[!-\[\]-~]*"
)  # printable ASCII, and no backslash, which browsers take for a slash
_LONGEST = 2_000


def is_view(path: str) -> bool:
    """Tell whether the path is a view of the dashboard, for a person who has signed in."""
    return _VIEW.fullmatch(path) is not None


def view_of(path: str) -> str:
    """Return the view of a path, by the name of its module. A task is shown on the board."""
    name = path.split("/")[1]
    return {"": "needs", "t": "board"}.get(name, name)


def is_open(path: str) -> bool:
    """Tell whether anyone may fetch the path: a page for signing in, or a document for all."""
    if asset := ASSET.fullmatch(path):
        return OF_THE_LOGIN.fullmatch(asset["name"]) is not None
    return _OPEN.fullmatch(path) is not None


def local(wanted: str | None) -> str:
    """Return the view to go on to: `wanted` if it is one of this hub's, else the first view."""
    if wanted is None or len(wanted) > _LONGEST or not _LOCAL.fullmatch(wanted):
        return "/"
    return wanted if is_view(wanted.partition("?")[0].partition("#")[0]) else "/"
