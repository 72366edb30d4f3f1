"""A hub with tools that fill it fast, and one that tells for how long its event loop was held up.

Run with `python -m bench.filling DATA`: it prints its address, and serves until a signal.
"""

import asyncio
import time
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from bench import serving
from bench.serving import BENCH
from hubbub.core import access, agents, endings, inbox, messages, presences, tasks, verbs
from hubbub.dialects.dialect import Reply
from hubbub.model.lifecycle import Event, Status
from hubbub.model.records import Condition, Profile, Project
from hubbub.store import messages as rows
from hubbub.store.tx import Tx

LONG = "hoarder"  # who has half of all open tasks in its inbox
OTHERS = 100  # who share the other half
STAYS = timedelta(days=1)
TEXT = "Count the words of every chapter\n" + "and say which is the longest. " * 10
DISTANCE = 10_000  # of the numbers of two copies
PAUSE = 0.005  # seconds between two marks of the loop

_COPIES = """WITH RECURSIVE copies (copy) AS (VALUES (1) UNION ALL SELECT copy + 1 FROM copies WHERE copy < :times)
             INSERT INTO {table} ({columns}) SELECT {values} FROM {table} AS old CROSS JOIN copies WHERE {which}"""


class Copied(NamedTuple):
    """Rows of a table that are copied: which, and what is another in each copy."""

    table: str
    which: str
    another: dict[str, str]


ANOTHER = {"id": "randomblob(16)", "number": "number + copy * :distance"}
COPIED = (
    Copied("tasks", "project_id = :project_id AND ended_at IS NOT NULL", ANOTHER),
    Copied("messages", "project_id = :project_id", ANOTHER),
    Copied("deliveries", "project_id = :project_id AND acked_at IS NOT NULL", {"id": "randomblob(16)"}),
    Copied("activity", "project_id = :project_id AND kind = 'task.completed'", {"patch": "NULL"}),
)


def _staffed(tx: Tx) -> Project:
    """The project, which knows whoever is sent tasks."""
    project = access.enter(tx)
    for name in (LONG, *(f"worker-{place}" for place in range(OTHERS))):
        agents.meet(tx, project.id, name)
    return project


@BENCH.tool()
def fill(tx: Tx, first: int, number: int) -> Reply:
    """So many open tasks more: half of them in one inbox."""
    project = _staffed(tx)
    for place in range(first, first + number):
        to = LONG if place % 2 else f"worker-{place // 2 % OTHERS}"
        tasks.send(tx, project.id, sender="hub", to=to, text=TEXT)
    return {}


@BENCH.tool()
def end(tx: Tx, number: int) -> Reply:
    """So many tasks that were done, and a message for each; the first of their project."""
    project = _staffed(tx)
    for place in range(number):
        who = f"worker-{place % OTHERS}"
        task = tasks.send(tx, project.id, sender="hub", to=who, text=TEXT)
        task = verbs.start(tx, verbs.accept(tx, task, who), who)
        endings.end(tx, task, Event.COMPLETE, by=who, text="Done.", result="All tests pass.")
        messages.send(tx, project.id, sender=who, to=LONG, body=TEXT)
    for name in (LONG, "hub"):
        for letter in inbox.read(tx, project.id, name, 2 * number):
            rows.ack(tx, letter.delivery.id)
    return {}


@BENCH.tool()
def multiply(tx: Tx, made: int, times: int) -> Reply:
    """What `end` made, so many times more, in the tables of SQLite; between the numbers of copies there are gaps."""
    project = access.enter(tx)
    for each in COPIED:
        rows = tx.all(f"SELECT name FROM pragma_table_info('{each.table}')")
        names = [row["name"] for row in rows if (each.table, row["name"]) != ("activity", "seq")]
        sql = _COPIES.format(
            table=each.table,
            columns=", ".join(names),
            values=", ".join(each.another.get(name, f"old.{name}") for name in names),
            which=each.which,
        )
        tx.run(sql, project_id=project.id, times=times, distance=DISTANCE)
    tx.tally.tasks[project.id, Status.COMPLETED] += made * times
    tx.run(
        "UPDATE counters SET value = value * (:times + 1) WHERE project_id = :id", times=times, id=project.id
    )
    return {}


@BENCH.tool()
def gather(tx: Tx, first: int, number: int) -> Reply:
    """So many agents are there."""
    project_id = access.enter(tx).id
    for name in (f"bee-{place}" for place in range(first, first + number)):
        _come(tx, project_id, name)
    return {}


def _come(tx: Tx, project_id: UUID, name: str) -> None:
    profile = Profile(doing="reads the plan", hostname="rack", runtime="codex")
    agents.meet(tx, project_id, name)
    presences.report(
        tx, project_id, name, instance=name, condition=Condition.IDLE, profile=profile, ttl=STAYS
    )


class Late:
    """For how long the loop was held up by the hub, not by other work of the machine, since it was asked last."""

    def __init__(self) -> None:
        self._longest, self._marking = 0.0, False

    def ask(self) -> float:
        if not self._marking:
            self._marking = True
            self._keep = asyncio.get_running_loop().create_task(self._mark())
        longest, self._longest = self._longest, 0.0
        return longest

    async def _mark(self) -> None:
        while True:
            begun, used = time.perf_counter(), time.process_time()
            await asyncio.sleep(PAUSE)
            late, used = time.perf_counter() - begun - PAUSE, time.process_time() - used
            self._longest = max(self._longest, min(late, used))


LATE = Late()


@BENCH.tool(reads=True)
def pause(_tx: Tx) -> Reply:
    """The longest pause of the event loop since this was asked last, in milliseconds."""
    return {"longest": LATE.ask() * 1e3}


if __name__ == "__main__":
    serving.main()
