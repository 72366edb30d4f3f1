"""Copies of ended tasks and their messages, straight into the tables of SQLite, while no hub has them open.

A task takes seven rows and some thirty entries of indexes; by the hub ten million of them would take most of a day. The
copies are as if made earlier, one after the other, and their texts are cut, so that a disk has room for them.
"""

import shutil
import sys
import time
from collections.abc import Mapping
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import apsw

from hubbub.model.lifecycle import Status
from hubbub.model.timestamps import milliseconds

AGE = timedelta(days=300)  # of the first copy
AT_ONCE = 50  # copies of the model in one transaction
ROOM = 12_000_000_000  # bytes of the disk that are left free
QUICK = {"journal_mode": "OFF", "synchronous": "OFF", "cache_size": -800_000, "temp_store": "MEMORY"}
CUT = {"description": 120, "body": 120}  # characters of the texts

_COPIES = """WITH RECURSIVE copies (copy) AS (
                 VALUES (:first) UNION ALL SELECT copy + 1 FROM copies WHERE copy + 1 < :first + :times)
             INSERT INTO {table} ({columns}) SELECT {values} FROM copies CROSS JOIN {table} AS old WHERE {which}"""
_ANOTHER_ID = (
    "unhex(printf('%012x', :moment + copy) || substr(nullif(hex(old.{name}), ''), 13))"  # of another time
)


class Copied(NamedTuple):
    """Rows of a table to copy: which ones, the columns that differ in each copy, and those left empty."""

    table: str
    noun: str
    which: str
    ids: tuple[str, ...]
    left_out: tuple[str, ...] = ()


COPIED = (
    Copied("tasks", "task", "id >= :oldest AND ended_at IS NOT NULL", ("id", "delivery_id")),
    Copied("messages", "message", "id >= :oldest", ("id", "in_reply_to")),
    Copied("deliveries", "", "id >= :oldest AND acked_at IS NOT NULL", ("id", "task_id", "message_id")),
    Copied("activity", "", "seq <= :last AND kind = 'task.completed'", ("task_id",), ("seq", "patch")),
)


class Model(NamedTuple):
    """The source of a copy: its project and start time, the end of its log, and the number of rows of each noun."""

    project: UUID
    begun: int
    last: int
    counted: Mapping[str, int]


def multiply(file: Path, model: Model, times: int) -> None:
    """Make so many copies of the model."""
    with closing(apsw.Connection(str(file))) as db:
        for name, value in QUICK.items():
            db.pragma(name, value)
        statements = [_statement(db, each, model.counted) for each in COPIED]
        begun = time.perf_counter()
        for first in range(1, times + 1, AT_ONCE):
            if shutil.disk_usage(file.parent).free < ROOM:
                raise RuntimeError("the disk is too small for so many copies")
            here = min(AT_ONCE, times + 1 - first)
            with db:
                for statement in statements:
                    db.execute(statement, _given(model, first, here))
                _count(db, model, here)
            if first // AT_ONCE % 20 == 0:
                print(f"{first:,} copies, {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
        db.pragma("journal_mode", "WAL")


def _statement(db: apsw.Connection, each: Copied, counted: Mapping[str, int]) -> str:
    """Return the statement that copies the rows of a table."""
    other = {name: _ANOTHER_ID.format(name=name) for name in each.ids}
    other |= {name: f"substr(old.{name}, 1, {most})" for name, most in CUT.items()}
    other["number"] = f"old.number + copy * {counted.get(each.noun, 0)}"
    found = db.execute("SELECT name FROM pragma_table_info(?)", (each.table,))
    names = [str(name) for (name,) in found if name not in each.left_out]
    return _COPIES.format(
        table=each.table,
        columns=", ".join(names),
        values=", ".join(other.get(name, f"old.{name}") for name in names),
        which=each.which,
    )


def _given(model: Model, first: int, times: int) -> dict[str, Any]:
    return {
        "moment": model.begun - milliseconds(AGE),
        "oldest": (model.begun << 80).to_bytes(16),
        "last": model.last,
        "first": first,
        "times": times,
    }


def _count(db: apsw.Connection, model: Model, times: int) -> None:
    """Add the copies to the counters that writers keep."""
    for noun, number in model.counted.items():
        db.execute(
            "UPDATE counters SET value = value + ? WHERE project_id = ? AND noun = ?",
            (number * times, model.project.bytes, noun),
        )
    db.execute(
        "UPDATE task_tally SET tasks = tasks + ? WHERE project_id = ? AND status = ?",
        (model.counted["task"] * times, model.project.bytes, str(Status.COMPLETED)),
    )
