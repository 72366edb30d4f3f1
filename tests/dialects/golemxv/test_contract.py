"""The contract of the 15 tools: their names, their parameters, and every limit, at it and one past it."""

import re
from collections.abc import Callable

import pytest

from tests.dialects.conftest import both_engines
from tests.dialects.every_row import every_row
from tests.dialects.golemxv.callers import REST, Crew, no, token
from tests.dialects.golemxv.requirements import requires
from tests.dialects.running_hub import Caller, Json, call

TEXT = {"type": "string"}
NAME = {**TEXT, "minLength": 1, "maxLength": 200}
LONG = {**TEXT, "minLength": 1, "maxLength": 50_000}
FILES = {"type": "array", "items": {**TEXT, "maxLength": 1024}, "maxItems": 1000}
NUMBER = {"type": "integer", "minimum": 1, "maximum": 2**53}
PROJECT = {"project_slug": NAME}
SESSION = {"session_token": NAME}
MAYBE = {**TEXT, "maxLength": 200}  # may be left out, also as an empty text
OFFSET = {"type": "integer", "minimum": 0, "maximum": 10**9, "default": 0}


def _choice(*words: str, **more: str) -> Json:
    return {**TEXT, "enum": [*words], **more}


def _limit(most: int, default: int) -> Json:
    return {"type": "integer", "minimum": 1, "maximum": most, "default": default}


# What is required of each tool, and what is optional.
CONTRACT: dict[str, tuple[Json, Json]] = {
    "checkin": (PROJECT, {"agent_name": MAYBE, "declared_area": MAYBE, "declared_files": FILES}),
    "heartbeat": (SESSION, {}),
    "presence": (PROJECT, {}),
    "conflict_check": (PROJECT, {"declared_area": MAYBE, "declared_files": FILES}),
    "scope_update": (SESSION, {"declared_area": TEXT, "declared_files": FILES}),
    "checkout": (
        SESSION,
        {
            "outcome_status": _choice("success", "failure", "partial"),
            "work_summary": {**TEXT, "maxLength": 50_000},
            "files_touched": FILES,
        },
    ),
    "send_message": (
        {"to": NAME, "content": LONG},
        {"type": _choice("text", "status", "request", default="text"), **PROJECT, **SESSION},
    ),
    "get_messages": ({}, {"sender": MAYBE, "since": TEXT, "limit": _limit(100, 20), **PROJECT}),
    "list_tasks": (
        {},
        {
            "status": _choice(
                "pending", "assigned", "in_progress", "blocked", "completed", "failed", "cancelled"
            ),
            "assigned_to": MAYBE,
            "priority": _choice("low", "medium", "high", "critical"),
            "limit": _limit(50, 20),
            **PROJECT,
        },
    ),
    "claim_task": ({"task_id": NUMBER}, {**PROJECT, **SESSION}),
    "update_task": (
        {"task_id": NUMBER, "status": _choice("in_progress", "blocked", "failed")},
        {"reason": {**TEXT, "maxLength": 50_000}, **SESSION},
    ),
    "complete_task": ({"task_id": NUMBER, "result_summary": LONG}, {"files_changed": FILES, **SESSION}),
    "activity_log": (
        PROJECT,
        {
            "event_type": {**TEXT, "maxLength": 100},
            "agent_name": MAYBE,
            "limit": _limit(200, 50),
            "offset": OFFSET,
        },
    ),
    "sessions": (
        PROJECT,
        {
            "status": _choice("active", "checked_out", "timed_out"),
            "limit": _limit(200, 50),
            "offset": OFFSET,
        },
    ),
    "project_info": (PROJECT, {}),
}

# What a call of each tool needs beside the project and the presence, which its surroundings give.
CALLS: dict[str, Json] = {
    **{tool: {} for tool in CONTRACT},
    "send_message": {"to": "hub", "content": "c"},
    "claim_task": {"task_id": 1},
    "update_task": {"task_id": 2, "status": "in_progress"},
    "complete_task": {"task_id": 2, "result_summary": "s"},
}
OFTEN = sorted({*CALLS} - {"checkout", "claim_task", "update_task", "complete_task"})  # right again and again
READS = {
    "presence", "conflict_check", "get_messages", "list_tasks", "activity_log", "sessions", "project_info",
}  # fmt: skip
WRITES = sorted({*CONTRACT} - READS)

