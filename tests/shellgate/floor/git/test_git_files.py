"""The gate reads git's own files as git itself does."""

import subprocess
from pathlib import Path

import pytest

from shellgate.floor.git import git_files
from tests.support.each_row import each_row


def git(folder: Path, *words: str) -> str:
    """Return git's output in a folder, with no settings but the repository's own."""
    done = subprocess.run(
        ("git", *words),
        cwd=folder,
        env={
            "PATH": "/usr/bin:/bin:/usr/local/bin",
            "HOME": str(folder),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@each_row(
    "text",
    [
        "[core]\n\tpager = less\n",
        '[a "b.\\"c"] x\n k2 = one \\\n  two\n[d] y = "  q " r\n',
        '# a comment \\\n[core]\n\tpager = a # b \\\n\teditor = "x # y" z   ; k\n',
        "[core]\r\n\tpager = less\r\n\teditor = vi\\\r\nm\r\n",
        '[url "https://x"]\n\tinsteadOf = \\"y\\" \\t z\n',
        "[a.b]\nc\n[A.B]\nD=\n",
    ],
)
def test_settings_are_those_that_git_reads(text: str, tmp_path: Path) -> None:
    """Comments, quotes, escapes, lines that go on and sections within sections are as git takes them."""
    (tmp_path / "x").write_bytes(text.encode())
    told = [entry.split("\n", 1) for entry in git(tmp_path, "config", "-f", "x", "-l", "-z").split("\0")[:-1]]
    found = git_files.settings(text)
    assert found is not None
    assert [(_folded(key), value) for key, value in found] == [
        (entry[0], entry[1] if len(entry) > 1 else "true") for entry in told
    ]


def _folded(key: str) -> str:
    """A key as git prints it: its last name in small letters."""
    section, _, name = key.rpartition(".")
    return f"{section}.{name.lower()}"


@each_row("text", ["[core\n", '[core]\nx = "a\n', "[core]\nx = \\q\n", "[core]\n1 = 2\n"])
def test_what_git_refuses_has_no_settings(text: str, tmp_path: Path) -> None:
    """A file that git would not read is one that cannot be told."""
    (tmp_path / "x").write_text(text)
    with pytest.raises(subprocess.CalledProcessError):
        git(tmp_path, "config", "-f", "x", "-l")
    assert git_files.settings(text) is None


@pytest.mark.parametrize("version", [2, 3, 4])
def test_an_index_has_the_names_that_git_lists(version: int, tmp_path: Path) -> None:
    """The names in an index of each form are read, long and short ones, in folders and not."""
    git(tmp_path, "init", "-q", ".")
    git(tmp_path, "config", "index.version", str(version))
    for number in range(40):
        place = tmp_path / ("d" * (number % 7 + 1)) / f"{'n' * number}{number}.py"
        place.parent.mkdir(exist_ok=True)
        place.write_text("x")
    git(tmp_path, "add", "-A")
    if version > 2:
        (tmp_path / "later").write_text("x")
        git(tmp_path, "add", "-N", "later")
    data = (tmp_path / ".git" / "index").read_bytes()
    assert int.from_bytes(data[4:8]) == version
    assert git_files.index(data) == tuple(git(tmp_path, "ls-files", "-z").split("\0")[:-1])


@each_row("data", [b"", b"DIRC", b"DIRC\0\0\0\x09\0\0\0\0", b"DIRC\0\0\0\x02\0\0\0\x01" + b"x" * 80])
def test_what_is_no_index_has_no_names(data: bytes) -> None:
    """A file that is cut short, or of a form that nobody knows, tells nothing."""
    assert git_files.index(data) is None
