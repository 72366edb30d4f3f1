"""The outbox: items that are to leave the hub, until their end."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from hubbub.core.actions import task_actions
from hubbub.core.agents import agents
from hubbub.core.log import outbox
from hubbub.core.log.outbox import OutboxJob
from hubbub.core.people import projects
from hubbub.core.work import completion, task_search
from hubbub.model.errors import Conflict, Invalid, NotFound
from hubbub.model.lifecycle import Event
from hubbub.model.log.outbox_items import (
    TRIES,
    AttemptReport,
    AttemptResult,
    DeliveryOutcome,
    OutboxItem,
    OutboxItemKind,
)
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Task
from hubbub.store.engine.postgres import Postgres
from hubbub.store.tx import Tx
from tests.conftest import MovableClock
from tests.core.conftest import CREW, RACERS, World, finish, member

ISSUE = "octo/parser#7"
DELIVERED = AttemptReport(fate=AttemptResult.DELIVERED, status=201)
FAILED = AttemptReport(fate=AttemptResult.FAILED, status=503, reason="it answered 503", doubtful=True)
REFUSED = AttemptReport(
    fate=AttemptResult.REFUSED, status=404, reason="it answered 404: there is no such issue"
)


def completed(world: World, text: str = "count the lines") -> Task:
    """Complete a task about an issue, as bob."""
    return finish(world, world.send(text=text, issue=ISSUE))


def parcels(world: World, outcome: DeliveryOutcome | None = None) -> list[OutboxItem]:
    return list(world.do(outbox.of_project, world.id, outcome=outcome, limit=100))


def taken(world: World) -> OutboxJob:
    """The one parcel that is due."""
    (errand,) = world.do(outbox.take, 8)
    return errand


def note(world: World, errand: OutboxJob, report: AttemptReport, chance: float = 0.0) -> None:
    world.do(outbox.note, errand, report, chance)


def test_a_completed_task_is_told_to_its_issue(world: World) -> None:
    """Completing a task that is about an issue puts one comment, with the text, and who did what."""
    task = completed(world, text="count the lines")
    (parcel,) = parcels(world)
    assert (parcel.kind, parcel.issue, parcel.task_id) == (OutboxItemKind.COMMENT, ISSUE, task.id)
    assert (parcel.attempts, parcel.outcome, parcel.doubtful) == (0, None, False)
    assert parcel.text == "three\n\n— bob, task 1: count the lines"


@pytest.mark.parametrize("event", [Event.FAIL, Event.CANCEL])
def test_other_ends_are_not_told(world: World, event: Event) -> None:
    """A task that failed or was cancelled is not commented on, nor is one that is about no issue."""
    finish(world, world.send(issue=ISSUE), event)
    finish(world, world.send())
    assert parcels(world) == []


def test_what_is_undone_is_not_told(world: World) -> None:
    """Where the completion is not kept, no comment is put."""
    task = world.send(issue=ISSUE)

    def break_off(tx: Tx, found: Task) -> None:
        completion.end(tx, found, Event.COMPLETE, by="bob", text="x", result="x")
        raise Conflict("no")

    with pytest.raises(Conflict):
        world.on(task, break_off)
    assert parcels(world) == []


def test_each_completion_is_told(world: World) -> None:
    """A task that is opened again and completed again is commented on again."""
    task = completed(world)
    world.on(task, task_actions.reopen, by="ann")
    finish(world, task)
    assert len(parcels(world)) == 2


def test_a_long_result_is_cut(world: World) -> None:
    """A comment holds what GitHub takes of a result, and says where the rest is; an empty one says that it is done."""
    world.on(
        world.send(issue=ISSUE), completion.end, Event.COMPLETE, by="bob", text="代" * 100_000, result="x"
    )
    world.on(world.send(issue=ISSUE), completion.end, Event.COMPLETE, by="bob", text=" \n", result="")
    short, long = (parcel.text or "" for parcel in parcels(world))
    assert len(long) < 65_000
    assert "the whole result is with the task" in long
    assert short.startswith("done\n")


def test_a_task_is_about_an_issue_that_can_be_one(world: World) -> None:
    """Anything but owner/repository#number is refused, and no task is made."""
    with pytest.raises(Invalid):
        world.send(issue="parser#7")
    assert world.do(task_search.search, [world.id], limit=10) == []


