"""A project of its own for each test of the hub's own tongue."""

from collections.abc import Iterator

import pytest

from tests.dialects.own_tongue.team import Team
from tests.dialects.running_hub import Hub


@pytest.fixture
def team(hub: Hub) -> Iterator[Team]:
    """A fresh project of a hub on each engine."""
    with Team.fresh(hub) as fresh:
        yield fresh


@pytest.fixture
def anywhere(sqlite_hub: Hub) -> Iterator[Team]:
    """A fresh project of a hub, for what does not depend on the engine."""
    with Team.fresh(sqlite_hub) as fresh:
        yield fresh
