"""The report on machines whose agents were asked, and the time limit for them."""

from datetime import timedelta

from hubbub.model.fleet import fan_out
from hubbub.model.fleet.calls import NodeCall, Principal, RefusalCode, ToolResult, refused
from tests.support.each_row import each_row

ANSWER = {"text": "hello", "tool_calls": []}
NO = {"error": "no", "code": "denied"}
NONSENSE = {"error": "the machine's answer makes no sense", "code": "failed"}


@each_row(
    ("outcome", "entry"),
    [
        (ToolResult(value={**ANSWER, "more": 1}), ANSWER),
        (ToolResult(value={"by_host": {"web1": ANSWER, "db1": NO}}), ANSWER),
        (ToolResult(value={"by_host": {"web1": {**NO, "reason": "x"}}}), NO),
        (refused(RefusalCode.DENIED, "no", reason="x"), NO),
        (ToolResult(value={**NO, "by_host": {"web1": ANSWER}}, is_error=True), NO),
        (ToolResult(value={"by_host": {"db1": ANSWER}}), NONSENSE),
        (ToolResult(value={"by_host": []}), NONSENSE),
        (ToolResult(value={"text": 7, "tool_calls": []}), NONSENSE),
        (ToolResult(value=[]), NONSENSE),
    ],
)
def test_an_entry_is_an_answer_or_an_error(outcome: ToolResult, entry: fan_out.Entry) -> None:
    """Asked alone or among others, of a machine nothing is told but its answer, or why there is none."""
    assert fan_out.entry(outcome, "web1") == entry


@each_row(
    ("by_host", "is_undone"),
    [
        ({"web1": NO, "db1": {**NO, "code": "needs_approval"}}, True),
        ({"web1": NO, "db1": ANSWER}, False),
        ({"web1": {**NO, "code": "failed"}}, False),
        ({"web1": 7}, False),
        ({}, False),
    ],
)
def test_a_call_is_undone_if_no_machine_did_anything(by_host: dict[str, object], is_undone: bool) -> None:
    """Then it may be made again with its key; an answer, or an unknown course, of any machine forbids that."""
    assert ToolResult(value={"by_host": by_host, "timed_out": []}).is_undone is is_undone


def test_who_is_late_is_named() -> None:
    """The whole says whose time was over, each machine by the name by which it was asked."""
    late = fan_out.entry(fan_out.timed_out("db1", timedelta(seconds=2)), "db1")
    whole = fan_out.combined({"web1": ANSWER, "db1": late}).value
    assert whole == {"by_host": {"web1": ANSWER, "db1": late}, "timed_out": ["db1"]}
    assert late["error"] == "the agent of 'db1' did not answer within 2 seconds"


@each_row(
    ("given", "seconds"),
    [
        ({}, 120),
        ({"per_host_timeout_ms": 5_000}, 5),
        ({"total_timeout_ms": 5_000}, 5),
        ({"per_host_timeout_ms": 5_000, "total_timeout_ms": 2_500}, 2.5),
    ],
)
def test_nobody_is_waited_for_longer_than_all(given: dict[str, object], seconds: float) -> None:
    """Each machine has two minutes unless the call says otherwise, and never more than all have together."""
    order = NodeCall(who=Principal(project="p", name="ada"), tool="ask_agents", arguments=given)
    assert fan_out.patience_with_each(order) == timedelta(seconds=seconds)
