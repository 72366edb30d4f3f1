"""Fixtures of stories: a hub that may be killed, or one whose clock can be moved, and a limit to waiting."""

from collections.abc import Iterator

import pytest

from tests.cli.conftest import limit, own_hub
from tests.dialects.conftest import hub, portal, postgres_hub, sqlite_hub
from tests.dialects.golemxv.callers import Crew
from tests.dialects.running_hub import Hub
from tests.stories.world import World

__all__ = ["hub", "limit", "own_hub", "portal", "postgres_hub", "sqlite_hub", "world"]


@pytest.fixture
def world(hub: Hub) -> Iterator[World]:
    """A fresh project on each engine."""
    with Crew.fresh(hub) as crew:
        yield World(crew)
