"""A project of its own for each test of Relay."""

from collections.abc import Iterator

import pytest

from tests.dialects.relay.callers import Team
from tests.dialects.running_hub import Hub


@pytest.fixture
def team(hub: Hub) -> Iterator[Team]:
    """A fresh project of a hub, on the engine of the test."""
    with Team.fresh(hub) as fresh:
        yield fresh


@pytest.fixture
def anywhere(sqlite_hub: Hub) -> Iterator[Team]:
    """A fresh project of a hub, for what does not depend on the engine."""
    with Team.fresh(sqlite_hub) as fresh:
        yield fresh


@pytest.fixture
def elsewhere(team: Team) -> Iterator[Team]:
    """Another project of the same hub."""
    with Team.fresh(team.hub) as fresh:
        yield fresh
