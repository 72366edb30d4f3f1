"""Every way in which a view is looked at: three widths, in the dark and in the light, in either language.

A page is judged in all of them as it stands, and by each rule only where that rule can tell another thing than before.
"""

from collections.abc import Iterator, Sequence
from importlib import resources

from playwright.sync_api import Page

from tests.dashboard.browser import DESKTOP, DRAWN, PHONE, TABLET, inside

SIZES = (DESKTOP, TABLET, PHONE)
AXE = resources.files("axe_playwright_python") / "axe.min.js"
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
OF_COLOUR = ("color-contrast", "link-in-text-block")  # all else is the same in the other theme
OF_ROOM = ("target-size",)  # all else is the same in another language, once it was judged in that

# Marks each text whose colours, size and ground are those of another that is in sight: what is true of that is of it.
ALIKE = """() => {
  const [judged, grounds] = [new Set(), new Map()];
  const isSeen = (each) => {
    const { left, top, width, height } = each.getBoundingClientRect();
    return document.elementsFromPoint(left + width / 2, top + height / 2).includes(each);
  };
  const groundOf = (each, look, around) => {
    const isOver = !/static|relative/.test(look.position);
    const isPlain = look.backgroundColor === "rgba(0, 0, 0, 0)" && look.backgroundImage === "none";
    const isFree = each.disabled || each.ariaDisabled === "true";
    if (isPlain && look.opacity === "1" && look.clipPath === "none" && !isOver && !isFree) return around;
    const isClear = isOver && !look.backgroundColor.startsWith("rgb(");
    const ground = [around, look.backgroundColor, look.backgroundImage, look.opacity, look.clipPath, look.position,
      isFree, isClear && grounds.size].join();
    if (!grounds.has(ground)) grounds.set(ground, grounds.size);
    return grounds.get(ground);
  };
  const mark = (each, around) => {
    const look = getComputedStyle(each);
    const ground = groundOf(each, look, around);
    const key = [ground, look.color, look.fontSize, look.fontWeight, look.textShadow].join();
    each.toggleAttribute("data-alike", judged.has(key));
    if ([...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim())
        && !judged.has(key) && isSeen(each)) judged.add(key);
    for (const child of each.children) mark(child, ground);
  };
  mark(document.documentElement, 0);
}"""

# Marks each target that is large enough and touches no other: there is nothing for axe-core to find in it.
ROOMY = """() => {
  const roles = ["button", "checkbox", "combobox", "gridcell", "link", "menuitem", "menuitemcheckbox", "menuitemradio",
    "option", "radio", "scrollbar", "searchbox", "slider", "spinbutton", "switch", "tab", "textbox", "treeitem"];
  const all = ["a, button, input, select, textarea, summary", ...roles.map((role) => `[role=${role}]`)].join();
  const targets = [...document.querySelectorAll(all)].map((each) => [each, each.getBoundingClientRect()]);
  const touches = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  for (const [each, box] of targets) {
    const isLarge = box.width >= 24 && box.height >= 24 && each.getClientRects().length === 1;
    each.toggleAttribute("data-roomy",
      isLarge && !targets.some(([other, its]) => other !== each && touches(box, its)));
  }
}"""

# What axe-core finds, when the page is drawn; null where it is not there yet.
RUN = f"""async ([context, only, without]) => {{
  if (!("axe" in window)) return null;
  await ({DRAWN})();
  const easy = {{ "color-contrast": ["data-alike", {ALIKE}], "target-size": ["data-roomy", {ROOMY}] }};
  for (const [id, [sign, mark]] of Object.entries(easy)) {{
    if (only.type === "tag" ? !without.includes(id) : only.values.includes(id)) mark();
    axe.configure({{ rules: [{{ id, selector: `*:not([${{sign}}])` }}] }});
  }}
  const {{ violations }} = await axe.run(context ?? document, {{
    runOnly: only,
    resultTypes: ["violations"],
    rules: Object.fromEntries(without.map((id) => [id, {{ enabled: false }}])),
  }});
  return violations.flatMap(({{ id, help, nodes }}) => nodes.map((node) =>
    `${{id}}: ${{help}}: ${{node.html.slice(0, 160)}} (${{node.failureSummary.slice(0, 300)}})`));
}}"""

