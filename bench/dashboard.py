"""The dashboard in a real browser: how soon it is there, how soon it shows what happens, and what a crowd costs it.

A hub of its own process is filled with agents and tasks; Chromium, without a window, signs in as a person would and is
measured from within. Run with `python -m bench.dashboard [team] [crowd] [hub] [postgresql://…]`; with the URL of an
empty database the pictures of that engine are timed too.
"""

import asyncio
import random
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles

from playwright.async_api import Browser, BrowserContext, CDPSession, Page, async_playwright

from bench import probes
from bench.serving import Line, Served, running
from hubbub.serve.dashboard.assets import Assets
from hubbub.serve.http.page_paths import VIEWS

TEAM, CROWD = (30, 200), (200, 5_000)  # agents and tasks
VISITS, SENDS, SEEKS, ASKS = 7, 40, 60, 20
BURST, PULSE = 5.0, 0.05  # seconds of 1,000 events each, and between two portions
PER_PULSE = 50
HOUR, PORTION = 20_000, 200  # events, and how many at once
SETTLES = 6_000  # events after which the page has all that it keeps
SCROLLED = 120  # frames
LONGEST = 20.0  # seconds that anything may take
PARTS = ("team", "crowd", "hub")
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")  # the lightest first
AIMS = {"paint": 300, "size": 85_000, "event": 100, "seek": 16}


@dataclass(frozen=True, slots=True)
class Bench:
    """A hub that is filled, a line to it, and somebody's browser that is signed in there."""

    hub: Served
    line: Line
    crowd: int
    context: BrowserContext
    tools: dict[Page, CDPSession] = field(default_factory=dict)

    async def open(self, path: str = "/", *, context: BrowserContext | None = None) -> Page:
        """A page that shows the project as it is."""
        page = await (context or self.context).new_page()
        self.tools[page] = await page.context.new_cdp_session(page)
        await self.tools[page].send("Performance.enable", {"timeDomain": "threadTicks"})
        await page.goto(self.hub.url + path)
        await page.locator("html[data-ready=true]").wait_for(state="attached", timeout=120_000)
        return page

    async def cpu(self, page: Page) -> float:
        """Milliseconds of CPU that the page's own thread has used since it was opened."""
        metrics = (await self.tools[page].send("Performance.getMetrics"))["metrics"]
        return float(next(each["value"] for each in metrics if each["name"] == "ThreadTime")) * 1e3

    async def bustle(self, first: int, number: int) -> None:
        """So many events happen."""
        await self.line.call("bench", "bustle", crowd=self.crowd, first=first, number=number)

    async def caught_up(self, page: Page) -> float:
        """Return the seconds until the page has everything that has happened."""
        begun = time.perf_counter()
        latest = await self.line.ask("GET", "/api/v1/activity?limit=1")
        rows = latest["activity"]
        assert isinstance(rows, list)
        await inside(page, "hub/stream.js", probes.UNTIL_SEEN, rows[0]["id"])
        return time.perf_counter() - begun


async def inside(page: Page, module: str, expression: str, argument: object = None) -> object:
    """Evaluate `expression` in the page, where `m` is a module of the dashboard, and `x` the argument."""
    return await page.evaluate(probes.inside(module, expression), argument)


@asynccontextmanager
async def filled(browser: Browser, scale: tuple[int, int], **variables: str) -> AsyncIterator[Bench]:
    """A hub with so many agents and tasks."""
    agents, tasks = scale
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "hub"
        with running([sys.executable, "-m", "bench.crowd", str(data)], data, **variables) as hub:
            line = await Line.to(hub)
            await line.call("bench", "gather", crowd=agents)
            for first in range(0, tasks, PORTION):
                await line.call("bench", "work", crowd=agents, first=first, number=PORTION)
            bench = Bench(
                hub, line, agents, await browser.new_context(viewport={"width": 1440, "height": 900})
            )
            await sign_in(bench, bench.context)
            yield bench
            await bench.context.close()


async def sign_in(bench: Bench, context: BrowserContext) -> None:
    link = await bench.line.ask("POST", "/api/v1/logins/links", {})
    answer = await context.request.post(str(link["url"]), max_redirects=0)
    assert answer.status == 303, await answer.text()
    await context.add_init_script(probes.WATCH)


def told(milliseconds: Sequence[float]) -> str:
    """Format median and 95th percentile as two cells."""
    return f"{median(milliseconds):.1f} | {quantiles(milliseconds, n=20)[18]:.1f}"


