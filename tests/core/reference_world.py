"""The world as documented, in plain Python: a few lists and dictionaries that know nothing of the code.

`test_world` tells the same stories to this model and to the core, and compares.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from hubbub.model.people.rights import HUB

CREW = ("ann", "bob", "代码1号")
MINUTE = 60_000
HEARTBEAT = 10 * MINUTE
OVER = ("completed", "failed", "cancelled", "expired")
LOST = ("failed", "cancelled", "expired")
BEGUN = ("accepted", "working", "blocked")
NOT_BEGUN = ("queued", "delivered", "accepted")


@dataclass
class Job:
    """A task as documented."""

    sender: str
    holder: str | None
    addressed: bool
    urgency: int
    parent: UUID | None
    status: str
    due: int | None
    made: int
    needs: tuple[UUID, ...] = ()
    given: int = 0
    epoch: int = 1
    attempt: int = 1
    result: str | None = None
    leased: bool = False
    accepted: int = 0
    started: int = 0
    moves: int = 1

    @property
    def is_over(self) -> bool:
        return self.status in OVER

    @property
    def begun(self) -> int:
        return max(self.accepted, self.started)


@dataclass
class Item:
    """Something in an inbox."""

    urgency: int
    place: int
    words: tuple[object, ...]
    job: UUID | None = None
    fate: str = "pending"


@dataclass
class Stay:
    """An agent that is or was there."""

    program: str
    until: int
    left: int | None = None


class Refused(Exception):
    """A refusal of the model, with its name."""


@dataclass
class Model:
    """The world as the documents tell it."""

    jobs: dict[UUID, Job] = field(default_factory=dict)
    items: dict[str, list[Item]] = field(default_factory=lambda: {name: [] for name in (*CREW, HUB)})
    stays: dict[str, Stay] = field(default_factory=dict)
    now: int = 0
    place: int = 0
    offline: int = 0

    def pending(self, name: str) -> list[Item]:
        waiting = [item for item in self.items[name] if item.fate == "pending"]
        return sorted(waiting, key=lambda item: (item.urgency, item.place))

    def put(self, name: str, urgency: int, words: tuple[object, ...], job: UUID | None = None) -> None:
        self.place += 1
        self.items[name].append(Item(urgency, self.place, words, job))

    def take_out(self, job_id: UUID, fate: str) -> None:
        for item in (item for items in self.items.values() for item in items):
            if item.job == job_id and item.fate == "pending":
                item.fate = fate

    def settle(self) -> None:
        while self._is_anything_due():
            late = [(job.due, job_id) for job_id, job in self.jobs.items() if self._is_due(job)]
            for _due, job_id in sorted(late, key=lambda each: each[0] or 0):
                self.end(job_id, "expired", HUB, None)
            silent = [(stay.until, name) for name, stay in self.stays.items() if self._is_silent(stay)]
            for _until, name in sorted(silent):
                self.leave(name)

    def _is_due(self, job: Job) -> bool:
        return (
            job.status in ("queued", "delivered", "accepted") and job.due is not None and job.due <= self.now
        )

    def _is_silent(self, stay: Stay) -> bool:
        return stay.left is None and stay.until <= self.now

    def _is_anything_due(self) -> bool:
        return any(map(self._is_due, self.jobs.values())) or any(map(self._is_silent, self.stays.values()))

    def send(self, job_id: UUID, job: Job) -> None:
        self.jobs[job_id] = job
        self.deliver(job_id)

    def deliver(self, job_id: UUID) -> None:
        """Put the job into its assignee's inbox, unless something that it needs is missing."""
        job = self.jobs[job_id]
        is_delivered = job.holder is not None and self.is_ready(job)
        job.status = "delivered" if is_delivered else "queued"
        job.given = self.now if is_delivered else job.made
        if is_delivered:
            self.lay_down(job_id)

    def lay_down(self, job_id: UUID) -> None:
        job = self.jobs[job_id]
        assert job.holder is not None
        self.put(job.holder, job.urgency, ("task", job.sender, str(job_id)), job_id)

    def is_ready(self, job: Job) -> bool:
        return all(self.jobs[need].status == "completed" for need in job.needs)

    def require_met(self, job: Job) -> None:
        if not job.started and not self.is_ready(job):
            raise Refused("Unmet")

    def hold(self, job_id: UUID, by: str) -> None:
        job = self.jobs[job_id]
        if job.holder is None and not job.is_over:
            job.holder, job.addressed = by, False
            job.epoch += 1
        elif job.holder != by:
            raise Refused("NotHolder" if job.holder else "InvalidTransition")

    def accept(self, job_id: UUID, by: str, leased: bool) -> None:
        job = self.jobs[job_id]
        self.require_met(job)
        self.hold(job_id, by)
        if job.status not in ("queued", "delivered"):
            raise Refused("InvalidTransition")
        job.status, job.leased, job.accepted = "accepted", leased, self.now
        job.moves += 1
        self.take_out(job_id, "acked")

    def start(self, job_id: UUID, by: str, leased: bool) -> None:
        job = self.jobs[job_id]
        self.require_met(job)
        if job.holder is None:
            self.accept(job_id, by, leased)
        self.hold(job_id, by)
        if job.is_over or job.status == "working":
            raise Refused("InvalidTransition")
        job.status, job.leased, job.started = "working", leased, self.now
        job.accepted = job.accepted or self.now
        job.moves += 1

    def step(self, job_id: UUID, sources: tuple[str, ...], target: str) -> None:
        job = self.jobs[job_id]
        if job.status not in sources:
            raise Refused("InvalidTransition")
        job.status = target
        job.moves += 1

    def end(self, job_id: UUID, status: str, by: str, text: str | None) -> None:
        job = self.jobs[job_id]
        if job.is_over:
            raise Refused("InvalidTransition")
        before, job.status, job.result, job.leased = job.status, status, text, False
        job.moves += 1
        self.take_out(job_id, "acked" if status in ("completed", "failed") else "withdrawn")
        if status == "completed":
            self.let_go(job_id)
        if job.sender != by:
            self.put(job.sender, 2, ("reply", by, str(job_id), status))
        self.chain(job.parent, by, status)
        if status != "expired" and job.holder != job.sender:
            self.tell(job_id, by, before)

    def chain(self, parent: UUID | None, by: str, status: str) -> None:
        for _ in range(5):
            if parent is None:
                return
            if self.jobs[parent].sender != by:
                self.put(self.jobs[parent].sender, 2, ("reply", by, str(parent), status))
            parent = self.jobs[parent].parent

    def tell(self, job_id: UUID, by: str, status: str | None = None) -> None:
        """Tell the agent that works on it, or has handed it in, what others do to it."""
        job = self.jobs[job_id]
        if job.holder is not None and job.holder != by and (status or job.status) in (*BEGUN, "in_review"):
            self.put(job.holder, 2, ("reply", by, str(job_id), "None"))

    def let_go(self, need: UUID) -> None:
        for job_id, job in self.jobs.items():
            if need in job.needs and job.status == "queued" and job.holder and self.is_ready(job):
                job.moves += 1
                self.deliver(job_id)

    def again(self, job_id: UUID, to: str | None) -> None:
        job = self.jobs[job_id]
        self.take_out(job_id, "withdrawn")
        job.holder, job.leased = to, False
        job.epoch, job.attempt, job.moves = job.epoch + 1, job.attempt + 1, job.moves + 1
        job.started = job.accepted = 0
        self.deliver(job_id)

    def retry(self, job_id: UUID, due: int) -> None:
        job = self.jobs[job_id]
        if job.status not in ("failed", "cancelled", "expired"):
            raise Refused("InvalidTransition")
        job.result, job.due = None, due
        self.again(job_id, job.holder if job.addressed else None)

    def reassign(self, job_id: UUID, to: str, by: str) -> None:
        job = self.jobs[job_id]
        if job.is_over:
            raise Refused("InvalidTransition")
        if to != job.holder:
            self.tell(job_id, by)
        job.addressed = True
        self.again(job_id, to)

    def put_back(self, job_id: UUID, by: str) -> None:
        job = self.jobs[job_id]
        if job.status in LOST:
            raise Refused("InvalidTransition")
        if job.status not in NOT_BEGUN:
            self.tell(job_id, by)
            job.result = None
            job.due = job.due and self.now + job.due - job.given
            self.again(job_id, job.holder)

    def pass_on(self, job_id: UUID, to: str, by: str) -> None:
        job = self.jobs[job_id]
        if to == job.holder:
            return
        if job.status in LOST:
            raise Refused("InvalidTransition")
        self.tell(job_id, by)
        job.addressed = True
        if job.status in NOT_BEGUN:
            self.again(job_id, to)
            return
        self.take_out(job_id, "withdrawn")
        job.holder, job.leased, job.epoch, job.moves = to, False, job.epoch + 1, job.moves + 1
        if not job.is_over:
            job.given = self.now
            self.lay_down(job_id)

    def move(self, job_id: UUID, target: str, leased: bool | None, by: str) -> None:
        job = self.jobs[job_id]
        if job.holder is None:
            self.accept(job_id, by, bool(leased))
        if target == "working" and by not in (job.holder, job.sender):
            raise Refused("NotHolder")
        if job.status == "queued":
            self.require_met(job)
        if job.status in LOST:
            raise Refused("InvalidTransition")
        if job.status == target:
            return
        self.tell(job_id, by)
        job.epoch += job.status == "completed"
        job.status, job.result, job.moves = target, None, job.moves + 1
        if job.holder == by and leased is not None:
            job.leased = leased
        job.accepted, job.started = job.accepted or self.now, job.started or self.now
        self.take_out(job_id, "acked")
        if target == "in_review" and job.sender != by:
            self.put(job.sender, 2, ("reply", by, str(job_id), target))

    def leave(self, name: str) -> None:
        self.stays[name].left = self.now
        self.offline += 1
        for job_id, job in self.jobs.items():
            if job.holder == name and job.leased and not job.addressed and job.status in BEGUN:
                if job.due is not None:
                    job.due += self.now - job.accepted
                self.again(job_id, None)

    def report(self, name: str, program: str, is_leaving: bool) -> None:
        last = self.stays.get(name)
        if last is None or last.left is not None or last.program != program:
            if last is not None and last.left is None:
                self.leave(name)
            self.stays[name] = Stay(program, 0)
            if last is not None and not is_leaving:
                self._deliver_again(name, last.left or 0)
        self.stays[name].until = self.now + HEARTBEAT
        if is_leaving:
            self.leave(name)

    def _deliver_again(self, name: str, left: int) -> None:
        for job_id, job in self.jobs.items():
            if job.holder == name and job.leased and job.status in BEGUN and job.begun <= left:
                if job.due is not None:
                    job.due += self.now - job.given
                self.again(job_id, name)
