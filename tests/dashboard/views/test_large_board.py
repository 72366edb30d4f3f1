"""The board of a large project, which has a hub of its own: a thousand tasks would be in the way of other tests."""

from playwright.sync_api import expect

from hubbub.core.work import tasks
from hubbub.store.tx import Tx
from tests.dashboard.browser import Visit
from tests.serve.served_hub import Hub


def test_only_what_is_near_is_drawn(visit: Visit, hub: Hub) -> None:
    """A column of a thousand tasks has only those near the visible part in the page; the last can be reached."""

    def send(tx: Tx) -> None:
        for number in range(1_000):
            tasks.send(tx, hub.project.id, sender="hub", to=None, text=f"Chore {number}")

    hub.do(send)
    page = visit("/board?q=chore")
    column = page.locator(".column.is-queued")
    expect(column.locator("h2")).to_contain_text("1,000")
    assert column.locator(".card").count() < 60
    cards = column.locator(".column-cards")
    for _ in range(3):  # heights are guesses until they are measured
        cards.evaluate("(list) => list.scrollTo(0, list.scrollHeight)")
    expect(column.get_by_text("Chore 999")).to_be_visible()
    assert column.locator(".card").count() < 60
