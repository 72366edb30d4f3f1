"""Numbers counted per project: 1, 2, 3, … for its tasks and for its messages."""

from collections.abc import Collection, Mapping
from uuid import UUID

from hubbub.store import many_rows
from hubbub.store.tx import Connection, Tx

TASKS = "task"  # the noun of their counter, which who sends one locks, and who moves the time at which one is late
LAST = 2**62  # greater than any number
RAISE = """INSERT INTO counters (project_id, noun, value) VALUES (:project_id, :noun, 1)
           ON CONFLICT (project_id, noun) DO UPDATE SET value = counters.value + 1
           RETURNING value"""
LOCK = """INSERT INTO counters (project_id, noun, value) VALUES (:project_id, :noun, 0)
          ON CONFLICT (project_id, noun) DO UPDATE SET value = counters.value"""

Counter = tuple[UUID, str]  # a project and a noun


def next_number(tx: Tx, project_id: UUID, noun: str) -> int:
    """Return the next number of `noun` in the project.

    On PostgreSQL the counter stays locked until the commit, so only the first number of a transaction reads it.
    """
    counter = project_id, noun
    last = tx.tally.last.get(counter) or tx.before.last.get(counter)
    if last is None:
        number = _raise(tx, project_id, noun)
    else:
        number = last + 1
        tx.tally.numbers[counter] += 1
    tx.tally.last[counter] = number
    return number


def lock(tx: Tx, project_id: UUID, noun: str) -> None:
    """Let no other transaction count a `noun` of the project until this one has ended, and wait for one that has."""
    if tx.db.for_update:  # SQLite has one writer
        tx.run(LOCK, project_id=project_id, noun=noun)


def _raise(tx: Tx, project_id: UUID, noun: str) -> int:
    """Raise the counter by one, and return its new value."""
    row = tx.one(RAISE, project_id=project_id, noun=noun)
    assert row is not None  # an upsert always returns a row
    return int(row["value"])


def raised_by(values: Mapping[str, object]) -> Counter:
    """Return the counter that `RAISE` raises with these values."""
    project_id, noun = values["project_id"], values["noun"]
    assert isinstance(project_id, UUID)
    return project_id, str(noun)


def lock_free(db: Connection, counters: Collection[Counter]) -> dict[Counter, int]:
    """Lock the counters that no other transaction has locked, and return their values.

    Counters that do not exist yet are left out, too; `next_number` raises those one by one.
    """
    found: dict[Counter, int] = {}
    for listed, values in many_rows.parts(sorted(counters)):
        rows = db.query(
            f"""SELECT project_id, noun, value FROM counters WHERE (project_id, noun) IN ({listed})
                {db.for_update} {db.skip_locked}""",
            values,
        )
        found |= {(row["project_id"], row["noun"]): row["value"] for row in rows}
    return found
