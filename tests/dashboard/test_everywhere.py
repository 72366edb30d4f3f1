"""Every view, in both themes, three widths and both languages: whole, readable, and usable by everybody.

A page with a mouse and one on a phone go from view to view, as people do; theme, language and width are changed where
they stand.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.browser import DESKTOP, PHONE, TABLET, Visit, inside, until_whole
from tests.dashboard.looks import each_way, judged
from tests.dashboard.scene import Scene

WORDS = Path(__file__).parents[2] / "src/hubbub/serve/dashboard/static/words/en.json"
VIEWS = (
    "needs", "board", "fleet", "messages", "files", "graph", "activity", "machines", "cost", "audit", "settings",
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


@pytest.mark.long
@pytest.mark.parametrize("sizes", [(DESKTOP, TABLET), (PHONE,)], ids=["laptop and tablet", "phone"])
def test_every_view_is_whole(visit: Visit, sizes: tuple[tuple[int, int], ...], scene: Scene) -> None:
    """No view is wider than its place, cuts a text off, misses a word, or has a fault that axe-core finds."""
    walker = visit("/", size=sizes[0])
    faults = {}
    for name in _each_view(walker, scene):
        for size, language in each_way(walker, sizes, chinese=True):
            until_whole(walker)
            found = [f"cut off: {text}" for text in walker.evaluate(CUT)]
            found += [f"no word for {key}" for key in _unsaid(walker)]
            found += judged(walker, size, language)
            if found:
                faults[f"{name}, {size[0]} wide, {language}"] = found
    assert faults == {}


def _each_view(page: Page, scene: Scene) -> Iterator[str]:
    """The views one after the other, and a task and an agent at the side."""
    task = str(scene.tasks["blocked"][0].number)
    stops: list[tuple[str, dict[str, Any]]] = [(view, {}) for view in VIEWS]
    for view, query in [*stops, ("board", {"task": task}), ("fleet", {"agent": "ember"})]:
        inside(page, "shell/router.js", "m.go(x[0], x[1])", [view, query])
        expect(page.locator(f"main[data-view={view}]")).to_be_visible()
        until_whole(page)
        yield " ".join([view, *query])


def _unsaid(page: Page) -> set[str]:
    """Keys and values that stand on the page in place of words."""
    sections: dict[str, dict[str, str]] = json.loads(WORDS.read_text())
    said = " ".join(page.evaluate(SAID)).split()
    keys = {f"{section}.{key.removesuffix('_other')}" for section, of in sections.items() for key in of}
    return {word for word in said if word in keys or (word.startswith("{") and word.endswith("}"))}
