"""The page that says how to add a dialect: what it shows is taken from it, loaded, and run."""

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest
from anyio.from_thread import BlockingPortal

from docs import words
from hubbub import dialects
from hubbub.settings import Settings
from hubbub.store.engine.postgres import Postgres
from hubbub.store.engine.sqlite import SQLite
from hubbub.store.tx import Store
from tests.conftest import postgres_copy
from tests.dialects.running_hub import Hub, StillClock, running_hub

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "how-to" / "add-a-dialect.md"
SHOWN = re.compile(r"^`([\w/.]+)`[^`]*?(?:`\w+`[^`]*?)*\n\n```\w+\n(.*?)```$", re.MULTILINE | re.DOTALL)
FILES = dict(SHOWN.findall(PAGE.read_text("utf-8")))
MODULE, TEST, ITS_PAGE = FILES

StoreAt = Callable[[Path, StillClock], Iterator[Store]]


@pytest.fixture(scope="module")
def sticky(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The module of the page, in a folder that the dialects are looked for in as well."""
    folder = tmp_path_factory.mktemp("dialects")
    name = Path(MODULE).stem
    (folder / f"{name}.py").write_text(FILES[MODULE], "utf-8")
    dialects.__path__.append(str(folder))
    yield importlib.import_module(f"{dialects.__name__}.{name}")
    dialects.__path__.remove(str(folder))
    del sys.modules[f"{dialects.__name__}.{name}"]
    delattr(dialects, name)


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def hub(
    request: pytest.FixtureRequest,
    sticky: ModuleType,
    portal: BlockingPortal,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Hub]:
    """A hub on each engine that was started with the module in its place."""
    data, clock = tmp_path_factory.mktemp("hub"), StillClock()
    with _store(request, data, clock) as store, running_hub(store, clock, Settings(data=data), portal) as hub:
        yield hub


@contextmanager
def _store(request: pytest.FixtureRequest, data: Path, clock: StillClock) -> Iterator[Store]:
    if request.param == "sqlite":
        store: Store = SQLite.open(data / "data", clock=clock)
        try:
            yield store
        finally:
            store.close()
    else:
        server, template = map(request.getfixturevalue, ("postgres_server", "postgres_template"))
        with postgres_copy(server, template) as url:
            store = Postgres.open(url, clock=clock)
            try:
                yield store
            finally:
                store.close()


def _shown_tests() -> list[str]:
    return re.findall(r"^def (test_\w+)", FILES[TEST], re.MULTILINE)


def test_the_page_shows_one_module_one_test_one_page() -> None:
    """Nothing else has to be written, or changed, to add a dialect."""
    assert list(FILES) == [
        "src/hubbub/dialects/sticky.py",
        "tests/dialects/test_sticky.py",
        "docs/dialects/sticky.md",
    ]


@pytest.mark.parametrize("name", _shown_tests())
def test_the_shown_tests_pass(hub: Hub, name: str) -> None:
    """The test on the page, run as it stands against a hub that has found the module, passes on both engines."""
    written: dict[str, Callable[..., None]] = {}
    exec(compile(FILES[TEST], TEST, "exec"), written)
    shown = written[name]
    shown(*[hub] * shown.__code__.co_argcount)


def test_the_module_is_found(sticky: ModuleType) -> None:
    """The hub serves the dialect and `hubbub mcp` offers it, because its module is there."""
    assert "sticky" in dialects.names()
    assert dialects.discover()["sticky"] is sticky.DIALECT


def test_its_words_are_found(sticky: ModuleType) -> None:
    """The table of all words has a column for the dialect, because its module is there."""
    assert "| here | cmdop | CommHub | GolemXV | hub | Relay | sticky |" in words.page()


def test_its_page_names_its_tools(sticky: ModuleType) -> None:
    """The page on the page has each tool of the module on the page."""
    assert sticky.DIALECT.tools.keys() == set(re.findall(r"^\| `(\w+)`", FILES[ITS_PAGE], re.MULTILINE))
