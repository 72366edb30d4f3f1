"""The meter: turns readings of clients into spending, each counted once, for an agent and its task."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple
from uuid import UUID

from hubbub.core.limits import budgets
from hubbub.core.limits.budgets import Use
from hubbub.core.work import tasks
from hubbub.model.cost.prices import Prices, usual
from hubbub.model.cost.printed_usage import Used
from hubbub.model.cost.spending import MICRO, SLICE, Measure, Reading, Source, Spending
from hubbub.model.errors import NotFound
from hubbub.model.ids import parse_id
from hubbub.model.records import Project
from hubbub.model.timestamps import milliseconds
from hubbub.store.agents import agents as agent_rows
from hubbub.store.cost import spending as rows
from hubbub.store.people import runs
from hubbub.store.tx import Tx

LATEST = timedelta(days=7)  # later readings are not counted: their marks are gone
TOTALS = timedelta(days=35)  # how long the last value of a counter is kept
SILENT = timedelta(minutes=10)  # after that another source takes over
NANO = 1_000_000  # nanoseconds in a millisecond
_SOURCES = {each: repr(each) for each in Source}


@dataclass(frozen=True, slots=True)
class Noted:
    """Result of counting readings: the number that came too late, and the new use."""

    late: int
    used: Mapping[Measure, int]


class _Whose(NamedTuple):
    """Owner of some use: an agent, its machine, a task and a run."""

    agent: str | None
    machine: str | None
    task_id: UUID | None
    run_id: UUID | None


class _Slice(NamedTuple):
    """Key under which use is summed."""

    at: int
    conversation: str
    client: str | None
    model: str
    whose: _Whose


def note(tx: Tx, project: Project, readings: Sequence[Reading], prices: Prices | None = None) -> Noted:
    """Count the use of the caller's clients, each reading once, from the channel that brings it first.

    A bound token speaks for its own agent only. New use is charged to the budgets that cover it, at the
    usual prices unless others are given.
    """
    meter = _Meter(tx, project)
    name = attrgetter("conversation")
    for conversation, own in groupby(sorted(readings, key=name), name):  # all lock in this order
        told = list(own)
        first = min(each.source for each in told)
        source = rows.hear(tx, project.id, conversation, first, silent=tx.now - milliseconds(SILENT))
        for reading in told:
            meter.take(reading, counts=reading.source == source)
    used = meter.written()
    if meter.used:
        budgets.charge(tx, project, prices or Prices({}, usual()), meter.uses())
    return Noted(meter.late, used)


def readings(
    used: Used, now: int, *, agent: str | None = None, task: str | None = None, machine: str | None = None
) -> list[Reading]:
    """Turn the use that a program printed into readings, with one total for each measure."""
    weights = {
        Measure.INPUT: used.input,
        Measure.OUTPUT: used.output,
        Measure.CACHE_READ: used.cache_read,
        Measure.CACHE_WRITTEN: used.cache_written,
    }
    if used.cost is not None:
        weights[Measure.TOLD] = round(used.cost * MICRO)
    reading = Reading(
        conversation=used.conversation,
        source=Source.REPORT,
        mark=used.id,
        at=now * NANO,
        value=1,
        weights=weights,
        model=used.model,
        client=used.client,
        machine=machine,
        agent=agent,
        task=task,
    )
    if not used.total:
        return [reading]
    return [
        replace(reading, mark=f"{used.id} {measure}", since=0, value=amount, weights={measure: 1})
        for measure, amount in weights.items()
        if amount
    ]


def forget(tx: Tx) -> None:
    """Drop the marks of readings that cannot come again."""
    rows.forget(tx, heard_before=tx.now - milliseconds(TOTALS))


@dataclass(slots=True)
class _Meter:
    """One batch of readings on its way into the store."""

    tx: Tx
    project: Project
    late: int = 0
    used: dict[_Slice, defaultdict[Measure, float]] = field(default_factory=dict)
    name: str = field(init=False)  # of the project, as a part of ids
    known: dict[tuple[object, ...], _Whose] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.name = repr(self.project.id)

    def take(self, reading: Reading, *, counts: bool) -> None:
        """Count a reading, unless it was counted before or comes too late.

        An uncounted reading is still noted: if its source takes over, counting continues from there.
        """
        at = reading.at // NANO
        if at < self.tx.now - milliseconds(LATEST):
            self.late += 1
            return
        more = self._more(reading)
        if more == 0 or not counts:
            return
        at = min(at, self.tx.now)  # the client's clock is ahead
        whose = self._whose(reading, at)
        where = _Slice(at // SLICE * SLICE, reading.conversation, reading.client, reading.model, whose)
        amounts = self.used.setdefault(where, defaultdict(float))
        for measure, weight in reading.weights.items():
            amounts[measure] += more * weight

    def uses(self) -> list[Use]:
        """Return the new use, for budgets."""
        return [
            Use(
                at=where.at,
                agent=where.whose.agent,
                task_id=where.whose.task_id,
                model=where.model,
                used={measure: round(amount) for measure, amount in amounts.items()},
            )
            for where, amounts in self.used.items()
        ]

    def written(self) -> Mapping[Measure, int]:
        """Store the new use, and return its sum for each measure."""
        everything: Counter[Measure] = Counter()
        for where, amounts in self.used.items():
            whole = {measure: round(amount) for measure, amount in amounts.items()}
            everything.update(whole)
            rows.add(
                self.tx,
                Spending(
                    id=_digest(self.name, *map(repr, where)),
                    project_id=self.project.id,
                    at=where.at,
                    conversation=where.conversation,
                    client=where.client,
                    model=where.model,
                    **where.whose._asdict(),
                    input=whole.get(Measure.INPUT, 0),
                    output=whole.get(Measure.OUTPUT, 0),
                    cache_read=whole.get(Measure.CACHE_READ, 0),
                    cache_written=whole.get(Measure.CACHE_WRITTEN, 0),
                    told=whole.get(Measure.TOLD),
                ),
            )
        return everything

    def _more(self, reading: Reading) -> float:
        """Return the uncounted part of a reading: all of it, none, or the increase of its total.

        A total below the last one belongs to a counter that was restarted.
        """
        parts = reading.mark, reading.since, reading.model
        mark = _digest(self.name, repr(reading.conversation), _SOURCES[reading.source], *map(repr, parts))
        now = rows.CountedSpending(reading.at, reading.value)
        if reading.since is None:
            forget_at = self.tx.now + milliseconds(LATEST + timedelta(days=1))
            return reading.value if rows.count_first(self.tx, mark, now, forget_at) else 0
        before = rows.counted(self.tx, mark)
        if before is not None and reading.at <= before.at:
            return 0
        rows.count(self.tx, mark, now, self.tx.now + milliseconds(TOTALS))
        return reading.value - before.total if before and before.total <= reading.value else reading.value

    def _whose(self, reading: Reading, at: int) -> _Whose:
        asked = reading.agent, reading.task, reading.machine, at
        if asked not in self.known:
            self.known[asked] = self._found(reading, at)
        return self.known[asked]

    def _found(self, reading: Reading, at: int) -> _Whose:
        """Find the owner of a reading. An agent's name from a client counts only if the project knows it."""
        tx, project_id = self.tx, self.project.id
        agent, machine = tx.actor.agent or reading.agent, reading.machine
        if agent is not None:
            is_known, hostname = agent_rows.hostname(tx, project_id, agent)
            agent, machine = agent if is_known else None, machine or hostname
        task_id, run_id = self._task(reading.task, agent, at)
        return _Whose(agent, machine, task_id, run_id or runs.id_of_current(tx, project_id))

    def _task(self, named: str | None, agent: str | None, at: int) -> tuple[UUID | None, UUID | None]:
        """Return the task that the client names, else the agent's task at that time; and its run."""
        if named is not None and (parse_id(named) is not None or tasks.is_number(named)):
            try:
                task = tasks.find(self.tx, [self.project.id], named)
            except NotFound:
                return None, None
            return task.id, task.run_id
        row = rows.task_at(self.tx, self.project.id, agent, at) if agent is not None else None
        return (row["id"], row["run_id"]) if row is not None else (None, None)


def _digest(*parts: str) -> UUID:
    """Derive an id from the parts, given as Python writes them, only the same parts give the same id."""
    text = f"({', '.join(parts)})"
    return UUID(bytes=hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16])
