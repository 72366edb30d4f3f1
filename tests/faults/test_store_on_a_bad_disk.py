"""The disk is full, or does not read, write or sync, at any one call of a hub on SQLite, or at all from then on."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from errno import EIO, ENOSPC
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from hubbub.model.errors import StoreRefused, StoreUnavailable
from hubbub.model.people.rights import SYSTEM
from hubbub.store.engine import restore, sqlite_writer
from hubbub.store.engine.sqlite import DATABASE, SQLite
from tests.faults.disk import Cut, put
from tests.faults.layers import recorded
from tests.faults.recording import Fault, Note, Recording
from tests.faults.rounds import at
from tests.faults.test_store_without_power import killed, older, state, users
from tests.store.engine.test_engines import add_user, user_names
from tests.support.memory_folder import in_memory
from tests.support.migrated_database import migrated

LOOK = "look whether this call was kept"
FAULTS = "the disk is full|the disk could not be read or written|the database file cannot be opened"
KNOWN = f"nothing .*|no backup was made|{LOOK}|{restore.LOOK}"
SENTENCE = rf"^({FAULTS}|the data folder cannot be used: [\w /]+)(; ({KNOWN}))?$"

# All of it starts hundreds of hubs.
pytestmark = pytest.mark.system
ROUNDS = bool(os.environ.get("ROUNDS"))
EVERY = 1 if ROUNDS else 7  # of the calls of the disk that fail
SELDOM = 1 if ROUNDS else 23  # of the many calls of what is done seldom


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
def test_an_error_of_the_disk_is_told_and_what_was_told_is_true(number: int) -> None:
    """Whichever call of the disk fails, once or from then on: the hub says so in a sentence; what it answered is there
    and what it refused is not, also if it is killed, unless it says that this is to be looked at; and it goes on
    when the disk does.
    """
    with TemporaryDirectory(dir=in_memory(), prefix="hubbub-fault-") as scratch:
        calls = told_on(migrated(Path(scratch, "count", "data")).parent, Fault(number, -1)).calls
        assert calls > 20
        for begin, stays in faults(EVERY, calls):
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
        put(disk.after(Cut(share=1.0)), folder)
        found = set(users(folder / "data" / DATABASE))
        assert set(step.said.kept) <= found <= {*step.said.kept, *step.said.unknown}


def each_fault(
    number: int,
    place: Path,
    tell: Callable[[Path, Recording], None],
    look: Callable[[Path], None],
) -> None:
    """Have a story told in a copy of the folder for each call of the disk that may fail in it, and look at the end."""
    with TemporaryDirectory(dir=in_memory(), prefix="hubbub-fault-") as scratch:
        whole = shutil.copytree(place, Path(scratch, "whole"))
        with recorded(whole, Fault(number, -1)) as counted:
            tell(whole, counted)
        assert counted.calls > 5
        for begin, stays in faults(SELDOM, counted.calls):
            root = shutil.copytree(place, Path(scratch, f"{begin}{stays}"))
            fault = Fault(number, begin, stays)
            try:
                with recorded(root, fault) as recording:
                    tell(root, recording)
                look(root)
            except BaseException as error:
                error.add_note(f"{fault}: {recording.failed}")
                raise


@pytest.mark.parametrize("number", [ENOSPC, EIO])
def test_a_restore_on_a_bad_disk_is_made_or_refused(number: int, tmp_path: Path) -> None:
    """Whichever call of the disk fails in a restore: a sentence says so, the hub has all of its own data or all of the
    backup, and where that is the backup its own is beside it; on a disk that is well again it is restored.
    """
    own = killed(tmp_path / "place" / "data", tmp_path / "old", "ann", "bob")
    with closing(SQLite.open(tmp_path / "other")) as store:
        store.write_now(SYSTEM, add_user("zoe"))
        store.backup(tmp_path / "place" / "copy.db")
    backed_up = state(tmp_path / "place" / "copy.db")

    def tell(root: Path, recording: Recording) -> None:
        try:
            restore.restore(root / "data", root / "copy.db")
        except (StoreUnavailable, StoreRefused) as error:
            assert_is_sentence(error)
        recording.mend()

    def look(root: Path) -> None:
        now, kept = state(root / "data" / DATABASE), [state(each) for each in root.glob("data/replaced-*.db")]
        assert now in (own, backed_up)
        assert now == own or own in kept
        assert not [*root.glob("data/.*restored*")]
        restore.restore(root / "data", root / "copy.db")
        assert state(root / "data" / DATABASE) == backed_up

    each_fault(number, tmp_path / "place", tell, look)


@pytest.mark.parametrize("number", [ENOSPC, EIO])
def test_a_migration_on_a_bad_disk_is_made_or_refused(number: int, tmp_path: Path) -> None:
    """Whichever call of the disk fails in a migration: a sentence says so, and the data is there, of the old version or
    of the new one; on a disk that is well again the hub starts with all of it.
    """
    older(tmp_path / "place" / "data", tmp_path / "old")

    def opened(root: Path, recording: Recording) -> SQLite:
        try:
            return SQLite.open(root / "data")
        except StoreUnavailable as error:
            assert_is_sentence(error)
            raise

    def tell(root: Path, recording: Recording) -> None:
        with suppress(StoreUnavailable), closing(opened(root, recording)):
            recording.mend()
        recording.mend()

    def look(root: Path) -> None:
        assert users(root / "data" / DATABASE) == ["ann"]
        with closing(SQLite.open(root / "data")) as store:
            assert store.read_now(SYSTEM, user_names) == ["ann"]

    each_fault(number, tmp_path / "place", tell, look)
