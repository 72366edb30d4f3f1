import posixpath
from pathlib import Path

import pytest

from shellgate.floor import search_omissions
from shellgate.world import World
from tests.shellgate.worlds import world


@pytest.fixture
def here(tmp_path: Path) -> World:
    return world(tmp_path)


def omitted(here: World, path: str = ".") -> set[str]:
    """Return the paths that a search leaves out, seen from the home."""
    found = search_omissions.omitted(posixpath.join(here.cwd, path).removesuffix("/."), here)
    assert len(set(found)) == len(found)
    return {each.removeprefix(f"{here.home}/") for each in found}


def test_what_is_closed_is_left_out_and_what_is_in_it(here: World) -> None:
    """Beneath the folder that is searched, at any depth."""
    keys = Path(here.home, "proj", "a", ".ssh")
    keys.mkdir(parents=True)
    (keys / "id").touch()
    (keys.parent / "plain").touch()

    assert omitted(here) == {"proj/a/.ssh", "proj/a/.ssh/id"}
    assert omitted(here, "a") == omitted(here)


def test_a_link_to_what_is_closed_is_left_out(here: World) -> None:
    """A link to a closed folder is left out, by its own name and by those that it leads to."""
    keys = Path(here.home, ".ssh")
    keys.mkdir()
    (keys / "id").touch()
    (Path(here.cwd) / "l").symlink_to(keys)
    (Path(here.cwd) / "k").symlink_to("l/id")
    (Path(here.cwd) / "harmless").symlink_to("../other")

    assert omitted(here) == {"proj/l", "proj/l/id", "proj/k", ".ssh", ".ssh/id"}


def test_secrets_and_what_only_people_write_are_left_out(here: World) -> None:
    """Nobody was asked about them, and tokens may be in Git's configuration too. Templates stay."""
    for name in (".env", ".env.example", "server.key", ".mcp.json", "a.py", ".git/config", ".gitignore"):
        (Path(here.cwd) / name).parent.mkdir(exist_ok=True)
        (Path(here.cwd) / name).touch()

    assert omitted(here) == {
        "proj/.env", "proj/server.key", "proj/.mcp.json", "proj/.git", "proj/.git/config"
    }  # fmt: skip


def test_nothing_is_left_out_of_a_folder_that_was_named(here: World) -> None:
    """For what it is: it was decided about."""
    (Path(here.cwd) / ".git").mkdir()
    (Path(here.cwd) / ".git" / "config").touch()
    (Path(here.cwd) / ".git" / ".env").touch()

    assert omitted(here, ".git") == {"proj/.git/.env"}


def test_another_name_of_a_closed_file_is_left_out(here: World) -> None:
    """A file of one's own with several names is not."""
    keys = Path(here.home, ".ssh")
    keys.mkdir()
    (keys / "id").touch()
    (Path(here.cwd) / "a").hardlink_to(keys / "id")
    (Path(here.cwd) / "b").touch()
    (Path(here.cwd) / "c").hardlink_to(Path(here.cwd) / "b")

    assert omitted(here) == {"proj/a"}


def test_only_so_much_is_looked_at(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The refusal tells files near the beginning; a search looks at everything that it finds."""
    monkeypatch.setattr(search_omissions, "LOOKED_AT", 3)
    for name in ("a", "b", "c.key", "d.key"):
        (Path(here.cwd) / name).touch()

    assert omitted(here) == {"proj/c.key"}


def test_another_name_of_a_secret_is_left_out(here: World) -> None:
    """A search leaves out what it would show of `.env` under a second name."""
    folder = Path(here.cwd)
    (folder / ".env").write_text("KEY=1")
    (folder / "second").hardlink_to(folder / ".env")

    assert search_omissions.left_out(here.cwd, "second", here)
    assert "proj/second" in omitted(here)
