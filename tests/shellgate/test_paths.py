from pathlib import Path

import pytest

from shellgate import paths
from shellgate.decision import Effect, Source
from shellgate.paths import Access
from shellgate.world import World
from tests.shellgate.worlds import world
from tests.support.each_row import each_row

BOB, SHARED = "/home/bob", "/tmp"


@pytest.fixture
def here(tmp_path: Path) -> World:
    return world(tmp_path)


def clause(path: str, access: Access, here: World) -> str | None:
    decision = paths.protected(path, access, here)
    return decision.rule_id if decision else None


# ---- protected ---------------------------------------------------------------------------------------------------


def test_a_protected_path_is_denied_with_its_clause_and_why(here: World) -> None:
    """F4 is of writing, F5 of any access; the floor says so in a sentence that names the path."""
    written = paths.protected(".env", Access.WRITE, here)
    read = paths.protected("/etc/shadow", Access.READ, here)

    assert written
    assert (written.effect, written.source, written.rule_id) == (Effect.DENY, Source.FLOOR, "F4")
    assert read
    assert read.rule_id == "F5"
    assert "/etc/shadow" in read.reason


@pytest.mark.parametrize("access", Access)
def test_what_is_not_protected_is_left_to_the_policy(here: World, access: Access) -> None:
    """Nothing is said of it, whether or not it is there, inside the roots or not."""
    for path in (
        "src/a.py",
        "src/etc/settings.py",
        ".gitkeep",
        ".env.sample",
        "/usr/bin/env",
        "../notes",
        "/tmp",
    ):
        assert paths.protected(path, access, here) is None


def test_reading_and_listing_are_other_than_writing(here: World) -> None:
    """F4 lets `.git` and start-up files be read; F5 does not even let `.ssh` be listed."""
    for path in (".env", ".git/HEAD", "../.bashrc", ".mcp.json"):
        assert clause(path, Access.READ, here) is None
        assert clause(path, Access.WRITE, here) == "F4"
    for access in Access:
        assert clause("../.ssh", access, here) == "F5"


def test_a_link_hides_nothing(here: World) -> None:
    """The target of a link counts, over several links and before anything is there."""
    work, home = Path(here.cwd), Path(here.home)
    (home / ".ssh").mkdir()
    (work / "l").symlink_to(home / ".ssh")
    (work / "again").symlink_to("l")
    (work / "env").symlink_to(".env")
    (work / "up").symlink_to("/usr")

    assert clause("l/authorized_keys", Access.WRITE, here) == "F5"
    assert clause("again/new/x", Access.READ, here) == "F5"
    assert clause("env", Access.WRITE, here) == "F4"
    assert clause("up/../etc/shadow", Access.READ, here) == "F5"


def test_a_protected_name_stays_one_whatever_it_leads_to(here: World) -> None:
    """A link called `.git` is Git's own, and so is what is in a folder that it leads to."""
    work = Path(here.cwd)
    (work / "elsewhere").mkdir()
    (work / ".git").symlink_to("elsewhere")
    (work / "elsewhere" / ".env").symlink_to("plain")
    (work / "d").symlink_to("elsewhere")

    assert clause(".git", Access.WRITE, here) == "F4"
    assert clause(".git/config", Access.WRITE, here) == "F4"
    assert clause("d/.env", Access.WRITE, here) == "F4"


def test_links_in_a_circle_lead_nowhere(here: World) -> None:
    """They are followed as often as the system would, and then left."""
    work = Path(here.cwd)
    (work / "one").symlink_to("two")
    (work / "two").symlink_to("one")

    assert clause("one/x", Access.WRITE, here) is None
    assert clause("one/.git/x", Access.WRITE, here) == "F4"


def test_links_that_make_a_path_too_long_to_follow_hide_nothing(here: World) -> None:
    """A link that cannot be followed to its end might be anything, and is closed."""
    work = Path(here.cwd)
    long = "/".join(["x" * 200] * 15)
    (work / "one").symlink_to(f"{long}/more")
    (work / "two").symlink_to("one/" + "/".join(["y" * 200] * 14))

    assert clause("two", Access.READ, here) == "F5"


