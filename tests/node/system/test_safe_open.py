import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hubbub.model.fleet.calls import RefusalCode
from hubbub.node.system import open_beneath, safe_open
from hubbub.node.system.safe_open import NotOpened
from shellgate.paths import Access
from shellgate.world import World
from tests.shellgate.worlds import world

Open = Callable[[int, str], int]


@pytest.fixture(params=[open_beneath.open_folder, open_beneath.by_steps], ids=["by-the-kernel", "by-steps"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Both ways to open a folder."""
    opened: Open = request.param
    monkeypatch.setattr(open_beneath, "open_folder", opened)
    return opened


@pytest.fixture
def here(tmp_path: Path) -> World:
    return world(tmp_path)


def refused(path: str, here: World) -> RefusalCode:
    """Why a file is neither read nor replaced."""
    with pytest.raises(NotOpened) as reading, safe_open.regular(path, here):
        pass
    with pytest.raises(NotOpened) as replacing, safe_open.replacing(path, here) as file:
        file.write(b"x")
    assert reading.value.code is replacing.value.code
    return reading.value.code


def test_a_folder_is_opened_without_links_on_the_way(tmp_path: Path, way: Open) -> None:
    """The system names the file of the descriptor; a link anywhere on the path is a failure."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "link").symlink_to("b")
    base = os.open(tmp_path, os.O_RDONLY)
    try:
        opened = way(base, "a/b")
        assert open_beneath.path_of(opened) == str(tmp_path.resolve() / "a" / "b")
        os.close(opened)
        for path in ("a/link", "a/link/x", "none", "a/none/x"):
            with pytest.raises(OSError, match=r"Errno"):
                way(base, path)
    finally:
        os.close(base)


def test_a_link_is_not_followed_when_a_file_is_opened(here: World, way: Open) -> None:
    """Whether it is the file's name or on the way to it: it was none when it was decided about."""
    work = Path(here.cwd)
    (work / "real").mkdir()
    (work / "real" / "a").write_text("old")
    (work / "folder").symlink_to("real")
    (work / "file").symlink_to("real/a")

    assert refused(f"{work}/file", here) is RefusalCode.FAILED
    assert refused(f"{work}/folder/a", here) in (RefusalCode.FAILED, RefusalCode.INVALID)
    assert (work / "real" / "a").read_text() == "old"
    assert (work / "file").is_symlink()


@pytest.mark.parametrize("name", ["proj/.git/x", ".ssh/id", "proj/.env"])
def test_what_is_protected_is_not_written(here: World, way: Open, name: str) -> None:
    """F4, F5: not even where nobody has asked the gate. Nothing is made on the way."""
    with pytest.raises(NotOpened) as raised, safe_open.replacing(f"{here.home}/{name}", here):
        pass

    assert raised.value.code is RefusalCode.DENIED
    assert {path.name for path in Path(here.home).rglob("*")} == {"proj"}


def test_a_file_takes_its_place_whole_or_not_at_all(here: World) -> None:
    """A write that fails has changed nothing; nobody sees the draft under the file's name."""
    target = Path(here.cwd, "new", "file")

    def fail() -> None:
        with safe_open.replacing(str(target), here) as file:
            file.write(b"half")
            file.flush()
            assert not target.exists()
            raise ValueError("oops")

    with pytest.raises(ValueError, match="oops"):
        fail()

    assert list(target.parent.iterdir()) == []


def test_what_fails_inside_the_block_is_not_ours_to_explain(here: World) -> None:
    """A connection that breaks while a file is written stays what it is."""
    with pytest.raises(ConnectionResetError), safe_open.replacing(f"{here.cwd}/file", here):
        raise ConnectionResetError


def test_a_folder_that_was_moved_away_is_not_written_to(here: World) -> None:
    """Between the beginning and the end of a write, its folder must stay where it is."""
    work = Path(here.cwd)
    (work / "a").mkdir()

    with pytest.raises(NotOpened) as raised, safe_open.replacing(f"{work}/a/file", here):
        (work / "a").rename(work / "b")

    assert raised.value.code is RefusalCode.FAILED
    assert list((work / "b").iterdir()) == []


def test_a_folder_is_opened_for_what_is_in_it(here: World, way: Open) -> None:
    """Its descriptor tells what is in it, or is that of no closed folder."""
    Path(here.cwd, "a").touch()
    Path(here.home, ".ssh").mkdir()

    with safe_open.listing(here.cwd, here) as at:
        assert os.listdir(at) == ["a"]  # noqa: PTH208, it is a descriptor
    with pytest.raises(NotOpened), safe_open.listing(f"{here.home}/.ssh", here):
        pass
    with pytest.raises(NotOpened), safe_open.folder(f"{here.home}/.ssh", here, Access.READ):
        pass


def test_no_descriptor_is_left_open(here: World, way: Open) -> None:
    """Neither after what was done nor after what was refused."""
    Path(here.cwd, "a").write_text("x")
    before = len(os.listdir("/dev/fd"))  # noqa: PTH208, only how many there are

    for path in ("a", "none", "a/b", ".git/x", "deep/er/x"):
        for opened in (safe_open.regular, safe_open.replacing):
            try:
                with opened(f"{here.cwd}/{path}", here):
                    pass
            except NotOpened:
                pass

    assert len(os.listdir("/dev/fd")) == before  # noqa: PTH208
