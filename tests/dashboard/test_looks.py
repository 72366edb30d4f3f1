"""The judge of looks finds what is wrong with one text among many that are right."""

import pytest

from tests.dashboard.browser import Visit, until_whole
from tests.dashboard.looks import OF_COLOUR, OF_ROOM, axe

STYLE = """(card, [name, value]) =>
  [card, ...card.querySelectorAll("*")].forEach((each) => { each.style[name] = value; })"""

SET = "(each, style) => { Object.assign(each.style, style); }"
SMALL = {"position": "relative", "top": "-8px", "transform": "scale(0.3)"}


@pytest.mark.usefixtures("scene")
def test_one_text_that_cannot_be_read_is_found_among_many_like_it(visit: Visit) -> None:
    """One text of another colour or ground than the many like it is found, for as long as it is other."""
    page = visit("/board")
    until_whole(page)
    card = page.locator(".column-cards .card").nth(1)
    for name, value in (("color", "#444"), ("backgroundColor", "#888")):
        card.evaluate(STYLE, [name, value])
        assert "color-contrast" in "".join(axe(page, rules=OF_COLOUR)), name
        card.evaluate(STYLE, [name, ""])
    assert axe(page, rules=OF_COLOUR) == []


@pytest.mark.usefixtures("scene")
def test_one_target_that_cannot_be_hit_is_found_among_many(visit: Visit) -> None:
    """A link over which another lies, or that is small beside another, is found for as long as it is so."""
    page = visit("/board")
    until_whole(page)
    link = page.get_by_role("navigation", name="Views").get_by_role("link", name="Fleet")
    for wrong in ({"position": "relative", "top": "-20px"}, SMALL):
        link.evaluate(SET, wrong)
        assert "target-size" in "".join(axe(page, rules=OF_ROOM)), wrong
        link.evaluate(SET, dict.fromkeys(wrong, ""))
    assert axe(page, rules=OF_ROOM) == []