def test_another_name_of_a_protected_file_is_protected(here: World) -> None:
    """F5 of keys, F4 of what only people write; other files may have as many names as they like."""
    work, home = Path(here.cwd), Path(here.home)
    for path in (home / ".ssh" / "id", work / ".env", work / ".git" / "hooks" / "x", work / "plain"):
        path.parent.mkdir(exist_ok=True, parents=True)
        path.touch()
    (work / "a").hardlink_to(home / ".ssh" / "id")
    (work / "b").hardlink_to(work / ".env")
    (work / "c").hardlink_to(work / "plain")
    (work / "d").hardlink_to(work / ".git" / "hooks" / "x")

    assert clause("a", Access.READ, here) == "F5"
    assert [clause("b", access, here) for access in (Access.READ, Access.WRITE)] == [None, "F4"]
    assert clause("c", Access.WRITE, here) is None
    assert clause("d", Access.WRITE, here) == "F4"


def test_hubbubs_own_folders_are_closed(here: World) -> None:
    """F5: wherever they are, and in every home; their neighbours are not."""
    for path in (
        *here.own,
        f"{here.own[1]}/audit.jsonl",
        "~bob/.local/state/hubbub/x",
        "../.config/hubbub/node.toml",
    ):
        assert clause(paths.with_home(path, here), Access.READ, here) == "F5"
    assert clause(f"{here.own[1]}-not", Access.READ, here) is None


@pytest.mark.parametrize(
    "path", ["/dev/stdin", "/dev/stdout", "/dev/fd/3", "/dev//fd/1", "/dev/./stderr", "/dev/null"]
)
def test_standard_streams_are_open(here: World, path: str) -> None:
    """They are links into `/proc`, and lead nowhere that the caller has not got already."""
    assert clause(path, Access.WRITE, here) is None


@pytest.mark.parametrize(
    "path", ["/dev/fd/../environ", "/dev/fd/../root/etc/shadow", "/proc/self/fd/1", "/dev/stdin/../../etc/x"]
)
def test_nothing_gets_past_them(here: World, path: str) -> None:
    """F5: what is beside them in `/proc` is closed."""
    assert clause(path, Access.READ, here) == "F5"


@pytest.mark.parametrize("path", ["a\0b", "/etc\0", "x" * 4097, "ä" * 2049, "\ud800"])
def test_what_is_no_path_is_refused(here: World, path: str) -> None:
    """Nothing that the system would cut, or understand otherwise, is looked at further."""
    assert clause(path, Access.READ, here) == "F5"
    assert paths.unusable(path)
    assert not paths.is_inside(path, here)


# ---- homes, roots, secrets ---------------------------------------------------------------------------------------


def test_a_tilde_is_a_home(here: World) -> None:
    """One's own or another's; of nobody's it is a name, and within a path it is one too."""
    assert paths.with_home("~", here) == here.home
    assert paths.with_home("~/x", here) == f"{here.home}/x"
    assert paths.with_home("~ada/x", here) == f"{here.home}/x"
    assert paths.with_home("~bob/x", here) == f"{here.homes[0]}/x"
    assert paths.with_home("~nobody/x", here) == "~nobody/x"
    assert paths.with_home("./~/x", here) == "./~/x"


def test_inside_is_where_a_path_leads(here: World) -> None:
    """A link out of the roots leads out, one back in leads in."""
    work = Path(here.cwd)
    (work / "out").symlink_to("..")

    assert paths.is_inside("a/b", here)
    assert paths.is_inside(".", here)
    assert paths.is_inside("out/proj/a", here)
    assert not paths.is_inside("out/a", here)
    assert not paths.is_inside(f"{here.cwd}-beside", here)
    assert not paths.is_inside("a/../../x", here)


def test_a_link_to_a_secret_is_one(here: World) -> None:
    """A link to a secret is one, and so is a link that is called like one."""
    work = Path(here.cwd)
    (work / "plain").symlink_to(".env")
    (work / ".env.local").symlink_to("README.md")

    assert paths.is_secret("plain", here)
    assert paths.is_secret(".env.local", here)
    assert not paths.is_secret("README.md", here)


