"""A hook's memory between two calls: small private files, of which none can break it."""

import os
import stat
from pathlib import Path

import pytest

from hubbub.clients.hook import hook_state


@pytest.fixture(autouse=True)
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HUBBUB_DATA", str(tmp_path / "data"))
    return tmp_path / "data" / "hooks"


def test_what_is_kept_is_recalled() -> None:
    """A value is found by its shelf and its name until it is dropped, or the shelf is cleared."""
    hook_state.keep("one", "a", "1")
    hook_state.keep("one", "a", "2")
    hook_state.keep("one", "b", "3")
    hook_state.keep("two", "a", "4")

    assert hook_state.recall("one", "a") == "2"
    assert sorted(hook_state.recall_all("one")) == ["2", "3"]
    hook_state.drop("one", "a")
    assert hook_state.recall("one", "a") is None
    hook_state.clear("one")
    assert hook_state.recall_all("one") == []
    assert hook_state.recall("two", "a") == "4"


def test_what_is_taken_is_forgotten() -> None:
    """A value that is taken is given to its taker, and to nobody after that."""
    hook_state.keep("one", "a", "1")

    assert hook_state.take("one", "a") == "1"
    assert hook_state.take("one", "a") is None
    assert hook_state.recall_all("one") == []


def test_nobody_else_reads_it(room: Path) -> None:
    """An agent's reading is its user's business: the files are private, and their names say nothing."""
    hook_state.keep("run of ada", "secret-plans.txt", "1")

    (shelf,) = room.iterdir()
    (file,) = shelf.iterdir()
    assert stat.S_IMODE(shelf.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "secret" not in str(file.relative_to(room))


def test_old_shelves_are_tidied_away(room: Path) -> None:
    """Memory that was not touched for a week is forgotten, and newer memory stays."""
    hook_state.keep("old", "a", "1")
    (shelf,) = room.iterdir()
    os.utime(shelf, (0, 0))
    hook_state.keep("new", "a", "2")

    hook_state.tidy()

    assert hook_state.recall("old", "a") is None
    assert hook_state.recall("new", "a") == "2"


def test_a_broken_memory_is_an_empty_one(room: Path) -> None:
    """Where nothing can be kept, or something else lies in the way, nothing is remembered and nothing fails."""
    room.parent.mkdir()
    room.write_text("in the way")

    hook_state.keep("one", "a", "1")
    assert hook_state.recall("one", "a") is None
    assert hook_state.recall_all("one") == []
    hook_state.clear("one")
    hook_state.drop("one", "a")
    hook_state.tidy()


def test_a_digest_is_of_what_a_file_holds(tmp_path: Path) -> None:
    """Two files with the same content have the same digest; what is no file, or very large, has none."""
    (tmp_path / "a").write_text("x")
    (tmp_path / "b").write_text("x")

    assert hook_state.digest(str(tmp_path / "a")) == hook_state.digest(str(tmp_path / "b"))
    assert hook_state.digest(str(tmp_path)) is None
    assert hook_state.digest(str(tmp_path / "none")) is None
    assert hook_state.digest(str(tmp_path / "a"), largest=0) is None
