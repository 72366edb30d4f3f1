"""Room for everything: nothing covers what somebody writes, is cut off, breaks in two, or is lost while it is typed."""

import pytest
from playwright.sync_api import Page, expect

from hubbub.core.mail import messages
from tests.dashboard.browser import (
    DESKTOP,
    PHONE,
    Visit,
    Watch,
    inside,
    settle,
    show_connection,
    until_ready,
    until_whole,
)
from tests.dashboard.scene import Scene
from tests.serve.served_hub import Hub

LONG = "an-agent-whose-name-is-longer-than-any-card-has-room-for-it"
WIDTHS = (1440, 1280, 1180, 1024, 900, 760)
TABLETS = ((999, 1200), (820, 1180), (768, 1024), (999, 700), (900, 600))  # upright, and across
ROOM = 200  # pixels that a view and what is open keep at least, in both directions

# What lies over a field that somebody writes in, by what the browser finds at its middle.
COVERED = """() => [...document.querySelectorAll("textarea, input[type=text], input[type=search]")]
  .filter((field) => field.checkVisibility() && field.getBoundingClientRect().width > 1)
  .filter((field) => {
    const { left, top, width, height } = field.getBoundingClientRect();
    return document.elementFromPoint(left + width / 2, top + height / 2)?.closest(".toast, .toasts");
  }).length"""

# Columns of the board that stick out of it, or out of the window.
CUT = """() => {
  const box = document.querySelector(".columns");
  const { right } = box.getBoundingClientRect();
  const out = [...box.children].filter((each) => each.getBoundingClientRect().right > right + 1);
  return [out.length, box.scrollWidth > box.clientWidth + 1];
}"""

# Cards above the board of which one sees a part only, and buttons that stick out of such a card.
CARDS_CUT = """() => {
  const row = document.querySelector(".attention").getBoundingClientRect();
  const cards = [...document.querySelectorAll(".attention > .need")];
  const seen = ({ left, right }) => left < row.right - 8 && right > row.left + 8;
  const inside = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1;
  const isWhole = (card, box) => inside(box, row)
    && [...card.querySelectorAll("button, a")].every((each) => inside(each.getBoundingClientRect(), box));
  return cards.map((card) => [card, card.getBoundingClientRect()])
    .filter(([card, box]) => seen(box) && !isWhole(card, box)).map(([card]) => card.textContent);
}"""

# Headings of columns that show less than their name.
HEADS_CUT = """() => [...document.querySelectorAll(".column-name")]
  .filter((name) => name.scrollWidth > name.clientWidth).map((name) => name.textContent)"""

# Words and buttons of a view that begin before an edge, of the window or of what scrolls them, and end behind it.
EDGES = """() => {
  const isRead = (each) => each.tagName === "BUTTON"
    || [...each.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  const edges = (each) => {
    const found = [innerWidth];
    for (let box = each.parentElement; box.id !== "main"; box = box.parentElement) {
      const { overflowX, textOverflow } = getComputedStyle(box);
      if (overflowX !== "visible" && textOverflow !== "ellipsis") found.push(box.getBoundingClientRect().right);
    }
    return found;
  };
  const shown = [...document.querySelectorAll("#main *")]
    .filter((each) => isRead(each) && each.checkVisibility() && !each.closest("pre, .sr, thead"));
  return shown.filter((each) => each.getBoundingClientRect().right > Math.min(...edges(each)) + 2)
    .map((each) => each.textContent.slice(0, 60));
}"""

# What is read as one and stands in more than one line.
BROKEN = """() => [...document.querySelectorAll(".ref, .num, time, .badge, kbd")].filter((each) => {
    const range = document.createRange();
    range.selectNodeContents(each);
    return new Set([...range.getClientRects()].map(({ top }) => Math.round(top / 8))).size > 1;
  }).map((each) => each.outerHTML.slice(0, 120))"""

# How far what is open at the side reaches over the view.
OVERLAP = """() => {
  const [view, side] = ["main", ".side"].map((each) => document.querySelector(each).getBoundingClientRect());
  return Math.max(0, Math.min(view.right - side.left, view.bottom - side.top));
}"""


@pytest.fixture(scope="module", autouse=True)
def _scene(hub: Hub, scene: Scene) -> None:
    """A team at work, one of whom has a very long name and has written twice."""
    for text in ("I am done with the first part of it.", "And with the second."):
        hub.do(lambda tx, text=text: messages.send(tx, hub.project.id, sender=LONG, to="hub", body=text))
    assert scene.tasks


