"""Claims: who gets a task, and who is told that it is no longer available."""

import pytest

from hubbub.model.lifecycle import Status
from hubbub.model.records import Priority
from tests.dialects.conftest import both_engines
from tests.dialects.every_row import every_row
from tests.dialects.golemxv.callers import GONE, SAID, Crew, no
from tests.dialects.golemxv.requirements import requires

pytestmark = both_engines


@requires("claim_task.reply", "claim_task.paths", "words.statuses")
def test_who_claims_is_told_what_to_do(crew: Crew) -> None:
    """The answer holds the task whole, with the patterns of its area; the task is then the caller's."""
    crew.area("backend", "app/**", "plugins/*.php")
    text = "Add JWT\n\nto all endpoints 🦊"
    number = crew.task("Implement JWT", text=text, priority=Priority.CRITICAL, area="backend")

    assert crew.checkin("ann").claim_task(task_id=number) == {
        "claimed": True,
        "task": {
            "id": number,
            "title": "Implement JWT",
            "description": text,
            "priority": "critical",
            "area": "backend",
            "work_area_paths": ["app/**", "plugins/*.php"],
        },
    }
    assert (crew.row(number)["status"], crew.row(number)["assigned"]) == ("assigned", "ann")


@requires("claim_task.paths")
@pytest.mark.parametrize("area", [None, "gone"])
def test_without_an_area_there_are_no_paths(crew: Crew, area: str | None) -> None:
    """A task without an area, or with one that the project does not have, comes with an empty list of paths."""
    number = crew.task(area=area)

    task = crew.checkin("ann").claim_task(task_id=number)["task"]

    assert (task["area"], task["work_area_paths"]) == (area, [])


@requires("claim_task.once", "claim_task.gone")
def test_of_twenty_who_claim_at_once_one_wins(crew: Crew) -> None:
    """Exactly one of twenty agents gets the task, and the others are told that it is no longer available."""
    number = crew.task()
    member = crew.member()
    agents = [crew.checkin(f"ann-{place}", by=member if place % 2 else None) for place in range(20)]

    answers = [wait() for wait in [agent.soon("claim_task", task_id=number) for agent in agents]]

    (winner,) = [place for place, answer in enumerate(answers) if answer.get("claimed")]
    assert [answer for answer in answers if "error" in answer] == [{"error": GONE}] * 19
    assert crew.row(number)["assigned"] == f"ann-{winner}"
    assert len(crew.activity(event_type="task_claimed")) == 1


@requires("claim_task.once")
def test_many_tasks_are_shared_out(crew: Crew) -> None:
    """When five agents claim the same five tasks at once each task has one claimer."""
    numbers = [crew.task() for _ in range(5)]
    agents = {name: crew.checkin(name) for name in ("a", "b", "c", "d", "e")}

    waits = [
        (name, number, agent.soon("claim_task", task_id=number))
        for number in numbers
        for name, agent in agents.items()
    ]
    won = [(number, name) for name, number, wait in waits if wait().get("claimed")]

    rows = crew.viewer().list_tasks()["tasks"]
    assert sorted(won) == [(row["id"], row["assigned"]) for row in rows]


@requires("claim_task.gone", "envelope.clean")
def test_what_is_not_pending_is_not_claimed(crew: Crew) -> None:
    """A task of another's, or one that has begun or ended, is no longer available, and stays as it is."""
    made = {status: crew.task_of("ann", status) for status in Status if SAID[status] != "pending"}
    ann, bob = crew.checkin("ann"), crew.checkin("bob")
    for status in (Status.ACCEPTED, Status.WORKING, Status.BLOCKED):
        ann.update_task(task_id=made[status], status="in_progress")

    with crew.unchanged(), every_row() as row:
        for status, number in made.items():
            with row(status):
                assert no(bob, "claim_task", task_id=number) == GONE
                if status is not Status.DELIVERED:
                    assert no(ann, "claim_task", task_id=number) == GONE


@requires("claim_task.gone", "envelope.clean")
def test_a_claim_is_made_once(crew: Crew) -> None:
    """An agent that has claimed a task cannot claim it a second time, and neither can anyone else."""
    number = crew.task()
    ann, bob = crew.checkin("ann"), crew.checkin("bob")
    ann.claim_task(task_id=number)

    with crew.unchanged():
        for caller in (ann, bob):
            assert no(caller, "claim_task", task_id=number) == GONE


@requires("claim_task.own")
def test_a_task_that_is_assigned_by_name_may_be_claimed(crew: Crew) -> None:
    """A task in an agent's inbox is claimed by that agent, whose inbox it then leaves, and by no other."""
    number = crew.task(to="ann")
    ann, bob = crew.checkin("ann"), crew.checkin("bob")

    assert no(bob, "claim_task", task_id=number) == GONE
    assert ann.claim_task(task_id=number)["claimed"] is True
    assert crew.fleet.inbox("ann") == []


@requires("claim_task.unmet", "world.needs", "envelope.clean")
@pytest.mark.parametrize("assignee", [None, "ann"])
def test_what_waits_for_others_is_not_claimed(crew: Crew, assignee: str | None) -> None:
    """Until all that a task needs is completed it is not available, and the error names by number what it waits for."""
    first, second = crew.task(), crew.task(to="bob")
    number = crew.task(needs=[first, second], to=assignee)
    ann = crew.checkin("ann")
    assert crew.row(number)["status"] == "pending"

    with crew.unchanged():
        assert no(ann, "claim_task", task_id=number) == (
            f"{GONE}: it waits for task {first} (pending), task {second} (assigned)"
        )
    ann.claim_task(task_id=first)
    ann.complete_task(task_id=first, result_summary="s")
    crew.put(second, Status.FAILED)
    assert no(ann, "claim_task", task_id=number) == f"{GONE}: it waits for task {second} (failed)"


@requires("claim_task.unmet")
def test_what_waited_may_be_claimed_in_the_end(crew: Crew) -> None:
    """When the last of its needs is completed a task may be claimed."""
    needs = [crew.task(), crew.task()]
    number = crew.task(needs=needs)
    ann = crew.checkin("ann")
    for each in needs:
        no(ann, "claim_task", task_id=number)
        ann.claim_task(task_id=each)
        ann.complete_task(task_id=each, result_summary="s")

    assert ann.claim_task(task_id=number)["claimed"] is True
