"""Tasks: which there are, how they go on, and how they end."""

from itertools import product

import pytest

from hubbub.core.log import outbox
from hubbub.model.lifecycle import Status
from hubbub.model.log.outbox_items import OutboxItemKind
from hubbub.model.records import Priority
from tests.dialects.conftest import both_engines
from tests.dialects.every_row import every_row
from tests.dialects.golemxv.callers import SAID, Crew, no
from tests.dialects.golemxv.requirements import requires
from tests.dialects.running_hub import Json

MAY_MOVE = {"assigned", "in_progress", "blocked"}


@requires("list_tasks.reply", "list_tasks.row", "list_tasks.area", "list_tasks.assigned", "words.numbers")
def test_a_task_is_listed(crew: Crew) -> None:
    """A row has number, title, status, priority, area and assigned; the last two are null where there is none."""
    crew.area("backend", "app/**")
    first = crew.task("Implement JWT", priority=Priority.HIGH, area="backend", to="ann")
    second = crew.task("Add rate limiting")

    assert crew.viewer().list_tasks() == {
        "tasks": [
            {
                "id": first,
                "title": "Implement JWT",
                "status": "assigned",
                "priority": "high",
                "area": "backend",
                "assigned": "ann",
            },
            {
                "id": second,
                "title": "Add rate limiting",
                "status": "pending",
                "priority": "medium",
                "area": None,
                "assigned": None,
            },
        ],
        "count": 2,
    }


@requires("list_tasks.order", "list_tasks.priority")
@both_engines
def test_the_most_urgent_come_first(crew: Crew) -> None:
    """critical, high, medium, low, and inside one the oldest first, whatever their status; priority leaves one kind."""
    urgency = [Priority.LOW, Priority.MEDIUM, Priority.CRITICAL, Priority.HIGH] * 2
    numbers = [crew.task(priority=priority) for priority in urgency]
    crew.put(numbers[2], Status.CANCELLED)

    rows = crew.viewer().list_tasks()["tasks"]

    assert [row["id"] for row in rows] == [numbers[place] for place in (2, 6, 3, 7, 1, 5, 0, 4)]
    assert [row["priority"] for row in rows] == [
        word for word in ("critical", "high", "medium", "low") for _ in range(2)
    ]
    for place, word in enumerate(("low", "medium", "critical", "high")):
        found = crew.viewer().list_tasks(priority=word)["tasks"]
        assert [row["id"] for row in found] == [numbers[place], numbers[place + 4]]


@requires("words.statuses", "list_tasks.status")
def test_a_status_is_said_in_golemxvs_words(anywhere: Crew) -> None:
    """Each status has its word, and is found by that word and no other."""
    made = {anywhere.task_of("ann", status): SAID[status] for status in Status}

    with every_row() as row:
        for word in sorted({*SAID.values()}):
            with row(word):
                found = anywhere.viewer().list_tasks(status=word, limit=50)["tasks"]
                assert {each["status"] for each in found} == {word}
                assert {each["id"] for each in found} & {*made} == {
                    number for number in made if made[number] == word
                }


@requires("list_tasks.assigned_to", "list_tasks.status", "list_tasks.limit")
def test_what_narrows_narrows_together(crew: Crew) -> None:
    """assigned_to, status, priority and limit hold at once; of nobody's tasks there are none."""
    anns = [crew.task(to="ann", priority=Priority.HIGH) for _ in range(3)]
    crew.task(to="bob", priority=Priority.HIGH)
    crew.task(to="ann")
    crew.put(anns[0], Status.WORKING)

    def found(**narrowed: object) -> list[int]:
        return [row["id"] for row in crew.viewer().list_tasks(**narrowed)["tasks"]]

    assert len(found(assigned_to="ann")) == 4
    assert found(assigned_to="ann", priority="high", status="assigned") == anns[1:]
    assert found(assigned_to="ann", priority="high", status="assigned", limit=1) == [anns[1]]
    assert found(assigned_to="nobody") == []


