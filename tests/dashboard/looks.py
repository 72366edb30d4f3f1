"""Every way in which a view is looked at: three widths, in the dark and in the light."""

from collections.abc import Iterator

from playwright.sync_api import Page

from tests.dashboard.browser import DESKTOP, PHONE, TABLET, axe, settle

SIZES = {"desktop": DESKTOP, "tablet": TABLET, "phone": PHONE}
WIDER = "() => document.documentElement.scrollWidth - innerWidth"


def each_look(page: Page) -> Iterator[str]:
    """The page in one width and theme after the other, without loading it anew."""
    for name, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        for theme in ("dark", "light"):
            page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
            settle(page)
            yield f"{name}, {theme}"


def faults(page: Page) -> dict[str, list[str]]:
    """What axe-core finds wrong, and where the page is wider than the window, by look; empty if nothing is."""
    found = {}
    for look in each_look(page):
        wrong = axe(page)
        if page.evaluate(WIDER) > 0:
            wrong.append("the page is wider than the window")
        if wrong:
            found[look] = wrong
    return found
