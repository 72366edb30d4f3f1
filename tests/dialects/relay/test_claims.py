"""claim_task: who may begin a task, when, and that it is one of many."""

from datetime import timedelta
from itertools import product

import pytest

from tests.dialects.conftest import both_engines
from tests.dialects.every_row import every_row
from tests.dialects.relay.callers import NOWHERE, Team, yes
from tests.dialects.relay.requirements import requires

pytestmark = both_engines


def _refusal(team: Team, name: str, task_id: str) -> str:
    """Why the agent could not claim the task."""
    answer = yes(team.agent(name).claim_task(task_id=task_id))
    assert answer == {"claimed": False, "reason": answer["reason"]}
    return str(answer["reason"])


@requires("claim_task.from", "claim_task.reply", "claiming.winner", "claiming.hooks")
@pytest.mark.parametrize("assignee", [None, "fe"])
def test_a_task_is_claimed(team: Team, assignee: str | None) -> None:
    """A task that is todo, and free or one's own, is one's own and in progress afterwards; hooks were not run."""
    task = team.task(assignee=assignee)

    answer = yes(team.agent("fe").claim_task(task_id=task))

    assert answer.keys() == {"claimed", "hooks"}
    assert answer["claimed"] is True
    assert answer["hooks"].startswith("not run: ")
    assert (team.row(task)["status"], team.row(task)["assignee"]) == ("in_progress", "fe")


@requires("claim_task.atomic", "claim_task.reply", "claiming.winner", "claiming.not")
def test_of_fifty_one_wins(team: Team) -> None:
    """One of fifty agents who claim a free task at once gets it, and the others are told that it is taken."""
    task = team.task()
    claims = [{"agent_id": f"fe{n}", "task_id": task} for n in range(50)]

    answers = team.program().at_once("claim_task", claims)

    won = [claim["agent_id"] for claim, answer in zip(claims, answers, strict=True) if yes(answer)["claimed"]]
    assert won == [team.row(task)["assignee"]]
    assert {answer.get("reason") for answer in answers} == {None, "task is in_progress"}
    started = [line for line in team.log() if line["kind"] == "task.started"]
    assert [line["actor"] for line in started] == won


@requires("claim_task.atomic")
def test_many_tasks_are_shared_out(team: Team) -> None:
    """When ten agents claim the same five tasks at once each task has one claimer."""
    tasks = [team.task() for _ in range(5)]
    claims = [{"agent_id": f"fe{n}", "task_id": task} for task in tasks for n in range(10)]

    answers = team.program().at_once("claim_task", claims)

    won = {
        claim["task_id"]: claim["agent_id"]
        for claim, each in zip(claims, answers, strict=True)
        if each["claimed"]
    }
    assert len([each for each in answers if each["claimed"]]) == 5
    assert won == {row["id"]: row["assignee"] for row in team.tasks()}


@requires("claim_task.atomic")
def test_an_update_and_a_claim_do_not_both_win(team: Team) -> None:
    """A task that is claimed and given to another at once is in the end the other's, or was never the claimer's."""
    for _ in range(10):
        task = team.task()
        claim = team.agent("fe").soon("claim_task", task_id=task)
        give = team.agent("lead").soon("update_task", task_id=task, assignee="be")

        claimed = yes(claim())
        yes(give())

        row = team.row(task)
        assert row["assignee"] == "be"
        assert (row["status"] == "in_progress") is claimed["claimed"]


@requires("claiming.not", "claim_task.from", "envelope.clean")
def test_what_has_begun_is_not_claimed(team: Team) -> None:
    """A task that is not todo is not claimed, by its own assignee neither, and the reason is its status."""
    made = {status: team.task(assignee="fe") for status in ("in_progress", "in_review", "done")}
    for status, task in made.items():
        yes(team.agent("fe").update_task(task_id=task, status=status))
    team.agent("be").get_all_tasks()

    with team.unchanged(), every_row() as row:
        for (status, task), name in product(made.items(), ("fe", "be")):
            with row(status, name):
                assert _refusal(team, name, task) == f"task is {status}"


@requires("claiming.not", "claim_task.from", "envelope.clean")
def test_what_is_anothers_is_not_claimed(team: Team) -> None:
    """A task that is assigned to another, be it its creator's, is not claimed, and the reason names whose it is."""
    task = team.task(assignee="fe")

    with team.unchanged():
        assert _refusal(team, "lead", task) == "task is assigned to fe"


@requires("claiming.not", "envelope.clean")
def test_what_is_not_there_is_not_claimed(team: Team) -> None:
    """An unknown id, a number among them, is said to be unknown; the call itself succeeds."""
    team.task()

    with team.unchanged(), every_row() as row:
        for task_id in (NOWHERE, "", "1", "名", "x" * 128):
            with row(repr(task_id)):
                assert _refusal(team, "lead", task_id) == "task not found"


