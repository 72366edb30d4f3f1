"""Pictures in the page, as JSON, and the waiting for them."""

from typing import Any

from playwright.sync_api import Page

from tests.dashboard.browser import inside
from tests.serve.served_hub import Hub

# A function of JavaScript: the cards of a picture, by noun and key.
CARDS = """({ written, ...maps }) => Object.fromEntries(
    Object.entries(maps).map(([noun, cards]) => [noun, Object.fromEntries(cards)]))"""


def live(page: Page) -> Any:
    """The live picture."""
    return inside(page, "model/store.js", f"({CARDS})(m.live.value)")


def told(page: Page) -> Any:
    """Return the hub's own picture of the project."""
    return inside(page, "hub/api.js", "m.get('/snapshot').then((answer) => answer.picture)")


def caught_up(page: Page, hub: Hub) -> None:
    """Wait until the page has folded the last activity of the log."""
    sql = "SELECT max(seq) AS last FROM activity WHERE project_id = :project_id"
    last = hub.do(lambda tx: tx.one(sql, project_id=hub.project.id))["last"]
    until = "new Promise((done) => m.connection.subscribe(({ id }) => id >= x && done()))"
    inside(page, "hub/stream.js", until, last)
