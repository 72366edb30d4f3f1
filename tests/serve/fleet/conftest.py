"""A hub whose clock for links goes fast, and who lives around it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serve.fleet.machine import QUICK, Field, field_of
from tests.serve.hub import running_hub


@pytest.fixture
def field(tmp_path: Path) -> Iterator[Field]:
    """A hub without a machine of its own."""
    with running_hub(tmp_path / "hub", pace=QUICK, no_node=True) as hub, field_of(hub) as made:
        yield made
