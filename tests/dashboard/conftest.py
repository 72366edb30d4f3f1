"""The fixtures for tests of the dashboard: a hub, a believable team on it, and pages in a real browser."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Playwright, sync_playwright

from hubbub.model.people.rights import Role
from tests.dashboard.browser import (
    Tabs,
    Visit,
    Visitors,
    Watch,
    add_person,
    chromium,
    code_from,
    visiting,
    visitors_to,
)
from tests.dashboard.scene import Scene, fill
from tests.serve.served_hub import Hub, running_hub

HERE = Path(__file__).parent
VIEWER, MEMBER = "vera", "mia"


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A page takes a second of the processors to open: of the tests that open one, only those marked `daily` are."""
    for item in items:
        opens_a_page = item.path.is_relative_to(HERE) and "browser" in getattr(item, "fixturenames", ())
        if opens_a_page and not item.get_closest_marker("daily"):
            item.add_marker("system")


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    """The one driver of all browsers: a process can't have two."""
    with sync_playwright() as steering:
        yield steering


@pytest.fixture(scope="package")
def browser(playwright: Playwright) -> Iterator[Browser]:
    with chromium(playwright) as started:
        yield started


@pytest.fixture(scope="package")
def tabs(browser: Browser) -> Tabs:
    """The browser's pages."""
    return Tabs(browser)


@pytest.fixture(scope="package")
def port() -> Iterator[int]:
    """The port of one module's hub after the other: the browser keeps what it has from there, and has compiled."""
    with (
        socket.socket() as kept
    ):  # which does not listen, so that a hub can, and nobody else is given the port
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept.bind(("127.0.0.1", 0))
        yield kept.getsockname()[1]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory, port: int) -> Iterator[Hub]:
    """A hub of the module's own, with an owner, a member and a viewer."""
    with running_hub(tmp_path_factory.mktemp("hub"), port=port, public_url=None) as running:
        add_person(running, VIEWER, Role.VIEWER)
        add_person(running, MEMBER, Role.MEMBER)
        yield running


@pytest.fixture(scope="module")
def scene(hub: Hub) -> Scene:
    """The module's hub, with a team at work on it."""
    return fill(hub.store, hub.project)


@pytest.fixture(scope="module")
def visitors(hub: Hub, tabs: Tabs) -> Iterator[Visitors]:
    with visitors_to(hub.url, code_from(hub), tabs) as people:
        yield people


@pytest.fixture
def visits(visitors: Visitors) -> Iterator[tuple[Visit, Watch]]:
    with visiting(visitors) as opened:
        yield opened


@pytest.fixture
def visit(visits: tuple[Visit, Watch]) -> Visit:
    """Opens pages as any person, in any width, theme and language."""
    return visits[0]


@pytest.fixture
def watch(visits: tuple[Visit, Watch]) -> Watch:
    """The watch over the pages of this test; call `watch.expect(409)` if a refusal is meant."""
    return visits[1]


@pytest.fixture
def page(visit: Visit) -> Page:
    """The first screen, as the hub's owner."""
    return visit("/")


@pytest.fixture
def viewer_page(visit: Visit) -> Page:
    """The first screen, as somebody who may only look."""
    return visit("/", who=VIEWER)
