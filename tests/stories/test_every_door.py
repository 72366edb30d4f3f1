"""The rights on a task are the same by every door: each verb, by each part, through the doors' real clients."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path

import pytest

from hubbub.core import why
from hubbub.core.actions import task_actions
from hubbub.core.agents import agents
from hubbub.core.mail import messages
from hubbub.core.people import coordinators, runs
from hubbub.core.work import artifacts, reviews, tasks
from hubbub.model.lifecycle import ENDED, Status
from hubbub.model.people.rights import HUB
from hubbub.model.records import Task
from hubbub.model.work.permissions import OPEN_TO, TaskRole, Verb, VerbManner, allowed
from hubbub.store.tx import Tx
from tests.dialects.every_row import every_row
from tests.dialects.running_hub import Hub, Place
from tests.stories.task_doors import (
    DOORS,
    HOLDER,
    NEXT,
    REASON,
    SENDER,
    VISITORS,
    Answer,
    Door,
    Hall,
    Visitor,
    Way,
)

S, V, P, M = Status, Verb, TaskRole, VerbManner


@dataclass(frozen=True)
class Deed:
    """The effect of a verb, the same for every caller and door."""

    at: Status  # the task is, when it is done
    after: Status
    kind: str | None = None  # of what the log records
    tells_holder: bool = True  # where others do it
    may_be_free: bool = True  # the task, when it is done


DEEDS = {
    V.CLAIM: Deed(S.DELIVERED, S.ACCEPTED, "task.accepted", tells_holder=False),
    V.START: Deed(S.ACCEPTED, S.WORKING, "task.started"),
    V.PROGRESS: Deed(S.WORKING, S.WORKING, "task.progress"),
    V.SUBMIT: Deed(S.WORKING, S.IN_REVIEW, "task.submitted"),
    V.BLOCK: Deed(S.WORKING, S.BLOCKED, "task.blocked"),
    V.UNBLOCK: Deed(S.BLOCKED, S.WORKING, "task.started", may_be_free=False),
    V.COMPLETE: Deed(S.WORKING, S.COMPLETED, "task.completed"),
    V.FAIL: Deed(S.WORKING, S.FAILED, "task.failed"),
    V.RELEASE: Deed(S.WORKING, S.QUEUED, "task.released"),
    V.APPROVE: Deed(S.IN_REVIEW, S.COMPLETED, "task.completed", may_be_free=False),
    V.REQUEST_CHANGES: Deed(S.IN_REVIEW, S.WORKING, "task.started", may_be_free=False),
    V.CANCEL: Deed(S.WORKING, S.CANCELLED, "task.cancelled"),
    V.RETRY: Deed(S.FAILED, S.DELIVERED, "task.retried", tells_holder=False, may_be_free=False),
    V.REOPEN: Deed(S.WORKING, S.DELIVERED, "task.released", may_be_free=False),
    V.REASSIGN: Deed(S.WORKING, S.DELIVERED, "task.reassigned"),
    V.DESCRIBE: Deed(S.WORKING, S.WORKING, "task.described"),
    V.COMMENT: Deed(S.WORKING, S.WORKING, tells_holder=False),
}


@dataclass
class Case:
    """One call: who says what at which door, of which task, and what was answered."""

    door: Door
    way: Way
    visitor: Visitor
    ask: Callable[[Way, Task], Answer]
    task: Task
    label: str  # the name that the log has for them
    answer: Answer | None = None

    def __str__(self) -> str:
        return f"{self.door.name}: {self.way} by {self.visitor.called}"

    @property
    def may(self) -> bool:
        """True if the table permits the call."""
        part, way = self.visitor.part, self.way
        return part in allowed(way.verb, way.manner) & OPEN_TO.get(way.manner, frozenset(TaskRole))

    @property
    def actor(self) -> str:
        """The name that they act by."""
        return self.visitor.name or HUB


@dataclass(frozen=True)
class Letter:
    recipient: str | None
    sender: str
    author: str | None = None  # who wrote it, where that is nobody's name
    body: str = ""


@dataclass(frozen=True)
class Seen:
    """The visible state of a task: its record, its log, letters about it, inboxes it is in, and the answer of `why`."""

    status: Status
    assignee: str | None
    log: tuple[tuple[str, str], ...]
    letters: tuple[Letter, ...]
    lies_with: tuple[str, ...]
    why: tuple[object, ...]


def prepare(tx: Tx, place: Place, visitor: Visitor, status: Status) -> Task:
    """A task that ann sent; bob has it, in that status, unless it is free. Bob has asked rev to review what he made."""
    project_id = place.project.id
    if visitor.is_free:
        return tasks.send(tx, project_id, sender=SENDER, to=None, text="water the plants")
    task = tasks.send(tx, project_id, sender=SENDER, to=HOLDER, text="water the plants")
    made = artifacts.post(
        tx, runs.current(tx, project_id), by=HOLDER, name="a", kind="file", content="x", task=str(task.id)
    )
    reviews.request(tx, made, by=HOLDER, reviewer="rev")
    if status is not S.DELIVERED:
        task = task_actions.accept(tx, task, HOLDER)
    if status not in (S.DELIVERED, S.ACCEPTED):
        task = task_actions.start(tx, task, HOLDER)
    match status:
        case S.BLOCKED:
            return task_actions.block(tx, task, by=HOLDER, reason="no water")
        case S.IN_REVIEW:
            return task_actions.submit(tx, task, by=HOLDER)
        case S.FAILED:
            return task_actions.fail(tx, task, by=HOLDER, reason="no water")
        case _:
            return task


def look(tx: Tx, place: Place, task: Task) -> Seen:
    """Everything there is of a task by now."""
    now = tasks.find(tx, [place.project.id], str(task.id))
    log = tx.all(
        "SELECT kind, actor FROM activity WHERE task_id = :id AND message_id IS NULL ORDER BY tx, seq",
        id=task.id,
    )
    lies_with = tx.all(
        "SELECT recipient FROM deliveries WHERE task_id = :id AND acked_at IS NULL AND withdrawn_at IS NULL",
        id=task.id,
    )
    facts = why.explain(tx, place.project, str(task.number), why.SubjectKind.TASK).facts
    told = {fact.kind: fact.detail for fact in facts}
    return Seen(
        status=now.status,
        assignee=now.assignee,
        log=tuple((row["kind"], row["actor"]) for row in log),
        letters=tuple(
            Letter(each.recipient, each.sender, each.author, each.body) for each in messages.about(tx, now)
        ),
        lies_with=tuple(row["recipient"] for row in lies_with),
        why=(
            facts[0].kind.removeprefix("task."),
            facts[0].detail["assignee"],
            told.get("task.ended_by", {}).get("by"),
            told.get("task.again", {}).get("how"),
        ),
    )


def expected(case: Case, before: Seen) -> Seen:
    """Return the state that the tables expect after the call, with new entries of the log and new letters only."""
    if not case.may:
        return replace(before, log=(), letters=())
    way, by, is_free = case.way, case.actor, case.visitor.is_free
    deed = DEEDS[way.verb]
    keeps = way.verb is V.REASSIGN and way.manner is not M.PLAIN and not is_free  # a free one has not begun
    after = S.WORKING if keeps else deed.after
    holder = by if is_free and way.verb is not V.COMMENT else HOLDER  # who takes it is its holder
    assignee = {V.REASSIGN: NEXT, V.RELEASE: None}.get(
        way.verb, None if is_free and holder == HOLDER else holder
    )
    log = [deed.kind] if deed.kind is not None else []
    if is_free and way.verb not in (V.CLAIM, V.REASSIGN, V.COMMENT):
        log.insert(0, "task.accepted")
    if way.verb is V.COMPLETE and by == holder:
        log.insert(-1, "completion.reported")
    hear = [HOLDER] if deed.tells_holder and by != holder else []
    is_told = way.verb is V.SUBMIT and way.manner is M.PLAIN  # others tell only those who came
    if (after in ENDED or is_told) and by != SENDER:
        hear.append(SENDER)
    if way.verb is V.COMMENT:
        hear = [SENDER if is_free or by == HOLDER else HOLDER]
        after = before.status
    lies_with = (assignee,) if after is S.DELIVERED or way.verb is V.REASSIGN else ()
    if way.verb is V.CLAIM and by == HUB:
        lies_with = (HOLDER,)  # who has not seen it
    is_again = after in (S.DELIVERED, S.QUEUED) and deed.kind is not None
    actor = case.label
    return Seen(
        status=after,
        assignee=assignee,
        log=tuple((kind, actor) for kind in log),
        letters=tuple(Letter(to, by) for to in hear),
        lies_with=tuple(each for each in lies_with if each is not None),
        why=(
            str(after),
            assignee,
            actor if after in ENDED else None,
            str(deed.kind).removeprefix("task.") if is_again else None,
        ),
    )


def compared(case: Case, before: Seen, after: Seen) -> list[str]:
    """Return the differences from the tables."""
    wanted, letters = expected(case, before), after.letters[len(before.letters) :]
    bare = tuple(sorted((Letter(each.recipient, each.sender) for each in letters), key=str))
    found = replace(after, log=after.log[len(before.log) :], letters=bare)
    wanted = replace(wanted, letters=tuple(sorted(wanted.letters, key=str)))
    answers = {Answer.DONE} if case.may else {Answer.DENIED, Answer.REFUSED}
    wrong = [] if case.answer in answers or case.way.is_quiet else [f"the answer is {case.answer}"]
    for each in fields(Seen):
        was, should = getattr(found, each.name), getattr(wanted, each.name)
        if was != should:
            wrong.append(f"{each.name} {was}, not {should}")
    for letter in letters:
        names = (letter.sender, letter.author, letter.body.partition(" ")[0])
        if letter.recipient == HOLDER and case.label not in names:
            wrong.append(f"the holder does not hear who it was: {letter.body}")
        if case.way.tells_why and REASON not in letter.body:
            wrong.append(f"no word of why: {letter.body}")
    return wrong


@pytest.fixture
def hall(hub: Hub, tmp_path: Path) -> Iterator[Hall]:
    """A fresh project in which all who call are known, and one of them coordinates."""
    with Place.fresh(hub) as place:

        def meet(tx: Tx) -> None:
            for name in (SENDER, HOLDER, NEXT, *(each.name for each in VISITORS if each.name)):
                agents.meet(tx, place.project.id, name)

        hub.do(meet)
        hub.do(lambda tx: coordinators.grant(tx, place.project, "lead"))
        yield Hall(place, tmp_path)


def cases(hall: Hall, door: Door, visitors: Iterable[Visitor]) -> list[Case]:
    """A task for each call that there can be, prepared at once; everybody has come by then."""
    asks = {visitor: door.enter(hall, visitor) for visitor in visitors if visitor.name or not door.needs_name}
    found = [
        (way, visitor, ask)
        for visitor, ask in asks.items()
        for way in door.ways
        if ask is not None
        and (visitor.name or not way.needs_name)
        and (DEEDS[way.verb].may_be_free or not visitor.is_free)
        and (way.tool != "report_status" or visitor.called != "a person")
    ]

    def made(tx: Tx) -> list[Case]:
        return [
            Case(
                door,
                way,
                visitor,
                ask,
                prepare(tx, hall.place, visitor, DEEDS[way.verb].at),
                hall.label(visitor),
            )
            for way, visitor, ask in found
        ]

    return hall.place.hub.do(made)


DAILY = {"its holder", "its sender", "another agent", "another agent, while it is free"}


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)
@pytest.mark.parametrize(
    "visitors",
    [
        pytest.param([each for each in VISITORS if each.called in DAILY], id="agents"),
        pytest.param(
            [each for each in VISITORS if each.called not in DAILY], id="others", marks=pytest.mark.system
        ),
    ],
)
def test_a_verb_does_the_same_by_every_door(hall: Hall, door: Door, visitors: list[Visitor]) -> None:
    """Every door does, logs, tells once and explains alike what the table allows; the rest changes nothing."""
    called = cases(hall, door, visitors)
    place = hall.place
    before = place.hub.look(lambda tx: [look(tx, place, each.task) for each in called])
    for each in called:
        each.answer = each.ask(each.way, each.task)
    after = place.hub.look(lambda tx: [look(tx, place, each.task) for each in called])

    with every_row() as row:
        for each, was, now in zip(called, before, after, strict=True):
            with row(each):
                wrong = compared(each, was, now)
                assert not wrong, "; ".join(wrong)


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)
def test_every_door_says_every_verb_or_why_not(door: Door) -> None:
    """Each verb has a tool, an address or a command at each door, or there is a reason that it has none."""
    said = {way.verb for way in door.ways}
    assert said.isdisjoint(door.unsaid)
    assert said | set(door.unsaid) == set(Verb)
    assert set(DEEDS) == set(Verb)
