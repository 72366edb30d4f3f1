"""The disk is full, or does not read, write or sync, when a file is written: at any one call, or from then on."""

from collections.abc import Callable, Iterator, Sequence
from errno import EIO, ENOSPC
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

import pytest

from hubbub.model.errors import HubError
from hubbub.model.ids import new_id
from hubbub.node.audit import audit_log as audit
from hubbub.node.audit.audit_log import AuditFailed, AuditLog
from hubbub.node.link.journal import CallStanding, Journal, JournalFailed
from tests.faults.layers import recorded
from tests.faults.recording import Fault, Recording
from tests.faults.test_files_without_power import WRITINGS, decide
from tests.support.memory_folder import in_memory

both_errors = pytest.mark.parametrize("number", [ENOSPC, EIO])


def each_failing(number: int, tell: Callable[[Recording, Path], object]) -> None:
    """Have a story told again and again in a new folder, with each of its calls of the disk failing once."""
    with TemporaryDirectory(dir=in_memory(), prefix="hubbub-fault-") as scratch:
        for fault, root in _faults(number, tell, Path(scratch)):
            root.mkdir()
            try:
                with recorded(root, fault) as recording:
                    tell(recording, root)
            except BaseException as error:
                error.add_note(f"{fault}: {recording.failed}")
                raise


def _faults(
    number: int, tell: Callable[[Recording, Path], object], scratch: Path
) -> Iterator[tuple[Fault, Path]]:
    whole = scratch / "whole"
    whole.mkdir()
    with recorded(whole, Fault(number, -1)) as recording:
        tell(recording, whole)
    assert recording.calls
    for begin in range(recording.calls):
        for stays in (False, True):
            yield Fault(number, begin, stays), scratch / f"{begin}{stays}"


def mended(recording: Recording) -> None:
    """Let the disk be well from now on, unless only its calls are counted."""
    if recording.fault is not None and recording.fault.begin >= 0:
        recording.mend()


def states(steps: Sequence[Callable[[Path], object]], read: Callable[[Path], object]) -> list[object]:
    """Read the state at first and after each step, on a disk without errors."""
    with TemporaryDirectory() as scratch:
        seen = [read(Path(scratch))]
        for step in steps:
            step(Path(scratch))
            seen.append(read(Path(scratch)))
    return seen


@both_errors
@pytest.mark.parametrize("what", WRITINGS)
def test_a_file_that_cannot_be_written_stays_as_it_was(what: str, number: int) -> None:
    """Whichever call of the disk fails, an error says so, the file is the old one or the new one and nothing else lies
    there; and when the disk is well again it is written.
    """
    steps, read = WRITINGS[what]
    expected = states(steps, read)

    def tell(recording: Recording, root: Path) -> None:
        for place, step in enumerate(steps):
            try:
                step(root)
            except (OSError, HubError):
                mended(recording)
                assert read(root) in expected[place : place + 2]
                if read(root) != expected[place + 1]:
                    step(root)
        mended(recording)
        assert read(root) == expected[-1]
        assert not [each for each in root.rglob(".*") if len(each.suffix) == 9]

    each_failing(number, tell)


@pytest.mark.system
@both_errors
def test_nothing_is_done_that_cannot_be_written_down(number: int) -> None:
    """When the audit log cannot take a line, a sentence says so, the call is not done, and the log holds nothing of it;
    it goes on when the disk does, and passes its check.
    """

    def tell(recording: Recording, root: Path) -> None:
        log, told, refusals = AuditLog(root / "machine" / audit.FILE), list[int](), set[str]()
        for count in range(4):
            try:
                told.append(decide(log, count))
            except AuditFailed as error:
                refusals.add(str(error).partition(":")[0])
        mended(recording)
        again = decide(log, 9)
        assert told == sorted(set(told))
        assert refusals <= {"the audit log cannot be written"}
        assert again > max(told, default=0)
        assert audit.verify(root / "machine" / audit.FILE) == []
        calls = {f"{each} {audit.FILE}" for each in ("open", "create", "read", "write", "sync")}
        if calls.issuperset(recording.failed):  # else it was written and not sealed, or cannot be taken back
            assert (root / "machine" / audit.FILE).read_text().count("\n") == len(told) + 1

    each_failing(number, tell)


@pytest.mark.system
@both_errors
def test_no_order_begins_that_cannot_be_written_down(number: int) -> None:
    """A journal that cannot be opened, read or written is named in a sentence; orders that had begun are known when the
    disk is well again.
    """

    def tell(recording: Recording, root: Path) -> None:
        file, begun, journal = root / "machine" / "orders.db", list[UUID](), None
        refusals = set[str]()
        try:
            journal = Journal(file)
            for order in [new_id() for _ in range(3)]:
                assert journal.begin([order]) == [CallStanding.NEW]
                begun.append(order)
                journal.end(order, "ended")
        except JournalFailed as error:
            refusals.add(str(error).partition(":")[0])
        mended(recording)
        assert refusals <= {"the journal of orders cannot be used"}
        again = journal or Journal(file)
        assert all(each is not CallStanding.NEW for each in (again.begin(begun) if begun else []))
        again.close()

    each_failing(number, tell)
