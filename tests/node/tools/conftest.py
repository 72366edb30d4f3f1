from pathlib import Path

import pytest

from hubbub.node.tools.tool_context import ToolContext
from tests.node.tool_contexts import place


@pytest.fixture
def here(tmp_path: Path) -> ToolContext:
    """A machine as its tools find it."""
    return place(tmp_path)


@pytest.fixture
def work(here: ToolContext) -> Path:
    """The folder in which agents work on it."""
    return Path(here.world.cwd)
