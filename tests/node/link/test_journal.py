"""The journal of a machine: what it remembers of orders, whatever happens to its process."""

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from uuid import UUID

import pytest

from hubbub.model.ids import new_id
from hubbub.node.link.journal import FILE, CallStanding, Journal, JournalFailed, JournalLimits


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / FILE


def ids(count: int) -> list[UUID]:
    """Ids, in the order of their making."""
    return [new_id() for _ in range(count)]


def test_an_order_is_new_once(file: Path) -> None:
    """An order may not begin a second time, whether it comes again at once, later, or to the next process."""
    order = new_id()
    journal = Journal(file)
    assert journal.begin([order, order]) == [CallStanding.NEW, CallStanding.BEGUN]
    assert journal.begin([order]) == [CallStanding.BEGUN]
    journal.close()

    assert Journal(file).begin([order]) == [CallStanding.BEGUN]


def test_an_outcome_is_kept_until_the_hub_has_it(file: Path) -> None:
    """It survives the process, goes when it is safe, and the order may not begin again after that either."""
    order = new_id()
    journal = Journal(file)
    journal.begin([order])
    journal.end(order, "it is done")
    journal.close()

    journal = Journal(file)
    assert journal.find(order) == (CallStanding.ENDED, "it is done")
    assert journal.of_standing(CallStanding.ENDED) == [order]
    journal.keep(order)
    assert journal.find(order) == (CallStanding.PAST, None)
    assert journal.begin([order]) == [CallStanding.PAST]


def test_what_has_not_ended_cannot_be_kept_and_what_has_ended_ends_once(file: Path) -> None:
    """A hub that thanks for what is under way changes nothing; a second outcome does not replace the first."""
    order = new_id()
    journal = Journal(file)
    journal.begin([order])
    journal.keep(order)
    assert journal.of_standing(CallStanding.BEGUN) == [order]

    journal.end(order, "first")
    journal.end(order, "second")
    assert journal.find(order) == (CallStanding.ENDED, "first")


def test_the_outcome_of_an_order_that_never_began_is_nothing(file: Path) -> None:
    """Nothing is known of it afterwards, and it may begin."""
    order = new_id()
    journal = Journal(file)
    journal.end(order, "x")
    journal.keep(order)
    assert journal.find(order) == (CallStanding.PAST, None)
    assert journal.begin([order]) == [CallStanding.NEW]


def test_what_is_forgotten_may_never_begin_again(file: Path) -> None:
    """The horizon rises with the oldest that are forgotten: what is not greater comes too late, known or not."""
    unseen, *orders = ids(6)
    journal = Journal(file, JournalLimits(remembered=3))
    for each in orders:
        journal.begin([each])
        journal.end(each, "x")

    assert journal.begin([unseen, *orders]) == [CallStanding.PAST] * 3 + [CallStanding.ENDED] * 3
    journal.close()
    assert Journal(file).begin([unseen, new_id()]) == [CallStanding.PAST, CallStanding.NEW]


def test_what_is_under_way_is_never_forgotten(file: Path) -> None:
    """However many come after it, it is known that it has begun."""
    long, *orders = ids(100)
    journal = Journal(file, JournalLimits(remembered=3))
    journal.begin([long])
    for each in orders:
        journal.begin([each])
        journal.end(each, "x")

    assert journal.begin([long]) == [CallStanding.BEGUN]
    assert journal.of_standing(CallStanding.BEGUN) == [long]
    assert len(journal.of_standing(CallStanding.ENDED)) < 40


def test_an_id_from_the_far_future_keeps_nothing_out(file: Path) -> None:
    """A hub whose clock ran hours ahead and was set right goes on at once: the horizon is no time, but an id."""
    ahead = [UUID(int=each.int + (10**8 << 80)) for each in ids(2)]  # more than a day
    journal = Journal(file, JournalLimits(remembered=2))
    for each in ahead:
        assert journal.begin([each]) == [CallStanding.NEW]
        journal.end(each, "x")
    for each in ids(5):
        assert journal.begin([each]) == [CallStanding.NEW]
        journal.end(each, "x")
    assert journal.begin(ahead) == [CallStanding.ENDED] * 2


@pytest.mark.parametrize(
    "limits", [JournalLimits(kept=2), JournalLimits(characters=200)], ids=["number", "length"]
)
def test_a_hub_that_keeps_nothing_fills_no_disk(file: Path, limits: JournalLimits) -> None:
    """Beyond so many outcomes, or so much in them, the oldest make way; that they have ended is still known."""
    orders = ids(5)
    journal = Journal(file, limits)
    journal.begin(orders)
    for each in orders:
        journal.end(each, "x" * 100)

    assert [journal.find(each)[1] is not None for each in orders] == [False] * 3 + [True] * 2
    assert journal.of_standing(CallStanding.ENDED) == orders


def test_the_file_shrinks_when_outcomes_go(file: Path) -> None:
    """Kept outcomes leave no room behind, and nobody else may read them."""
    orders = ids(50)
    journal = Journal(file)
    journal.begin(orders)
    for each in orders:
        journal.end(each, "x" * 100_000)
    for each in orders:
        journal.keep(each)
    journal.close()

    assert file.stat().st_size < 500_000  # of five million
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_second_process_is_turned_away(file: Path) -> None:
    """Two that were one machine would do everything twice."""
    first = Journal(file)
    script = f"from hubbub.node.link.journal import Journal\nfrom pathlib import Path\nJournal(Path({str(file)!r}))"

    second = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)

    assert "JournalFailed: the journal of orders is in use" in second.stderr
    first.close()


def test_a_journal_that_is_none_is_said_to_be_so(file: Path) -> None:
    """An unreadable journal is no reason to begin anew: everything in it would be done again."""
    file.parent.mkdir()
    file.write_bytes(b"no database at all " * 100)

    with pytest.raises(JournalFailed, match="cannot be used"):
        Journal(file)


def test_what_has_begun_is_known_after_kill_9(file: Path) -> None:
    """A process that is killed right after it wrote an id down has written it down."""
    order = new_id()
    script = f"""
from pathlib import Path
from uuid import UUID
from hubbub.node.link.journal import Journal
journal = Journal(Path({str(file)!r}))
journal.begin([UUID({str(order)!r})])
print("begun", flush=True)
input()
"""
    child = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "begun\n"
    child.send_signal(signal.SIGKILL)
    child.communicate()

    journal = Journal(file)
    assert journal.of_standing(CallStanding.BEGUN) == [order]
    assert journal.begin([order]) == [CallStanding.BEGUN]


def test_what_has_begun_is_on_the_disk_and_not_only_in_the_system(file: Path) -> None:
    """The id is synchronised before it begins; outcomes, of which the hub is told anyway, may wait."""
    calls: list[str] = []
    journal = Journal(file)
    journal._db.trace_v2(1, lambda event: calls.append(event["sql"]))  # SQLITE_TRACE_STMT
    journal.begin([new_id()])
    assert "PRAGMA synchronous = FULL" in calls
    journal.close()
    with sqlite3.connect(file) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
