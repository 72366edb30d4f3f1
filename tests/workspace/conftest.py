"""A workspace to write team files into."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hubbub.workspace.locations import Workspace

Write = Callable[..., Path]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    folder = tmp_path / "project" / ".relay"
    folder.mkdir(parents=True)
    return Workspace(folder.parent, folder)


@pytest.fixture
def team_file(workspace: Workspace) -> Callable[[str], Path]:
    """Writes the team file of the run `r1`."""

    def write(text: str) -> Path:
        path = workspace.folder / "session-agents-r1.yml"
        path.write_text(text, "utf-8")
        return path

    return write


@pytest.fixture
def pool_file(workspace: Workspace) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = workspace.folder / "agents.pool.yml"
        path.write_text(text, "utf-8")
        return path

    return write
