"""create_task, update_task and get_all_tasks: the graph of the work, and how it moves."""

import re
from itertools import permutations, product
from typing import Any

import pytest

from tests.dialects.conftest import both_engines
from tests.dialects.every_row import every_row
from tests.dialects.relay.callers import NOWHERE, Team, no, yes
from tests.dialects.relay.requirements import requires
from tests.dialects.running_hub import Json

STATUSES = ("todo", "in_progress", "in_review", "done")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _create(team: Team, by: str = "lead", **more: Any) -> Json:
    answer: Json = team.agent(by).create_task(**{"title": "t", "priority": "low", **more})
    return answer


def _lost(team: Team, how: str) -> str:
    """A task that another dialect's agent did not complete."""
    coder, boss = team.fleet.online("coder-1"), team.fleet.agent("commander")
    task_id: str = boss.send_task(alias="coder-1", task="t", ttl_seconds=60)["message_id"]
    if how == "failed":
        coder.send_reply(alias="commander", text="no", in_reply_to=task_id, status="failed")
    elif how == "cancelled":
        boss.cancel_task(task_id=task_id)
    else:
        team.later(minutes=2)
    return task_id


@requires("create_task.reply", "create_task.description", "create_task.assignee", "create_task.depends_on",
          "create_task.derived_reason", "create_task.parent", "get_all_tasks.row", "rows.get_all_tasks",
          "rows.description", "all.ids", "all.times", "words.agents")  # fmt: skip
def test_a_task_is_created_and_shown(team: Team) -> None:
    """create_task answers the id, and get_all_tasks shows all that was said of it, the description if asked."""
    team.agent("lead").start_session(session_id="r")
    needed, parent = team.task("needed"), team.task("parent")
    team.later(seconds=5)

    created = yes(
        team.agent("lead").create_task(
            title="登录页 🦊",
            description="Build it.\n\n## How\nwell",
            assignee="代码1号",
            priority="high",
            depends_on=[needed, parent],
            idempotency_key="k/1",
            parent_task_id=parent,
            derived_reason="too large",
        )
    )

    assert created.keys() == {"task_id"}
    assert UUID.fullmatch(created["task_id"])
    row = {
        "id": created["task_id"],
        "title": "登录页 🦊",
        "status": "todo",
        "assignee": "代码1号",
        "priority": "high",
        "created_by": "lead",
        "depends_on": [needed, parent],
        "external_id": "k/1",
        "parent_task_id": parent,
        "depth": 1,
        "derived_reason": "too large",
        "created_at": team.hub.clock() // 1000,
        "updated_at": team.hub.clock() // 1000,
        "session_id": "r",
    }
    assert team.tasks()[2] == row
    assert team.tasks(include_description=True)[2] == {**row, "description": "Build it.\n\n## How\nwell"}


@requires("create_task.required", "get_all_tasks.row", "envelope.null")
def test_what_is_left_out_is_null(team: Team) -> None:
    """A task of which only the title and the priority were said has null, 0 or nothing for all else."""
    task = team.task("t", depends_on=[], idempotency_key="", description=None)

    row = team.row(task)
    empty = ("assignee", "external_id", "parent_task_id", "derived_reason", "description")
    assert {name: row[name] for name in empty} == dict.fromkeys(empty)
    assert (row["depends_on"], row["depth"]) == ([], 0)


@requires("create_task.priority", "words.priorities")
def test_priorities_are_kept(anywhere: Team) -> None:
    """Each of the four priorities comes back as it was given."""
    given = ["critical", "high", "medium", "low"]
    for priority in given:
        anywhere.task(priority=priority)

    assert [row["priority"] for row in anywhere.tasks()] == given


@requires("get_all_tasks.all", "get_all_tasks.assignee", "rows.status")
@both_engines
def test_tasks_are_narrowed(team: Team) -> None:
    """All tasks are listed as they were made, ended ones too; by assignee and by status, and by both, some of them."""
    made = [team.task(str(n), assignee="fe" if n % 2 else None) for n in range(6)]
    for task_id, status in zip(made[1:4], STATUSES[1:], strict=True):
        yes(team.agent("lead").update_task(task_id=task_id, status=status))

    def titles(**narrowed: object) -> str:
        return "".join(row["title"] for row in team.tasks(**narrowed))

    assert titles() == "012345"
    assert titles(assignee="fe") == "135"
    assert titles(assignee="nobody") == ""
    assert [titles(status=status) for status in STATUSES] == ["045", "1", "2", "3"]
    assert titles(assignee="fe", status="done") == "3"
    assert titles(status="failed") == ""


