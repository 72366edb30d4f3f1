"""States of tasks and agents, the needs of people and their times, and the permitted actions."""

from typing import Any

from hubbub.model.lifecycle import UNDER_WAY, Status
from hubbub.model.log.attention import (
    AgentFacts,
    AgentState,
    Need,
    NeedKind,
    TaskState,
    allowed_verbs,
    need_of_task,
    needed,
    state_of_task,
)
from hubbub.model.log.projection import empty
from hubbub.model.records import Condition
from hubbub.model.work.permissions import TaskRole

NOW = 10_000_000_000
MINUTE = 60_000
HOUR = 60 * MINUTE

S, T, A, K = Status, TaskState, AgentState, NeedKind


def agent(*work: Status, **differs: Any) -> AgentFacts:
    """An agent that works since five minutes, with what is different about it."""
    usual = {
        "condition": Condition.WORKING,
        "is_live": True,
        "end_reason": None,
        "since": NOW - 5 * MINUTE,
        "ended_at": 0,
        "asks": False,
        "work": frozenset(work),
    }
    return AgentFacts(**{**usual, **differs})


def gone(*work: Status, reason: str) -> AgentFacts:
    return agent(*work, is_live=False, end_reason=reason, ended_at=NOW - MINUTE)


WAITING = agent(S.WORKING, condition=Condition.WAITING)
ASKING = agent(S.WORKING, asks=True)


def test_a_task_is_in_one_of_eleven_states() -> None:
    """A state is the status in a shorter word; a task whose holder cannot go on without a person waits."""
    stands = {status: state_of_task(status, agent(S.WORKING)) for status in Status}
    assert len(set(stands.values())) == len(Status)
    assert (stands[S.ACCEPTED], stands[S.WORKING], stands[S.COMPLETED]) == (T.ACKED, T.RUNNING, T.DONE)
    assert {*stands.values(), T.WAITING} == set(TaskState)

    assert state_of_task(S.WORKING, WAITING) == state_of_task(S.WORKING, ASKING) == T.WAITING
    assert state_of_task(S.BLOCKED, ASKING) == T.BLOCKED
    assert state_of_task(S.WORKING, gone(reason="left")) == state_of_task(S.WORKING) == T.RUNNING


AGENTS = [
    (agent(S.WORKING), A.WORKING),
    (agent(S.WORKING, condition=Condition.IDLE), A.WORKING),
    (agent(S.BLOCKED, S.WORKING, condition=Condition.IDLE), A.WORKING),
    (agent(S.BLOCKED, S.ACCEPTED, condition=Condition.IDLE), A.BLOCKED),
    (agent(S.ACCEPTED, condition=Condition.IDLE), A.IDLE),
    (agent(condition=Condition.ERROR), A.ERROR),
    (agent(S.WORKING, condition=Condition.ERROR, asks=True), A.WAITING),
    (agent(condition=Condition.WAITING), A.WAITING),
    (gone(S.ACCEPTED, reason="silent"), A.STALE),
    (gone(reason="silent"), A.OFFLINE),
    (gone(S.WORKING, reason="left"), A.OFFLINE),
    (agent(condition=None, is_live=False), A.OFFLINE),
]


def test_an_agent_that_fell_silent_with_work_in_hand_is_stale() -> None:
    """An agent's state is what it says, unless it is gone, waits for people, or holds work that says more."""
    for stands, state in AGENTS:
        assert (stands, stands.state) == (stands, state)
    for condition in Condition:
        assert agent(condition=condition).state.value == condition


def test_an_agent_needs_somebody_if_it_is_stale_or_asks_of_itself() -> None:
    """An agent's question about a task that it works on is a need of the task; its approvals are their own needs."""
    assert gone(S.WORKING, reason="silent").need == Need(K.STALE, NOW - MINUTE)
    assert agent(condition=Condition.WAITING).need == Need(K.QUESTION, NOW - 5 * MINUTE)
    for stands in (WAITING, ASKING, agent(asks=True), agent(), agent(S.BLOCKED, condition=Condition.WAITING)):
        assert stands.need is None


def need(
    status: Status,
    holder: AgentFacts | None = None,
    ready_at: int | None = 0,
    *,
    is_for_person: bool = False,
) -> Need | None:
    """The need of a task that was touched four minutes ago, and ended three minutes ago if it has."""
    return need_of_task(
        status, updated_at=NOW - 4 * MINUTE, ended_at=NOW - 3 * MINUTE, ready_at=ready_at, holder=holder,
        is_for_person=is_for_person,
    )  # fmt: skip


