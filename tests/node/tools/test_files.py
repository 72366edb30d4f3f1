import os
import socket
import stat
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from hubbub.node.tools.files import BYTES, LINES
from hubbub.node.tools.tool_context import ToolContext
from tests.node.file_calls import answer, refusal, value

# ---- read_file ---------------------------------------------------------------------------------------------------


def test_read_file_gives_the_whole_of_a_small_file(here: ToolContext, work: Path) -> None:
    """Without a range all lines are read, with their line ends."""
    (work / "a.txt").write_text("one\ntwo\nthree")

    assert value(answer(here, "read_file", path="a.txt")) == {
        "content": "one\ntwo\nthree",
        "truncated": False,
    }


@pytest.mark.parametrize(
    ("start", "end", "content"),
    [
        (1, 1, "1\n"),
        (2, 3, "2\n3\n"),
        (3, None, "3\n4\n"),
        (None, 2, "1\n2\n"),
        (4, 99, "4\n"),
        (5, 9, ""),
        (9, None, ""),
    ],
)
def test_a_range_is_of_lines_counted_from_one_both_ends_included(
    here: ToolContext, work: Path, start: int | None, end: int | None, content: str
) -> None:
    """An end past the file's is its end, a start past it gives nothing; that nothing more was wanted is no cut."""
    (work / "a.txt").write_text("1\n2\n3\n4\n")

    found = value(answer(here, "read_file", path="a.txt", start=start, end=end))

    assert found == {"content": content, "truncated": False}


@pytest.mark.parametrize(("start", "end"), [(0, 3), (-1, None), (3, 2), (None, 0)])
def test_a_range_that_is_none_is_invalid(
    here: ToolContext, work: Path, start: int | None, end: int | None
) -> None:
    """Lines count from 1, and a range does not run backwards."""
    (work / "a.txt").write_text("1\n2\n3\n")

    assert refusal(answer(here, "read_file", path="a.txt", start=start, end=end))[0] == "invalid"


def test_a_long_file_is_cut_after_two_thousand_lines(here: ToolContext, work: Path) -> None:
    """A range that asks for more is cut as well; one that does not is whole."""
    (work / "a.txt").write_text("".join(f"{number}\n" for number in range(1, LINES + 1002)))

    whole = value(answer(here, "read_file", path="a.txt"))
    ranged = value(answer(here, "read_file", path="a.txt", start=1001, end=LINES + 1001))
    exact = value(answer(here, "read_file", path="a.txt", start=2, end=LINES + 1))

    assert whole["truncated"]
    assert whole["content"].endswith(f"\n{LINES}\n")
    assert ranged["truncated"]
    assert ranged["content"].startswith("1001\n")
    assert ranged["content"].count("\n") == LINES
    assert not exact["truncated"]
    assert exact["content"].endswith(f"\n{LINES + 1}\n")


def test_a_large_file_is_cut_at_a_line_within_256_kib(here: ToolContext, work: Path) -> None:
    """Only whole lines are given where one ends within the bytes that are read at most."""
    (work / "a.txt").write_text(("x" * 999 + "\n") * 1000)

    found = value(answer(here, "read_file", path="a.txt"))

    assert found["truncated"]
    assert len(found["content"]) == BYTES // 1000 * 1000


def test_a_line_that_is_too_long_is_cut_between_characters(here: ToolContext, work: Path) -> None:
    """No character is cut in two."""
    (work / "a.txt").write_text("ä" * BYTES)

    found = value(answer(here, "read_file", path="a.txt"))

    assert found == {"content": "ä" * (BYTES // 2), "truncated": True}


def test_a_far_line_of_a_large_file_is_found(here: ToolContext, work: Path) -> None:
    """Lines are counted over all of the file, whatever its size."""
    (work / "a.txt").write_text("".join(f"line {number} {'.' * 90}\n" for number in range(1, 40_001)))

    found = value(answer(here, "read_file", path="a.txt", start=39_999, end=39_999))

    assert found["content"].startswith("line 39999 ")
    assert found["content"].count("\n") == 1


def test_what_is_not_utf_8_is_replaced(here: ToolContext, work: Path) -> None:
    """A text in an old encoding is read with replacement characters, at its end too."""
    (work / "a.txt").write_bytes(b"caf\xe9 caf\xe9")

    assert value(answer(here, "read_file", path="a.txt"))["content"] == "caf\ufffd caf\ufffd"


def test_a_binary_file_is_refused_with_its_size(here: ToolContext, work: Path) -> None:
    """Nothing of it is shown."""
    (work / "a.bin").write_bytes(b"\x7fELF\0" * 300)

    code, sentence = refusal(answer(here, "read_file", path="a.bin"))

    assert code == "invalid"
    assert "1,500 bytes" in sentence


def test_what_is_not_there_is_not_found(here: ToolContext, work: Path) -> None:
    """The sentence has the path as it was given; what would be beneath a file is no path at all."""
    (work / "a.txt").write_text("")

    assert refusal(answer(here, "read_file", path="b.txt")) == ("not_found", "`b.txt` is not there.")
    assert refusal(answer(here, "read_file", path="a/b.txt"))[0] == "not_found"
    assert refusal(answer(here, "read_file", path="a.txt/b"))[0] == "invalid"


def test_a_folder_is_no_file(here: ToolContext, work: Path) -> None:
    """It can neither be read nor written as one."""
    (work / "sub").mkdir()

    assert refusal(answer(here, "read_file", path="sub"))[0] == "invalid"
    assert refusal(answer(here, "write_file", path="sub", content="x"))[0] == "invalid"
    assert refusal(answer(here, "write_file", path="new/", content="x"))[0] == "invalid"


def test_only_regular_files_are_opened(here: ToolContext, work: Path) -> None:
    """F5: neither a pipe, where a read would wait for ever, nor a socket, nor a device; nor are they replaced."""
    os.mkfifo(work / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(work / "socket"))
        for path in ("pipe", "socket", "/dev/null"):
            assert refusal(answer(here, "read_file", path=path))[0] == "denied"
            assert refusal(answer(here, "write_file", path=path, content="x"))[0] == "denied"


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000, "\ud800"])
def test_what_is_no_path_is_invalid(here: ToolContext, path: str) -> None:
    """A NUL, half a character, or more bytes than a path may have."""
    assert refusal(answer(here, "read_file", path=path))[0] == "invalid"


