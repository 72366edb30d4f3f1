"""The disk of these tests: what it keeps at a power cut is no more than was made sure of, and no less."""

import os
from pathlib import Path

from tests.faults.layers import recorded
from tests.faults.rounds import Found, power_cuts

ROUNDS = 200


def outcomes(root: Path, *, after: int) -> set[tuple[str, ...]]:
    """Collect the folder's states after many power cuts that came once `after` notes had been made."""
    seen: set[tuple[str, ...]] = set()

    def look(found: Found) -> None:
        if len(found.noted) >= after:
            seen.add(
                tuple(
                    f"{each.name}: {each.read_bytes()[:3].decode()}"
                    for each in sorted(found.folder.iterdir())
                )
            )

    with recorded(root) as recording:
        change(root, recording.note)
    power_cuts(recording, ROUNDS, look)
    return seen


def change(root: Path, note: object) -> None:
    """Put another file in the place of `a`, with everything that belongs to it."""
    assert callable(note)
    (root / "b").write_text("new" * 1000)
    note("written")
    with (root / "b").open("rb") as file:
        os.fsync(file.fileno())
    note("on the disk")
    (root / "b").rename(root / "a")
    note("named")
    folder = os.open(root, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)
    note("sure")


def test_what_was_not_made_sure_of_may_be_lost_or_halved(tmp_path: Path) -> None:
    """Until it is asked for, a new file may be there, empty, in part or not at all; the old one is there until its name
    is changed, and may be until that change is sure.
    """
    root = tmp_path / "root"
    root.mkdir()
    (root / "a").write_text("old")

    assert outcomes(root, after=0) >= {("a: old",), ("a: old", "b: "), ("a: old", "b: new"), ("a: new",)}


def test_what_was_made_sure_of_is_there(tmp_path: Path) -> None:
    """A file whose content and name were asked for is there after every power cut, and a change of names is whole."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "a").write_text("old")

    assert outcomes(root, after=4) == {("a: new",)}
    (root / "a").write_text("old")
    assert outcomes(root, after=2) <= {("a: old",), ("a: old", "b: new"), ("a: new",)}
