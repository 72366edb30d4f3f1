"""The core against a small model of it: whatever agents do, in whatever order, both agree on what is the case.

The model is in `told`. Hypothesis makes up stories; after each step statuses, inboxes, counts and presences are
compared, and at the end of a story the log and every row that was ever delivered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar, cast
from uuid import UUID

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from hubbub.core import expiry
from hubbub.core.actions import completion_reports, inbox, task_actions
from hubbub.core.agents import agents
from hubbub.core.mail import messages
from hubbub.core.people import projects
from hubbub.core.presence import presences
from hubbub.core.work import task_search, tasks
from hubbub.model.errors import HubError, NotYours
from hubbub.model.ids import new_id
from hubbub.model.lifecycle import Event, Status
from hubbub.model.people.rights import HUB, SYSTEM
from hubbub.model.records import Condition, Letter, Priority, Profile
from hubbub.model.work.permissions import VerbManner
from hubbub.store.engine.postgres import Postgres
from hubbub.store.log import activity
from hubbub.store.tx import Operation, Store, Tx
from tests.conftest import MovableClock
from tests.core.reference_world import CREW, MINUTE, Job, Model, Refused

T = TypeVar("T")


class TickingClock(MovableClock):
    """A clock that stands still, but for a millisecond with each look: so no two transactions have the same time."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 1_800_000_000_000

    def __call__(self) -> int:
        self._now += 1
        return self._now

    def advance(self, duration: timedelta) -> None:
        self._now += duration // timedelta(milliseconds=1)


names = st.sampled_from(CREW)
speakers = st.sampled_from((*CREW, HUB))
picks = st.integers(0, 1_000)
mostly_its_holder = st.sampled_from((None, None, None, None, *CREW))
leases = st.booleans()