@pytest.mark.daily
def test_no_toast_lies_over_what_somebody_writes(visit: Visit, scene: Scene) -> None:
    """A sentence about what happened has a place of its own, beside every field: on a desk, on a phone, in a dialog."""
    number = scene.tasks["running"][0].number
    page = visit(f"/board?task={number}")
    for size in (DESKTOP, PHONE):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        until_whole(page)
        inside(page, "ui/overlays.js", "m.toast(x, { kind: 'error' })", f"No. {size}")
        expect(page.get_by_role("alert").get_by_text(f"No. {size}")).to_be_visible()
        assert page.evaluate(COVERED) == 0
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    expect(page.get_by_role("dialog", name="New task")).to_contain_text("No.")
    assert page.evaluate(COVERED) == 0


def test_every_column_of_the_board_is_whole_at_every_width(visit: Visit, scene: Scene) -> None:
    """Down to the width of a phone all five columns are in sight, also beside an open task."""
    page = visit("/board")
    for task in ("", str(scene.tasks["running"][0].number)):
        inside(page, "shell/router.js", "m.set({ task: x })", task)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            until_whole(page)
            assert page.evaluate(CUT) == [0, False], (width, task)


def test_what_needs_a_person_stands_beside_an_open_panel_whole(visit: Visit, scene: Scene) -> None:
    """Beside an open panel the first cards above the board end before it, with all their buttons, and so on from each.

    Above the columns every heading is whole with its count.
    """
    page = visit(f"/board?task={scene.tasks['running'][0].number}")
    for width in (1180, 1024):
        page.set_viewport_size({"width": width, "height": 800})
        until_whole(page)
        for start in (0, 1):
            page.locator(".attention").evaluate("(row, at) => row.scrollTo(at * row.clientWidth, 0)", start)
            settle(page)
            assert page.evaluate(CARDS_CUT) == [], (width, start)
        assert page.evaluate(HEADS_CUT) == [], width
    page = visit("/board", size=(1280, 800), language="zh-CN")
    until_whole(page)
    assert page.evaluate(HEADS_CUT) == []


@pytest.mark.parametrize("view", ["board", "graph"])
def test_an_open_task_covers_nothing_on_a_tablet(visit: Visit, scene: Scene, view: str) -> None:
    """A view makes room for the task that is open: beside it, or below it where the window is narrow and high."""
    page = visit(f"/{view}?task={scene.tasks['running'][0].number}")
    for width, height in (*((width, 900) for width in WIDTHS), *TABLETS):
        page.set_viewport_size({"width": width, "height": height})
        until_whole(page)
        assert page.evaluate(OVERLAP) == 0, (width, height)
        for part in ("main", ".side"):
            box = page.locator(part).bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) >= ROOM, (part, width, height)


def test_nothing_is_cut_at_the_edge_of_a_phone(visit: Visit) -> None:
    """No word and no button of a view begins in sight and ends behind an edge, on a phone and on a small tablet."""
    page = visit("/", size=PHONE)
    views = ["board", "graph", "activity", "cost", "audit", "settings?tab=log", "settings?tab=connect"]
    cut = {}
    for size in (PHONE, (800, 900)):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        for view in views if size == PHONE else views[2:]:  # the others scroll in both directions there
            name, _, tab = view.partition("?tab=")
            inside(page, "shell/router.js", "m.go(x[0], x[1])", [name, {"tab": tab}])
            expect(page.locator(f"main[data-view={name}]")).to_be_visible()
            until_whole(page)
            cut[size, view] = page.evaluate(EDGES)
    assert cut == {each: [] for each in cut}


def test_numbers_and_counts_never_break(visit: Visit, scene: Scene) -> None:
    """The number of a task, a count, a time stand in one line, however long the name beside them is."""
    page = visit("/messages", size=PHONE)
    for view, query in (
        ("messages", {}),
        ("needs", {}),
        ("fleet", {"agent": "ember"}),
        ("board", {"task": str(scene.tasks["queued"][0].number)}),
    ):
        inside(page, "shell/router.js", "m.go(x[0], x[1])", [view, query])
        expect(page.locator(f"main[data-view={view}]")).to_be_visible()
        until_whole(page)
        assert page.evaluate(BROKEN) == [], view


def test_the_bar_is_where_there_is_a_past_to_show(page: Page) -> None:
    """Audit and settings have no replay bar, unless the past is shown and there must be a way back."""
    bar = page.get_by_role("region", name="Time travel")
    for view in ("settings", "audit"):
        inside(page, "shell/router.js", "m.go(x)", view)
        expect(page.get_by_role("heading", level=1)).to_have_text(view.title())
        expect(bar).to_have_count(0)
    inside(page, "shell/router.js", "m.go('board')")
    expect(bar).to_be_visible()
    page.keyboard.press("[")
    back = bar.get_by_role("button", name="Back to live")
    expect(back).to_be_visible()
    inside(page, "shell/router.js", "m.go('settings')")
    expect(page.get_by_role("heading", level=1)).to_have_text("Settings")
    expect(back).to_be_visible()


