"""The lists of a run, of which each row is made once: they say what lists would say that were made anew."""

from collections.abc import Callable

import pytest

from hubbub.dialects.relay import message_tools, task_tools
from hubbub.dialects.reply_cache import RowCache
from tests.dialects.conftest import both_engines
from tests.dialects.relay.callers import Team, yes
from tests.dialects.running_hub import Json

Lists = list[list[Json]]


def _changes(team: Team) -> list[Callable[[], object]]:
    """A run that gets its name late, and what happens in it: each makes some row another, or adds one."""
    lead, fe = team.agent("planner"), team.agent("fe")
    first = team.fleet.free_task("one")
    second = team.fleet.free_task("two", needs=[first])
    return [
        lambda: yes(lead.start_session(session_id="named")),
        lambda: yes(lead.send_message(content="to fe", to="fe")),
        lambda: yes(lead.send_message(content="问 to all", thread_id="t", metadata={"a": "b"})),
        lambda: yes(fe.claim_task(task_id=first)),
        lambda: team.later(seconds=1.5),
        lambda: yes(fe.update_task(task_id=first, status="in_review")),
        lambda: yes(lead.update_task(task_id=first, assignee="be")),
        lambda: yes(lead.update_task(task_id=first, status="done")),
        lambda: yes(lead.update_task(task_id=second, assignee="fe")),
        lambda: team.task("three", depends_on=[second], parent_task_id=first),
        lambda: yes(lead.start_session(session_id="next")),
        lambda: yes(lead.start_session(session_id="named")),
    ]


@both_engines
def test_lists_say_what_they_would_say_if_nothing_were_kept(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever changes in a run, what is kept of its messages and tasks is never told in place of how they are."""
    kept, readers, seen = (RowCache(), RowCache()), [team.watcher()], []

    def lists(of_messages: RowCache, of_tasks: RowCache) -> Lists:
        monkeypatch.setattr(message_tools, "_ROWS", of_messages)
        monkeypatch.setattr(task_tools, "_ROWS", of_tasks)
        mail = [yes(each.get_messages())["messages"] for each in readers]
        return [*mail, team.tasks(), team.tasks(assignee="fe"), team.tasks(status="todo")]

    changes = _changes(team)
    assert lists(*kept) == lists(RowCache(), RowCache())  # while the run has no name
    readers.append(team.agent("fe"))
    for change in changes:
        change()
        seen.append(lists(*kept))
        assert seen[-1] == lists(RowCache(), RowCache())

    assert (
        len({repr(each) for each in seen}) == len(changes) - 2
    )  # time alone changes nothing, and one goes back
    assert all(len(each) for each in kept)