@requires("creating.key_empty")
def test_an_empty_id_counts_as_left_out(team: Team) -> None:
    """An optional id that is an empty text is none: a parent, a key, a thread, an artifact's task."""
    lead = team.agent("lead")

    one, other = (team.task(parent_task_id="", idempotency_key="") for _ in range(2))
    said = lead.send_message(content="m", thread_id="")
    lead.post_artifact(name="a", type="pr", content="c", task_id="")

    assert one != other
    assert (team.row(one)["parent_task_id"], team.row(one)["depth"]) == (None, 0)
    assert said["message"]["thread_id"] is None
    assert lead.get_artifact(name="a")["artifact"]["task_id"] is None


@requires("create_task.idempotency_key", "creating.key_first", "creating.key_run", "creating.key_empty")
@both_engines
def test_a_key_is_known_in_its_run(team: Team) -> None:
    """A known key gives its task whatever else is asked, wrong names and all; in another run, or empty, it is none."""
    first = team.task("first", idempotency_key="k")

    with team.unchanged():
        for other in (
            {"title": "another", "priority": "critical"},
            {"depends_on": [NOWHERE]},
            {"parent_task_id": NOWHERE},
            {"assignee": "not a name"},
        ):
            assert yes(_create(team, idempotency_key="k", **other)) == {"task_id": first}
    assert yes(_create(team, "fe", idempotency_key="k")) == {"task_id": first}

    assert len({team.task(idempotency_key="") for _ in range(3)} | {first}) == 4
    elsewhere = team.within("other").create_task(title="t", priority="low", idempotency_key="k")
    assert yes(elsewhere)["task_id"] != first


@requires("creating.key_once")
@both_engines
def test_a_key_is_taken_once(team: Team) -> None:
    """All of fifty who create under one key at once get the id of one task, which is there once."""
    team.begin()
    asked = [
        {"agent_id": f"fe{n}", "title": str(n), "priority": "low", "idempotency_key": "k"} for n in range(50)
    ]

    answers = team.program().at_once("create_task", asked)

    (task_id,) = {yes(answer)["task_id"] for answer in answers}
    assert [row["id"] for row in team.tasks()] == [task_id]


@requires("create_task.unknown_needs", "creating.needs_second", "envelope.refusal", "envelope.clean")
def test_unknown_needs_are_named(team: Team) -> None:
    """depends_on with ids that the run does not have is refused with those ids, in their order, and nothing is made."""
    known = team.task()
    message = yes(team.agent("lead").send_message(content="c", to="fe"))["message_id"]

    with team.unchanged():
        for unknown in ([NOWHERE], ["1"], [""], ["x" * 256, NOWHERE], [message], ["名"]):
            answer = _create(team, depends_on=[known, *unknown], parent_task_id=NOWHERE)
            assert no(answer) == f"depends_on contains unknown task IDs: {', '.join(unknown)}"


@requires("creating.needs_second", "tokens.foreign")
def test_another_projects_tasks_are_unknown(team: Team, elsewhere: Team) -> None:
    """A task of another project cannot be needed, nor be a parent, nor be claimed or changed."""
    foreign = elsewhere.task()

    with elsewhere.unchanged():
        assert foreign in no(_create(team, depends_on=[foreign]))
        assert no(_create(team, parent_task_id=foreign)) == "parent task not found"
        assert no(team.agent("lead").update_task(task_id=foreign, status="done")) == "task not found"
        assert yes(team.agent("lead").claim_task(task_id=foreign))["claimed"] is False


@requires("create_task.depends_on", "creating.needs_second")
def test_a_need_counts_once(team: Team) -> None:
    """An id that is named twice in depends_on is one dependency."""
    needed = team.task()

    assert team.row(team.task(depends_on=[needed, needed]))["depends_on"] == [needed]


@requires("create_task.unknown_parent", "creating.parent_third", "envelope.clean")
def test_an_unknown_parent_is_refused(team: Team) -> None:
    """A parent that the run does not have is refused after the dependencies were found, and nothing is made."""
    known = team.task()

    with team.unchanged(), every_row() as row:
        for parent in (NOWHERE, " ", "1", "名"):
            with row(repr(parent)):
                refused = _create(team, depends_on=[known], parent_task_id=parent)
                assert no(refused) == "parent task not found"


@requires(
    "create_task.breaker", "create_task.parent", "creating.depth_fourth", "creating.depth", "envelope.clean"
)
def test_tasks_are_derived_one_deep(team: Team) -> None:
    """A derived task has depth 1, and none can be derived from it."""
    child = team.task(parent_task_id=team.task())
    assert team.row(child)["depth"] == 1

    with team.unchanged():
        assert no(_create(team, parent_task_id=child)) == "max derived task depth exceeded"


