"""A bridge's reports on the hooks that it runs, and their effect on the task: the hub's half of the dialogue."""

from uuid import uuid4

import pytest

from hubbub.workspace.hook_steps import CHECK, OUTPUT, STEP, HookStep
from tests.dialects.conftest import both_engines
from tests.dialects.every_row import every_row
from tests.dialects.relay.callers import Team, no, yes
from tests.dialects.running_hub import Caller, Json


def say(caller: Caller, task_id: str, step: HookStep, **more: object) -> Json:
    """Report a task as done, as far as a step goes."""
    arguments = {"task_id": task_id, "status": "done"}
    answer, is_error = caller.ask("update_task", arguments, **{STEP: str(step), **more})
    assert not is_error, answer
    return answer


def begun(caller: Caller, task_id: str) -> str:
    """The id of a check that has begun."""
    return str(yes(say(caller, task_id, HookStep.BEGIN))["check"])


@both_engines
def test_a_check_is_kept_alive(team: Team) -> None:
    """A check holds for half a minute from the last time that its bridge said that it goes on."""
    task_id, lead, other = team.task(), team.agent("lead"), team.agent("be")
    check = begun(lead, task_id)
    team.later(seconds=29)
    assert say(lead, task_id, HookStep.RENEW, **{CHECK: check}) == {"success": True}
    team.later(seconds=29)
    assert say(lead, task_id, HookStep.PASSED, **{CHECK: check}) == {"success": True}
    assert team.row(task_id)["status"] == "done"
    assert say(other, task_id, HookStep.BEGIN) == {"success": True}


@both_engines
@pytest.mark.parametrize("step", [HookStep.RENEW, HookStep.PASSED, HookStep.FAILED, HookStep.DROPPED])
def test_a_check_that_has_lapsed(team: Team, step: HookStep) -> None:
    """After that half minute nothing that is said of a check counts any more, and the next one may begin."""
    task_id, lead = team.task(), team.agent("lead")
    check = begun(lead, task_id)
    team.later(seconds=30)
    assert no(say(lead, task_id, step, **{CHECK: check})) == "the check is not running any more"
    assert team.row(task_id)["status"] == "todo"
    assert begun(lead, task_id) != check


def test_whose_check_it_is(team: Team) -> None:
    """Only the agent that has begun a check says what becomes of it, and only of one that there is."""
    task_id, other_id, lead, be = team.task(), team.task(), team.agent("lead"), team.agent("be")
    check = begun(lead, task_id)
    denied = "permission denied: the check was begun by 'lead'"

    with every_row() as row:
        for step in (HookStep.RENEW, HookStep.PASSED, HookStep.FAILED, HookStep.DROPPED):
            with row(step):
                assert no(say(be, task_id, step, **{CHECK: check})) == denied
                assert no(say(lead, task_id, step, **{CHECK: str(uuid4())})) == "check not found"
                assert no(say(lead, other_id, step, **{CHECK: check})) == "check not found"


def test_a_check_that_came_to_nothing(team: Team) -> None:
    """A check that was dropped leaves the task as it was, and the next one may begin at once."""
    task_id, lead = team.task(), team.agent("lead")
    before = team.row(task_id)
    say(lead, task_id, HookStep.DROPPED, **{CHECK: begun(lead, task_id)})
    assert team.row(task_id) == before
    assert team.log()[-1]["detail"] == {"passed": None}
    begun(lead, task_id)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("after_task hook failed: 坏", "after_task hook failed: 坏"),
        ("nul\0", "nul\ufffd"),
        ("x" * 5_000, "x" * 4_000),
        ("", "after_task hook failed"),
    ],
)
def test_why_a_hook_failed(team: Team, said: str, kept: str) -> None:
    """A failed hook's error is told as far as it can be kept, and the task is in_review."""
    task_id, lead = team.task(), team.agent("lead")
    answer = say(lead, task_id, HookStep.FAILED, **{CHECK: begun(lead, task_id), OUTPUT: said})
    assert answer == {"success": False, "hook_failed": True, "error": kept}
    assert team.row(task_id)["status"] == "in_review"
