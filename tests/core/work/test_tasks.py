"""Tasks: sending, finding, claiming, working."""

from datetime import timedelta

import pytest

from hubbub.core.actions import task_actions
from hubbub.core.mail import messages
from hubbub.core.work import task_search, tasks
from hubbub.model.errors import Conflict, NotFound, NotHolder, Unavailable, UnknownAgent
from hubbub.model.ids import new_id
from hubbub.model.lifecycle import Status
from hubbub.model.people.rights import HUB
from hubbub.model.records import LetterKind, Priority, Task
from hubbub.model.work.permissions import VerbManner
from hubbub.store.tx import Operation
from tests.core.conftest import RACERS, World, errors_of, in_status

S = Status
HOUR = timedelta(hours=1)


def claim(world: World, task: Task, by: str, *, locked: bool = True) -> Operation[Task]:
    """Look for the task and claim it; `locked` as the edges do, else on its chance."""
    return lambda tx: task_actions.accept(tx, tasks.find(tx, [world.id], str(task.id), lock=locked), by)


def test_a_task_is_delivered_at_once(world: World) -> None:
    """A task for a known agent is in its inbox when it was sent, whether the agent is there or not."""
    task = world.send(
        text="count the lines\nof every file", context="today", priority=Priority.HIGH, ttl=HOUR
    )

    assert task == world.task(task)
    assert (task.status, task.assignee, task.addressed, task.sender) == (S.DELIVERED, "bob", True, "ann")
    assert (task.title, task.text) == ("count the lines", "count the lines\nof every file")
    assert (task.number, task.epoch, task.attempt, task.leased) == (1, 1, 1, False)
    assert task.created_at == task.delivered_at == task.updated_at
    assert task.expires_at == task.created_at + 3_600_000
    (letter,) = world.inbox("bob")
    assert (letter.kind, letter.delivery.id, letter.task_id) == (LetterKind.TASK, task.id, task.id)
    assert (letter.text, letter.context, letter.sender) == (task.text, "today", "ann")


def test_sending_is_recorded(world: World) -> None:
    """The log says who sent what to whom, and by which row it was delivered."""
    task = world.send(priority=Priority.HIGH)
    sent = world.log()[-1]

    assert (sent.kind, sent.actor, sent.agent, sent.task_id) == ("task.sent", "ann", "bob", task.id)
    assert sent.detail == {
        "number": 1,
        "before": None,
        "after": "delivered",
        "attempt": 1,
        "delivery_id": str(task.id),
        "sender": "ann",
        "priority": "high",
        "title": "count the lines",
    }


def test_a_task_without_receiver_is_free(world: World) -> None:
    """A task for nobody waits in the open queue, in no inbox, and without a ttl it waits for ever."""
    task = world.send(to=None)

    assert (task.status, task.assignee, task.addressed) == (S.QUEUED, None, False)
    assert (task.delivered_at, task.delivery_id, task.expires_at) == (None, None, None)


def test_a_given_title_is_kept(world: World) -> None:
    """Where title and text are given apart, they are shown together."""
    assert world.send(title="Lines", text="count them").text == "Lines\n\ncount them"


@pytest.mark.parametrize(
    ("given", "refusal"),
    [({"to": "nobody"}, UnknownAgent), ({"parent": "nonsense"}, NotFound), ({"parent": "7"}, NotFound)],
)
def test_a_refused_task_leaves_nothing(world: World, given: dict[str, str], refusal: type[Exception]) -> None:
    """A task to an unknown agent, or with a parent that is not there, is refused whole: no row, number or count."""
    before = world.kinds()
    with pytest.raises(refusal):
        world.send(**given)

    assert world.do(task_search.search, [world.id], limit=10) == []
    assert world.do(tasks.counts, [world.id]) == {}
    assert world.kinds() == before
    assert world.send().number == 1


def test_a_parent_is_of_the_same_project(world: World) -> None:
    """A task of another project is no parent; one of the same is, by its id or its number."""
    other = world.elsewhere("other")
    foreign = other.send()
    with pytest.raises(NotFound, match=r"^parent task"):
        world.send(parent=str(foreign.id))

    parent = world.send()
    assert world.send(parent=str(parent.id)).parent_id == parent.id
    assert world.send(parent=str(parent.number)).parent_id == parent.id


