"""Numbers counted per project: 1, 2, 3, … for its tasks and for its messages."""

from uuid import UUID

from hubbub.store.tx import Tx

LAST = 2**62  # greater than any number


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


def _raise(tx: Tx, project_id: UUID, noun: str) -> int:
    """Raise the counter by one, and return its new value."""
    row = tx.one(
        """INSERT INTO counters (project_id, noun, value) VALUES (:project_id, :noun, 1)
           ON CONFLICT (project_id, noun) DO UPDATE SET value = counters.value + 1
           RETURNING value""",
        project_id=project_id,
        noun=noun,
    )
    assert row is not None  # an upsert always returns a row
    return int(row["value"])
