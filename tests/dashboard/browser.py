"""A real browser on a real hub: pages that are signed in, and are watched for everything that must never happen."""

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from playwright.sync_api import (
    Browser,
    CDPSession,
    ConsoleMessage,
    Dialog,
    Error,
    Frame,
    Page,
    Playwright,
    Request,
    Response,
    expect,
)

from hubbub.core.people import logins, users
from hubbub.model.people.rights import Role
from hubbub.serve.http.page_paths import ICON
from tests.serve.served_hub import Hub
from tests.support.tools import needed
from tests.support.waiting import patience, until

DESKTOP, TABLET, PHONE = (1440, 900), (900, 1100), (390, 844)
LOADING = "Failed to load resource"  # said of every refusal, and of what did not come
REFUSED = re.compile(LOADING + r": the server responded with a status of (\d+)")
SLOW = "was preloaded using link preload"  # said where a busy machine takes seconds to begin
UNNEEDED = (  # whose pages, one for each window, take as long to begin as the page that is tested
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxPopup",
    # And what Playwright turns off by itself, as far as it matters here: who turns off more has to name it all.
    "AimEnabled",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
)
# A promise of two frames: what is in the page's picture is drawn then.
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
# The same again, until nothing is on its way.
WHOLE = f"""async (milliseconds) => {{
  const end = performance.now() + milliseconds;
  do await ({DRAWN})(); while (document.querySelector(".skeleton") && performance.now() < end);
  const late = document.querySelector(".skeleton")?.parentElement;
  if (late) throw new Error(`it never came: ${{late.outerHTML.slice(0, 300)}}`);
}}"""
# Megabytes for what a page forgets again, so that it is seldom tidied; nor is optimized what soon ends.
SHORT_LIVED = "--min-semi-space-size=32 --max-semi-space-size=64 --single-threaded-gc --no-opt --no-maglev"
# A page fetches ahead, when it is idle, what somebody may ask for: as many files again as it needs.
BUSY = "window.requestIdleCallback = () => {}"
IDLE = "window.requestIdleCallback = (begin) => setTimeout(begin)"  # from the page's next address on
# Keeps nothing for the next test, nor anything to style, lay out and paint anew until that goes elsewhere.
EMPTY = """() => {
  localStorage.clear();
  sessionStorage.clear();
  document.documentElement.replaceChildren();
}"""
BESIDE = 100_000  # pixels beside what is painted, further than Chromium paints ahead
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")  # the lightest first


STOCK_FIREFOX = Path(__file__).with_name("stock_firefox.py")


def firefox(playwright: Playwright) -> Browser:
    """The Firefox that the system ships, without a window; who wants no motion has told it so."""
    needed(shutil.which("firefox-esr"), "firefox-esr")
    python = Path(sys.executable).parent  # which the program between Playwright and Firefox needs
    return playwright.firefox.launch(
        executable_path=STOCK_FIREFOX,
        channel="moz-firefox",  # Playwright's name for WebDriver BiDi
        env={**os.environ, "PATH": f"{python}{os.pathsep}{os.environ['PATH']}"},
        firefox_user_prefs={
            "ui.prefersReducedMotion": 1,
            "fission.autostart": False,  # one process for all pages: each takes as long to begin as a page
            "dom.ipc.processCount": 1,
            "layout.css.prefers-color-scheme.content-override": 0,  # the system is dark
        },
        timeout=1000 * patience(),
    )


def chromium(playwright: Playwright) -> Browser:
    """The machine's own Chromium, without a window."""
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    program = needed(found, "chromium")
    arguments = ["--no-sandbox", "--disable-dev-shm-usage"]  # tests run as root, in containers
    arguments += ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]  # who asks another host, fails
    arguments += [f"--disable-features={','.join(UNNEEDED)}", f"--js-flags={SHORT_LIVED}"]
    return playwright.chromium.launch(executable_path=program, args=arguments)