# What is wider than the box that it stands in, where that neither scrolls nor hides it.
BROKEN = """() => [...document.querySelectorAll("html, main, .side, .nav, .top, .dialog")]
  .filter((each) => each.scrollWidth > each.clientWidth + 1)
  .map((each) => `${each.localName} ${each.className} is ${each.scrollWidth} wide in ${each.clientWidth}`)"""


def axe(
    page: Page, *, context: str | None = None, rules: Sequence[str] = (), without: Sequence[str] = ()
) -> list[str]:
    """Return axe-core's complaints about the page, a line each: WCAG 2.0 to 2.2, A and AA, and its best practice.

    `rules`: only by these; `without`: by all but these.
    """
    only = {"type": "rule", "values": rules} if rules else {"type": "tag", "values": RULES}
    found: list[str] | None = page.evaluate(RUN, [context, only, without])
    if found is None:
        page.evaluate(AXE.read_text())
        return axe(page, context=context, rules=rules, without=without)
    return found


def in_both_themes(page: Page, *, size: tuple[int, int] = DESKTOP, context: str | None = None) -> list[str]:
    """Return axe-core's complaints about the page as it stands, in the light and in the dark theme.

    A tablet shows everything in the colours of a desktop or of a phone.
    """
    if size == TABLET:
        return axe(page, context=context, without=OF_COLOUR)
    found = []
    for theme in ("light", "dark"):  # the dark one last, so that what comes next begins in it
        page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        rules = OF_COLOUR if theme == "light" else ()
        found += [f"{theme}: {each}" for each in axe(page, context=context, rules=rules)]
    return found


def in_chinese(page: Page, *, size: tuple[int, int], context: str | None = None) -> list[str]:
    """Return axe-core's complaints about a page in Chinese which, in English, was checked in both themes.

    Colours are the same in each language, and what things are called in another is the same in each width.
    """
    if size == DESKTOP:
        return axe(page, context=context, without=OF_COLOUR)
    return axe(page, context=context, rules=OF_ROOM)


def each_way(
    page: Page, sizes: Sequence[tuple[int, int]] = SIZES, *, chinese: bool = False
) -> Iterator[tuple[tuple[int, int], str]]:
    """Each width in English, and in Chinese too if that is asked for; the page is not loaded anew for any of that."""
    for language in ("en", "zh-CN")[: 1 + chinese]:
        if chinese:
            inside(page, "i18n.js", "m.setLanguage(x)", language)
        for size in sizes:
            if page.viewport_size != {"width": size[0], "height": size[1]}:
                page.set_viewport_size({"width": size[0], "height": size[1]})
            yield size, language
    if chinese:
        inside(page, "i18n.js", "m.setLanguage(x)", "en")


def judged(page: Page, size: tuple[int, int], language: str, *, context: str | None = None) -> list[str]:
    """Collect axe-core's findings on the page, and the elements that overflow."""
    judge = in_both_themes if language == "en" else in_chinese
    return [*judge(page, size=size, context=context), *page.evaluate(BROKEN)]


def faults(
    page: Page, *, context: str | None = None, sizes: Sequence[tuple[int, int]] = SIZES, chinese: bool = False
) -> list[str]:
    """Return axe-core's complaints and overflowing elements in each width and theme; empty if there are none.

    `chinese`: in that language too.
    """
    return [
        f"{size[0]} wide, {language}: {each}"
        for size, language in each_way(page, sizes, chinese=chinese)
        for each in judged(page, size, language, context=context)
    ]
