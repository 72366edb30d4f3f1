"""A project of its own for each test of cmdop, and a machine where one is needed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dialects.cmdop.callers import Board
from tests.dialects.cmdop.workshop import Workshop, workshop
from tests.dialects.running_hub import Hub


@pytest.fixture
def board(hub: Hub) -> Iterator[Board]:
    """A fresh project of a hub, on the engine of the test. The hub has no machine."""
    with Board.fresh(hub) as fresh:
        yield fresh


@pytest.fixture
def anywhere(sqlite_hub: Hub) -> Iterator[Board]:
    """A fresh project of a hub, for what does not depend on the engine."""
    with Board.fresh(sqlite_hub) as fresh:
        yield fresh


@pytest.fixture(scope="module")
def shared_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """A hub with a machine, for the tests of a module."""
    with workshop(tmp_path_factory.mktemp("machine")) as made:
        yield made


@pytest.fixture
def machine(shared_machine: Workshop) -> Workshop:
    """A hub with a machine whose policy is the shipped one, and whose folder is empty."""
    shared_machine.policy("")
    shared_machine.clear()
    return shared_machine


@pytest.fixture
def own_machine(tmp_path: Path) -> Iterator[Workshop]:
    """The same for one test that changes the policy."""
    with workshop(tmp_path) as made:
        yield made