@requires("create_task.breaker", "create_task.parent", "creating.siblings_fifth", "envelope.clean")
@both_engines
def test_three_are_derived_of_a_parent(team: Team) -> None:
    """A fourth is refused, also when the first ones are done; another parent has room for its own."""
    parent, other = team.task(), team.task()
    for _ in range(3):
        child = team.task(parent_task_id=parent)
        yes(team.agent("lead").update_task(task_id=child, status="done"))

    with team.unchanged():
        assert no(_create(team, parent_task_id=parent)) == "max derived siblings exceeded"
    team.task(parent_task_id=other)


@requires("creating.siblings_once")
@both_engines
def test_siblings_that_race_are_three(team: Team) -> None:
    """Three of twenty tasks derived of one parent at once are made, and the others are refused."""
    asked = {"title": "t", "priority": "low", "parent_task_id": team.task()}

    answers = team.program().at_once("create_task", [{**asked, "agent_id": f"fe{n}"} for n in range(20)])

    assert len([answer for answer in answers if answer["success"]]) == 3
    refused = {no(answer) for answer in answers if not answer["success"]}
    assert refused == {"max derived siblings exceeded"}
    assert len(team.tasks()) == 4


@requires("update_task.status", "update_task.reply", "updating.any")
def test_any_status_may_follow_any_other(team: Team) -> None:
    """From each of the four statuses a task comes to each, its assignee stays, and the answer is success."""
    lead = team.agent("lead")
    moves = list(product(STATUSES, STATUSES, (None, "fe")))
    made = [team.task(assignee=assignee) for _before, _after, assignee in moves]
    for task, (before, _after, _assignee) in zip(made, moves, strict=True):
        yes(lead.update_task(task_id=task, status=before))
    team.later(seconds=3)

    answers = [
        yes(lead.update_task(task_id=task, status=after))
        for task, (_before, after, _assignee) in zip(made, moves, strict=True)
    ]

    with every_row() as told:
        for row, answer, (before, after, assignee) in zip(team.tasks(), answers, moves, strict=True):
            with told(before, "to", after, assignee):
                assert answer.keys() <= {"hooks"}
                assert (row["status"], row["assignee"]) == (after, assignee)
                assert row["created_at"] <= row["updated_at"] <= team.hub.clock() // 1000


@requires("updating.any")
def test_a_task_goes_any_way(anywhere: Team) -> None:
    """However it has come where it is, a task goes on from there as it is told."""
    fe = anywhere.agent("fe")
    orders = list(permutations(STATUSES))
    made = [anywhere.task(assignee="fe") for _order in orders]

    for step in (*zip(*orders, strict=True),) * 2:
        for task, status in zip(made, step, strict=True):
            yes(fe.update_task(task_id=task, status=status))
        assert [row["status"] for row in anywhere.tasks()] == [*step]


@requires("update_task.assignee", "updating.who", "limits.names.awaited")
def test_a_task_is_given_to_another(anywhere: Team) -> None:
    """With assignee alone a task stays in its status and is another's, who need not have come yet."""
    fe = anywhere.agent("fe")
    made = [anywhere.task(assignee="fe") for _status in STATUSES]
    for task, status in zip(made, STATUSES, strict=True):
        yes(fe.update_task(task_id=task, status=status))
        yes(fe.update_task(task_id=task, assignee="newcomer"))

    rows = [(row["status"], row["assignee"]) for row in anywhere.tasks()]
    assert rows == [(status, "newcomer") for status in STATUSES]
    for task in made:
        yes(anywhere.agent("newcomer").update_task(task_id=task, status="in_progress"))


@requires("update_task.assignee", "update_task.status")
def test_both_change_at_once(anywhere: Team) -> None:
    """With status and assignee both are as they were asked for afterwards."""
    fe = anywhere.agent("fe")
    moves = list(product(STATUSES, repeat=2))
    for before, after in moves:
        task = anywhere.task(assignee="fe")
        yes(fe.update_task(task_id=task, status=before))
        yes(fe.update_task(task_id=task, status=after, assignee="be"))

    rows = [(row["status"], row["assignee"]) for row in anywhere.tasks()]
    assert rows == [(after, "be") for _before, after in moves]


@requires("updating.who", "updating.denied", "envelope.clean")
def test_who_may_update(team: Team) -> None:
    """The assignee and the creator may, anyone else is denied; anyone may while the task is unassigned."""
    task, free = team.task(assignee="fe"), team.task()
    other = team.agent("be")

    with team.unchanged():
        for change in ({"status": "done"}, {"assignee": "be"}, {}):
            assert no(other.update_task(task_id=task, **change)) == "permission denied"
    for name in ("fe", "lead"):
        yes(team.agent(name).update_task(task_id=task, status="in_progress"))
    yes(other.update_task(task_id=free, status="in_progress"))
    yes(other.update_task(task_id=free, assignee="fe"))
    assert no(other.update_task(task_id=free, status="done")) == "permission denied"