@requires("list_tasks.limit")
def test_at_most_fifty_are_listed(crew: Crew) -> None:
    """Twenty are given without a limit, and fifty at most."""
    for _ in range(51):
        crew.task()

    assert crew.viewer().list_tasks()["count"] == 20
    assert [row["id"] for row in crew.viewer().list_tasks(limit=50)["tasks"]] == [*range(1, 51)]


@requires("envelope.refusal", "envelope.clean")
def test_what_is_not_there_is_not_found(crew: Crew, elsewhere: Crew) -> None:
    """A number that the project does not have, be it another project's, is not found."""
    for _ in range(3):
        elsewhere.task()
    calls: dict[str, Json] = {
        "claim_task": {},
        "update_task": {"status": "failed"},
        "complete_task": {"result_summary": "s"},
    }
    ann = crew.checkin("ann")

    with crew.unchanged(), elsewhere.unchanged(), every_row() as row:
        for (tool, arguments), number in product(calls.items(), (3, 2**53)):
            with row(tool, number):
                assert no(ann, tool, task_id=number, **arguments) == "Task not found"


@requires("update_task.reply", "update_task.statuses", "update_task.from", "update_task.refused",
          "words.statuses", "envelope.clean")  # fmt: skip
def test_which_status_may_follow_which(crew: Crew) -> None:
    """Assigned, in_progress and blocked may become each of the three; else both statuses are named."""
    made = [
        (crew.task_of("ann", status), status, target)
        for status, target in product(Status, ("in_progress", "blocked", "failed"))
    ]
    ann = crew.checkin("ann")
    may_move = {number for number, _status, _target in made if SAID[crew.kept(number).status] in MAY_MOVE}

    with crew.unchanged(), every_row() as row:
        for number, status, target in made:
            if number not in may_move:
                with row(status, target):
                    error = no(ann, "update_task", task_id=number, status=target, reason="r")
                    assert SAID[status] in error
                    assert target in error
    with every_row() as row:
        for number, status, target in made:
            if number in may_move:
                with row(status, target):
                    told = ann.update_task(task_id=number, status=target, reason="r")
                    assert told == {"updated": True, "task": {"id": number, "title": "t", "status": target}}
    after = {each["id"]: each for each in crew.viewer().list_tasks(limit=50)["tasks"]}
    moved = {number: (after[number]["status"], after[number]["assigned"]) for number in may_move}
    assert moved == {number: (target, "ann") for number, _status, target in made if number in may_move}


@requires("update_task.reason")
def test_a_reason_is_recorded(anywhere: Crew) -> None:
    """Why a task is blocked, or goes on, is in the activity log, also when only the reason is new."""
    ann = anywhere.checkin("ann")
    moves = [
        ("assigned", "blocked"),
        ("assigned", "in_progress"),
        ("in_progress", "blocked"),
        ("blocked", "in_progress"),
        ("blocked", "blocked"),
        ("in_progress", "in_progress"),
    ]

    with every_row() as row:
        for before, target in moves:
            number = anywhere.task()
            ann.claim_task(task_id=number)
            if before != "assigned":
                ann.update_task(task_id=number, status=before, reason="earlier")
            ann.update_task(task_id=number, status=target, reason="waits for the 🔑")
            with row(before, target):
                line = anywhere.activity(event_type="task_updated")[0]
                assert (line["agent_name"], line["details"]["number"]) == ("ann", number)
                assert line["details"]["reason"] == "waits for the 🔑"


@requires("update_task.reason", "world.told")
@pytest.mark.parametrize(("reason", "said"), [("the 🔑 is gone", "the 🔑 is gone"), (None, "failed")])
def test_why_a_task_has_failed_is_kept_and_told(crew: Crew, reason: str | None, said: str) -> None:
    """The reason of a failure is the task's result, and its sender is told by a message; without one it is `failed`."""
    number = crew.task()
    ann = crew.checkin("ann")
    ann.claim_task(task_id=number)

    ann.update_task(task_id=number, status="failed", reason=reason)

    assert crew.kept(number).result == said
    (row,) = crew.messages()
    assert (row["from"], row["to"], row["content"]) == ("ann", "planner", said)