def test_a_toast_moves_nothing(visit: Visit) -> None:
    """What one writes in stays where it is when a sentence comes and goes, and nothing of it is covered."""
    page = visit("/messages")
    page.get_by_role("main").get_by_role("link", name=LONG).first.click()
    reply = page.get_by_role("region", name="Conversation", exact=True).get_by_role("textbox")
    expect(reply).to_be_visible()
    for size in (DESKTOP, PHONE):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        until_whole(page)
        before = reply.bounding_box()
        inside(page, "ui/overlays.js", "m.toast(x)", f"Sent {size}")
        expect(page.get_by_role("status").get_by_text(f"Sent {size}")).to_be_visible()
        assert (reply.bounding_box(), page.evaluate(COVERED)) == (before, 0)


def test_what_was_said_of_an_absent_hub_goes_when_it_is_back(page: Page) -> None:
    """A sentence that the hub cannot be reached is there until it can be, and no longer."""
    show_connection(page, "reconnecting")
    page.keyboard.press("c")
    said = page.get_by_role("alert").get_by_text("The hub cannot be reached. Try again when it is back.")
    expect(said).to_be_visible()
    show_connection(page, "live")
    expect(said).to_have_count(0)


def test_a_dialog_says_that_the_hub_is_away_and_keeps_its_text(page: Page) -> None:
    """In an open dialog one line says that the hub is away; its text is not sent before the hub is back."""
    page.keyboard.press("c")
    dialog = page.get_by_role("dialog", name="New task")
    dialog.get_by_label("Title").fill("Said to nobody")
    show_connection(page, "reconnecting")
    line = dialog.get_by_text("Your text is kept; send it when the hub is back.")
    expect(line).to_be_visible()
    page.keyboard.press("Control+Enter")
    expect(dialog.get_by_label("Title")).to_have_value("Said to nobody")
    show_connection(page, "live")
    expect(line).to_have_count(0)
    page.keyboard.press("Control+Enter")
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("complementary", name="Task")).to_contain_text("Said to nobody")


@pytest.mark.daily
def test_a_page_says_for_how_long_the_hub_is_away_and_keeps_what_is_typed(visit: Visit, scene: Scene) -> None:
    """A strip says since when; buttons that would change something say why they do not; fields go on taking text."""
    page = visit(f"/board?task={scene.tasks['review'][2].number}")
    side = page.get_by_role("complementary", name="Task")
    note = side.get_by_role("textbox")
    approve = side.get_by_role("button", name="Approve work")
    expect(approve).to_be_enabled()

    show_connection(page, "reconnecting")
    strip = page.locator(".away")
    expect(strip).to_contain_text("No connection to the hub since ")
    expect(approve).to_be_disabled()
    expect(approve).to_have_attribute(
        "title", "The hub cannot be reached; nothing can be changed until it is back."
    )
    note.fill("written while it was away")

    show_connection(page, "live")
    expect(strip).to_be_hidden()
    expect(approve).to_be_enabled()
    expect(note).to_have_value("written while it was away")


def test_a_draft_outlives_the_page(visit: Visit, watch: Watch) -> None:
    """What was filled in and not sent is there after a reload; a message that failed can be sent again."""
    page = visit("/board")
    page.keyboard.press("c")
    form = page.get_by_role("dialog", name="New task")
    title = form.get_by_label("Title")
    title.fill("Half a plan")
    form.get_by_label("For", exact=True).select_option("maple")
    form.get_by_label("Priority").select_option("low")
    page.reload()
    until_ready(page)
    page.keyboard.press("c")
    expect(title).to_have_value("Half a plan")
    expect(form.get_by_label("For", exact=True)).to_have_value("maple")
    expect(form.get_by_label("Priority")).to_have_value("low")
    page.keyboard.press("Escape")

    watch.expect(0)
    page.route("**/api/v1/messages**", lambda route: route.abort())
    inside(page, "shell/router.js", "m.go('needs')")
    card = page.get_by_role("group", name="Message to you").filter(has_text="And with the second.")
    reply = page.get_by_role("dialog").get_by_role("textbox")
    card.get_by_role("button", name="Reply").click()
    reply.fill("Thank you for all of it")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert").filter(has_text="The hub cannot be reached.")).to_be_visible()
    card.get_by_role("button", name="Reply").click()
    expect(reply).to_have_value("Thank you for all of it")
