"""The keyboard: what each key does, when it does nothing, and that all of it can be switched off."""

import re
from uuid import uuid4

import pytest
from playwright.sync_api import Page, Route, expect

from tests.dashboard.browser import Visit, Watch, chord, inside, until_ready
from tests.dashboard.scene import Scene
from tests.support.waiting import patience

CHORDS = {
    "i": "Needs you", "b": "Board", "f": "Fleet", "m": "Messages", "c": "Files",
    "d": "Graph", "a": "Activity", "n": "Machines", "u": "Audit", "s": "Settings",
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _scene(scene: Scene) -> None:
    """There are cards to move among."""


def test_g_and_a_letter_go_to_a_view(page: Page) -> None:
    """Each view has its chord."""
    for letter, name in CHORDS.items():
        chord(page, "g", letter)
        expect(page.get_by_role("heading", level=1)).to_have_text(name)


@pytest.mark.daily
def test_letters_are_letters_where_somebody_types(page: Page) -> None:
    """In a field no single letter acts; Esc leaves the field."""
    chord(page, "g", "b")
    page.keyboard.press("/")
    field = page.get_by_role("searchbox")
    expect(field).to_be_focused()
    page.keyboard.type("g f?")
    expect(field).to_have_value("g f?")
    expect(page.get_by_role("heading", level=1)).to_have_text("Board")
    page.keyboard.press("Escape")
    expect(field).not_to_be_focused()


def test_single_letters_can_be_switched_off(visit: Visit) -> None:
    """Switched off in the help, letters do nothing, also after a reload; ⌘K goes on working (WCAG 2.1.4)."""
    page = visit("/board")
    page.keyboard.press("?")
    page.get_by_role("checkbox", name="Single-letter keys").uncheck()
    page.keyboard.press("Escape")
    page.reload()
    expect(page.locator("html[data-ready=true]")).to_be_attached()
    page.keyboard.press("?")
    chord(page, "g", "f")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog")).to_have_count(1)
    expect(page.get_by_role("dialog", name="Search")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("Board")


def test_the_help_lists_the_keys_that_act(page: Page) -> None:
    """`?` shows every chord, the palette's key and those of moving, in words."""
    page.keyboard.press("?")
    help_ = page.get_by_role("dialog", name="Keyboard shortcuts")
    for letter in CHORDS:
        expect(help_.get_by_text(f"g {letter}", exact=True)).to_be_visible()
    expect(help_).to_contain_text("Search everything")
    expect(help_).to_contain_text("Move between cards")
    expect(help_).not_to_contain_text(re.compile(r"\b[a-z]+\.[a-z_]+\b"))
    page.keyboard.press("Escape")
    expect(help_).to_have_count(0)


# Clicks, and says whether the focus is on `wanted`, after a key if one is named, in the very moment in which `drawn` is
# drawn: before the frame that shows it.
FOCUSED_AT_ONCE = """({ clicked, drawn, wanted, key, milliseconds }) => new Promise((done, fail) => {
  setTimeout(fail, milliseconds, new Error(`never drawn: ${drawn}`));
  new MutationObserver((_, observer) => {
    if (!document.querySelector(drawn)) return;
    observer.disconnect();
    if (key) document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    done(document.activeElement.matches(wanted));
  }).observe(document.body, { childList: true, subtree: true });
  document.querySelector(clicked).click();
})"""


def is_focused_at_once(page: Page, clicked: str, drawn: str, wanted: str, key: str | None = None) -> bool:
    asked = {"clicked": clicked, "drawn": drawn, "wanted": wanted, "key": key}
    return bool(page.evaluate(FOCUSED_AT_ONCE, {**asked, "milliseconds": 1000 * patience()}))


def test_a_key_acts_from_the_moment_in_which_its_view_is_drawn(visit: Visit) -> None:
    """Keys move among cards as soon as these are drawn: none is lost on a busy machine."""
    page = visit("/board")  # so that all that it needs is there
    page.get_by_role("link", name="Settings").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Settings")
    assert is_focused_at_once(page, "nav a[href^='/board']", "main [data-item^='task:']", "[data-item]", "j")


def test_what_is_opened_has_the_focus_from_the_moment_in_which_it_is_drawn(page: Page) -> None:
    """A conversation, a file and an agent have the focus at once: it is taken from nobody who types meanwhile."""
    panel = "h2[tabindex='-1']"
    for view, kind in (("messages", "thread"), ("files", "file"), ("fleet", "agent")):
        inside(page, "shell/router.js", "m.go(x)", view)
        card = f"main [data-item^='{kind}:']"
        expect(page.locator(card).first).to_be_visible()
        assert is_focused_at_once(page, card, panel, panel)
        inside(page, "shell/router.js", "m.set({ thread: null, file: null, agent: null })")
        expect(page.locator(panel)).to_have_count(0)


def test_hjkl_move_among_the_cards_by_where_they_stand(visit: Visit) -> None:
    """`j` goes one down and `k` back, `l` one column on and `h` back."""
    page = visit("/board")
    expect(page.locator("main [data-item^='task:']").first).to_be_visible()
    focused = "document.activeElement.dataset.item ?? ''"
    page.keyboard.press("j")
    places = [page.evaluate(focused)]
    for key in "jlhk":
        page.keyboard.press(key)
        places.append(page.evaluate(focused))
    first, below, aside, back, up = places
    assert all(places)
    assert len({first, below, aside}) == 3
    assert (back, up) == (below, first)


@pytest.mark.parametrize(
    ("view", "kind", "opened"),
    [("machines", "machine:", "node="), ("files", "file:", "file="), ("messages", "thread:", "thread=")],
)
def test_what_a_card_opens_esc_closes(visit: Visit, view: str, kind: str, opened: str) -> None:
    """The keys hjkl lead to the first card of each list, Enter opens what it stands for, and Esc closes that."""
    page = visit(f"/{view}")
    expect(page.locator(f"main [data-item^='{kind}']").first).to_be_visible()
    page.keyboard.press("j")
    assert str(page.evaluate("document.activeElement.dataset.item")).startswith(kind)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(opened))
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile(opened))


