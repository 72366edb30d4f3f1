"""The look of the dashboard: the colours and sizes of the design, in both themes, readable and usable for everybody."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.browser import DESKTOP, PHONE, Visit, chord, inside
from tests.dashboard.looks import axe, in_both_themes
from tests.dashboard.scene import Scene

# token: dark, light, as the design gives them
COLOURS = {
    "--ground": ("#0c0e11", "#f5f6f7"), "--panel": ("#121519", "#fff"), "--card": ("#181c21", "#fff"),
    "--raised": ("#20252c", "#eceef1"), "--line": ("#242a31", "#e1e4e8"), "--line-strong": ("#39414b", "#c5cbd3"),
    "--text": ("#e9ecf0", "#14181d"), "--text-2": ("#aab2bc", "#48515b"), "--text-3": ("#8a939e", "#5f6974"),
    "--accent": ("#62d6c8", "#0b7a73"), "--queued": ("#98a2ae", "#59636e"), "--sent": ("#7fb9da", "#22658b"),
    "--running": ("#62abff", "#0a5fbf"), "--review": ("#b9a0ff", "#6842c7"), "--blocked": ("#f2ab3f", "#8a5600"),
    "--failed": ("#ff7f76", "#bd241b"), "--done": ("#4fc68d", "#15734a"),
}  # fmt: skip
TEXTS = (
    "--text",
    "--text-2",
    "--text-3",
    "--queued",
    "--sent",
    "--running",
    "--review",
    "--blocked",
    "--failed",
    "--done",
)
GROUNDS = (
    "--ground",
    "--panel",
    "--card",
    "--raised",
    "--amber-tint",
    "--red-tint",
    "--blue-tint",
    "--teal-tint",
)
LEAST_CONTRAST = 4.5  # WCAG 1.4.3
THEMES = ("dark", "light")
HOSTILE = ("x" * 3_000, "\u202e" + "evil \u200b" * 200, "<img src=x onerror=alert(1)>" * 40)
ANCHOR = "document.body.appendChild(Object.assign(document.createElement('i'), { id: 'probe' }))"


@pytest.fixture(scope="module", autouse=True)
def _scene(scene: Scene) -> None:
    """Colours are of states: there is something in each."""


def colours(page: Page, names: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    """Return the page's values of these tokens: red, green, blue."""
    page.evaluate(ANCHOR)
    found = {}
    for name in names:
        said = page.evaluate(
            "(name) => { probe.style.color = `var(${name})`; return getComputedStyle(probe).color }", name
        )
        found[name] = tuple(int(part) for part in re.findall(r"\d+", said)[:3])
    return found


def rgb(written: str) -> tuple[int, ...]:
    digits = written.lstrip("#")
    whole = digits if len(digits) == 6 else "".join(each * 2 for each in digits)
    return tuple(bytes.fromhex(whole))