def sizes() -> None:
    """Print the bytes transferred before a view is shown, without fonts and pictures."""
    ours = Assets.of()

    def size(*names: str) -> int:
        return sum(len(ours.files[name].packed or ours.files[name].plain) for name in names)

    print("| view | scripts, kB | styles | both | words |\n|---|---|---|---|---|")
    for view in ("needs", *VIEWS):
        scripts, styles = size(*ours.modules(view)), size(*ours.styles(view))
        row = (scripts, styles, scripts + styles, size("words/en.json"))
        print(f"| {view} | {' | '.join(f'{each / 1e3:.1f}' for each in row)} |")
    print(f"\nAim for the first screen: under {AIMS['size'] / 1e3:.0f} kB, packed.\n")


async def arrival(bench: Bench, browser: Browser) -> None:
    """Print how soon the page is painted and shows the project, on the first visit and on later ones."""
    print(
        "| what | first paint p50 ms | p95 | shown p50 ms | p95 | CPU ms of the page |\n|---|---|---|---|---|---|"
    )
    for path in ("/", "/board"):
        for again in (False, True):
            seen, used = [], []
            for _ in range(VISITS):
                context = bench.context if again else await browser.new_context()
                if not again:
                    await sign_in(bench, context)
                page = await bench.open(path, context=context)
                seen.append(await page.evaluate(probes.ARRIVAL))
                used.append(await bench.cpu(page))
                await page.close()
                if not again:
                    await context.close()
            paint, shown = ([float(each[name]) for each in seen] for name in ("paint", "ready"))
            row = f"{told(paint)} | {told(shown)} | {median(used):.0f}"
            print(f"| {path} {'again' if again else 'for the first time'} | {row} |")
    print(f"\nAim for the first paint: under {AIMS['paint']} ms.\n")


async def events(bench: Bench) -> None:
    """Print how soon an event is on the screen, counted from the call's answer and from its start."""
    page = await bench.open("/board")
    answered, begun, used = [], [], await bench.cpu(page)
    for number in range(SENDS):
        title = f"Look at sample {number} now"
        await page.evaluate(probes.AWAIT, title)
        start = time.time() * 1e3
        sent = await bench.line.ask("POST", "/api/v1/tasks", {"text": title, "priority": "critical"})
        end = time.time() * 1e3
        shown = float(await asyncio.wait_for(page.evaluate("() => globalThis.shown"), LONGEST))
        answered.append(shown - end)
        begun.append(shown - start)
        task = sent["task"]
        assert isinstance(task, dict)
        await bench.line.ask("POST", f"/api/v1/tasks/{task['id']}/cancel", {"reason": "seen"})
    used = (await bench.cpu(page) - used) / SENDS
    await page.close()
    print("| an event on the screen | p50 ms | p95 |\n|---|---|---|")
    print(
        f"| from the answer of its call | {told(answered)} |\n| from the start of its call | {told(begun)} |"
    )
    print(f"\nFor each the page takes {used:.1f} ms of CPU. Aim: p95 under {AIMS['event']} ms.\n")


async def burst(bench: Bench, path: str) -> None:
    """Print the effect of a thousand events a second on a page."""
    page = await bench.open(path)
    await page.evaluate(probes.FRAMES)
    begun, sent = time.perf_counter(), 0
    while time.perf_counter() - begun < BURST:
        await bench.bustle(sent, PER_PULSE)
        sent += PER_PULSE
        if sent % 500 == 0:
            await page.keyboard.press("j")
        await asyncio.sleep(max(0, begun + sent / 1_000 - time.perf_counter()))
    seconds = time.perf_counter() - begun
    seen = await page.evaluate(probes.FRAMES_SEEN)
    late = await bench.caught_up(page)
    print(
        f"| {path} | {sent / seconds:,.0f} | {told(seen['gaps'])} | {max(seen['gaps']):.0f} | {len(seen['long'])} "
        f"| {sum(seen['long']):.0f} | {max(seen['inputs'], default=0):.0f} | {late * 1e3:.0f} |"
    )
    await page.close()


async def scroll(bench: Bench, path: str) -> None:
    """Print how evenly a long page scrolls."""
    page = await bench.open(path)
    ready = (await page.evaluate(probes.ARRIVAL))["ready"]
    await page.wait_for_timeout(1_000)
    seen = await page.evaluate(probes.SCROLL, SCROLLED)
    print(f"| {path} | {ready:.0f} | {seen['nodes']:,} | {told(seen['gaps'])} | {max(seen['gaps']):.0f} |")
    await page.close()


