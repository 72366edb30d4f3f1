"""The watch over the pages of all these tests notices whatever must never happen; or none of them would."""

import pytest

from hubbub.serve.http.page_paths import ICON
from tests.dashboard.browser import Visit, Visitors, visiting

EVIL = "https://evil.example"
LATER = "() => void setTimeout(() => {{ {} }})"
NOT_FOUND = ("/api/v1/nothing", "/nowhere")


def test_what_must_never_happen_on_a_page_is_noticed(visitors: Visitors) -> None:
    """A refusal, an error, a question, and whatever asks another host fail the test on whose page they happen."""
    asked, blocked, shown = (f"{EVIL}/{name}" for name in ("asked", "blocked", "shown"))

    def visit_all(visit: Visit) -> None:
        page = visit("/settings")
        page.evaluate(LATER.format("alert('a question')"))
        page.evaluate(LATER.format("throw new Error('an error')"))
        page.evaluate("console.error('a complaint')")
        page.evaluate(f"fetch('{blocked}').catch(() => {{}})")
        page.evaluate(f"new Image().src = '{shown}'")
        page.evaluate(f"fetch('{NOT_FOUND[0]}')")
        page.goto(visitors.url + NOT_FOUND[1])
        page.goto(visitors.url + ICON)  # which nothing keeps from asking others
        with page.expect_console_message():
            page.evaluate(f"fetch('{asked}').catch(() => {{}})")
        with page.expect_event("framenavigated"):
            page.evaluate(LATER.format(f"location = '{EVIL}'"))

    with pytest.raises(AssertionError) as failed, visiting(visitors) as (visit, _watch):
        visit_all(visit)

    said = str(failed.value)
    for what in (
        "alert: a question",
        "an error",
        "error: a complaint",
        blocked,
        shown,
        asked,
        "chrome-error:",
    ):
        assert what in said
    for path in NOT_FOUND:
        assert f"404 {visitors.url}{path}" in said
