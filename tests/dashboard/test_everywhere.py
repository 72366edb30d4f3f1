"""Every view, in both themes, three widths and both languages: whole, readable, and usable by everybody.

One page for each width and language goes from view to view, as people do; the theme is changed where it stands.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.browser import DESKTOP, OF_ROOM, PHONE, TABLET, Visit, axe, inside, settle
from tests.dashboard.looks import WIDER, in_both_themes
from tests.dashboard.scene import Scene

WORDS = Path(__file__).parents[2] / "src/hubbub/serve/dashboard/static/words/en.json"
VIEWS = (
    "needs", "board", "fleet", "messages", "files", "graph", "activity", "machines", "audit", "settings",
)  # fmt: skip

# Texts that stick out of a box that hides what does, where no ellipsis says that there is more.
CUT = """() => {
  const cut = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walker.nextNode()) {
    const { currentNode: node } = walker;
    if (!node.data.trim() || !node.parentElement.checkVisibility({ contentVisibilityAuto: true })) continue;
    range.selectNodeContents(node);
    const text = range.getBoundingClientRect();
    for (let box = node.parentElement; box && box !== document.body; box = box.parentElement) {
      const style = getComputedStyle(box);
      const [x, y] = [style.overflowX, style.overflowY];
      if (style.clipPath !== "none" || /auto|scroll/.test(x + y)) break;
      if (style.textOverflow === "ellipsis" && x !== "visible" || style.webkitLineClamp !== "none") break;
      const { left, right, top, bottom, height } = box.getBoundingClientRect();
      if (height <= 1) break;
      const sideways = x !== "visible" && (text.right > right + 1 || text.left < left - 1);
      const downwards = y !== "visible" && (text.bottom > bottom + 4 || text.top < top - 4);
      if (sideways || downwards) { cut.push(`${node.data.trim().slice(0, 60)} (in ${box.className})`); break; }
    }
  }
  return cut;
}"""

# All that the page says, seen or only heard.
SAID = """() => [
  document.body.innerText,
  ...[...document.querySelectorAll("[aria-label], [title], [placeholder]")].flatMap((each) =>
    ["aria-label", "title", "placeholder"].map((name) => each.getAttribute(name) ?? "")),
]"""

pytestmark = pytest.mark.usefixtures("scene")


@pytest.fixture(params=["en", "zh-CN"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=[DESKTOP, TABLET, PHONE], ids=["laptop", "tablet", "phone"])
def walker(request: pytest.FixtureRequest, visit: Visit, language: str) -> Page:
    """A page in one of the widths and languages, dark."""
    return visit("/", size=request.param, language=language)


def test_every_view_is_whole(walker: Page, language: str, scene: Scene) -> None:
    """No view is wider than the window, cuts a text off, misses a word, or has a fault that axe-core finds."""
    faults = {}
    for name in _each_view(walker, scene):
        found = [f"cut off: {text}" for text in walker.evaluate(CUT)]
        found += [f"no word for {key}" for key in _unsaid(walker)]
        if walker.evaluate(WIDER) > 0:
            found.append("wider than the window")
        found += _found_by_axe(walker, language)
        if found:
            faults[name] = found
    assert faults == {}


def _found_by_axe(page: Page, language: str) -> list[str]:
    """What axe-core finds wrong, by the rules that may tell this language and width from those before.

    Colours are the same in each language, and what things are called in another is the same in each width.
    """
    if language == "en":
        return in_both_themes(page)
    is_first = page.viewport_size == {"width": DESKTOP[0], "height": DESKTOP[1]}
    return axe(page, rules=None if is_first else OF_ROOM)


def _each_view(page: Page, scene: Scene) -> Iterator[str]:
    """The views one after the other, and a task and an agent at the side."""
    task = str(scene.tasks["blocked"][0].number)
    stops: list[tuple[str, dict[str, Any]]] = [(view, {}) for view in VIEWS]
    for view, query in [*stops, ("board", {"task": task}), ("fleet", {"agent": "ember"})]:
        inside(page, "shell/router.js", "m.go(x[0], x[1])", [view, query])
        expect(page.locator(f"main[data-view={view}]")).to_be_visible()
        expect(page.locator(".skeleton")).to_have_count(0)
        settle(page)
        yield " ".join([view, *query])


def _unsaid(page: Page) -> set[str]:
    """Keys and values that stand on the page in place of words."""
    sections: dict[str, dict[str, str]] = json.loads(WORDS.read_text())
    said = " ".join(page.evaluate(SAID)).split()
    keys = {f"{section}.{key.removesuffix('_other')}" for section, of in sections.items() for key in of}
    return {word for word in said if word in keys or (word.startswith("{") and word.endswith("}"))}