async def memory(bench: Bench) -> None:
    """Print the page's memory before and after an hour's worth of events."""
    page = await bench.open("/board")
    tool = await bench.context.new_cdp_session(page)

    async def held() -> float:
        await tool.send("HeapProfiler.collectGarbage")
        return float((await tool.send("Runtime.getHeapUsage"))["usedSize"]) / 1e6

    async def push(first: int, number: int) -> None:
        for place in range(first, first + number, PORTION):
            await bench.bustle(place, PORTION)
        await bench.caught_up(page)

    at_first = await held()
    await push(0, SETTLES)
    before = await held()
    await push(SETTLES, HOUR)
    print(
        f"The page holds {at_first:.1f} MB at first, {before:.1f} MB once it has all that it keeps of the log, "
        f"and {await held():.1f} MB {HOUR:,} events later.\n"
    )
    await page.close()


async def travel(bench: Bench) -> None:
    """Print the time for seeking another moment, and until it is drawn."""
    page = await bench.open("/board")
    places, used = random.Random(7), await bench.cpu(page)
    seen = await inside(page, "hub/replay.js", probes.TRAVEL, [places.random() for _ in range(SEEKS)])
    assert isinstance(seen, dict)
    print(f"| a moment of {seen['count']:,} activities | p50 ms | p95 |\n|---|---|---|")
    print(f"| until it is told | {told(seen['told'])} |\n| until it is drawn | {told(seen['drawn'])} |")
    used = (await bench.cpu(page) - used) / SEEKS
    print(f"\nFor each the page takes {used:.1f} ms of CPU. Aim: {AIMS['seek']} ms until it is told.\n")
    await page.close()


async def pictures(bench: Bench, what: str) -> None:
    """Print the hub's time for a snapshot and for a reel."""
    for path in ("/api/v1/snapshot", "/api/v1/replay"):
        taken, size = [], 0
        for _ in range(ASKS):
            begun = time.perf_counter()
            answer = await bench.line.ask("GET", path)
            taken.append((time.perf_counter() - begun) * 1e3)
            size = len(repr(answer))
        print(f"| `GET {path}`, {what} | {told(taken)} | {size / 1e3:,.0f} |")


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        raise SystemExit("this needs Chromium: apt-get install chromium")
    async with async_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-dev-shm-usage"]  # as root, in containers
        yield await playwright.chromium.launch(executable_path=program, args=arguments)


async def of_a_team(browser: Browser) -> None:
    async with filled(browser, TEAM) as team:
        print(f"{TEAM[0]} agents, {TEAM[1]:,} tasks.\n")
        await arrival(team, browser)
        await events(team)
        await memory(team)
        print(f"The hub holds {team.hub.memory() / 1e6:.0f} MB.\n")


async def of_a_crowd(browser: Browser) -> None:
    async with filled(browser, CROWD) as crowd:
        print(f"{CROWD[0]} agents, {CROWD[1]:,} tasks.\n")
        print(
            "| scrolled | shown after ms | elements | a frame p50 ms | p95 | longest |\n|---|---|---|---|---|---|"
        )
        for path in ("/board", "/fleet", "/files", "/graph"):
            await scroll(crowd, path)
        print(
            "\n| in a burst | events/s | a frame p50 ms | p95 | longest | long tasks | ms of them | slowest key ms ",
            end="",
        )
        print("| caught up after ms |\n|---|---|---|---|---|---|---|---|---|")
        for path in ("/", "/board", "/fleet"):
            await burst(crowd, path)
        print()
        await travel(crowd)


async def of_the_hub(browser: Browser, database: str | None) -> None:
    print("| what | p50 ms | p95 | kB |\n|---|---|---|---|")
    for scale in (TEAM, CROWD):
        for engine in (None, database) if database else (None,):
            variables = {"HUBBUB_DATABASE": engine} if engine else {}
            async with filled(browser, scale, **variables) as bench:
                await pictures(bench, f"{scale[1]:,} tasks, {'PostgreSQL' if engine else 'SQLite'}")


async def measure(parts: Sequence[str], database: str | None) -> None:
    async with chromium() as browser:
        if "team" in parts:
            await of_a_team(browser)
        if "crowd" in parts:
            await of_a_crowd(browser)
        if "hub" in parts:
            await of_the_hub(browser, database)


def main() -> None:
    urls = [each for each in sys.argv[1:] if "://" in each]
    parts = [each for each in sys.argv[1:] if "://" not in each]
    sizes()
    asyncio.run(measure(parts or PARTS, urls[0] if urls else None))


if __name__ == "__main__":
    main()
