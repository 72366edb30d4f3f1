"""A hub whose clock for links goes fast, and who lives around it."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from hubbub.core.fleet import nodes
from hubbub.model.records import Project
from hubbub.store.tx import Tx
from tests.serve.fleet.scripted_machine import Field, field_of, quick
from tests.serve.served_hub import Hub, anew, running_hub
from tests.support.memory_folder import in_memory


@pytest.fixture(scope="package")
def quick_hub() -> Iterator[Hub]:
    with (
        TemporaryDirectory(prefix="hubbub-quick-", dir=in_memory()) as folder,
        running_hub(Path(folder), pace=quick(), no_node=True) as hub,
    ):
        yield hub


@pytest.fixture
def field(quick_hub: Hub) -> Iterator[Field]:
    """A hub without a machine of its own, which tests share one after the other: each begins in a new world."""
    hub = anew(quick_hub)
    with field_of(hub) as made:
        yield made
        hub.do(partial(_remove_machines, project=hub.project), hub.owner)


def _remove_machines(tx: Tx, project: Project) -> None:
    """Remove the project's machines: with a machine its orders end, so that nobody waits for answers."""
    for machine in nodes.listed(tx, project):
        nodes.remove(tx, project, machine.name)


@pytest.fixture
def own_field(tmp_path: Path) -> Iterator[Field]:
    """The same for what stops its hub, or counts all that it has done."""
    with running_hub(tmp_path / "hub", pace=quick(), no_node=True) as hub, field_of(hub) as made:
        yield made
