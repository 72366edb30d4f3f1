"""Following the log and looking back in it."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from typing import Any
from uuid import UUID

from hubbub.model.errors import Conflict
from hubbub.model.ids import new_id
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Activity
from hubbub.store.engine.postgres import Postgres
from hubbub.store.log import activity
from hubbub.store.log.activity import START, Counted, Page, Position
from hubbub.store.tx import Operation, Store, Tx

HERE, THERE = new_id(), new_id()
TASK = new_id()


def record(
    kind: str, project_id: UUID = HERE, agent: str | None = None, task_id: UUID | None = None
) -> Operation[int]:
    """Write one activity and return its seq."""

    def operation(tx: Tx) -> int:
        tx.record(kind, project_id=project_id, agent=agent, task_id=task_id, detail={"n": 1, "说": "é"})
        row = tx.one("SELECT max(seq) AS seq FROM activity WHERE kind = :kind", kind=kind)
        assert row is not None
        seq: int = row["seq"]
        return seq

    return operation


def read_on(after: Position, limit: int) -> Operation[Page]:
    return lambda tx: activity.tail(tx, after, limit)


def test_a_count_of_the_log_goes_on_from_the_last(store: Store) -> None:
    """Activities that were counted are not counted again; when the oldest were dropped, all are counted anew."""

    def counted(known: Counted | None = None) -> Counted:
        return store.read_now(SYSTEM, lambda tx: activity.count(tx, HERE, known))

    assert counted().number == 0
    store.write_now(SYSTEM, record("one"))
    second = store.write_now(SYSTEM, record("two"))
    first = counted()
    store.write_now(SYSTEM, record("three"))
    store.write_now(SYSTEM, record("elsewhere", project_id=THERE))
    assert (first.number, counted(first).number, counted(first._replace(number=7)).number) == (2, 3, 8)

    place = store.read_now(SYSTEM, lambda tx: activity.position_of(tx, second))
    assert place is not None
    store.write_now(SYSTEM, lambda tx: activity.drop(tx, HERE, place, 9))
    assert counted(first) == counted() != first
    assert counted().number == 1


def kinds(activities: list[Activity]) -> list[str]:
    return [each.kind for each in activities]


def test_an_activity_is_read_as_it_was_recorded(store: Store) -> None:
    """Everything that was recorded is read again, the detail as the mapping that it was."""
    now = store.write_now(SYSTEM, lambda tx: record("task.sent", agent="小明", task_id=TASK)(tx) and tx.now)

    (read,), _ = store.read_now(SYSTEM, lambda tx: activity.tail(tx, START, 10))

    assert read == Activity(
        seq=read.seq,
        tx=read.tx,
        project_id=HERE,
        at=now,
        kind="task.sent",
        actor="hub",
        agent="小明",
        task_id=TASK,
        message_id=None,
        detail={"n": 1, "说": "é"},
    )


def test_what_is_undone_was_never_recorded(store: Store) -> None:
    """An operation that raises leaves no activity."""

    def refused(tx: Tx) -> None:
        record("never")(tx)
        raise Conflict("no")

    with ThreadPoolExecutor(1) as thread:
        assert isinstance(thread.submit(store.write_now, SYSTEM, refused).exception(), Conflict)

    assert store.read_now(SYSTEM, lambda tx: activity.tail(tx, START, 10)).activities == []
    assert store.read_now(SYSTEM, activity.head) == START


def test_the_log_is_read_page_by_page(store: Store) -> None:
    """Each page begins where the last one ended; an empty page stays where it is."""
    for number in range(5):
        store.write_now(SYSTEM, record(f"k{number}"))
    position, pages = START, []

    while True:
        page = store.read_now(SYSTEM, read_on(position, 2))
        if not page.activities:
            break
        pages.append(kinds(page.activities))
        position = page.position

    assert pages == [["k0", "k1"], ["k2", "k3"], ["k4"]]
    assert page.position == position == store.read_now(SYSTEM, activity.head)


def test_a_follower_reads_its_project_and_its_agent_only(store: Store) -> None:
    """`since` gives what happened in one project, and with an agent only what concerns that agent."""
    store.write_now(SYSTEM, record("one", agent="ann"))
    store.write_now(SYSTEM, record("elsewhere", project_id=THERE, agent="ann"))
    store.write_now(SYSTEM, record("two"))
    store.write_now(SYSTEM, record("three", agent="ann"))

    everything = store.read_now(SYSTEM, lambda tx: activity.since(tx, HERE, START, 10))
    hers = store.read_now(SYSTEM, lambda tx: activity.since(tx, HERE, START, 10, agent="ann"))
    later = store.read_now(SYSTEM, lambda tx: activity.since(tx, HERE, hers.position, 10))

    assert kinds(everything.activities) == ["one", "two", "three"]
    assert kinds(hers.activities) == ["one", "three"]
    assert later == ([], hers.position)


def test_history_is_newest_first_and_can_be_narrowed(store: Store) -> None:
    """`history` looks back from now or from an activity, in a project, by agent and by task."""
    store.write_now(SYSTEM, record("one", agent="ann", task_id=TASK))
    two = store.write_now(SYSTEM, record("two", agent="bob"))
    store.write_now(SYSTEM, record("three", agent="ann"))
    store.write_now(SYSTEM, record("elsewhere", project_id=THERE))

    def look_back(**narrowed: object) -> list[str]:
        return kinds(store.read_now(SYSTEM, lambda tx: activity.history(tx, HERE, limit=10, **narrowed)))  # type: ignore[arg-type]

    assert look_back() == ["three", "two", "one"]
    assert look_back(before=two) == ["one"]
    assert look_back(agent="ann") == ["three", "one"]
    assert look_back(agent="ann", before=two) == ["one"]
    assert look_back(task_id=TASK) == ["one"]
    assert kinds(store.read_now(SYSTEM, lambda tx: activity.history(tx, HERE, limit=2))) == ["three", "two"]


def test_a_place_in_the_log_is_found_by_seq(store: Store) -> None:
    """`position_of` finds where an activity is; of an unknown one it says None, and nothing is before it."""
    seq = store.write_now(SYSTEM, record("one"))
    store.write_now(SYSTEM, record("two"))

    position = store.read_now(SYSTEM, lambda tx: activity.position_of(tx, seq))
    assert position is not None
    assert kinds(store.read_now(SYSTEM, lambda tx: activity.tail(tx, position, 9)).activities) == ["two"]
    assert store.read_now(SYSTEM, lambda tx: activity.position_of(tx, 10**9)) is None
    assert store.read_now(SYSTEM, lambda tx: activity.history(tx, HERE, limit=10, before=10**9)) == []


def tail_by_seq_alone(tx: Tx, after: int) -> list[tuple[str, int]]:
    """Return everything with a greater number, a wrong form of `tail`."""
    rows = tx.all("SELECT kind, seq FROM activity WHERE seq > :after ORDER BY seq", after=after)
    return [(row["kind"], row["seq"]) for row in rows]


def test_a_slow_transaction_is_not_stepped_over(postgres_store: Postgres) -> None:
    """On PostgreSQL an activity with a smaller seq may be committed later: going by seq alone misses it for ever,
    going by what is settled waits for it and then gives both.
    """
    written, let_go = threading.Event(), threading.Event()

    def slow(tx: Tx) -> None:
        record("slow")(tx)
        written.set()
        let_go.wait()

    with ThreadPoolExecutor(1) as thread:
        call = thread.submit(postgres_store.write_now, SYSTEM, slow)
        written.wait()
        postgres_store.write_now(SYSTEM, record("fast"))
        naive_before = postgres_store.read_now(SYSTEM, lambda tx: tail_by_seq_alone(tx, 0))
        settled_before = postgres_store.read_now(SYSTEM, lambda tx: activity.tail(tx, START, 10))
        let_go.set()
        call.result()

    last_seen = naive_before[-1][1]
    assert [kind for kind, _ in naive_before] == ["fast"]
    assert postgres_store.read_now(SYSTEM, lambda tx: tail_by_seq_alone(tx, last_seen)) == []
    assert settled_before == ([], START)
    settled = postgres_store.read_now(SYSTEM, lambda tx: activity.tail(tx, START, 10))
    assert kinds(settled.activities) == ["slow", "fast"]


def write_pairs(store: Store, writer: int, count: int) -> None:
    """Write that many transactions of two activities each, of which every seventh is rolled back."""

    def pair(number: int) -> Operation[None]:
        def operation(tx: Tx) -> None:
            record(f"{writer}.{number}.a")(tx)
            record(f"{writer}.{number}.b")(tx)
            if number % 7 == 0:
                raise Conflict("undone")

        return operation

    for number in range(count):
        with suppress(Conflict):
            store.write_now(SYSTEM, pair(number))


def test_a_follower_misses_nothing_while_many_write(store: Store) -> None:
    """A follower that reads on and on while eight writers commit, some with several activities, some undone, sees
    each activity once.
    """
    done = threading.Event()
    seen: list[str] = []

    def follow() -> None:
        position = START
        while True:
            was_done = done.is_set()
            page = store.read_now(SYSTEM, read_on(position, 25))
            seen.extend(kinds(page.activities))
            position = page.position
            if was_done and not page.activities:
                return

    with ThreadPoolExecutor(9) as threads:
        following = threads.submit(follow)
        for call in [threads.submit(write_pairs, store, writer, 60) for writer in range(8)]:
            call.result()
        done.set()
        following.result()

    expected = {f"{w}.{n}.{part}" for w in range(8) for n in range(60) if n % 7 for part in "ab"}
    assert len(seen) == len(expected)
    assert set(seen) == expected


def test_the_log_of_a_dump_from_an_older_server_is_settled_after_migrating(own_database: str) -> None:
    """Transaction numbers of another server are forgotten, so that what was restored is read, in its order."""
    with closing(Postgres.open(own_database)) as store:
        store.write_now(SYSTEM, record("older"))
        store.write_now(SYSTEM, lambda tx: tx.run("UPDATE activity SET tx = 1"))
        store.write_now(SYSTEM, record("newer"))
        store.write_now(SYSTEM, lambda tx: tx.run("UPDATE activity SET tx = :far WHERE tx > 1", far=2**60))
        assert kinds(store.read_now(SYSTEM, lambda tx: activity.tail(tx, START, 10)).activities) == ["older"]

        Postgres.migrate(own_database)

        page = store.read_now(SYSTEM, lambda tx: activity.tail(tx, START, 10))
    assert kinds(page.activities) == ["older", "newer"]
    assert page.position == Position(0, page.activities[1].seq)


def test_a_history_is_narrowed(store: Store) -> None:
    """A history of some kinds, or of a span of time with both its ends, has nothing else in it."""
    for kind in ("one", "two", "one", "three"):
        store.write_now(SYSTEM, record(kind))

    def kinds(**narrowed: Any) -> list[str]:
        return [
            each.kind
            for each in store.read_now(SYSTEM, lambda tx: activity.history(tx, HERE, limit=9, **narrowed))
        ]

    assert kinds(kinds=["one", "three"]) == ["three", "one", "one"]
    whole = store.read_now(SYSTEM, lambda tx: activity.history(tx, HERE, limit=9))
    first, last = whole[-1].at, whole[0].at
    assert kinds(since=first, until=last) == ["three", "one", "two", "one"]
    assert kinds(since=last + 1) == kinds(until=first - 1) == []