def test_a_link_within_the_root_is_followed(here: ToolContext, work: Path) -> None:
    """Relative or absolute, to a file or a folder."""
    (work / "real").mkdir()
    (work / "real" / "a.txt").write_text("here")
    (work / "folder").symlink_to("real")
    (work / "file").symlink_to(work / "real" / "a.txt")

    assert value(answer(here, "read_file", path="folder/a.txt"))["content"] == "here"
    assert value(answer(here, "read_file", path="file"))["content"] == "here"


def test_a_home_is_named_by_a_tilde(here: ToolContext) -> None:
    """Outside the roots the policy decides; what was decided is opened."""
    Path(here.world.home, "notes.txt").write_text("mine")

    assert value(answer(here, "read_file", path="~/notes.txt"))["content"] == "mine"


# ---- write_file --------------------------------------------------------------------------------------------------


def test_write_file_makes_the_folders_and_tells_the_bytes(here: ToolContext, work: Path) -> None:
    """The bytes are those of UTF-8; nothing is added, and no draft stays."""
    outcome = answer(here, "write_file", path="a/b/c.txt", content="grün\r\n")

    assert value(outcome) == {"bytes_written": 7}
    assert (work / "a" / "b" / "c.txt").read_bytes() == "grün\r\n".encode()
    assert [path.name for path in (work / "a" / "b").iterdir()] == ["c.txt"]


def test_a_file_that_is_replaced_keeps_its_mode(here: ToolContext, work: Path) -> None:
    """A script stays one, and whoever has the old file open keeps the old content."""
    script = work / "run.sh"
    script.write_text("old")
    script.chmod(0o750)

    with script.open() as before:
        value(answer(here, "write_file", path="run.sh", content="new"))

        assert before.read() == "old"
    assert script.read_text() == "new"
    assert stat.S_IMODE(script.stat().st_mode) == 0o750


def test_a_link_is_written_through_to_what_it_leads_to(here: ToolContext, work: Path) -> None:
    """The link stays one."""
    (work / "real.txt").write_text("old")
    (work / "link.txt").symlink_to("real.txt")

    value(answer(here, "write_file", path="link.txt", content="new"))

    assert (work / "link.txt").is_symlink()
    assert (work / "real.txt").read_text() == "new"


def test_a_file_with_several_names_is_not_written(here: ToolContext, work: Path) -> None:
    """A caller who may write to one name would write to the other, wherever that is."""
    (work / "one").write_text("old")
    (work / "two").hardlink_to(work / "one")

    assert refusal(answer(here, "write_file", path="one", content="new"))[0] == "denied"
    assert (work / "two").read_text() == "old"


def test_another_name_of_a_protected_file_is_not_read(here: ToolContext, work: Path) -> None:
    """F5: it is the same file, though nothing in its name tells."""
    keys = Path(here.world.home, ".ssh")
    keys.mkdir()
    (keys / "id_rsa").write_text("key")
    (work / "innocent").hardlink_to(keys / "id_rsa")

    assert refusal(answer(here, "read_file", path="innocent"))[0] == "denied"


def test_text_that_is_none_is_not_written(here: ToolContext, work: Path) -> None:
    """Half a character cannot be written; what was there stays."""
    (work / "a.txt").write_text("old")

    assert refusal(answer(here, "write_file", path="a.txt", content="\ud800"))[0] == "invalid"
    assert (work / "a.txt").read_text() == "old"


def test_a_write_that_fails_leaves_nothing(here: ToolContext, work: Path) -> None:
    """A name that the file system does not take is said to be one, and no draft stays."""
    assert refusal(answer(here, "write_file", path="x" * 300, content="new"))[0] == "invalid"
    assert list(work.iterdir()) == []


