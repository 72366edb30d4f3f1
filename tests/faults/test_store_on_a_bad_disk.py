"""The disk is full, or does not read, write or sync, at any one call of a hub on SQLite, or at all from then on."""

import os
from collections.abc import Iterator
from contextlib import closing
from errno import EIO, ENOSPC
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from hubbub.model.errors import StoreUnavailable
from hubbub.model.people.rights import SYSTEM
from hubbub.store.engine import sqlite_writer
from hubbub.store.engine.sqlite import DATABASE, SQLite
from tests.faults.disk import Cut
from tests.faults.layers import recorded
from tests.faults.recording import Fault, Note, Recording
from tests.faults.rounds import at
from tests.faults.test_store_without_power import users
from tests.store.engine.test_engines import add_user, user_names
from tests.support.memory_folder import in_memory
from tests.support.migrated_database import migrated

LOOK = "look whether this call was kept"
FAULTS = "the disk is full|the disk could not be read or written|the database file cannot be opened"
SENTENCE = rf"^({FAULTS}|the data folder cannot be used: [\w /]+)(; (nothing .*|no backup was made|{LOOK}))?$"

every_call = pytest.mark.parametrize(
    "every", [41, pytest.param(1 if os.environ.get("ROUNDS") else 7, marks=pytest.mark.system)]
)


@pytest.fixture(autouse=True)
def checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Move all written data into the database at once, so that this can fail too."""
    monkeypatch.setattr(sqlite_writer, "CHECKPOINT_AT", 1)


class Told(NamedTuple):
    """Fates of a call and of those before it."""

    kept: tuple[str, ...]
    unknown: tuple[str, ...]


def call(recording: Recording, store: SQLite, name: str, told: Told) -> Told:
    """Write, and note what was told of it."""
    try:
        store.write_now(SYSTEM, add_user(name))
        told = told._replace(kept=(*told.kept, name))
    except StoreUnavailable as error:
        assert_is_sentence(error)
        if str(error).endswith(LOOK):
            told = told._replace(unknown=(*told.unknown, name))
    recording.note(told)
    return told


def assert_is_sentence(error: BaseException) -> None:
    with pytest.raises(type(error), match=SENTENCE):
        raise error


def open_store(recording: Recording, folder: Path) -> SQLite:
    """The store, at once or, if it says why not, when the disk is well again."""
    try:
        return SQLite.open(folder)
    except StoreUnavailable as error:
        assert_is_sentence(error)
        recording.mend()
        return SQLite.open(folder)


def told_on(root: Path, fault: Fault) -> Recording:
    """A hub that starts, writes and makes a backup on such a disk, until this is mended."""
    told = Told((), ())
    with recorded(root, fault) as recording:
        with closing(open_store(recording, root / "data")) as store:
            for name in ("ann", "bob", "cy"):
                told = call(recording, store, name, told)
            try:
                assert set(told.kept) <= set(store.read_now(SYSTEM, user_names)) <= {*told.kept}
            except StoreUnavailable as error:
                assert_is_sentence(error)
            try:
                store.backup(root / "copy.db")
            except StoreUnavailable as error:
                assert_is_sentence(error)
                assert not (root / "copy.db").exists() or users(root / "copy.db") == sorted(told.kept)
            recording.mend()
            after = call(recording, store, "zoe", told)
            assert after.kept == (*told.kept, "zoe")
            assert store.read_now(SYSTEM, user_names) == sorted(after.kept)
        recording.note(after)
    return recording


def faults(every: int, calls: int) -> Iterator[tuple[int, bool]]:
    for begin in range(0, calls, every):
        yield begin, False
        yield begin, True


@pytest.mark.parametrize("number", [ENOSPC, EIO])
@every_call
def test_an_error_of_the_disk_is_told_and_what_was_told_is_true(number: int, every: int) -> None:
    """Whichever call of the disk fails, once or from then on: the hub says so in a sentence; what it answered is there
    and what it refused is not, also if it is killed, unless it says that this is to be looked at; and it goes on
    when the disk does.
    """
    with TemporaryDirectory(dir=in_memory(), prefix="hubbub-fault-") as scratch:
        calls = told_on(migrated(Path(scratch, "count", "data")).parent, Fault(number, -1)).calls
        assert calls > 20
        for begin, stays in faults(every, calls):
            fault = Fault(number, begin, stays)
            try:
                recording = told_on(migrated(Path(scratch, f"{begin}{stays}", "data")).parent, fault)
                look_after_kills(recording, Path(scratch, f"{begin}{stays}-kills"))
            except BaseException as error:
                error.add_note(str(fault))
                raise


def look_after_kills(recording: Recording, scratch: Path) -> None:
    """See what a hub finds that starts after one that was killed when it had just told something."""
    places = [number for number, step in enumerate(recording.steps) if isinstance(step, Note)]
    for number, (place, disk, _noted) in enumerate(at(recording, places)):
        step = recording.steps[place]
        assert isinstance(step, Note)
        assert isinstance(step.said, Told)
        folder = scratch / str(number)
        folder.mkdir(parents=True)
        disk.put(folder, Cut(share=1.0))
        found = set(users(folder / "data" / DATABASE))
        assert set(step.said.kept) <= found <= {*step.said.kept, *step.said.unknown}