def test_who_takes_a_parcel_has_it_for_a_minute(world: World) -> None:
    """While the lease lasts nobody else takes it; then somebody does, and knows that it may have arrived."""
    completed(world)
    first = taken(world)
    assert (first.parcel.attempts, first.parcel.doubtful) == (1, False)
    assert world.do(outbox.take, 8) == []
    wait = world.do(outbox.next_in)
    assert wait is not None
    assert timedelta() < wait <= outbox.LEASE

    world.clock.advance(outbox.LEASE)

    second = taken(world)
    assert (second.parcel.id, second.parcel.attempts, second.parcel.doubtful) == (first.parcel.id, 2, True)


def test_of_many_who_want_it_one_gets_it(world: World) -> None:
    """However many ask at once, each parcel is taken once, and nobody waits for the others."""
    for _ in range(3):
        completed(world)
    outcomes = world.race(*[lambda tx: outbox.take(tx, 8)] * RACERS)
    won = [errand.parcel.id for outcome in outcomes if isinstance(outcome, list) for errand in outcome]
    assert sorted(won) == sorted(parcel.id for parcel in parcels(world))


def test_what_another_holds_is_left_out(postgres_store: Postgres, clock: MovableClock) -> None:
    """On PostgreSQL, where many write at once, a parcel that somebody is just taking holds up nobody."""
    project = postgres_store.write_now(SYSTEM, lambda tx: projects.create(tx, "lab"))
    world = World(postgres_store, clock, project, member(project))
    for name in CREW:
        world.do(agents.meet, project.id, name)
    for _ in range(2):
        completed(world)
    has_taken, may_end = threading.Event(), threading.Event()

    def slowly(tx: Tx) -> list[OutboxJob]:
        taken = outbox.take(tx, 1)
        has_taken.set()
        assert may_end.wait(10)
        return taken

    with ThreadPoolExecutor(1) as thread:
        slow = thread.submit(world.do, slowly)
        assert has_taken.wait(10)
        (other,) = world.do(outbox.take, 8)
        may_end.set()
        (first,) = slow.result()
    assert first.parcel.id != other.parcel.id


def test_a_failure_is_tried_again_later(world: World) -> None:
    """After a failure the parcel waits, as long as chance says, and the log has the reason and the next time."""
    completed(world)
    errand = taken(world)
    world.at(1_000_000, outbox.note, errand, FAILED, 0.5)
    (parcel,) = parcels(world)
    assert (parcel.next_at, parcel.last_error, parcel.doubtful) == (1_000_500, "it answered 503", True)
    told = world.log()[-1]
    assert (told.kind, told.actor, told.task_id) == ("outbox.failed", "hub", parcel.task_id)
    assert told.detail == {
        "parcel_id": str(parcel.id),
        "kind": "github.comment",
        "target": ISSUE,
        "webhook_id": None,
        "event": None,
        "attempt": 1,
        "status": 503,
        "reason": "it answered 503",
        "next_at": 1_000_500,
    }


def test_a_receiver_may_ask_for_more_time(world: World) -> None:
    """A wait that was asked for is kept, if it is longer than our own; where it was meant for all, all wait."""
    completed(world)
    errand = taken(world)
    completed(world)
    limited = AttemptReport(
        fate=AttemptResult.FAILED, status=429, wait=timedelta(minutes=5), holds_up_all=True
    )
    world.at(1_000_000, outbox.note, errand, limited, 1.0)
    assert [parcel.next_at for parcel in parcels(world)][1] == 1_300_000
    assert all(parcel.next_at >= 1_300_000 for parcel in parcels(world))


def test_after_twelve_failures_it_is_dead(world: World) -> None:
    """A parcel is given up after its last try, kept, listed and told."""
    completed(world)
    for attempt in range(1, TRIES + 1):
        errand = taken(world)
        assert errand.parcel.attempts == attempt
        note(world, errand, FAILED)
    assert world.do(outbox.take, 8) == []
    (parcel,) = parcels(world, DeliveryOutcome.DEAD)
    assert (parcel.attempts, parcel.last_error) == (TRIES, "it answered 503")
    assert world.kinds().count("outbox.failed") == TRIES - 1
    assert world.kinds()[-1] == "outbox.dead"