@requires("claiming.unmet", "claiming.met", "create_task.depends_on", "envelope.clean")
@pytest.mark.parametrize("assignee", [None, "fe"])
def test_what_depends_on_others_waits_for_them(team: Team, assignee: str | None) -> None:
    """Until all that a task needs is done it is not claimed, and the reason names what is not; then it is."""
    first, second = team.task("first"), team.task("second")
    task = team.task(depends_on=[first, second], assignee=assignee)
    fe, lead = team.agent("fe"), team.agent("lead")
    fe.get_all_tasks()

    with team.unchanged():
        assert _refusal(team, "fe", task) == f"Unmet dependencies: {first}, {second}"
    lead.update_task(task_id=first, status="done")
    assert _refusal(team, "fe", task) == f"Unmet dependencies: {second}"
    for status in ("in_progress", "in_review"):
        lead.update_task(task_id=second, status=status)
        assert _refusal(team, "fe", task) == f"Unmet dependencies: {second}"
    lead.update_task(task_id=second, status="done")
    assert yes(fe.claim_task(task_id=task))["claimed"] is True


@requires("claiming.unmet")
def test_unmet_needs_are_said_first(team: Team) -> None:
    """A task that waits for another, and is someone else's, is refused for what it waits for."""
    needed = team.task()
    task = team.task(depends_on=[needed], assignee="be")

    assert _refusal(team, "fe", task) == f"Unmet dependencies: {needed}"


@requires("claiming.unmet")
def test_a_need_that_is_reopened_is_unmet_again(team: Team) -> None:
    """A dependency that was done and is not any more holds back tasks that have not begun yet."""
    needed = team.task()
    task = team.task(depends_on=[needed])
    lead = team.agent("lead")
    lead.update_task(task_id=needed, status="done")
    lead.update_task(task_id=needed, status="todo")

    assert _refusal(team, "fe", task) == f"Unmet dependencies: {needed}"


@requires("claiming.unmet", "words.done")
@pytest.mark.parametrize("how", ["failed", "cancelled"])
def test_a_need_that_was_lost_is_unmet(team: Team, how: str) -> None:
    """A need that failed or was cancelled elsewhere is not done, and the reason says what became of it."""
    coder, boss = team.fleet.online("coder-1"), team.fleet.agent("commander")
    needed = boss.send_task(alias="coder-1", task="t")["message_id"]
    task = team.task(depends_on=[needed])
    if how == "failed":
        coder.send_reply(alias="commander", text="no", in_reply_to=needed, status="failed")
    else:
        boss.cancel_task(task_id=needed)

    assert _refusal(team, "fe", task) == f"Unmet dependencies: {needed} ({how})"


@requires("claiming.met", "claim_task.atomic")
def test_the_last_two_needs_may_be_done_at_once(team: Team) -> None:
    """When the needs of a task are all done at the same moment it can be claimed, once."""
    needs = [team.task(str(n)) for n in range(5)]
    task = team.task(depends_on=needs)
    team.program().at_once(
        "update_task", [{"agent_id": "lead", "task_id": each, "status": "done"} for each in needs]
    )

    claims = [{"agent_id": f"fe{n}", "task_id": task} for n in range(10)]
    answers = team.program().at_once("claim_task", claims)

    assert [answer["claimed"] for answer in answers].count(True) == 1


@requires("claiming.no_lapse")
def test_a_claim_outlives_a_presence(team: Team) -> None:
    """A task that a CommHub agent claims through Relay stays its own when it falls silent, and when it comes back."""
    team.fleet.online("coder-1")
    task = team.fleet.free_task()
    yes(team.agent("coder-1").claim_task(task_id=task))

    team.later(minutes=11)
    assert (team.row(task)["status"], team.row(task)["assignee"]) == ("in_progress", "coder-1")

    team.fleet.online("coder-1")
    assert (team.row(task)["status"], team.fleet.inbox("coder-1")) == ("in_progress", [])


@requires("claiming.no_lapse")
def test_neither_tasks_nor_claims_lapse(team: Team) -> None:
    """After a year a task is still todo, and one that was claimed still its claimer's, who may finish it."""
    waiting, addressed, claimed = team.task(), team.task(assignee="be"), team.task()
    yes(team.agent("fe").claim_task(task_id=claimed))

    team.hub.clock.advance(timedelta(days=365))

    assert team.row(waiting)["status"] == team.row(addressed)["status"] == "todo"
    row = team.row(claimed)
    assert (row["status"], row["assignee"]) == ("in_progress", "fe")
    yes(team.agent("fe").update_task(task_id=claimed, status="done"))
