"""The place of a team's work."""

from pathlib import Path

import pytest

from hubbub.workspace.locations import Workspace, find


@pytest.mark.parametrize(
    ("environment", "root", "folder"),
    [
        ({}, "/w", "/w/.relay"),
        ({"RELAY_PROJECT_ROOT": "/p"}, "/p", "/p/.relay"),
        ({"RELAY_PROJECT_ROOT": "p"}, "/w/p", "/w/p/.relay"),
        ({"RELAY_DIR": "/p/notes"}, "/p", "/p/notes"),
        ({"RELAY_DIR": "notes/"}, "/w", "/w/notes"),
        ({"RELAY_DIR": "../p/notes"}, "/p", "/p/notes"),
        ({"RELAY_DIR": "/d", "RELAY_PROJECT_ROOT": "/p"}, "/p", "/d"),
        ({"RELAY_DIR": "d", "RELAY_PROJECT_ROOT": "p"}, "/w/p", "/w/d"),
        ({"RELAY_DIR": "", "RELAY_PROJECT_ROOT": ""}, "/w", "/w/.relay"),
    ],
)
def test_the_environment_names_the_folder_and_the_root(
    environment: dict[str, str], root: str, folder: str
) -> None:
    """RELAY_DIR, else `.relay` in RELAY_PROJECT_ROOT, else in the working folder; relative paths count from there."""
    assert find(environment, Path("/w")) == Workspace(Path(root), Path(folder))


def test_a_link_belongs_where_its_name_stands(tmp_path: Path) -> None:
    """A relay folder that is a link has its root beside the link, wherever that leads."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "project").mkdir()
    link = tmp_path / "project" / ".relay"
    link.symlink_to(tmp_path / "elsewhere")

    assert find({"RELAY_DIR": str(link)}, Path("/w")) == Workspace(tmp_path / "project", link)