def test_racing_senders_get_numbers_of_their_own(world: World) -> None:
    """The tasks of a project are counted from 1 without gap or double, and tallied, however many are sent at once."""
    for _ in range(3):
        outcomes = world.race(
            *[lambda tx: tasks.send(tx, world.id, sender="ann", to="bob", text="count")] * RACERS
        )
        assert errors_of(outcomes) == []

    found = world.do(task_search.search, [world.id], limit=100)
    assert [task.number for task in found] == list(range(3 * RACERS, 0, -1))
    assert world.do(tasks.counts, [world.id]) == {S.DELIVERED: 3 * RACERS}


def test_a_task_is_found_by_its_ids_and_its_number(world: World) -> None:
    """A task is found by its id, that of any row it ever had and, in one project, its number, also as `#1` or `T-1`."""
    other = world.elsewhere("other")
    task = world.send(to="ann")
    moved = world.on(task, task_actions.reassign, to="bob", by="ann")
    message = world.do(messages.send, world.id, sender="ann", to="bob", body="hello")

    for ref in (str(task.id), str(moved.delivery_id), "1", "#1", "T-1", "t-1"):
        assert world.do(tasks.find, [world.id], ref) == moved
        with pytest.raises(NotFound):
            other.do(tasks.find, [other.id], ref)
    unwritten = (
        "",
        "0",
        "2",
        "-1",
        "１",
        "9" * 40,
        "#",
        "T-",
        "##1",
        "#T-1",
        "M-1",
        "T-" + "9" * 40,
        "nonsense",
    )
    for nonsense in (*unwritten, str(new_id()), str(message.id)):
        with pytest.raises(NotFound, match=r"^task .* not found$"):
            world.do(tasks.find, [world.id], nonsense)
    with pytest.raises(NotFound):
        world.do(tasks.find, [world.id, other.id], "1")
    with pytest.raises(NotFound):
        world.do(tasks.find, [world.id], "T-1", by_number=False)
    with pytest.raises(NotFound):
        world.do(tasks.find, [], str(task.id))


def test_tasks_are_searched_newest_first(world: World) -> None:
    """Tasks are listed newest first, page by page, by status, assignee and sender, in one project or several."""
    one = world.send(to="bob", sender="ann")
    two = world.start(world.send(to="bob", sender="代码1号"))
    three = world.send(to="ann", sender="ann")
    other = world.elsewhere("other")
    four = other.send(to="bob")

    def found(**wanted: object) -> list[Task]:
        return world.do(task_search.search, [world.id], **{"limit": 10, **wanted})  # type: ignore[arg-type]

    assert found() == [three, two, one]
    assert found(limit=2) == [three, two]
    assert found(before=two.number) == [one]
    assert found(assignee="bob") == [two, one]
    assert found(sender="ann") == [three, one]
    assert found(status=[S.WORKING]) == [two]
    assert found(status=[S.DELIVERED, S.WORKING]) == [three, two, one]
    assert found(status=[S.DELIVERED], assignee="bob", sender="ann") == [one]
    assert found(status=[S.FAILED]) == []
    assert world.do(task_search.search, [world.id, other.id], limit=2) == [four, three]


def test_counts_are_of_the_projects(world: World) -> None:
    """The number of tasks in each status is known of each project, of several, and of the whole hub."""
    other = world.elsewhere("other")
    for status in (S.DELIVERED, S.DELIVERED, S.FAILED):
        in_status(world, status)
    in_status(other, S.DELIVERED)

    assert world.do(tasks.counts, [world.id]) == {S.DELIVERED: 2, S.FAILED: 1}
    assert world.do(tasks.counts, [world.id, other.id]) == {S.DELIVERED: 3, S.FAILED: 1}
    assert {s: n for s, n in world.do(tasks.totals).items() if n} == {S.DELIVERED: 3, S.FAILED: 1}
    assert world.do(tasks.counts, []) == {}


def test_accepting_ones_own(world: World) -> None:
    """The assignee says yes to its task: it is accepted, leased, out of the inbox, and in the same hands as before."""
    task = world.send()
    accepted = world.accept(task)

    assert (accepted.status, accepted.leased, accepted.epoch) == (S.ACCEPTED, True, task.epoch)
    assert accepted.accepted_at == accepted.updated_at
    assert world.inbox("bob") == []
    recorded = world.log()[-1]
    assert (recorded.kind, recorded.actor, recorded.agent) == ("task.accepted", "bob", "bob")
    assert (recorded.detail["before"], recorded.detail["after"]) == ("delivered", "accepted")