def contrast(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    """Return the contrast as WCAG 2 defines it, 1 to 21."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: tuple[int, ...]) -> float:
    parts = [part / 255 for part in colour]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", THEMES)
def test_the_colours_are_the_design_s_and_can_be_read_on_every_surface(visit: Visit, theme: str) -> None:
    """Each token has the design's value, and every text 4.5 to 1 on every surface and tint."""
    page = visit("/settings", theme=theme)
    made = colours(page, tuple(dict.fromkeys([*COLOURS, *TEXTS, *GROUNDS])))
    assert {name: made[name] for name in COLOURS} == {
        name: rgb(values[THEMES.index(theme)]) for name, values in COLOURS.items()
    }
    low = {
        (text, ground): round(contrast(made[text], made[ground]), 2)
        for text in TEXTS
        for ground in GROUNDS
        if contrast(made[text], made[ground]) < LEAST_CONTRAST
    }
    assert low == {}


def test_the_type_and_the_frame_have_the_design_s_sizes(page: Page) -> None:
    """Inter 13 on 1.45; a title of 15; 204 px of navigation, 56 px of bar, 26 px tiles."""
    body = page.locator("html")
    expect(body).to_have_css("font-size", "13px")
    assert body.evaluate("root => getComputedStyle(root).fontFamily").startswith("Inter")
    expect(page.get_by_role("heading", level=1)).to_have_css("font-size", "15px")
    chord(page, "g", "b")
    tile = page.locator("main .tile").first
    expect(tile).to_be_visible()
    expect(page.locator(".nav")).to_have_css("width", "204px")
    expect(page.locator(".bar")).to_have_css("height", "56px")
    expect(page.locator("main .tile:not(.is-small)").first).to_have_css("width", "26px")


def test_the_fonts_are_the_hub_s_own(page: Page) -> None:
    """Both typefaces come from the hub, so that nothing is fetched elsewhere and all is there offline."""
    loaded = page.evaluate(
        "async () => { await document.fonts.ready; return [...document.fonts].map((f) => f.family) }"
    )
    assert {name.strip('"') for name in loaded} == {"Inter", "JetBrains Mono"}


def test_what_opens_over_the_page_is_usable_by_everybody(visit: Visit) -> None:
    """Axe finds nothing wrong with the frame, its menus, the search, the help, a question and a toast."""
    page = visit("/board?q=is:nothing")
    for opens, closes in (
        (lambda: page.get_by_role("button", name="Account").click(), "Escape"),
        (lambda: page.get_by_role("button", name="State").click(), "Escape"),
        (lambda: page.keyboard.press("?"), "Escape"),
        (lambda: page.keyboard.press("Control+k"), "Escape"),
        (
            lambda: inside(
                page, "ui/dialog.js", "void m.ask({ title: 'Why?', label: 'Reason', action: 'Send' })"
            ),
            "Escape",
        ),
        (lambda: inside(page, "ui/overlays.js", "m.toast('No.', { kind: 'error', undo() {} })"), ""),
    ):
        opens()
        assert in_both_themes(page) == []
        if closes:
            page.keyboard.press(closes)


@pytest.mark.parametrize(("theme", "size"), [("dark", DESKTOP), ("light", PHONE)])
def test_signing_in_is_usable_by_everybody(visit: Visit, theme: str, size: tuple[int, int]) -> None:
    """The pages for signing in and registering pass axe in both themes, and are no wider than a phone."""
    page = visit("/settings", theme=theme, size=size)
    hub = page.url.split("/settings")[0]
    page.goto("about:blank")  # nothing is fetched any more when the cookie goes
    page.context.clear_cookies(name=re.compile("^hubbub_\\d+"))
    for path, button in (("/login", "Sign in"), ("/register", "Register")):
        page.goto(hub + path)
        expect(page.get_by_role("button", name=button)).to_be_visible()
        assert axe(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") == size[0]


def test_nothing_moves_for_who_wants_no_motion(visit: Visit) -> None:
    """Spinners and flashes stand still under `prefers-reduced-motion`, and move for everybody else."""
    page = visit("/fleet")
    page.emulate_media(reduced_motion="no-preference")
    spinner = page.locator(".state-word[data-state=working] .icon").first
    expect(spinner).to_have_css("animation-duration", "2.4s")
    page.emulate_media(reduced_motion="reduce")
    expect(spinner).to_have_css("animation-name", "none")


def test_the_focus_is_always_to_be_seen(page: Page) -> None:
    """Whatever Tab reaches in the frame is outlined in teal, 2 px."""
    for _ in range(12):
        page.keyboard.press("Tab")
        outline = page.evaluate("getComputedStyle(document.activeElement).outline")
        assert "rgb(98, 214, 200)" in outline, page.evaluate("document.activeElement.outerHTML.slice(0, 200)")


@pytest.mark.daily
def test_a_hostile_sentence_breaks_no_toast(page: Page) -> None:
    """Agents' text in a toast is text too, and stays inside it."""
    for hostile in HOSTILE:
        inside(page, "ui/overlays.js", "m.toast(x, { kind: 'error' })", hostile)
        toast = page.locator(".toast").last
        expect(toast).to_contain_text(hostile[:20])
        assert toast.evaluate("toast => toast.scrollWidth <= toast.clientWidth")
    expect(page.locator(".toast img")).to_have_count(0)


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_a_toast_can_be_read_and_closed_while_a_dialog_is_open(visit: Visit, size: tuple[int, int]) -> None:
    """A notice during a dialog stands above it, and over none of its buttons."""
    page = visit("/", size=size)
    page.get_by_role("button", name="Task", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    inside(page, "ui/overlays.js", "m.toast('No.', { kind: 'error' })")
    toast = page.get_by_role("alert").filter(has_text="No.")
    dialog.get_by_role("button", name="Cancel").click(trial=True)
    toast.get_by_role("button", name="Close").click()
    expect(toast).to_have_count(0)
