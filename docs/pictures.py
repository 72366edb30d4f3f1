"""Takes the pictures of the dashboard for the README and `dashboard.md`: `make screenshots` runs it.

They show a made-up team of 28 agents that has been at work for two hours, on a hub that is there only for this. Needs
Chromium, and a font with Chinese characters, such as Debian's fonts-noto-cjk. The pictures differ a little each time,
as the clock does, so they are taken anew only when the looks change.
"""

import asyncio
import base64
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Page, sync_playwright

from docs.png import LARGEST, smaller
from hubbub.client import Hub as Client
from hubbub.core.work import tasks
from hubbub.model.records import Task
from hubbub.serve.monitoring import logging_setup
from hubbub.store.tx import Tx
from hubbub.watch.screen import Watch
from tests.dashboard.browser import PHONE, Tabs, Visit, Visitors, chromium, code_from, settle, visiting
from tests.dashboard.scene import MANY, Scene, fill
from tests.serve.served_hub import Hub, running_hub

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "pictures"
FONT = ROOT / "src/hubbub/serve/dashboard/static/fonts/jetbrains-mono.woff2"
SIZE, LOW = (1280, 800), (1280, 520)
TERMINAL = (132, 38)  # columns and lines
THEMES = ("dark", "light")
CHINESE = "zh-CN"
BACK = 3  # steps of a tenth of the story, to where replay is shown

# What is planned, and what each needs: another of these by its name, or a task of the scene by its fate and place.
PLAN: dict[str, tuple[str | tuple[str, int], ...]] = {
    "Measure replay under load": (("queued", 0), ("queued", 2)),
    "Write the release notes": (("review", 0), ("review", 1)),
    "Translate the release notes": ("Write the release notes",),
    "Cut the release candidate": ("Measure replay under load", ("blocked", 1)),
    "Try it on all machines": ("Cut the release candidate",),
    "Publish the release": ("Try it on all machines", "Translate the release notes"),
}


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture: which view, in which language and themes, and what is done there before it is taken."""

    path: str
    size: tuple[int, int] = SIZE
    prepare: Callable[[Page], None] = lambda _page: None
    language: str = "en"
    themes: tuple[str, ...] = THEMES


def pictures(scene: Scene) -> dict[str, Picture]:
    """All of them that a browser shows, by their names."""
    blocked = scene.tasks["blocked"][0]
    return {
        "needs": Picture("/"),
        "board": Picture("/board"),
        "task": Picture(f"/t/{blocked.number}"),
        "fleet": Picture("/fleet"),
        "messages": Picture("/messages", prepare=_read_one),
        "files": Picture("/files", LOW),
        "graph": Picture("/graph", LOW, _fit),
        "activity": Picture("/activity"),
        "search": Picture("/fleet", prepare=_search),
        "replay": Picture("/board", prepare=_go_back),
        "phone": Picture("/board", PHONE),
        f"board-{CHINESE}": Picture("/board", language=CHINESE, themes=("dark",)),
    }


def take(folder: Path = FOLDER) -> Iterator[Path]:
    """Take all pictures; yields each file when it is written. Raises ValueError for one that is too large."""
    folder.mkdir(exist_ok=True)
    with _visits() as (visit, scene, hub, browser):
        for name, picture in pictures(scene).items():
            for theme in picture.themes:
                page = visit(picture.path, size=picture.size, theme=theme, language=picture.language)
                page.locator(".skeleton").first.wait_for(state="detached")
                picture.prepare(page)
                yield _keep(page, folder / f"{name}-{theme}.png")
        page = _drawn(browser, _on_a_terminal(hub))
        yield _keep(page, folder / "watch-dark.png")


def _keep(page: Page, file: Path) -> Path:
    settle(page)
    file.write_bytes(smaller(page.screenshot(animations="disabled")))
    page.close()
    if file.stat().st_size > LARGEST:
        raise ValueError(f"{file.name} has {file.stat().st_size} bytes; at most {LARGEST} are allowed")
    return file


@contextmanager
def _visits() -> Iterator[tuple[Visit, Scene, Hub, Browser]]:
    """A hub with the team on it, and a browser."""
    with (
        TemporaryDirectory() as data,
        running_hub(Path(data) / "hub", public_url=None) as hub,
        sync_playwright() as playwright,
        chromium(playwright) as browser,
        visiting(Visitors(hub.url, code_from(hub), Tabs(browser))) as (visit, _watch),
    ):
        scene = fill(hub.store, hub.project, MANY)
        hub.store.write_now(hub.owner, lambda tx: _plan(tx, scene))
        yield visit, scene, hub, browser


def _plan(tx: Tx, scene: Scene) -> None:
    """Let a few tasks be planned that need each other and what the team is at, so that the graph is one."""
    planned: dict[str, Task] = {}
    project_id = scene.project.id
    for title, needs in PLAN.items():
        named = [planned[each] if isinstance(each, str) else scene.tasks[each[0]][each[1]] for each in needs]
        needed = [tasks.find(tx, [project_id], str(each.id)) for each in named]
        planned[title] = tasks.send(tx, project_id, sender="hub", to=None, text=title, needs=needed)


def _search(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.keyboard.type("harden")
    page.get_by_role("option").first.wait_for()


def _go_back(page: Page) -> None:
    """To a moment in the thick of the work."""
    slider = page.get_by_role("slider")
    slider.focus()
    for _ in range(BACK):
        slider.press("PageDown")
    page.locator(".bar-strip").wait_for()


def _fit(page: Page) -> None:
    page.keyboard.press("0")


def _read_one(page: Page) -> None:
    """Open a conversation of two agents."""
    page.get_by_role("main").get_by_role("link", name="cedar and dune").click()
    page.locator(".conversation .markdown, .conversation textarea").first.wait_for()


def _on_a_terminal(hub: Hub) -> str:
    """Return the screen of `hubbub watch` as SVG. In a thread of its own: the browser's loop is in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, _watched(hub)).result()


