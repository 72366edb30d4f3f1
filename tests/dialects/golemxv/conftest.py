"""A project of its own for each test of GolemXV."""

from collections.abc import Iterator

import pytest

from tests.dialects.golemxv.callers import Crew
from tests.dialects.running_hub import Hub


@pytest.fixture
def crew(hub: Hub) -> Iterator[Crew]:
    """A fresh project of a hub, on the engine of the test."""
    with Crew.fresh(hub) as fresh:
        yield fresh


@pytest.fixture
def anywhere(sqlite_hub: Hub) -> Iterator[Crew]:
    """A fresh project of a hub, for what does not depend on the engine."""
    with Crew.fresh(sqlite_hub) as fresh:
        yield fresh


@pytest.fixture
def elsewhere(crew: Crew) -> Iterator[Crew]:
    """Another project of the same hub."""
    with Crew.fresh(crew.hub) as fresh:
        yield fresh
