"""A hub for hooks to ask."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.hook.hook_workbench import Workbench, repository
from tests.serve.served_hub import Hub, running_hub


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with running_hub(tmp_path_factory.mktemp("hub")) as hub:
        yield hub


@pytest.fixture
def bench(hub: Hub, tmp_path: Path) -> Iterator[Workbench]:
    """Agents and their repositories; their claims are released when the test ends."""
    bench = Workbench(hub, tmp_path)
    bench.mode("warn")
    yield bench
    hub.do(lambda tx: tx.run("UPDATE claims SET expires_at = 0"))


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository that others may have cloned."""
    return repository(tmp_path / "shop")