async def _watched(hub: Hub) -> str:
    app = Watch(Client(hub.url, hub.owner_secret, project=hub.project.slug))
    async with app.run_test(size=TERMINAL) as pilot:
        while "● live" not in str(app.query_one("#status").render()):
            await pilot.pause()
        svg = app.export_screenshot(title="hubbub watch")
    hub.meet("somebody")  # so that the thread that waits for news hears that it is over
    return svg


def _drawn(browser: Browser, svg: str) -> Page:
    """The SVG on a page, with our own font in the place of the one that it would fetch from elsewhere."""
    font = base64.b64encode(FONT.read_bytes()).decode()
    plain = re.sub(r"@font-face\s*\{.*?\}", "", svg, flags=re.DOTALL).replace("Fira Code", "Terminal")
    width, height = map(float, re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)[0])
    shown = (SIZE[0], round(SIZE[0] * height / width))
    page = browser.new_page(viewport={"width": shown[0], "height": shown[1]})
    face = f"@font-face {{ font-family: Terminal; src: url(data:font/woff2;base64,{font}); }}"
    looks = "body { margin: 0; background: #292929; } svg { display: block; font-variant-ligatures: none; }"
    page.set_content(f"<style>{face} {looks}</style>{plain}")
    page.evaluate("() => document.fonts.ready")
    return page


def _require_chinese() -> None:
    """Leave with a sentence if Chinese would come out as boxes."""
    lister = shutil.which("fc-list")
    if lister and not subprocess.check_output([lister, f":lang={CHINESE.lower()}"]):  # noqa: S603
        sys.exit("the pictures need a font with Chinese characters; on Debian: apt install fonts-noto-cjk")


if __name__ == "__main__":
    _require_chinese()
    logging_setup.configure(form="auto", level="warning")
    for written in take():
        sys.stdout.write(f"{written.relative_to(ROOT)}\n")