@pytest.mark.parametrize("path", [".env", ".git/hooks/pre-commit", "~/.ssh/authorized_keys", "/etc/hubbub-x"])
def test_the_tools_look_again_at_what_they_open(here: ToolContext, path: str) -> None:
    """F4, F5: even where a gate had let it through, a protected path is neither written nor made."""
    assert refusal(answer(here, "write_file", path=path, content="x"))[0] == "denied"
    assert not Path(here.world.cwd, ".git", "hooks", "pre-commit").exists()


# ---- list_dir ----------------------------------------------------------------------------------------------------


def test_list_dir_tells_name_type_and_size_by_name(here: ToolContext, work: Path) -> None:
    """A link is a link, whatever it leads to; a pipe is something other."""
    (work / "b.txt").write_text("12345")
    (work / "a").mkdir()
    (work / "c").symlink_to("a")
    os.mkfifo(work / "d")

    rows = value(answer(here, "list_dir", path="."))

    assert [(row["name"], row["type"]) for row in rows] == [
        ("a", "dir"),
        ("b.txt", "file"),
        ("c", "link"),
        ("d", "other"),
    ]
    assert rows[1]["size"] == 5


def test_a_name_that_is_no_text_is_shown_with_replacements(here: ToolContext, work: Path) -> None:
    """It does not stop the others from being listed."""
    os.close(os.open(os.fsencode(work) + b"/caf\xe9", os.O_CREAT | os.O_WRONLY))

    assert [row["name"] for row in value(answer(here, "list_dir", path=str(work)))] == ["caf\ufffd"]


def test_a_long_listing_says_that_it_was_cut(
    here: ToolContext, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first names are shown, with a sentence that says how many there are."""
    monkeypatch.setattr("hubbub.node.tools.files.NAMES", 2)
    for name in "abc":
        (work / name).touch()

    outcome = answer(here, "list_dir", path=".")

    assert [row["name"] for row in value(outcome)] == ["a", "b"]
    assert outcome.texts
    assert outcome.texts[1] == "The first 2 of 3 names are shown."
    assert outcome.structured == {"result": outcome.value, "truncated": True}


def test_only_folders_are_listed(here: ToolContext, work: Path) -> None:
    """A file is said to be none; nothing is said of a folder that is closed."""
    (work / "a.txt").touch()
    Path(here.world.home, ".ssh").mkdir()

    assert refusal(answer(here, "list_dir", path="a.txt")) == (
        "invalid",
        "`a.txt` is not a folder, or is beneath a path that is not a folder.",
    )
    assert refusal(answer(here, "list_dir", path="none"))[0] == "not_found"
    assert refusal(answer(here, "list_dir", path="~/.ssh"))[0] == "denied"


# ---- open_file ---------------------------------------------------------------------------------------------------


def test_without_a_desktop_nothing_is_opened(
    here: ToolContext, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a desktop nothing is opened, and that is no failure: nobody looks at it."""
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    (work / "a.txt").touch()

    assert value(answer(here, "open_file", path="a.txt")) == {"opened": False}
    assert refusal(answer(here, "open_file", path="b.txt"))[0] == "not_found"


@pytest.mark.parametrize(("code", "opened"), [(0, True), (4, False)])
def test_a_file_is_opened_with_the_desktops_program(
    here: ToolContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, opened: bool
) -> None:
    """It gets the path without links, and nothing of our environment but what commands get and where the screen is."""
    opener = tmp_path / ("open" if sys.platform == "darwin" else "xdg-open")
    opener.write_text(f'#!/bin/sh\necho "$1 $HUBBUB_TOKEN $DISPLAY" > "{tmp_path}/said"\nexit {code}\n')
    opener.chmod(0o755)
    monkeypatch.setenv("DISPLAY", ":7")
    monkeypatch.setenv("HUBBUB_TOKEN", "utok_x")
    desktop = replace(here, world=replace(here.world, variables={"PATH": f"{tmp_path}:/bin:/usr/bin"}))
    work = Path(here.world.cwd)
    (work / "a.txt").touch()
    (work / "link").symlink_to("a.txt")

    assert value(answer(desktop, "open_file", path="link")) == {"opened": opened}
    assert (tmp_path / "said").read_text() == f"{work}/a.txt  :7\n"


def test_a_desktops_program_may_stay(
    here: ToolContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some do as long as the file is open; it goes on, and nobody waits for it."""
    asked, told = tmp_path / "asked", tmp_path / "told"
    os.mkfifo(asked)
    os.mkfifo(told)
    opener = tmp_path / ("open" if sys.platform == "darwin" else "xdg-open")
    opener.write_text(f'#!/bin/sh\nread line < "{asked}"\necho "$line" > "{told}"\n')
    opener.chmod(0o755)
    monkeypatch.setenv("DISPLAY", ":7")
    monkeypatch.setattr("hubbub.node.tools.files._TOLD_WITHIN", 0.05)
    desktop = replace(here, world=replace(here.world, variables={"PATH": f"{tmp_path}:/bin:/usr/bin"}))
    Path(here.world.cwd, "a.txt").touch()

    assert value(answer(desktop, "open_file", path="a.txt")) == {"opened": True}
    asked.write_text("still there\n")
    assert told.read_text() == "still there\n"
