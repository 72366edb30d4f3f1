"""A project of its own for each test of CommHub."""

from collections.abc import Iterator

import pytest

from tests.dialects.commhub.callers import Fleet
from tests.dialects.running_hub import Hub


@pytest.fixture
def fleet(hub: Hub) -> Iterator[Fleet]:
    """A fresh project of a hub, on the engine of the test."""
    with Fleet.fresh(hub) as fresh:
        yield fresh


@pytest.fixture
def anywhere(sqlite_hub: Hub) -> Iterator[Fleet]:
    """A fresh project of a hub, for what does not depend on the engine."""
    with Fleet.fresh(sqlite_hub) as fresh:
        yield fresh


@pytest.fixture
def elsewhere(fleet: Fleet) -> Iterator[Fleet]:
    """Another project of the same hub."""
    with Fleet.fresh(fleet.hub) as fresh:
        yield fresh


@pytest.fixture
def anywhere_else(anywhere: Fleet) -> Iterator[Fleet]:
    """Another project of that hub."""
    with Fleet.fresh(anywhere.hub) as fresh:
        yield fresh