PATH = "p" * 1024
RECEIVER = "文" * 200
LIMITS: list[tuple[str, str, object, object]] = [
    ("checkin", "agent_name", "名" * 200, "名" * 201),
    ("checkin", "declared_area", "a" * 64, "a" * 65),
    ("checkin", "declared_files", [f"f{n}" for n in range(1000)], [f"f{n}" for n in range(1001)]),
    ("checkin", "declared_files", [PATH], [PATH + "p"]),
    ("conflict_check", "declared_area", "a" * 64, "a" * 65),
    ("conflict_check", "declared_files", ["f"] * 1000, ["f"] * 1001),
    ("conflict_check", "declared_files", [PATH], [PATH + "p"]),
    ("scope_update", "declared_area", "a" * 64, "a" * 65),
    ("scope_update", "declared_files", ["f"] * 1000, ["f"] * 1001),
    ("checkout", "outcome_status", "partial", "done"),
    ("checkout", "work_summary", "名" * 50_000, "名" * 50_001),
    ("checkout", "files_touched", ["f"] * 1000, ["f"] * 1001),
    ("checkout", "files_touched", [PATH], [PATH + "p"]),
    ("send_message", "to", RECEIVER, RECEIVER + "文"),
    ("send_message", "content", "名" * 50_000, "名" * 50_001),
    ("send_message", "content", " ", ""),
    ("send_message", "type", "request", "reply"),
    ("get_messages", "limit", 1, 0),
    ("get_messages", "limit", 100, 101),
    ("get_messages", "since", "2026-02-15T10:30:00+01:00", "yesterday"),
    ("get_messages", "since", "2026-02-15", "15.02.2026"),
    ("get_messages", "since", "2024-02-29", "2026-02-29"),
    ("get_messages", "sender", "名" * 200, "名" * 201),
    ("list_tasks", "limit", 1, 0),
    ("list_tasks", "limit", 50, 51),
    ("list_tasks", "status", "cancelled", "expired"),
    ("list_tasks", "priority", "critical", "normal"),
    ("list_tasks", "assigned_to", "名" * 200, "名" * 201),
    ("claim_task", "task_id", 1, 0),
    ("claim_task", "task_id", 1, 2**53 + 1),
    ("claim_task", "task_id", 1, "1"),
    ("claim_task", "task_id", 1, 1.5),
    ("update_task", "status", "failed", "completed"),
    ("update_task", "status", "blocked", "pending"),
    ("update_task", "reason", "名" * 50_000, "名" * 50_001),
    ("update_task", "task_id", 2, -1),
    ("complete_task", "result_summary", "名" * 50_000, "名" * 50_001),
    ("complete_task", "result_summary", " ", ""),
    ("complete_task", "files_changed", ["f"] * 1000, ["f"] * 1001),
    ("complete_task", "files_changed", [PATH], [PATH + "p"]),
    ("activity_log", "limit", 200, 201),
    ("activity_log", "limit", 1, 0),
    ("activity_log", "offset", 0, -1),
    ("activity_log", "offset", 10**9, 10**9 + 1),
    ("activity_log", "event_type", "x" * 100, "x" * 101),
    ("activity_log", "agent_name", "名" * 200, "名" * 201),
    ("sessions", "limit", 200, 201),
    ("sessions", "limit", 1, 0),
    ("sessions", "offset", 0, -1),
    ("sessions", "status", "timed_out", "expired"),
]


def _worker(crew: Crew) -> Caller:
    """An agent for whom every call of CALLS is right: task 1 is free, task 2 its own."""
    worker = crew.checkin("ann")
    crew.task()
    crew.task()
    worker.claim_task(task_id=2)
    return worker


def _check_invalid(worker: Caller, tool: str, arguments: Json, names: str) -> None:
    assert names in no(worker, tool, **arguments)


@requires("all.tools", "all.types", "all.required")
def test_the_tools_are_the_documented_ones(anywhere: Crew) -> None:
    """There are 15 tools; each takes the documented parameters, and requires what the page marks as required."""
    listed = anywhere.hub.portal.call(anywhere.member().client.list_tools).tools

    assert {tool.name for tool in listed} == {*CONTRACT}
    assert len(listed) == 15
    for tool in listed:
        required, optional = CONTRACT[tool.name]
        schema = tool.input_schema
        assert schema["properties"] == {**required, **optional}, tool.name
        assert sorted(schema.get("required", [])) == sorted(required), tool.name
        assert schema["type"] == "object"
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (tool.name in READS)


def _workers(anywhere: Crew) -> Callable[[str], Caller]:
    """Return for each tool a caller for whom the call in CALLS is correct; in its own project if it is so only once."""
    stays = _worker(anywhere)

    def worker(tool: str) -> Caller:
        return stays if tool in OFTEN else _worker(anywhere.closing.enter_context(Crew.fresh(anywhere.hub)))

    return worker