def test_accepting_for_whoever_has_it(world: World) -> None:
    """An answer that names nobody accepts for the assignee, as its own act; a free task has none, and says so."""
    assert world.on(world.send(), task_actions.accept, HUB, manner=VerbManner.ANSWER).assignee == "bob"
    accepted = world.log()[-1]
    assert (accepted.kind, accepted.actor, accepted.agent) == ("task.accepted", world.actor.label, "bob")
    with pytest.raises(Unavailable, match="it is free; say who claims it"):
        world.on(world.send(to=None), task_actions.accept, HUB, manner=VerbManner.ANSWER)
    with pytest.raises(NotHolder):
        world.accept(world.send(), HUB)


def test_claiming_a_free_task(world: World) -> None:
    """An agent that accepts a free task has it, unaddressed, and the epoch says that it changed hands."""
    task = world.send(to=None)
    claimed = world.accept(task)

    assert (claimed.assignee, claimed.addressed, claimed.status) == ("bob", False, S.ACCEPTED)
    assert claimed.epoch == task.epoch + 1


@pytest.mark.parametrize("operation", [task_actions.accept, task_actions.start])
def test_a_task_of_another_is_not_to_be_had(world: World, operation: object) -> None:
    """A task that is addressed to somebody, or was claimed by somebody, is refused to everybody else."""
    assert operation in (task_actions.accept, task_actions.start)
    for task in (world.send(), world.accept(world.send(to=None))):
        with pytest.raises(NotHolder, match="is assigned to 'bob'"):
            world.on(
                task, task_actions.accept if operation is task_actions.accept else task_actions.start, "ann"
            )
        assert world.task(task) == task


@pytest.mark.parametrize("locked", [True, False], ids=["locked", "on its chance"])
def test_of_racing_claims_one_wins(world: World, locked: bool) -> None:
    """However many claim a free task at once, one has it; each of the others is refused, and it was accepted once."""
    for _ in range(3):
        task = world.send(to=None)
        outcomes = world.race(*[claim(world, task, f"agent {n}", locked=locked) for n in range(RACERS)])

        winners = [outcome for outcome in outcomes if isinstance(outcome, Task)]
        assert winners == [world.task(task)]
        assert set(errors_of(outcomes)) <= {NotHolder, Conflict}
        assert [e.kind for e in world.log() if e.task_id == task.id] == ["task.sent", "task.accepted"]


def test_starting_begins_the_work(world: World) -> None:
    """A task that its agent begins is working; one begun without a yes counts as accepted."""
    direct = world.start(world.send())
    slow = world.accept(world.send())
    later = world.start(slow)

    assert direct.status is later.status is S.WORKING
    assert direct.started_at == direct.accepted_at
    assert later.accepted_at == slow.accepted_at
    assert direct.leased


def test_starting_a_free_task_claims_it(world: World) -> None:
    """An agent that begins a free task has claimed it first, and both is recorded."""
    task = world.start(world.send(to=None))

    assert (task.assignee, task.addressed, task.status, task.epoch) == ("bob", False, S.WORKING, 2)
    assert world.kinds()[-3:] == ["task.sent", "task.accepted", "task.started"]
    with pytest.raises(Unavailable):
        world.start(world.send(to=None), HUB)


def test_a_claim_may_be_without_a_heartbeat(world: World) -> None:
    """An agent without a heartbeat claims for good: the hold is no lease."""
    assert not world.on(world.send(to=None), task_actions.accept, "bob", leased=False).leased
    assert not world.on(world.send(to=None), task_actions.start, "bob", leased=False).leased


def test_a_report_from_another_epoch_is_refused(world: World) -> None:
    """An agent that gives the epoch of its hold is refused when the task was in other hands since."""
    task = world.accept(world.send(to=None))

    tasks.require_epoch(task, None)
    tasks.require_epoch(task, task.epoch)
    with pytest.raises(Conflict, match=r"changed hands since \(epoch 1, now 2\)"):
        tasks.require_epoch(task, 1)


def test_a_look_that_is_out_of_date_changes_nothing(world: World) -> None:
    """An action on a task as it was before it changed is refused, though the status would allow it."""
    task = world.send()
    world.accept(task)
    before = world.kinds()

    with pytest.raises(Conflict, match="has changed meanwhile"):
        world.do(task_actions.cancel, task, by="ann", reason=None)
    with pytest.raises(Conflict, match="has changed meanwhile"):
        world.do(task_actions.start, task, "bob")
    assert world.task(task).status is S.ACCEPTED
    assert world.kinds() == before


@pytest.mark.parametrize("status", [S.BLOCKED, S.IN_REVIEW])
def test_work_goes_on(world: World, status: Status) -> None:
    """A blocked task, and one that came back from review, is begun again by its holder."""
    assert world.start(in_status(world, status)).status is S.WORKING