@requires("updating.who")
def test_anyone_may_steer_an_unassigned_task(team: Team) -> None:
    """Anyone may give an unassigned task to another, leave it at todo, or put it back when it was done."""
    given, left, done = team.task(), team.task(), team.task()
    other = team.agent("be")
    yes(team.agent("lead").update_task(task_id=done, status="done"))

    yes(other.update_task(task_id=given, assignee="fe"))
    yes(other.update_task(task_id=left, status="todo"))
    yes(other.update_task(task_id=done, status="todo"))

    rows = [(row["status"], row["assignee"]) for row in team.tasks()]
    assert rows == [("todo", "fe"), ("todo", None), ("todo", None)]
    assert no(other.update_task(task_id=given, assignee="be")) == "permission denied"


@requires("updating.who", "updating.any")
def test_an_update_does_not_wait_for_dependencies(anywhere: Team) -> None:
    """Anyone may move an unassigned task to any status, also one that could not be claimed yet."""
    needed, moves = anywhere.task(), STATUSES[1:]
    for status in moves:
        task = anywhere.task(depends_on=[needed])
        yes(anywhere.agent("be").update_task(task_id=task, status=status))

    rows = [(row["status"], row["assignee"]) for row in anywhere.tasks()[1:]]
    assert rows == [(status, "be") for status in moves]


@requires("updating.unknown", "envelope.clean")
def test_an_unknown_task_is_not_found(team: Team) -> None:
    """An id that the run does not have, a number among them, is no task, whatever is to be changed."""
    team.task()
    fe = team.agent("fe")
    fe.get_all_tasks()

    with team.unchanged(), every_row() as row:
        for task_id, change in product((NOWHERE, "", "1", "名", "x" * 128), ({"status": "done"}, {})):
            with row(repr(task_id), change):
                assert no(fe.update_task(task_id=task_id, **change)) == "task not found"


@requires("updating.nothing", "envelope.clean")
def test_there_must_be_something_to_change(team: Team) -> None:
    """Neither status nor assignee: No valid fields to update."""
    task = team.task(assignee="fe")

    with team.unchanged():
        for nothing in ({}, {"status": None}, {"title": "new"}):
            assert no(team.agent("lead").update_task(task_id=task, **nothing)) == "No valid fields to update"


@requires("updating.lost", "words.lost", "rows.status", "envelope.clean")
@pytest.mark.parametrize("how", ["failed", "cancelled", "expired"])
def test_what_was_lost_stays_lost(team: Team, how: str) -> None:
    """A task that failed, was cancelled or expired elsewhere shows so, and is neither updated nor claimed."""
    task = _lost(team, how)
    team.agent("coder-1").get_all_tasks()
    assert [row["status"] for row in team.tasks()] == [how]
    assert [row["id"] for row in team.tasks(status=how)] == [task]

    with team.unchanged():
        for change in ({"status": "todo"}, {"status": "done"}, {"assignee": "fe"}):
            assert no(team.agent("coder-1").update_task(task_id=task, **change)) == f"task is {how}"
        refused = yes(team.agent("coder-1").claim_task(task_id=task))
        assert refused == {"claimed": False, "reason": f"task is {how}"}


@requires("words.todo", "words.in_progress", "words.in_review", "words.done")
def test_statuses_of_another_dialect_are_said_in_relays_words(team: Team) -> None:
    """Delivered and acknowledged tasks are todo, running ones in_progress, replied ones done; free ones todo."""
    coder = team.fleet.online("coder-1")
    task_id = team.fleet.agent("commander").send_task(alias="coder-1", task="t")["message_id"]
    seen = [team.row(task_id)["status"]]
    coder.ack_inbox(alias="coder-1", message_id=task_id)
    seen.append(team.row(task_id)["status"])
    team.fleet.online("coder-1", "working", task=task_id)
    seen.append(team.row(task_id)["status"])
    yes(team.agent("coder-1").update_task(task_id=task_id, status="in_review"))
    seen.append(team.row(task_id)["status"])
    coder.report_completion(alias="coder-1", task=task_id, result="r")
    seen.append(team.row(task_id)["status"])

    assert seen == ["todo", "todo", "in_progress", "in_review", "done"]
    assert team.row(team.fleet.free_task())["status"] == "todo"


@requires("updating.hooks")
def test_hooks_do_not_run_over_http(anywhere: Team) -> None:
    """An update to done says that the after_task hook was not run; any other says nothing of hooks."""
    task = anywhere.task(assignee="fe")

    assert yes(anywhere.agent("fe").update_task(task_id=task, status="in_review")) == {}
    answer = yes(anywhere.agent("fe").update_task(task_id=task, status="done"))
    assert answer["hooks"].startswith("not run: ")