def test_enter_on_a_need_opens_what_it_is_about(page: Page) -> None:
    """On the first screen Enter leads from the card of a blocked task to the task."""
    card = page.get_by_role("group", name="Blocked, waiting for you").first
    label = card.get_by_role("link").text_content() or ""  # also of what is not drawn yet
    card.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("complementary", name="Task")).to_contain_text(label.removeprefix("Open "))


def test_esc_keeps_what_somebody_writes(visit: Visit) -> None:
    """In a field Esc leaves the field, and closes nothing."""
    page = visit("/messages")
    page.locator("main [data-item^='thread:']").first.click()
    field = page.get_by_role("region", name="Conversation", exact=True).get_by_role("textbox")
    field.fill("half a sentence")
    page.keyboard.press("Escape")
    expect(field).not_to_be_focused()
    expect(field).to_have_value("half a sentence")


@pytest.mark.daily
def test_keys_do_nothing_behind_a_dialog(page: Page) -> None:
    """While a dialog is open, the keys of the page behind it do not act."""
    inside(page, "shell/dialogs.js", "m.compose(x)", [])
    dialog = page.get_by_role("dialog")
    to = dialog.get_by_label("To", exact=True)
    expect(to).to_be_focused()  # until then letters are held back for it
    dialog.get_by_role("button", name="Close").focus()
    chord(page, "g", "f")
    assert page.evaluate("location.pathname") == "/"  # which a command changes at once


def test_a_menu_is_used_without_a_mouse(page: Page) -> None:
    """Arrows, first letters, Enter and Esc work in menus, and the button has the focus afterwards."""
    button = page.get_by_role("button", name="Theme")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitemradio", name="Dark")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("menuitemradio", name="Light")).to_be_focused()
    page.keyboard.press("s")
    expect(page.get_by_role("menuitemradio", name="Same as system")).to_be_focused()
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    expect(page.get_by_role("menu")).to_have_count(0)


@pytest.mark.parametrize(("to", "field"), [([], "To"), (["ember"], "Text")])
def test_what_is_typed_into_a_new_message_is_in_it(page: Page, to: list[str], field: str) -> None:
    """A new message has the focus where one writes: its text, or whom it is for while nobody is named."""
    inside(page, "shell/dialogs.js", "m.compose(x)", to)
    dialog = page.get_by_role("dialog", name="New message")
    expect(dialog.get_by_label(field, exact=True)).to_be_focused()