class Story(RuleBasedStateMachine):
    """One project, from its making on. Each rule does the same thing in the core and in the model."""

    def __init__(self, store: Store, clock: TickingClock) -> None:
        super().__init__()
        self.store, self.clock = store, clock
        self.model = Model()
        self.epochs: dict[UUID, int] = {}
        self.project_id = self.run(lambda tx: projects.create(tx, f"story-{new_id()}").id)
        for name in CREW:
            self.run(partial(agents.meet, project_id=self.project_id, name=name))

    def run(self, operation: Operation[T]) -> T:
        return self.store.write_now(SYSTEM, operation)

    @contextmanager
    def both(self, operation: Callable[[Tx], object]) -> Iterator[tuple[Model, Any]]:
        """Do it in the core, and then, on a copy of the model, in the body; both must be refused, or neither."""
        looked: list[int] = []

        def settled(tx: Tx) -> object:
            looked.append(tx.now)
            expiry.settle(tx)
            return operation(tx)

        try:
            outcome, refusal = self.run(settled), None
        except HubError as error:
            outcome, refusal = None, type(error).__name__
        trial = deepcopy(self.model)
        trial.now = looked[-1]
        trial.settle()
        expected = None
        try:
            yield trial, outcome
        except Refused as refused:
            expected = str(refused)
        assert refusal == expected
        if refusal is None:
            self.model = trial

    def pick(self, number: int) -> UUID:
        known = list(self.model.jobs)
        return known[number % len(known)]

    def letters(self, name: str) -> list[Letter]:
        return self.run(partial(inbox.read, project_id=self.project_id, recipient=name, limit=1000))

    def whom(self, job_id: UUID, by: str | None) -> str:
        """Return the name given, else the task's assignee."""
        return by or self.model.jobs[job_id].holder or "bob"

    def on(
        self, job_id: UUID, operation: Callable[..., object], *args: object, **more: object
    ) -> Operation[Any]:
        return lambda tx: operation(
            tx, tasks.find(tx, [self.project_id], str(job_id), lock=True), *args, **more
        )

    @initialize()
    def begin(self) -> None:
        """Two agents are there, and everybody has something to do, some of it only when something else is done."""
        for name in ("ann", "bob"):
            self.report(name=name, program="first", condition=Condition.IDLE)
        errands: tuple[tuple[str | None, list[int]], ...]
        errands = (("bob", []), (None, []), ("ann", [0]), ("bob", [1, 0]), (None, [2]))
        for to, needs in errands:
            self.send(sender="代码1号", to=to, urgency=Priority.MEDIUM, minutes=60, parent=0, needs=needs)

    @rule(
        sender=speakers,
        to=st.none() | names,
        urgency=st.sampled_from(Priority),
        minutes=st.sampled_from((None, 20, 60)),
        parent=st.none() | picks,
        needs=st.lists(picks, max_size=2),
    )
    def send(
        self,
        *,
        sender: str,
        to: str | None,
        urgency: Priority,
        minutes: int | None,
        parent: int | None,
        needs: list[int],
    ) -> None:
        above = self.pick(parent) if parent is not None and self.model.jobs else None
        needed = tuple(self.pick(number) for number in needs) if self.model.jobs else ()
        ttl = timedelta(minutes=minutes) if minutes else None

        def operation(tx: Tx) -> object:
            return tasks.send(
                tx,
                self.project_id,
                sender=sender,
                to=to,
                text="count",
                priority=urgency,
                ttl=ttl,
                parent=str(above) if above else None,
                needs=[tasks.find(tx, [self.project_id], str(need)) for need in needed],
            )

        with self.both(operation) as (model, task):
            due = model.now + minutes * MINUTE if minutes else None
            made = Job(sender, to, to is not None, int(urgency), above, "queued", due, model.now, needed)
            model.send(task.id, made)

    @rule(sender=speakers, to=speakers)
    def write(self, sender: str, to: str) -> None:
        with self.both(lambda tx: messages.send(tx, self.project_id, sender=sender, to=to, body="hello")) as (
            model,
            _,
        ):
            model.put(to, 2, ("message", sender))

    @rule(to=st.sets(names))
    def broadcast(self, to: set[str]) -> None:
        with self.both(
            lambda tx: messages.broadcast(tx, self.project_id, sender=HUB, body="hello", recipients=to)
        ) as (model, _):
            for name in sorted(to):
                model.put(name, 2, ("broadcast", HUB))

    @rule(name=names)
    def read(self, name: str) -> None:
        with self.both(lambda tx: inbox.note_seen(tx, inbox.read(tx, self.project_id, name, 1000))):
            """Reading changes nothing."""

    @rule(number=picks)
    def ack(self, number: int) -> None:
        inboxes = {name: self.letters(name) for name in self.model.items}
        waiting = [
            (name, place, letter.delivery.id)
            for name, letters in inboxes.items()
            for place, letter in enumerate(letters)
        ]
        if not waiting:
            return
        name, place, row_id = waiting[number % len(waiting)]
        ref = str(row_id)
        item = self.model.pending(name)[place].place
        with self.both(lambda tx: inbox.ack(tx, self.project_id, name, ref)) as (model, _):
            (mine,) = [each for each in model.items[name] if each.place == item]
            if mine.job is None:
                mine.fate = "acked"
            elif model.jobs[mine.job].status == "delivered":
                model.accept(mine.job, name, leased=True)
            else:
                model.take_out(mine.job, "acked")

    @precondition(lambda self: self.model.jobs)
    @rule(number=picks, named=mostly_its_holder, leased=leases)
    def accept(self, number: int, named: str | None, leased: bool) -> None:
        job_id = self.pick(number)
        by = self.whom(job_id, named)
        with self.both(self.on(job_id, task_actions.accept, by, leased=leased)) as (model, _):
            model.accept(job_id, by, leased)

    @precondition(lambda self: self.model.jobs)
    @rule(number=picks, named=mostly_its_holder, leased=leases)
    def start(self, number: int, named: str | None, leased: bool) -> None:
        job_id = self.pick(number)
        by = self.whom(job_id, named)
        with self.both(self.on(job_id, task_actions.start, by, leased=leased, is_read=False)) as (model, _):
            model.start(job_id, by, leased)

    @precondition(lambda self: self.model.jobs)
    @rule(number=picks, is_blocked=st.booleans())
    def pause(self, number: int, is_blocked: bool) -> None:
        job_id = self.pick(number)
        with self.both(self.on(job_id, tasks.step, Event.BLOCK if is_blocked else Event.SUBMIT)) as (
            model,
            _,
        ):
            sources = ("accepted", "working") if is_blocked else ("working",)
            model.step(job_id, sources, "blocked" if is_blocked else "in_review")

    @precondition(lambda self: self.model.jobs)
    @rule(number=picks, by=speakers, how=st.sampled_from((Event.COMPLETE, Event.FAIL, Event.CANCEL)))
    def end(self, number: int, by: str, how: Event) -> None:
        job_id = self.pick(number)
        status, ended = {
            Event.COMPLETE: ("completed", partial(task_actions.complete, result="end")),
            Event.FAIL: ("failed", partial(task_actions.fail, reason="end")),
            Event.CANCEL: ("cancelled", partial(task_actions.cancel, reason="end")),
        }[how]
        with self.both(self.on(job_id, ended, by=by, manner=VerbManner.BOARD)) as (model, _):
            model.end(job_id, status, by, "end")

    @precondition(lambda self: self.model.jobs)
    @rule(number=picks, named=mostly_its_holder)
    def complete(self, number: int, named: str | None) -> None:
        job_id = self.pick(number)
        by = self.whom(job_id, named)
        with self.both(
            lambda tx: completion_reports.report(tx, self.project_id, by, task=str(job_id), result="done")
        ) as (model, _):
            if model.jobs[job_id].holder != by:
                raise Refused(NotYours.__name__)
            if not model.jobs[job_id].is_over and model.jobs[job_id].status != "queued":
                model.end(job_id, "completed", by, "done")

    @precondition(lambda self: self.model.jobs)
    @rule(number=picks)
    def retry(self, number: int) -> None:
        job_id = self.pick(number)
        with self.both(self.on(job_id, task_actions.retry, by="ann", ttl=timedelta(hours=1))) as (model, _):
            model.retry(job_id, model.now + 60 * MINUTE)

    @precondition(lambda self: self.model.jobs)
    @rule(number=picks, to=names)
    def reassign(self, number: int, to: str) -> None:
        job_id = self.pick(number)
        with self.both(self.on(job_id, task_actions.reassign, to=to, by="ann")) as (model, _):
            model.reassign(job_id, to, "ann")

    @precondition(lambda self: self.model.jobs)
    @rule(number=picks)
    def put_back(self, number: int) -> None:
        job_id = self.pick(number)
        with self.both(self.on(job_id, task_actions.reopen, by="ann")) as (model, _):
            model.put_back(job_id, "ann")

    @precondition(lambda self: self.model.jobs)
    @rule(number=picks, to=names)
    def pass_on(self, number: int, to: str) -> None:
        job_id = self.pick(number)
        with self.both(self.on(job_id, task_actions.reassign, to=to, by="ann", manner=VerbManner.BOARD)) as (
            model,
            _,
        ):
            model.pass_on(job_id, to, "ann")

    @precondition(lambda self: self.model.jobs)
    @rule(
        number=picks, goal=st.sampled_from((Status.WORKING, Status.BLOCKED, Status.IN_REVIEW)), leased=leases
    )
    def move(self, number: int, goal: Status, leased: bool) -> None:
        job_id = self.pick(number)
        moves: dict[Status, Callable[..., object]] = {
            Status.WORKING: partial(task_actions.start, leased=leased),
            Status.BLOCKED: partial(task_actions.block, leased=leased),
            Status.IN_REVIEW: task_actions.submit,
        }
        with self.both(self.on(job_id, moves[goal], by="ann", manner=VerbManner.BOARD)) as (model, _):
            model.move(job_id, goal, leased if goal is not Status.IN_REVIEW else None, "ann")

    @rule(
        name=names,
        program=st.sampled_from(("first", "second")),
        condition=st.sampled_from((Condition.IDLE, Condition.WORKING, Condition.OFFLINE)),
    )
    def report(self, name: str, program: str, condition: Condition) -> None:
        def operation(tx: Tx) -> object:
            return presences.report(
                tx,
                self.project_id,
                name,
                instance=program,
                condition=condition,
                profile=Profile(),
                ttl=timedelta(minutes=10),
            )

        with self.both(operation) as (model, _):
            model.report(name, program, condition is Condition.OFFLINE)

    @rule(minutes=st.sampled_from((3, 7, 11, 61)))
    def wait(self, minutes: int) -> None:
        self.clock.advance(timedelta(minutes=minutes))
        with self.both(lambda _tx: None):
            """What is overdue is settled on the way."""

    @invariant()
    def tasks_are_as_told(self) -> None:
        """Every task is in the status, the hands and the epoch that the story gave it, and epochs only rise."""
        found = self.run(lambda tx: task_search.search(tx, [self.project_id], limit=10_000))
        core = {
            t.id: (str(t.status), t.assignee, t.addressed, t.leased, t.epoch, t.attempt, t.result)
            for t in found
        }
        model = {
            job_id: (j.status, j.holder, j.addressed, j.leased, j.epoch, j.attempt, j.result)
            for job_id, j in self.model.jobs.items()
        }
        assert core == model
        assert {t.id: t.expires_at for t in found} == {
            job_id: job.due for job_id, job in self.model.jobs.items()
        }
        assert all(task.epoch >= self.epochs.get(task.id, 0) for task in found)
        self.epochs = {task.id: task.epoch for task in found}

    @invariant()
    def inboxes_are_as_told(self) -> None:
        """Each inbox holds what was sent and not yet acknowledged or withdrawn, in its order, and counts it."""

        def look(tx: Tx) -> dict[str, tuple[list[tuple[object, ...]], int]]:
            return {
                name: (
                    [_words(letter) for letter in inbox.read(tx, self.project_id, name, 1000)],
                    inbox.pending(tx, self.project_id, name),
                )
                for name in self.model.items
            }

        told = {name: [item.words for item in self.model.pending(name)] for name in self.model.items}
        assert self.run(look) == {name: (words, len(words)) for name, words in told.items()}

    @invariant()
    def counts_are_as_told(self) -> None:
        """The tally counts the tasks in each status."""
        counted = self.run(lambda tx: tasks.counts(tx, [self.project_id]))
        assert counted == Counter(job.status for job in self.model.jobs.values())

    @invariant()
    def presences_are_as_told(self) -> None:
        """Each agent that is there is there once, with its program and its time; the others are offline."""
        rows = self.run(
            lambda tx: tx.all(
                "SELECT agent, instance, expires_at FROM presences WHERE project_id = :id AND ended_at IS NULL",
                id=self.project_id,
            )
        )
        live = {name: stay for name, stay in self.model.stays.items() if stay.left is None}
        assert sorted((row["agent"], row["instance"], row["expires_at"]) for row in rows) == sorted(
            (name, stay.program, stay.until) for name, stay in live.items()
        )

    def teardown(self) -> None:
        """The log tells each task's life without a gap; each row is pending, acknowledged or withdrawn."""
        if not hasattr(self, "project_id"):
            return
        self.log_is_whole()
        self.rows_are_whole()
        self.clock.advance(timedelta(days=2))  # so that the next story begins with nothing overdue
        self.run(expiry.settle)

    def log_is_whole(self) -> None:
        log = self.run(lambda tx: activity.history(tx, self.project_id, limit=100_000))[::-1]
        for job_id, job in self.model.jobs.items():
            steps = [each.detail for each in log if each.task_id == job_id and "after" in each.detail]
            assert len(steps) == job.moves
            assert steps[0]["before"] is None
            assert [each["after"] for each in steps[:-1]] == [each["before"] for each in steps[1:]]
            assert steps[-1]["after"] == job.status
        assert sum(each.kind in ("agent.checkout", "agent.timeout") for each in log) == self.model.offline

    def rows_are_whole(self) -> None:
        rows = self.run(
            lambda tx: tx.all("SELECT * FROM deliveries WHERE project_id = :id", id=self.project_id)
        )
        fates: Counter[tuple[str, str]] = Counter()
        unread: Counter[str] = Counter()
        for row in rows:
            assert row["acked_at"] is None or row["withdrawn_at"] is None
            assert row["withdrawn_at"] is None or row["task_id"] is not None
            fate = "acked" if row["acked_at"] else "withdrawn" if row["withdrawn_at"] else "pending"
            fates[row["recipient"], fate] += 1
            unread[row["recipient"]] += fate == "pending" and row["seen_at"] is None
        assert fates == Counter(
            (name, item.fate) for name, items in self.model.items.items() for item in items
        )
        told = self.run(lambda tx: {name: inbox.unread(tx, self.project_id, name) for name in unread})
        assert told == dict(unread)


def _words(letter: Letter) -> tuple[object, ...]:
    kind, sender = str(letter.kind), letter.sender
    if kind == "task":
        return kind, sender, str(letter.task_id)
    if kind == "reply":
        return kind, sender, str(letter.in_reply_to), str(letter.outcome)
    return kind, sender


@pytest.fixture
def clock() -> TickingClock:
    return TickingClock()


@pytest.mark.parametrize(
    ("on_sqlite", "on_postgres"),
    [(10, 2), pytest.param(40, 6, marks=pytest.mark.system)],
    ids=["some stories", "many stories"],
)
def test_whatever_happens_the_world_is_as_told(
    store: Store, clock: TickingClock, on_sqlite: int, on_postgres: int
) -> None:
    """In any order of sending, reading, working, ending, leaving and waiting, nothing is lost, doubled or mixed up."""
    run_state_machine_as_test(
        cast(
            "type[Story]", partial(Story, store, clock)
        ),  # it asks for what makes a story, and calls it a class
        settings=settings(
            max_examples=on_postgres if isinstance(store, Postgres) else on_sqlite,
            stateful_step_count=40,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
