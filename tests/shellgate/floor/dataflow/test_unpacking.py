"""Archives that lie on the disk are read before they are unpacked."""

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from shellgate.decide import decide
from shellgate.decision import Mode
from shellgate.floor import commands
from shellgate.floor.dataflow import archive_names
from shellgate.policy import Policy
from tests.shellgate.worlds import world
from tests.support.each_row import each_row


def tar(*names: str, mode: str = "w", links: tuple[str, ...] = ()) -> bytes:
    """A tar archive with files of these names, and links to elsewhere."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:  # type: ignore[call-overload]
        for name in (*names, *links):
            entry = tarfile.TarInfo(name)
            if name in links:
                entry.type, entry.linkname = tarfile.SYMTYPE, "elsewhere"
            archive.addfile(entry, io.BytesIO())
    return packed.getvalue()


def zipped(*names: str) -> bytes:
    """A zip archive with files of these names."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return packed.getvalue()


def decided(command: str, data: bytes, folder: Path) -> tuple[str, str]:
    """Return the decision on a command in `bypass` where the archive `a` is in the working folder."""
    machine = world(folder)
    (Path(machine.cwd) / "a").write_bytes(data)
    policy = Policy(mode=Mode.BYPASS, home=machine.home, roots=(Path(machine.cwd),))
    decision = decide(commands.read(command, machine), policy, "execute_command", sandboxed=False)
    return decision.effect.word, decision.rule_id


@each_row("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_tar_archive_of_harmless_names_goes_into_a_home(mode: str, tmp_path: Path) -> None:
    """An archive with nothing protected in it is unpacked unasked wherever its names are read, packed or not."""
    data = tar("notes/a.txt", "b", mode=mode)
    assert archive_names.names(data) == ("notes/a.txt", "b")
    assert decided("tar xf a -C ~", data, tmp_path)[0] == "allow"


def test_a_zip_archive_of_harmless_names_goes_into_a_home(tmp_path: Path) -> None:
    """The names of a zip archive are read likewise."""
    assert decided("unzip a -d ~", zipped("notes/a.txt"), tmp_path)[0] == "allow"


@each_row("name", [".bashrc", "x/.bashrc", ".ssh/authorized_keys", "x/.config/fish/config.fish"])
def test_a_protected_name_in_an_archive_is_asked_about(name: str, tmp_path: Path) -> None:
    """It does not matter how many folders are cut off before it, nor which kind of archive it is."""
    for command, data in (("tar xf a -C ~", tar("b", name)), ("unzip a -d ~", zipped("b", name))):
        assert decided(command, data, tmp_path)[0] == "ask"


def test_a_protected_name_is_asked_about_in_a_project_too(tmp_path: Path) -> None:
    """Hooks of Git's own in an archive come into no project unasked."""
    assert decided("tar xf a", tar("x/.git/hooks/pre-commit"), tmp_path) == ("ask", "F4")


def test_names_that_lead_anywhere_are_followed(tmp_path: Path) -> None:
    """With `-P` a name counts as it is written: absolute, or up and away."""
    assert decided("tar xPf a", tar("/etc/x"), tmp_path) == ("ask", "F5")
    assert decided("tar xPf a", tar("../.bashrc"), tmp_path) == ("ask", "F4")
    assert decided("tar xPf a", tar("src/a.py"), tmp_path)[0] == "allow"


@each_row(
    "command",
    [
        "make a && tar xf a -C ~",
        "tar xf a -C ~ --transform 's/a/b/'",
        "cat a | tar x -C ~",
        "tar xif a -C ~",
        "tar xf a -f b -C ~",
        'tar xf "$a" -C ~',
    ],
)
def test_an_archive_that_may_be_another_is_asked_about(command: str, tmp_path: Path) -> None:
    """A file made on the way, renamed, piped in or of unsure name is not the one that lies there."""
    assert decided(command, tar("b"), tmp_path) == ("ask", "F9")


def test_an_archive_with_links_is_not_told() -> None:
    """Behind a link a name is another: such an archive has no names that could be relied on."""
    assert archive_names.names(tar("a", links=("b",))) is None


@pytest.mark.system
def test_an_archive_that_two_programs_read_otherwise_is_not_told() -> None:
    """Something behind its end, a broken one, a bomb and a very long list tell nothing."""
    assert archive_names.names(tar("a") + tar(".bashrc")) is None
    assert archive_names.names(zipped("a")[:-4]) is None
    assert archive_names.names(b"x" * 5000) is None
    assert archive_names.names(b"") is None
    assert archive_names.names(tar(*map(str, range(archive_names.MOST + 1)))) is None
    bomb = io.BytesIO()
    with tarfile.open(fileobj=bomb, mode="w:gz") as archive:
        entry = tarfile.TarInfo("a")
        entry.size = archive_names.UNPACKED
        archive.addfile(entry, io.BytesIO(bytes(archive_names.UNPACKED)))
    assert archive_names.names(bomb.getvalue()) is None
