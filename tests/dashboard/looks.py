"""Every way in which a view is looked at: three widths, in the dark and in the light."""

from playwright.sync_api import Page

from tests.dashboard.browser import DESKTOP, OF_COLOUR, PHONE, TABLET, axe

SIZES = {"desktop": DESKTOP, "tablet": TABLET, "phone": PHONE}
WIDER = "() => document.documentElement.scrollWidth - innerWidth"


def in_both_themes(page: Page) -> list[str]:
    """What axe-core finds wrong on the page as it stands, in the light and in the dark."""
    found = []
    for theme in ("light", "dark"):  # the dark one last, so that what comes next begins in it
        page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        found += [f"{theme}: {each}" for each in axe(page, rules=OF_COLOUR if theme == "light" else None)]
    return found


def faults(page: Page) -> dict[str, list[str]]:
    """What axe-core finds wrong, and where the page is wider than the window, by width; empty if nothing is.

    The page is not loaded anew for that.
    """
    found = {}
    for name, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        wrong = in_both_themes(page)
        if page.evaluate(WIDER) > 0:
            wrong.append("the page is wider than the window")
        if wrong:
            found[name] = wrong
    return found
