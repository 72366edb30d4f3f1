from pathlib import Path

import pytest

from hubbub.node.place import Place
from tests.node.places import place


@pytest.fixture
def here(tmp_path: Path) -> Place:
    """A machine as its tools find it."""
    return place(tmp_path)


@pytest.fixture
def work(here: Place) -> Path:
    """The folder in which agents work on it."""
    return Path(here.world.cwd)