def test_a_form_says_below_a_field_what_it_lacks(page: Page) -> None:
    """What is sent without a text that it needs says so below the field, which has the focus, until it is there."""
    inside(page, "shell/dialogs.js", "m.compose(x)", [])
    dialog = page.get_by_role("dialog", name="New message")
    to, text = dialog.get_by_label("To", exact=True), dialog.get_by_label("Text")
    text.focus()
    page.keyboard.press("Control+Enter")
    expect(to).to_be_focused()
    for each in (to, text):
        expect(each).to_have_accessible_description("Please fill this in.")
    text.fill("Hello")
    expect(text).to_have_accessible_description("")


CREATE = "**/views/task/forms.js"


def test_what_is_typed_before_a_dialog_is_there_is_in_it(page: Page) -> None:
    """From the key that asks for a dialog until it is there no letter is a command; then all of them are its text."""
    held: list[Route] = []
    page.route(CREATE, lambda route: held.append(route))  # noqa: PLW0108  # Playwright marks it
    page.reload()
    until_ready(page)
    page.keyboard.type("cg b x a")
    expect(page.get_by_role("heading", level=1)).to_have_text("Needs you")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.evaluate("() => { requestAnimationFrame = () => 0; }")  # one types faster than the next frame comes
    for route in held:
        route.continue_()
    field = page.get_by_role("dialog").get_by_label("Title")
    expect(field).to_be_focused()
    page.keyboard.type("nd a title")
    expect(field).to_have_value("g b x and a title")


def test_a_dialog_that_does_not_come_is_said_and_leaves_no_letter_as_a_command(
    page: Page, watch: Watch
) -> None:
    """Typing on after a dialog failed gives no commands; asking again tries it again."""
    watch.expect(0)
    page.route(CREATE, lambda route: route.abort())
    page.reload()
    until_ready(page)
    page.keyboard.press("c")
    expect(page.get_by_role("alert").filter(has_text="The hub cannot be reached.")).to_be_visible()
    page.keyboard.type("g b")
    expect(page.get_by_role("heading", level=1)).to_have_text("Needs you")
    page.unroute(CREATE)
    page.get_by_role("button", name="Task", exact=True).click()
    expect(page.get_by_role("dialog", name="New task")).to_be_visible()


def test_escape_gives_up_a_dialog_that_is_not_there_yet(page: Page) -> None:
    """Esc while a dialog is on its way gives it up: keys are commands again, and it does not open any more."""
    held: list[Route] = []
    page.route(CREATE, lambda route: held.append(route))  # noqa: PLW0108  # Playwright marks it
    page.reload()
    until_ready(page)
    page.keyboard.type("c")
    page.keyboard.press("Escape")
    chord(page, "g", "b")
    expect(page.get_by_role("heading", level=1)).to_have_text("Board")
    for route in held:
        route.continue_()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(1)


def test_a_draft_is_there_again(visit: Visit) -> None:
    """Text typed and not sent is not lost by Esc, Cancel or a click beside: it is there when that opens again."""
    page = visit("/board")
    dialog = page.get_by_role("dialog", name="New task")
    title = dialog.get_by_label("Title")
    draft = f"Half a plan {uuid4()}"  # created once: the hub refuses a second of the same text
    page.keyboard.press("c")
    title.fill(draft)
    dialog.get_by_label("Description").fill("of several")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    for is_beside in (True, False):
        page.keyboard.press("c")
        expect(title).to_have_value(draft)
        expect(dialog.get_by_label("Description")).to_have_value("of several")
        if is_beside:
            page.mouse.click(4, 4)
        else:
            dialog.get_by_role("button", name="Cancel").click()
        expect(dialog).to_have_count(0)
    page.keyboard.press("c")
    dialog.get_by_role("button", name="Create task").click()
    expect(dialog).to_have_count(0)
    page.keyboard.press("c")
    expect(title).to_have_value("")


def test_a_note_on_a_task_is_there_again(visit: Visit, scene: Scene) -> None:
    """Unsent text at the foot of a task is there when the task is open again, and at no other."""
    one, other = scene.tasks["running"][:2]
    page = visit(f"/board?task={one.number}")
    field = page.get_by_role("complementary", name="Task").get_by_role("textbox")
    field.fill("half a sentence")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(field).to_have_count(0)
    for task, text in ((other, ""), (one, "half a sentence")):
        page.evaluate(
            "number => document.querySelector(`main a[href*='task=${number}']`).click()", task.number
        )
        expect(page.get_by_role("complementary")).to_contain_text(f"T-{task.number}")
        expect(field).to_have_value(text)