# ---- F1, F3 ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/", "//", "/.", "/..", "/tmp/..", "/*", "/.*", "/u?r", "/[a-z]*", "/usr", "/usr/", "/USR", "/etc/.", "/home",
        "/usr/*", "/*/*", "/var/.*", "/tmp", "/tmp/*", "/home/bob", "/home/bob/", "/home/bob/*", "/home/*", "/root",
        "/Users/bob/.[!.]*", "..", "../", "../*", "../.*", "../..", "../.[^.]*", "../../other", "../../other/*",
        "../../../../../../..", "../!(proj)", "../[[:alpha:]]*",
    ],
)  # fmt: skip
def test_vital_folders(here: World, path: str) -> None:
    """F1: the whole file system, its folders, homes, what holds a home, and patterns for what is in any of them."""
    assert paths.vital(path, here)


@pytest.mark.parametrize(
    "path",
    [
        ".", "*", ".*", "build", "build/*", "node_modules", "src/../build", "../other-project", f"{SHARED}/build",
        f"{SHARED}/build-*", "/usr/local/lib/x", "/opt/tool/*", f"{BOB}/project", f"{BOB}/project/*",
        "/workspace", "src/[id]/*", "/var/tmp/x",
    ],
)  # fmt: skip
def test_other_folders_are_not_vital(here: World, path: str) -> None:
    """The project and all that is in it, and folders beneath those of the system."""
    assert paths.vital(path, here) is None


def test_a_link_to_a_vital_folder_is_vital(here: World) -> None:
    """Since whoever deletes what is in it deletes what is there."""
    (Path(here.cwd) / "l").symlink_to("/usr")
    (Path(here.cwd) / "h").symlink_to(here.home)

    assert paths.vital("l", here)
    assert paths.vital("l/*", here)
    assert paths.vital("h/*", here)
    assert paths.vital("h/..", here)


@each_row(
    "name",
    [
        "sda", "sda1", "sdab", "hda", "vda2", "xvda", "nvme0n1", "nvme0n1p3", "mmcblk0", "mmcblk0p1", "loop0", "md0",
        "md/raid", "dm-0", "mapper/root", "disk/by-id/x", "disk0", "disk2s1", "rdisk2", "sr0", "ram0", "zram0", "nbd0",
        "block/8:0", "../dev/sda", "./sda", "SDA",
    ],
)  # fmt: skip
def test_disks_are_known_by_name(name: str) -> None:
    """F3: whether or not this machine has them."""
    assert paths.is_block_device(f"/dev/{name}")


@each_row(
    "name",
    ["null", "zero", "full", "random", "urandom", "tty", "tty1", "stdout", "fd/1", "pts/0", "shm/x", "ptmx"],
)
def test_other_devices_are_no_disks(name: str) -> None:
    """Nor is a file elsewhere that is called like one."""
    assert not paths.is_block_device(f"/dev/{name}")
    assert not paths.is_block_device(f"{BOB}/sda")


def test_a_link_to_a_disk_is_one(here: World) -> None:
    """F3: under whatever name."""
    (Path(here.cwd) / "image").symlink_to("/dev/sda")

    assert paths.is_block_device(f"{here.cwd}/image")


def test_what_is_not_ours_to_see_is_judged_by_its_name() -> None:
    """A link of another's process, which cannot be read, is no reason to stumble: its name says what it is."""
    assert not paths.is_block_device("/proc/1/root/image")
    assert paths.is_block_device("/proc/1/root/../../../dev/sda")


def test_a_secret_is_one_under_each_of_its_names(here: World) -> None:
    """A hard link to an environment file holds what that holds; one to any other file holds no secret by that."""
    folder = Path(here.cwd)
    (folder / ".env").write_text("KEY=1")
    (folder / "other").hardlink_to(folder / ".env")
    (folder / "plain").write_text("x")
    (folder / "plain too").hardlink_to(folder / "plain")

    assert paths.is_secret("other", here)
    assert not paths.is_secret("plain too", here)
