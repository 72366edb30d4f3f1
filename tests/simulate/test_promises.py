"""The promises that a simulation looks at: each notices what breaks it."""

from dataclasses import replace

import pytest

from simulate.moves import MOVES
from simulate.play import NOBODY, Step, play, story_of
from simulate.promises import EACH_STEP, NOW_AND_THEN
from simulate.world import Speaker, World

STORIES = [story_of(seed, 60) for seed in range(100, 130)]  # one of them has what is to be spoiled
ONE = "(SELECT id FROM tasks WHERE status = '{}' LIMIT 1)"
OTHER = "(SELECT id FROM {} WHERE project_id <> {}.project_id LIMIT 1)"
# What somebody does behind everyone's back, by the promise that is the first to notice.
WRONGS = {
    "the_log_tells_a_path_of_the_lifecycle": """INSERT INTO activity (tx, project_id, at, kind, actor, task_id, detail)
        SELECT 0, project_id, 0, 'task.blocked', 'ann', id, '{"number": 1, "before": "queued", "after": "blocked"}'
        FROM tasks WHERE status = 'completed' LIMIT 1""",
    "tasks_are_what_the_log_tells": f"UPDATE tasks SET status = 'working' WHERE id = {ONE.format('completed')}",
    "held_tasks_have_a_holder": "UPDATE tasks SET assignee = NULL, epoch = 99 WHERE status = 'delivered'",
    "what_is_addressed_stays_so": """UPDATE tasks SET assignee = NULL, epoch = 99, addressed = 1, leased = 0
        WHERE status = 'completed'""",
    "leases_end_with_their_holder": """DELETE FROM claims;
        UPDATE tasks SET leased = 1, addressed = 0 WHERE status IN ('accepted', 'working', 'blocked');
        UPDATE presences SET ended_at = 9000000000000""",
    "a_name_is_one_presence": "UPDATE presences SET agent = 'ann', ended_at = NULL",
    "delivered_is_in_the_inbox": "UPDATE tasks SET delivery_id = NULL WHERE status = 'delivered'",
    "a_task_waits_in_one_inbox": "UPDATE deliveries SET acked_at = NULL, withdrawn_at = NULL WHERE task_id IS NOT NULL",
    "acknowledged_was_there": "UPDATE deliveries SET acked_at = 1 WHERE message_id IS NOT NULL",
    "claims_end_with_their_holder": "DELETE FROM scope_entries",
    "statuses_are_counted": "UPDATE task_tally SET tasks = tasks + 1",
    "inboxes_are_counted": "UPDATE inbox_tally SET unread = unread + 1",
    "numbers_have_no_gaps": "UPDATE counters SET value = value + 1",
    "a_thing_has_one_holder": "UPDATE leases SET wants = '{\"db\": 9}' WHERE status = 'held'",
    "the_first_in_turn_waits_for_something": "UPDATE leases SET wants = '{\"door\": 1}' WHERE status = 'waiting'",
    "fences_only_rise": "UPDATE leases SET fence = 0 WHERE status = 'held'",
    "nothing_is_overdue": "UPDATE presences SET expires_at = 1, seen_at = 1 WHERE ended_at IS NULL",
    "nothing_crosses_projects": f"UPDATE messages SET run_id = {OTHER.format('runs', 'messages')}",
    "what_was_answered_is_there": "UPDATE messages SET body = 'gone'",
    "the_log_tells_what_the_tables_tell": "UPDATE tasks SET priority = 1 - priority",
}


@pytest.mark.system
@pytest.mark.parametrize("promise", WRONGS)
def test_a_promise_that_breaks_is_noticed(promise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change made behind the hub's back breaks a promise, which says so."""

    async def harm(world: World, _nobody: Speaker, _number: int) -> None:
        world.rows(WRONGS[promise])

    monkeypatch.setitem(MOVES, "harm", harm)
    harmed = (replace(each, steps=(*each.steps, Step(NOBODY, "harm", 0))) for each in STORIES)
    assert any(
        failure.said.startswith(f"{promise}: ") for failure in map(play, harmed) if failure is not None
    )


def test_every_promise_says_what_it_is() -> None:
    """Each promise has a name that can be read, and a sentence."""
    for each in (*EACH_STEP, *NOW_AND_THEN):
        assert each.__doc__, each.__name__
        assert each.__doc__.strip().endswith("."), each.__name__
