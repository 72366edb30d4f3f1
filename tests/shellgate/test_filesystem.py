import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from shellgate.filesystem import Disk, Elsewhere


def test_a_path_is_followed_as_the_system_follows_it(tmp_path: Path) -> None:
    """Links, `..` behind links, absolute ones, and what is not there."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "l").symlink_to("a/b")
    (tmp_path / "m").symlink_to(tmp_path / "l")
    (tmp_path / "n").symlink_to("none/x")
    for path in ("l", "l/..", "l/../b", "m/x/y", "m/../../l/z", "n", "n/y", "a/./b//c", "/..", "l/x/../y"):
        absolute = os.path.join(tmp_path, path)  # noqa: PTH118, a Path would tidy it
        assert Disk().resolve(absolute) == os.path.realpath(absolute)


@given(st.lists(st.sampled_from(["a", "b", "..", ".", "", "link", "etc"]), max_size=8))
def test_it_agrees_with_pythons_own(names: list[str]) -> None:
    """On paths of any form."""
    path = "/" + "/".join(names)

    assert Disk().resolve(path) == os.path.realpath(path).replace("//", "/")


def test_a_pattern_stands_for_what_is_in_a_folder(tmp_path: Path) -> None:
    """A pattern stands for a folder's files, by name; for nothing where there is no such folder."""
    for name in ("b.py", "a.py", ".hidden.py", "c.md"):
        (tmp_path / name).touch()

    assert Disk().matches(str(tmp_path), "*.py") == ["a.py", "b.py"]
    assert Disk().matches(str(tmp_path), ".*") == [".hidden.py"]
    assert Disk().matches(str(tmp_path / "none"), "*") == []


def test_files_are_known_by_what_they_are(tmp_path: Path) -> None:
    """Those at a place and beneath it, under whatever name, also after some came and went; links are not followed."""
    keys, disk = tmp_path / "keys", Disk()
    (keys / "deep").mkdir(parents=True)
    (keys / "deep" / "one").touch()
    (keys / "link").symlink_to(tmp_path)
    places = [str(keys), str(tmp_path / "none")]
    one = (keys / "deep" / "one").stat()

    assert (one.st_dev, one.st_ino) in disk.identities(places)
    (keys / "two").touch()
    two = (keys / "two").stat()
    assert (two.st_dev, two.st_ino) in disk.identities(places)
    os.utime(keys / "deep", (100, 100))
    (keys / "deep" / "one").rename(tmp_path / "one")
    assert (one.st_dev, one.st_ino) not in disk.identities(places)


def test_what_is_not_there_is_nothing(tmp_path: Path) -> None:
    """Neither a folder nor a file, and no failure."""
    disk = Disk()

    assert disk.look(str(tmp_path / "none")) is None
    assert disk.look("a\0b") is None
    assert not disk.is_folder(str(tmp_path / "none"))
    assert disk.is_folder(str(tmp_path))


def test_one_decision_sees_one_state(tmp_path: Path) -> None:
    """Things that a snapshot has looked at stay so, whatever is done meanwhile; a new one sees the present."""
    link, seen = tmp_path / "link", Disk().snapshot()
    link.symlink_to("a")
    assert seen.resolve(str(link)) == str(tmp_path.resolve() / "a")
    link.unlink()
    link.symlink_to("b")
    assert seen.resolve(str(link)) == str(tmp_path.resolve() / "a")
    assert Disk().snapshot().resolve(str(link)) == str(tmp_path.resolve() / "b")


def test_all_that_is_beneath_a_folder(tmp_path: Path) -> None:
    """Hidden files too, but not what Git keeps; a folder with too much in it is not told of."""
    for name in ("x/.env", "y", ".git/config"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert sorted(Disk().beneath(str(tmp_path), 10) or ()) == [
        str(tmp_path / "x" / ".env"),
        str(tmp_path / "y"),
    ]
    assert Disk().beneath(str(tmp_path), 2) is None


def test_only_what_is_in_regular_files_is_told(tmp_path: Path) -> None:
    """A file within its bound is; a folder, a pipe that nobody writes to, a longer file and nothing at all are not."""
    (tmp_path / "a").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("a")
    os.mkfifo(tmp_path / "pipe")

    assert Disk().contents(str(tmp_path / "link"), 3) == b"abc"
    for name, most in (("a", 2), ("pipe", 3), ("none", 3), (".", 3)):
        assert Disk().contents(str(tmp_path / name), most) is None
    assert Elsewhere().contents(str(tmp_path / "a"), 3) is None
