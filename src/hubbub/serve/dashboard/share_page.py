"""The page behind a share link: one machine, visible to anyone who has the link.

It holds no script and loads nothing; every text in it comes from others, so all is escaped. A link that leads nowhere
shows the same page whatever the reason.
"""

import base64
import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime
from html import escape
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from hubbub.core.fleet import shares
from hubbub.core.fleet.shares import SharedView
from hubbub.core.transaction import Transactions
from hubbub.model.people.rights import SYSTEM
from hubbub.model.redaction import Redactor
from hubbub.model.visible_text import cut, visible
from hubbub.store.tx import Tx

LENGTH = 200  # characters of any one text on the page
REFRESH = 30  # seconds
SECRETS = Redactor()  # any holder of the link reads the page, and agents write the titles

NOTHING = """<h1>There is nothing here</h1>
<p>The link has expired or was taken back, or there never was one.</p>"""

STYLE = """
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { max-width: 42rem; margin: 3rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin-top: 2rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.5rem; }
dt, footer { opacity: .7; }
dd { margin: 0; overflow-wrap: anywhere; }
li { overflow-wrap: anywhere; }
footer { margin-top: 3rem; font-size: .9rem; }
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
HEADERS = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex, nofollow",
    "Cache-Control": "no-store",
}


class SharePage:
    """The page, at `/share/{secret}`."""

    def __init__(self, transactions: Transactions) -> None:
        self.transactions = transactions

    def routes(self) -> list[Route]:
        return [Route("/share/{secret}", self.show, methods=["GET"])]

    async def show(self, request: Request) -> HTMLResponse:
        secret: str = request.path_params["secret"]

        def look(tx: Tx) -> tuple[SharedView | None, int]:
            return shares.look(tx, secret), tx.now

        view, now = await self.transactions.read(SYSTEM, look)
        if view is None:
            return _page("Nothing here", NOTHING, HTTPStatus.NOT_FOUND)
        return _page(view.machine.name, _body(view, now), HTTPStatus.OK)


def _body(view: SharedView, now: int) -> str:
    machine = view.machine
    facts = {
        "Status": "online" if machine.is_online(now) else "offline",
        "Last seen": _moment(machine.seen_at),
        "Platform": machine.platform,
        "Sandbox": machine.sandbox,
        "hubbub": machine.version,
    }
    rows = "\n".join(f"<dt>{escape(name)}</dt><dd>{_text(value)}</dd>" for name, value in facts.items())
    agents = [f"{_text(each.agent)} — {_text(each.condition)}" for each in view.agents]
    tasks = [f"T-{each.number} {_text(each.title)} — {_text(each.status)}" for each in view.tasks]
    return f"""<h1>{_text(machine.name)}</h1>
<dl>
{rows}
</dl>
<h2>Agents</h2>
{_list(agents, "No agent is on it just now.")}
<h2>Tasks</h2>
{_list(tasks, "Nothing is under way on it, as far as is known.")}
<footer>To look at only. This link lasts until {_moment(view.share.expires_at)}.</footer>"""


def _list(items: Iterable[str], none: str) -> str:
    rows = "\n".join(f"<li>{item}</li>" for item in items)
    return f"<ul>\n{rows}\n</ul>" if rows else f"<p>{none}</p>"


def _page(title: str, body: str, status: HTTPStatus) -> HTMLResponse:
    page = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="{REFRESH}">
<title>{_text(title)}</title>
<style>{STYLE}</style>
</head>
<body>
{body}
</body>
</html>
"""
    return HTMLResponse(page, status, HEADERS)


def _text(value: str) -> str:
    return escape(visible(cut(SECRETS.text(value), LENGTH)))


def _moment(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
