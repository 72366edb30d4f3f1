"""Throughput: how many tasks end in each hour or day, and how long they had waited to be begun."""

from statistics import median
from typing import NamedTuple
from uuid import UUID

from hubbub.store.tx import Tx
from hubbub.store.work import tasks

MOST = 20_000  # ended tasks that are looked at: the last ones


class Step(NamedTuple):
    """A stretch of time from `at`, and the tasks ended in it; `waited` is their median in ms, None if none began."""

    at: int
    ended: int
    waited: int | None


class Throughput(NamedTuple):
    """The steps in which something ended, oldest first. With too many tasks it begins later than was asked."""

    since: int
    steps: list[Step]


def throughput(tx: Tx, project_id: UUID, *, since: int, until: int, step: int) -> Throughput:
    """Count the tasks that ended in each `step` of milliseconds, and take the median of their waits.

    A wait lasts from the creation of a task to the beginning of its last attempt.
    """
    found = tasks.ended_between(tx, project_id, since=since, until=until, limit=MOST + 1)
    if len(found) > MOST:
        since = (found[MOST - 1][0] // step + 1) * step  # its own step is not whole
    waits: dict[int, list[int | None]] = {}
    for ended_at, created_at, started_at in found:
        if ended_at >= since:
            wait = None if started_at is None else started_at - created_at
            waits.setdefault(ended_at // step * step, []).append(wait)
    return Throughput(since, [Step(at, len(waits[at]), _median(waits[at])) for at in sorted(waits)])


def _median(waits: list[int | None]) -> int | None:
    known = [each for each in waits if each is not None]
    return round(median(known)) if known else None