@dataclass
class Watch:
    """Everything that happened on a page and should not have; a test says beforehand which of it is meant."""

    url: str
    console: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    responses: list[str] = field(default_factory=list)
    asked: set[Request] = field(default_factory=set)
    expected: set[int] = field(default_factory=set)
    followed: dict[Page, dict[str, Callable[[Any], None]]] = field(default_factory=dict)

    def follow(self, page: Page) -> None:
        """Note what happens on it, from where it goes next on.

        Where it was in the test before, scripts that were on their way then run as soon as any do, and may fail.
        """
        arrived: list[Frame] = []
        page.once("framenavigated", lambda frame: arrived.append(frame))  # noqa: PLW0108  # Playwright marks it

        def note(noted: Callable[[Any], None]) -> Callable[[Any], None]:
            return lambda event: noted(event) if arrived or _is_navigation(event) else None

        self.followed[page] = {event: note(noted) for event, noted in self._events(page).items()}
        for event, noted in self.followed[page].items():
            page.on(event, noted)  # type: ignore[call-overload]  # which knows them one by one

    def leave(self, page: Page) -> None:
        for event, noted in self.followed.pop(page).items():
            page.remove_listener(event, noted)

    def expect(self, *statuses: int) -> None:
        """The hub will refuse something, with one of these; 0: it will not be there."""
        self.expected.update(statuses)

    def verify(self) -> None:
        """Raise AssertionError for whatever was not meant to happen."""
        found = {
            "console": self.console,
            "uncaught errors": self.errors,
            "dialogs": self.dialogs,
            "requests to other hosts": self.elsewhere,
            "refusals": self.responses,
        }
        assert not any(found.values()), {what: said for what, said in found.items() if said}

    def _events(self, page: Page) -> dict[str, Callable[[Any], None]]:
        """Chromium's console tells of each refusal and of whatever asked another host, so that few events do.

        Firefox's does not, and one request after the other is looked at there.
        """
        events: dict[str, Callable[[Any], None]]
        events = {"console": self._console, "pageerror": self._error, "dialog": self._dialog}
        if page.context.browser and page.context.browser.browser_type.name == "chromium":
            return {**events, "framenavigated": self._navigation}
        return {**events, "request": self._request, "response": self._response}

    def _console(self, message: ConsoleMessage) -> None:
        if message.text.startswith(LOADING):
            return self._loading(message.text, message.location["url"])
        is_known = SLOW in message.text or (0 in self.expected and "net::ERR_" in message.text)
        if message.type in ("error", "warning") and not is_known:
            self.console.append(f"{message.type}: {message.text}")
        return None

    def _loading(self, said: str, url: str) -> None:
        """Note an answer that was a refusal, or what another host was asked for; what our hub is away for is known."""
        refused = REFUSED.match(said)
        if not self._is_of_the_hub(url):
            self.elsewhere.append(url)
        elif refused and int(refused[1]) not in self.expected:
            self.responses.append(f"{refused[1]} {url}")

    def _navigation(self, frame: Frame) -> None:
        if not self._is_of_the_hub(frame.url):
            self.elsewhere.append(frame.url)

    def _error(self, error: Error) -> None:
        self.errors.append(str(error))

    def _dialog(self, dialog: Dialog) -> None:
        self.dialogs.append(f"{dialog.type}: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        self.asked.add(request)
        if not self._is_of_the_hub(request.url):
            self.elsewhere.append(request.url)

    def _response(self, response: Response) -> None:
        is_ours = response.request in self.asked  # and not what the page asked for before, in another test
        if is_ours and response.status >= 400 and response.status not in self.expected:
            self.responses.append(f"{response.status} {response.url}")

    def _is_of_the_hub(self, url: str) -> bool:
        parts = urlsplit(url)
        return parts.scheme in ("about", "blob", "data") or parts.netloc == urlsplit(self.url).netloc


def _is_navigation(event: object) -> bool:
    """Tell whether the event is of a page that goes to another address."""
    request = event.request if isinstance(event, Response) else event
    return isinstance(event, Frame) or (isinstance(request, Request) and request.is_navigation_request())


class Visit(Protocol):
    """Opens a page of the hub, signed in; it is watched until the test ends.

    `painted`: for the wheel, which turns what lies under it in the picture. All else is the same on a page that is not.
    """

    def __call__(
        self,
        path: str = "/",
        *,
        who: str | None = None,
        size: tuple[int, int] = DESKTOP,
        theme: str = "dark",
        language: str = "en",
        ready: bool = True,
        painted: bool = False,
    ) -> Page: ...


@dataclass(eq=False)
class Tab:
    """A page, what it was made as, and the developer's tools of the browser on it, which Chromium alone has."""

    page: Page
    language: str
    is_phone: bool
    tools: CDPSession | None
    shown: tuple[tuple[int, int], str, bool] | None = None  # in which size and theme, and whether painted

    def show(self, size: tuple[int, int], theme: str, *, painted: bool) -> None:
        """Give it its size and theme. What is not painted is all the same laid out, styled and pressed as ever.

        One that has them is left alone. A test may have given it another size; what else it changes it changes back.
        """
        width, height = size
        shown = self.page.viewport_size == {"width": width, "height": height} and self.shown
        if shown == (size, theme, painted):
            return
        self.shown = (size, theme, painted)
        self.page.set_viewport_size({"width": width, "height": height})
        if self.tools is not None:
            self._lay_out(self.tools, width, height, painted=painted)
        self.page.emulate_media(
            color_scheme="light" if theme == "light" else "dark",
            reduced_motion="reduce",  # what turns is painted anew sixty times a second
        )

    def _lay_out(self, tools: CDPSession, width: int, height: int, *, painted: bool) -> None:
        screen: dict[str, Any] = {
            "width": width,
            "height": height,
            "screenWidth": width,
            "screenHeight": height,
        }
        screen |= {"deviceScaleFactor": 1, "mobile": self.is_phone}
        if not painted:
            screen["viewport"] = {"x": BESIDE, "y": 0, "width": width, "height": height, "scale": 1}
        tools.send("Emulation.setDeviceMetricsOverride", screen)

    def run(self, *, scripts: bool) -> None:
        """Let the page's scripts run, or none of them, which only Chromium can do."""
        if self.tools is not None:
            self.tools.send("Emulation.setScriptExecutionDisabled", {"value": not scripts})

    def clean(self) -> bool:
        """Forget what the page has kept, and let nothing happen on it any more; false where that cannot be."""
        if self.tools is None or self.page.is_closed() or self.page.context.pages != [self.page]:
            return False
        self.page.wait_for_load_state()  # a page that is just going elsewhere may keep Chromium from ever closing it
        self.page.unroute_all(behavior="ignoreErrors")
        try:
            self.page.evaluate(EMPTY)
            self.page.mouse.move(-1, -1)
            self.run(scripts=False)
        except Error:
            return False
        return True

    def leave(self, blank: str) -> bool:
        """Go where nothing is; false where its hub is gone."""
        try:
            self.page.goto(blank, wait_until="commit")
        except Error:
            return False
        return True


class Tabs:
    """Pages of one browser that are reused, since making one takes longer than most tests.

    Nor do they go to an empty page between two tests, which takes a third as long as the next test's page. What one
    has left there runs no script any more.
    """

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self._idle: list[Tab] = []
        self._taken: dict[Page, Tab] = {}

    def take(self, size: tuple[int, int], theme: str, language: str, *, painted: bool) -> Page:
        """Return a page on which nothing happens and that nobody else has; it shares only the cache with others."""
        kind = (language, size == PHONE)
        warm = reversed(self._idle)  # the last one first, which has most of what it needs
        known = next((tab for tab in warm if (tab.language, tab.is_phone) == kind), None)
        if known:
            self._idle.remove(known)
        tab = known or self._new(*kind)
        self._taken[tab.page] = tab
        tab.show(size, theme, painted=painted)
        milliseconds = 1000 * patience()
        tab.page.set_default_timeout(milliseconds)
        expect.set_options(timeout=milliseconds)
        return tab.page

    def wake(self, page: Page) -> None:
        """Let scripts run on it again, when it is about to go elsewhere."""
        self._taken[page].run(scripts=True)

    def give_back(self, page: Page) -> None:
        """Return the page for the next test; one that can't be as good as new is closed."""
        tab = self._taken.pop(page)
        if tab.clean():
            self._idle.append(tab)
        else:
            page.context.close()

    def leave(self, url: str) -> None:
        """Leave a hub that will be there no longer for an address of it where nothing happens."""
        for tab in [*self._idle]:
            if tab.page.url.startswith(f"{url}/") and not tab.leave(url + ICON):
                self._idle.remove(tab)
                tab.page.context.close()

    def _new(self, language: str, is_phone: bool) -> Tab:
        is_chromium = self.browser.browser_type.name == "chromium"
        is_mobile = is_phone if is_chromium else None  # Firefox knows no such screens
        context = self.browser.new_context(
            locale=language, has_touch=is_phone, is_mobile=is_mobile, timezone_id="UTC"
        )
        context.add_init_script(BUSY)
        page = context.new_page()
        return Tab(page, language, is_phone, context.new_cdp_session(page) if is_chromium else None)


@dataclass
class Visitors:
    """The people who look at one hub: each signs in once, by a one-time link."""

    url: str
    code: Callable[[str | None], str]  # of a one-time link for somebody; None: the hub's owner
    tabs: Tabs
    cookies: dict[str | None, Any] = field(default_factory=dict)

    def page(
        self, who: str | None, size: tuple[int, int], theme: str, language: str, *, painted: bool
    ) -> Page:
        """A page in a browser of its own, as it were, in which that person (None: the owner) is signed in."""
        if who not in self.cookies:
            self.cookies[who] = self._sign_in(who)
        page = self.tabs.take(size, theme, language, painted=painted)
        chosen: list[Any] = [
            {"name": "hubbub_theme", "value": theme, "url": self.url},
            {"name": "hubbub_language", "value": language, "url": self.url},
        ]
        page.context.clear_cookies()
        page.context.add_cookies([*self.cookies[who], *chosen])
        self.tabs.wake(page)
        return page

    def forget(self, who: str | None) -> None:
        """Have that person sign in anew the next time: a test ends this login."""
        del self.cookies[who]

    def _sign_in(self, who: str | None) -> Any:
        with self.tabs.browser.new_context() as context:
            answer = context.request.post(f"{self.url}/login/{self.code(who)}", max_redirects=0)
            assert answer.status == 303, answer.text()
            return context.cookies()


def code_from(hub: Hub) -> Callable[[str | None], str]:
    """Makes one-time links of a hub in this process."""
    return lambda who: str(hub.do(lambda tx: logins.link(tx, who)[0], hub.owner))


def add_person(hub: Hub, name: str, role: Role) -> None:
    """Somebody else with a role in the hub's project."""
    hub.do(lambda tx: users.create(tx, name, project=hub.project, role=role), hub.owner)


@contextmanager
def visitors_to(url: str, code: Callable[[str | None], str], tabs: Tabs) -> Iterator[Visitors]:
    """The people who look at a hub; none of their pages is there any more when it ends."""
    yield Visitors(url, code, tabs)
    tabs.leave(url)


@contextmanager
def visiting(visitors: Visitors) -> Iterator[tuple[Visit, Watch]]:
    """Visits to a hub; at the end the test fails if anything unexpected happened in one of them."""
    watch = Watch(visitors.url)
    opened: list[Page] = []

    def visit(
        path: str = "/",
        *,
        who: str | None = None,
        size: tuple[int, int] = DESKTOP,
        theme: str = "dark",
        language: str = "en",
        ready: bool = True,
        painted: bool = False,
    ) -> Page:
        page = visitors.page(who, size, theme, language, painted=painted)
        opened.append(page)
        watch.follow(page)
        page.goto(visitors.url + path)
        if ready:
            until_ready(page)
        return page

    yield visit, watch
    for page in opened:
        watch.leave(page)
        visitors.tabs.give_back(page)
    watch.verify()


def until_ready(page: Page) -> None:
    """Wait until the page shows the live picture."""
    page.locator("html[data-ready=true]").wait_for(
        state="attached"
    )  # not by a function: that would be an eval


def settle(page: Page) -> None:
    """Wait until what is in the page's picture is drawn: two frames."""
    page.evaluate(f"() => ({DRAWN})()")


def until_whole(page: Page) -> None:
    """Wait until all is drawn that the page fetches: nothing keeps a place any more for what is on its way."""
    page.evaluate(WHOLE, 1000 * patience())


def enter_list(page: Page) -> None:
    """Press `j` until it leads to a card: what is listed may be on its way."""

    def is_there() -> bool:
        page.keyboard.press("j")
        return bool(page.evaluate("Boolean(document.activeElement?.dataset.item)"))

    until(is_there, "a card that has the focus")


def chord(page: Page, *letters: str) -> None:
    """Press letters that belong together right after one another, however busy the machine is."""
    code = """(letters) => letters.forEach((key) => (document.activeElement ?? document.body).dispatchEvent(
        new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })))"""
    page.evaluate(code, letters)


def inside(page: Page, module: str, expression: str, argument: object = None) -> Any:
    """Evaluate `expression` in the page, where `m` is one of the dashboard's own modules, and `x` the argument.

    A promise is waited for, and not for ever.
    """
    code = f"""async (x) => {{
        const root = document.querySelector("script[type=module]").src.replace(/app\\.js$/, "");
        const m = await import(root + {module!r});
        const late = new Promise((_, fail) => setTimeout(fail, {1000 * patience()}, new Error("it never came")));
        return Promise.race([{expression}, late]);
    }}"""
    return page.evaluate(code, argument)


def until_connected(page: Page, connection: str) -> None:
    """Wait until the page says that its connection to the hub is like that."""
    expect(page.locator("html")).to_have_attribute("data-connection", connection)


def show_connection(page: Page, connection: str) -> None:
    """Let the page believe that its connection is like that, once the real one no longer comes to contradict it."""
    expect(page.locator("html")).not_to_have_attribute("data-connection", "connecting")
    inside(page, "hub/stream.js", "m.connection.value = { ...m.connection.value, status: x }", connection)


def until_told(page: Page) -> None:
    """Wait until the page shows nothing any more that the log has not told: what was done here, the hub has done."""
    told = "new Promise((done) => m.pending.subscribe((all) => all.length || done()))"
    inside(page, "model/store.js", told)
