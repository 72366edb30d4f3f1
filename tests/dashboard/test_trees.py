"""Each view's tree of roles and names for a screen reader, kept as text in `trees` and compared.

To change one on purpose, write it anew with `TREES=write` and this module, and read the difference.
"""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.dashboard.browser import DESKTOP, Visit, inside, until_whole
from tests.dashboard.scene import Scene
from tests.dashboard.test_everywhere import VIEWS

DEEP = 10_000
FOLDER = Path(__file__).parent / "trees"
# What is another at each run, and what stands for it.
CHANGES = {
    r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b": "{id}",
    r"\b127\.0\.0\.1:\d+": "{hub}",
    r"\b\d{1,2}:\d\d(:\d\d)?(\s[AP]M)?\b": "{clock}",
    r"\b\d+ unread messages? ": "",
    r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \w+ \d+\b": "{day}",
    r"\bsince \{day\} ": "since ",  # of a story around midnight, where it was yesterday
    r"\b\d+h \d+m\b|\b\d+[smhd]\b": "{span}",
    r"\b\d+ steps? in the last": "{count} steps in the last",
    r"\b(event|Details of event|/) ?\d+\b": r"\1 {number}",
    r"\b\d+ ?%": "{percent}",
    r"(Tasks ended per day, at most) \d+": r"\1 {count}",
    r"(Used per day, at most) \$[\d.]+": r"\1 {cost}",  # of a story around midnight, each day has its part
    r"(progressbar[^:]*:) .*": r"\1 {percent}",
    r"\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d+(, \d{4})?\b": "{date}",
}
# So many beside each other tell all that there is to know of them; a story around midnight has two days.
MOST = {"listitem": 2, "article": 2, "group": 2, "row": 3, "list": 1, "heading": 1, "rowgroup": 2}

pytestmark = pytest.mark.usefixtures("scene")


def test_a_screen_reader_is_told_the_same_of_each_view(visit: Visit, scene: Scene) -> None:
    """The roles and names of every view, of a task and of an agent at the side, are those that are kept."""
    page = visit("/", size=DESKTOP)
    stops: list[tuple[str, dict[str, str]]] = [(view, {}) for view in VIEWS]
    stops += [("board", {"task": str(scene.tasks["blocked"][0].number)}), ("fleet", {"agent": "ember"})]
    others = {}
    for view, query in stops:
        inside(page, "shell/router.js", "m.go(x[0], x[1])", [view, query])
        expect(page.locator(f"main[data-view={view}]")).to_be_visible()
        if view == "fleet":  # whose cards get their facts all at once, after they are there
            expect(page.locator(".agent-facts:not(:empty)").first).to_be_visible()
        if "agent" in query:
            expect(page.get_by_role("region", name="Inbox")).to_be_visible()
        until_whole(page)
        part = page.get_by_role("complementary") if query else page.locator("main")
        name, told = "-".join([view, *query]), same_each_time(part.aria_snapshot())
        file = FOLDER / f"{name}.yaml"
        if os.environ.get("TREES") == "write":
            file.write_text(told, "utf-8")
        if told != file.read_text("utf-8"):
            others[name] = told
    assert others == {name: (FOLDER / f"{name}.yaml").read_text("utf-8") for name in others}


def same_each_time(tree: str) -> str:
    """The tree without what is another at each run, and of what repeats itself only the beginning."""
    for changing, stands in CHANGES.items():
        tree = re.sub(changing, stands, tree)
    return "".join(f"{line}\n" for line in _beginnings(tree.splitlines()))


def _beginnings(lines: Iterable[str]) -> Iterator[str]:
    seen: dict[tuple[int, str], int] = {}  # how many of a kind there were so far below the same parent
    dropped = DEEP  # the depth of what is left out, with all that is below it
    for line in lines:
        said = line.lstrip()
        depth = len(line) - len(said)
        seen = {kind: count for kind, count in seen.items() if kind[0] <= depth}
        if depth > dropped or said.startswith("- /url:"):
            continue
        dropped = DEEP
        role = said.split()[1].rstrip(":")
        kind = (depth, said if role == "heading" else role)
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] > MOST.get(role, DEEP):
            dropped = depth
        else:
            yield line