def _check_answers(worker: Caller, tool: str, **arguments: object) -> None:
    answer, is_error = worker.ask(tool, {**arguments})
    assert not is_error, answer
    assert answer
    assert "error" not in answer


@requires("envelope.text", "all.required")
def test_every_tool_answers(anywhere: Crew) -> None:
    """A call with what is required is answered by one text, a JSON object without an error."""
    worker = _workers(anywhere)

    with every_row() as row:
        for tool in CONTRACT:
            with row(tool):
                _check_answers(worker(tool), tool, **CALLS[tool])


@requires("all.required", "envelope.invalid", "envelope.clean")
def test_what_is_required_cannot_be_omitted(anywhere: Crew) -> None:
    """Without a required parameter, or with null for it, the call is invalid, and the error names it."""
    worker = _worker(anywhere)

    with anywhere.unchanged(), every_row() as row:
        for tool, (required, _optional) in CONTRACT.items():
            for missing in {*required} - {*PROJECT, *SESSION}:
                others = {name: value for name, value in CALLS[tool].items() if name != missing}
                for arguments in (others, {**others, missing: None}):
                    with row(tool, missing, arguments):
                        _check_invalid(worker, tool, arguments, missing)


@requires("envelope.null", "envelope.extra")
def test_null_is_the_same_as_omitted(anywhere: Crew) -> None:
    """With null for all that is optional a tool answers as without it, and so with more than is documented."""
    worker = _workers(anywhere)
    extra = {"verbose": True, "tx": "x", "call": {}, "": None}

    with every_row() as row:
        for tool, (_required, optional) in CONTRACT.items():
            nulls = dict.fromkeys({*optional} - {*PROJECT, *SESSION})
            with row(tool):
                _check_answers(worker(tool), tool, **{**extra, **nulls, **CALLS[tool]})


def test_an_empty_text_counts_as_left_out(anywhere: Crew) -> None:
    """An optional text that is empty is none: programs and models fill arguments in that they do not use."""
    worker, viewer = _workers(anywhere), anywhere.viewer()
    texts = {
        "agent_name",
        "declared_area",
        "work_summary",
        "sender",
        "since",
        "assigned_to",
        "reason",
        "event_type",
    }

    with every_row() as row:
        for tool, (_required, optional) in CONTRACT.items():
            if empty := dict.fromkeys(texts & {*optional}, ""):
                with row(tool):
                    _check_answers(worker(tool), tool, **{**CALLS[tool], **empty})
    assert anywhere.member().checkin(agent_name="", declared_area="")["agent_name"].startswith("agent-")
    everything = viewer.activity_log(project_slug=anywhere.slug)
    assert viewer.activity_log(project_slug=anywhere.slug, event_type="", agent_name="") == everything
    assert everything["total"] > 0


@requires("all.types", "envelope.invalid", "envelope.clean")
def test_a_parameter_is_of_its_type(anywhere: Crew) -> None:
    """A value of another type is invalid, not converted, and the error names the parameter."""
    worker = _worker(anywhere)
    wrong = {"string": 7, "integer": "7", "array": "seven"}

    with anywhere.unchanged(), every_row() as row:
        for tool, (required, optional) in CONTRACT.items():
            for name, schema in {**required, **optional}.items():
                for value in (wrong[schema["type"]], [{"a": 1}], True):
                    with row(tool, name, value):
                        _check_invalid(worker, tool, {**CALLS[tool], name: value}, name)


@requires("envelope.range", "envelope.clean", "get_messages.limit", "list_tasks.limit", "activity_log.limit",
          "sessions.limit", "send_message.type", "send_message.empty", "checkout.outcome",
          "update_task.statuses", "list_tasks.status", "list_tasks.priority", "sessions.status")  # fmt: skip
def test_a_limit_is_where_it_is_documented(anywhere: Crew) -> None:
    """The value at the limit is taken; the next one is invalid, never clamped, and changes nothing."""
    worker = _workers(anywhere)
    anywhere.checkin(RECEIVER)

    with anywhere.unchanged(), every_row() as row:
        for tool, name, _at_limit, past_it in LIMITS:
            with row(tool, name, "past it"):
                no(worker("presence"), tool, **{**CALLS[tool], name: past_it})
    with every_row() as row:
        for tool, name, at_limit, _past_it in LIMITS:
            with row(tool, name, "at the limit"):
                _check_answers(worker(tool), tool, **{**CALLS[tool], name: at_limit})