@requires("update_task.assignee", "complete_task.assignee", "envelope.clean")
@pytest.mark.parametrize("to", ["ann", None])
def test_only_the_assignee_reports(crew: Crew, to: str | None) -> None:
    """Only the assignee updates or completes a task, even where nobody has it."""
    number = crew.task(to=to)
    bob = crew.checkin("bob")

    with crew.unchanged():
        for tool, arguments in (
            ("update_task", {"status": "in_progress"}),
            ("update_task", {"status": "failed", "reason": "r"}),
            ("complete_task", {"result_summary": "s"}),
        ):
            error = no(bob, tool, task_id=number, **arguments)
            assert ("'ann'" in error) if to else ("claim it first" in error)


@requires("complete_task.reply", "complete_task.summary", "complete_task.files")
@pytest.mark.parametrize("files", [None, [], ["src/名.ts", "b"]])
def test_a_task_is_completed(crew: Crew, files: list[str] | None) -> None:
    """The answer holds number and title; summary and files are kept with the task."""
    number = crew.task("Implement JWT")
    ann = crew.checkin("ann")
    ann.claim_task(task_id=number)

    told = ann.complete_task(task_id=number, result_summary="done\n🦊", files_changed=files)

    assert told == {"completed": True, "task": {"id": number, "title": "Implement JWT"}}
    kept = crew.kept(number)
    assert (kept.status, kept.result) == (Status.COMPLETED, "done\n🦊")
    assert kept.files == (tuple(files) if files else kept.files)
    assert list(kept.files or ()) == (files or [])
    assert (crew.row(number)["status"], crew.row(number)["assigned"]) == ("completed", "ann")


@requires("update_task.refused", "envelope.clean", "complete_task.summary")
def test_what_may_be_completed(crew: Crew) -> None:
    """Assigned, in_progress and blocked may be completed; else both statuses are named and nothing changes."""
    made = {crew.task_of("ann", status): status for status in Status}
    ann = crew.checkin("ann")
    may_move = {number for number in made if SAID[crew.kept(number).status] in MAY_MOVE}

    with crew.unchanged(), every_row() as row:
        for number in {*made} - may_move:
            with row(made[number]):
                error = no(ann, "complete_task", task_id=number, result_summary="s")
                assert SAID[made[number]] in error
                assert "completed" in error
    for number in may_move:
        assert ann.complete_task(task_id=number, result_summary="s")["completed"] is True


@requires("complete_task.assignee", "claim_task.once")
@both_engines
def test_an_update_and_a_completion_do_not_both_win(crew: Crew) -> None:
    """A task that is failed and completed at once has ended in one of the two, and the other call was refused."""
    ann = crew.checkin("ann")
    for _ in range(5):
        number = crew.task()
        ann.claim_task(task_id=number)

        fail = ann.soon("update_task", task_id=number, status="failed", reason="r")
        complete = ann.soon("complete_task", task_id=number, result_summary="s")
        answers = {"failed": fail(), "completed": complete()}

        (won,) = [status for status, answer in answers.items() if "error" not in answer]
        assert crew.row(number)["status"] == won


@requires("complete_task.issue")
def test_what_is_about_an_issue_is_told_there(crew: Crew) -> None:
    """The summary of a completed task that is linked to an issue goes out as one comment; of no other anything does."""
    linked, lost, plain = crew.task(issue="acme/app#7"), crew.task(issue="acme/app#8"), crew.task()
    ann = crew.checkin("ann")
    for number in (linked, lost, plain):
        ann.claim_task(task_id=number)
    ann.complete_task(task_id=linked, result_summary="Built it 🦊")
    ann.update_task(task_id=lost, status="failed", reason="r")
    ann.complete_task(task_id=plain, result_summary="s")
    no(ann, "complete_task", task_id=linked, result_summary="again")

    (parcel,) = crew.hub.look(lambda tx: outbox.of_project(tx, crew.project.id, limit=10))
    assert (parcel.kind, parcel.issue) == (OutboxItemKind.COMMENT, "acme/app#7")
    assert (parcel.text or "").startswith("Built it 🦊\n")