@pytest.mark.parametrize(
    ("report", "outcome", "kind"),
    [
        (DELIVERED, DeliveryOutcome.DELIVERED, "outbox.delivered"),
        (REFUSED, DeliveryOutcome.DEAD, "outbox.dead"),
        (
            AttemptReport(fate=AttemptResult.SKIPPED, reason="no token"),
            DeliveryOutcome.SKIPPED,
            "outbox.skipped",
        ),
    ],
)
def test_an_end_is_final_and_told(
    world: World, report: AttemptReport, outcome: DeliveryOutcome, kind: str
) -> None:
    """Items that were delivered, refused or skipped are tried no more; the log says which and why."""
    completed(world)
    errand = taken(world)
    note(world, errand, report)
    assert [parcel.outcome for parcel in parcels(world)] == [outcome]
    assert world.do(outbox.next_in) is None
    told = world.log()[-1]
    assert (told.kind, told.detail["status"], told.detail["reason"]) == (kind, report.status, report.reason)

    note(world, errand, FAILED)
    assert world.log()[-1] == told


def test_a_late_failure_says_nothing_of_a_newer_attempt(world: World) -> None:
    """A slow deliverer cannot end or postpone another's delivery; its late success counts all the same."""
    completed(world)
    late = taken(world)
    world.clock.advance(outbox.LEASE)
    current = taken(world)
    for report in (FAILED, REFUSED):
        note(world, late, report)
    assert [parcel.outcome for parcel in parcels(world)] == [None]
    note(world, late, DELIVERED)
    note(world, current, FAILED)
    assert [parcel.outcome for parcel in parcels(world)] == [DeliveryOutcome.DELIVERED]


def test_what_is_let_go_may_be_taken_at_once(world: World) -> None:
    """An attempt that is broken off does not wait for the end of its lease, and leaves doubt."""
    completed(world)
    world.do(outbox.let_go, [taken(world)])
    again = taken(world)
    assert (again.parcel.attempts, again.parcel.doubtful) == (2, True)


def test_a_dead_parcel_is_tried_again_by_hand(world: World) -> None:
    """It is due at once, with all its tries, and the log says who wanted it; one that waits is only hurried."""
    completed(world)
    note(world, taken(world), REFUSED)
    (dead,) = parcels(world)
    revived = world.do(outbox.retry, world.id, str(dead.id))
    assert (revived.outcome, revived.attempts) == (None, 0)
    assert world.log()[-1].kind == "outbox.retried"
    note(world, taken(world), FAILED, chance=1.0)
    assert world.do(outbox.take, 8) == []
    world.do(outbox.retry, world.id, str(dead.id))
    assert taken(world).parcel.id == dead.id


def test_trying_again_does_not_break_a_lease(world: World) -> None:
    """A parcel that somebody is at is not given to another by trying it again."""
    completed(world)
    errand = taken(world)
    world.do(outbox.retry, world.id, str(errand.parcel.id))
    assert world.do(outbox.take, 8) == []


def test_what_has_arrived_or_is_elsewhere_is_not_tried_again(world: World) -> None:
    """A parcel that was delivered is not sent again; one of another project, or none, is not found."""
    completed(world)
    errand = taken(world)
    note(world, errand, DELIVERED)
    with pytest.raises(Conflict):
        world.do(outbox.retry, world.id, str(errand.parcel.id))
    other = world.elsewhere("other")
    for where, ref in ((other, str(errand.parcel.id)), (world, "nonsense"), (world, str(world.id))):
        with pytest.raises(NotFound):
            where.do(outbox.retry, where.id, ref)


def test_what_has_ended_is_forgotten_after_a_while(world: World) -> None:
    """Delivered parcels are kept for a week, dead ones for two months, waiting ones for ever."""
    for report in (DELIVERED, REFUSED, None):
        completed(world)
        if report:
            note(world, taken(world), report)
    world.do(outbox.forget)
    assert len(parcels(world)) == 3
    world.clock.advance(outbox.KEEP + timedelta(minutes=1))
    world.do(outbox.forget)
    assert [parcel.outcome for parcel in parcels(world)] == [None, DeliveryOutcome.DEAD]
    world.clock.advance(outbox.KEEP_DEAD)
    world.do(outbox.forget)
    assert [parcel.outcome for parcel in parcels(world)] == [None]


def test_parcels_are_paged(world: World) -> None:
    """Pages of parcels go on before a place, newest first."""
    for _ in range(3):
        completed(world)
    first = world.do(outbox.of_project, world.id, limit=2)
    second = world.do(outbox.of_project, world.id, before=first[-1].seq, limit=2)
    seqs = [parcel.seq for parcel in (*first, *second)]
    assert len(seqs) == 3
    assert seqs == sorted(seqs, reverse=True)