@requires("envelope.invalid")
def test_a_time_is_iso_8601(anywhere: Crew) -> None:
    """A time that is not ISO 8601 is invalid, and the error names since and shows one."""
    with every_row() as row:
        for since in ("yesterday", "10:30", "2026-13-01", "1771151400", "2026-02-15T25:00:00"):
            with row(since):
                error = no(anywhere.viewer(), "get_messages", since=since)
                assert error.startswith("since: ")
                assert re.search(r"such as \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", error)


@requires("envelope.unstorable", "envelope.clean")
@both_engines
@pytest.mark.parametrize("text", ["a\0b", "a\ud800b"], ids=["nul", "half of a pair"])
def test_what_cannot_be_kept_is_invalid(crew: Crew, text: str) -> None:
    """NUL characters and halves of surrogate pairs are invalid wherever there is text, lists included."""
    worker = _worker(crew)
    session = token(worker)

    with crew.unchanged():
        for tool, arguments in (
            ("checkin", {"project_slug": crew.slug, "agent_name": text}),
            ("checkin", {"project_slug": crew.slug, "declared_files": ["ok", text]}),
            ("send_message", {"to": "hub", "content": text, "session_token": session}),
            ("checkout", {"session_token": session, "work_summary": text}),
            ("complete_task", {"task_id": 2, "result_summary": text, "session_token": session}),
            ("presence", {"project_slug": text}),
            ("heartbeat", {"session_token": text}),
        ):
            answer = crew.post(call(tool, **arguments), worker.secret)
            assert answer.status_code in {200, 400}, answer.text
            if answer.status_code == 200:
                result = answer.json()["result"]
                assert result["isError"] is True
                assert [*result["structuredContent"]] == ["error"]


@requires("envelope.unknown_tool", "envelope.refusal", "envelope.clean")
def test_an_unknown_tool_is_said_to_be_unknown(anywhere: Crew) -> None:
    """A tool that is not there, or is another dialect's, is an error in GolemXV's envelope, and changes nothing."""
    member = anywhere.member()

    with anywhere.unchanged(), every_row() as row:
        for tool in ("no_such_tool", "Checkin", "", "签到", "__init__", "send_task"):
            with row(repr(tool)):
                assert repr(tool) in no(member, tool)


@requires("envelope.bare")
def test_a_bare_call_is_answered(crew: Crew) -> None:
    """A tools/call without initialize and without an MCP session id works."""
    answer = crew.post(call("checkin", project_slug=crew.slug, agent_name="ann"))

    assert answer.status_code == 200
    result = answer.json()["result"]
    assert result["structuredContent"]["agent_name"] == "ann"
    assert not result.get("isError")
    assert crew.here() == ["ann"]


@requires("envelope.unauthorized", "envelope.clean", "rest.401")
@pytest.mark.parametrize("path", ["/mcp/golemxv", f"{REST}/checkin"])
def test_a_token_is_needed(crew: Crew, path: str) -> None:
    """Without a valid token every address answers 401, says nothing else, and does nothing."""
    body = call("checkin", project_slug=crew.slug) if path.startswith("/mcp") else {"project_slug": crew.slug}

    with crew.unchanged():
        for secret in ("ntok_wrong", "utok_", "x"):
            answer = crew.post(body, secret, path)
            assert answer.status_code == 401
            assert crew.slug not in answer.text


@requires("envelope.repeated")
@both_engines
def test_a_repeated_write_happens_once(crew: Crew) -> None:
    """A message that is sent again under the same idempotency key is sent once, and answered alike."""
    worker = _worker(crew)
    meta = {"hubbub/idempotency-key": "k"}

    first = worker.ask("send_message", {"to": "hub", "content": "c"}, **meta)
    again = worker.ask("send_message", {"to": "hub", "content": "c"}, **meta)

    assert first == again
    assert not first[1]
    assert len(crew.messages()) == 1


@requires("sessions.secret", "envelope.repeated", "envelope.clean")
@both_engines
def test_a_repeated_checkin_does_not_tell_the_token_again(crew: Crew) -> None:
    """A checkin that is repeated under the same idempotency key happens once, and its token is told only then."""
    member = crew.member()
    meta = {"hubbub/idempotency-key": "k"}
    told, is_error = member.ask("checkin", {"agent_name": "ann"}, **meta)
    assert not is_error

    with crew.unchanged():
        again, is_error = member.ask("checkin", {"agent_name": "ann"}, **meta)

    assert is_error
    assert "told only once" in again["error"]
    assert told["session_token"] not in str(again)
    assert member.heartbeat(session_token=told["session_token"])["ok"] is True