def test_a_task_says_from_when_on_it_needs_somebody() -> None:
    """It asks at once, has failed for a day, and is late half an hour after nobody began, or an hour of silence."""
    assert need(S.BLOCKED, agent()) == Need(K.QUESTION, NOW - 4 * MINUTE)
    assert need(S.WORKING, WAITING) == Need(K.QUESTION, NOW - 4 * MINUTE)
    assert need(S.WORKING, ASKING) is None  # the approval is the question
    failed_at = NOW - 3 * MINUTE
    assert need(S.FAILED) == Need(K.FAILED, failed_at, failed_at + 24 * HOUR)
    assert need(S.QUEUED) == need(S.DELIVERED) == Need(K.LATE, NOW + 26 * MINUTE)
    assert need(S.WORKING, agent()) == Need(K.LATE, NOW + 56 * MINUTE)
    heard = agent(since=NOW - MINUTE)
    assert need(S.WORKING, heard) == Need(K.LATE, NOW + 59 * MINUTE)
    for status in (S.ACCEPTED, S.IN_REVIEW, S.COMPLETED, S.CANCELLED, S.EXPIRED):
        assert need(status, agent()) is None
    assert need(S.WORKING, gone(S.WORKING, reason="left")) is None


def test_work_handed_in_to_a_person_needs_their_review() -> None:
    """Work in review needs a person from its submission on, if a person sent the task; else its sender reviews it."""
    assert need(S.IN_REVIEW, is_for_person=True) == Need(K.REVIEW, NOW - 4 * MINUTE)
    assert need(S.IN_REVIEW) is None


def test_a_task_that_needs_others_is_not_late() -> None:
    """A task waiting for something unfinished is nobody's fault; time counts from its last dependency's completion."""
    assert need(S.QUEUED, ready_at=None) is None
    assert need(S.QUEUED, ready_at=NOW) == Need(K.LATE, NOW + 30 * MINUTE)


def test_a_need_holds_from_its_beginning_until_its_end() -> None:
    """A state that begins or ends by time alone is told with its moments: from the first until before the last."""
    late = Need(K.LATE, NOW, NOW + 2)
    assert [late.holds(at) for at in (NOW - 1, NOW, NOW + 1, NOW + 2)] == [False, True, True, False]
    assert Need(K.LATE, NOW).holds(NOW + 1000 * HOUR)
    assert Need.told(late.shape()) == late
    assert Need.told(None) is None


def test_what_needs_a_person_is_found_and_ordered() -> None:
    """Held-up agents come first, then what is in danger, lost or late; of those alike the longest wait."""
    picture = empty()

    def put(noun: str, key: str, need: Need | None) -> None:
        picture[noun][key] = {"need": need.shape() if need is not None else None}

    put("tasks", "late", Need(K.LATE, NOW - HOUR))
    put("tasks", "due", Need(K.LATE, NOW + 1))
    put("tasks", "failed", Need(K.FAILED, NOW - HOUR, NOW + HOUR))
    put("tasks", "history", Need(K.FAILED, NOW - 25 * HOUR, NOW - HOUR))
    put("tasks", "calm", None)
    put("approvals", "second", Need(K.APPROVAL, NOW - MINUTE, NOW + HOUR))
    put("approvals", "first", Need(K.APPROVAL, NOW - HOUR, NOW + HOUR))
    put("letters", "letter", Need(K.LETTER, NOW))
    put("overlaps", "conflict", Need(K.CONFLICT, NOW))
    picture["machines"]["atlas"] = {}

    found = [each.key for each in needed(picture, NOW)]
    assert found == ["first", "second", "letter", "conflict", "failed", "late"]


def test_people_are_offered_what_is_possible() -> None:
    """The actions on a task follow from its status, by the one table of the lifecycle and that of parts."""
    assert allowed_verbs(S.IN_REVIEW) == (
        "approve", "request-changes", "reassign", "cancel", "release", "complete", "describe", "comment",
    )  # fmt: skip
    assert allowed_verbs(S.BLOCKED)[0] == "unblock"
    assert allowed_verbs(S.QUEUED) == ("reassign", "cancel", "complete", "describe", "comment")
    assert allowed_verbs(S.FAILED) == ("retry", "describe", "comment")
    assert allowed_verbs(S.COMPLETED) == allowed_verbs(S.COMPLETED, TaskRole.STRANGER) == ("comment",)
    assert allowed_verbs(S.WORKING, TaskRole.HOLDER) == (
        "reassign",
        "cancel",
        "release",
        "complete",
        "describe",
        "comment",
    )
    assert all("release" in allowed_verbs(status) for status in UNDER_WAY)
