"""Takes the pictures of the dashboard for the README and `dashboard.md`: `make screenshots` runs it.

They show a made-up team of 28 agents that has been at work for two hours, on a hub that is there only for this. Needs
Chromium. The pictures differ a little each time, as the clock does, so they are taken anew only when the looks change.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page

from tests.dashboard.browser import PHONE, Visit, Visitors, chromium, code_from, settle, visiting
from tests.dashboard.scene import Scene, fill
from tests.serve.hub import running_hub

FOLDER = Path(__file__).resolve().parent / "pictures"
SIZE = (1280, 800)
LARGEST = 250_000  # bytes: whoever opens the README waits for them
THEMES = ("dark", "light")


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture: which view, and what is done there before it is taken."""

    path: str
    size: tuple[int, int] = SIZE
    prepare: Callable[[Page], None] = lambda _page: None


def pictures(scene: Scene) -> dict[str, Picture]:
    """All of them, by their names."""
    blocked = scene.tasks["blocked"][0]
    return {
        "needs": Picture("/"),
        "board": Picture("/board"),
        "task": Picture(f"/t/{blocked.number}"),
        "fleet": Picture("/fleet"),
        "files": Picture("/files"),
        "graph": Picture("/graph"),
        "search": Picture("/fleet", prepare=_search),
        "replay": Picture("/board", prepare=_go_back),
        "phone": Picture("/board", PHONE),
    }


def take(folder: Path = FOLDER) -> Iterator[Path]:
    """Take all pictures in both themes; yields each file when it is written. Raises ValueError for one too large."""
    folder.mkdir(exist_ok=True)
    with _visits() as (visit, scene):
        for name, picture in pictures(scene).items():
            for theme in THEMES:
                page = visit(picture.path, size=picture.size, theme=theme)
                page.locator(".skeleton").first.wait_for(state="detached")
                picture.prepare(page)
                settle(page)
                file = folder / f"{name}-{theme}.png"
                page.screenshot(path=file, animations="disabled")
                page.close()
                if file.stat().st_size > LARGEST:
                    raise ValueError(
                        f"{file.name} has {file.stat().st_size} bytes; at most {LARGEST} are allowed"
                    )
                yield file


@contextmanager
def _visits() -> Iterator[tuple[Visit, Scene]]:
    """A hub with the team on it, and a browser."""
    with (
        TemporaryDirectory() as data,
        running_hub(Path(data) / "hub", public_url=None) as hub,
        chromium() as browser,
        visiting(Visitors(hub.url, code_from(hub), browser)) as (visit, _watch),
    ):
        yield visit, fill(hub.store, hub.project)


def _search(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.keyboard.type("harden")
    page.get_by_role("option").first.wait_for()


def _go_back(page: Page) -> None:
    """To a moment about half an hour ago."""
    slider = page.get_by_role("slider")
    slider.focus()
    for _ in range(4):
        slider.press("PageDown")
    page.locator(".bar-strip").wait_for()


if __name__ == "__main__":
    for written in take():
        sys.stdout.write(f"{written.relative_to(FOLDER.parent.parent)}\n")
