"""The contract of the 17 tools: their names, their parameters, and every limit, at it and one past it."""

from typing import Any

from tests.dialects.commhub.callers import Fleet
from tests.dialects.commhub.requirements import requires
from tests.dialects.every_row import every_row
from tests.dialects.running_hub import Json

TEXT = {"type": "string"}
NUMBER = {"type": "number"}
NAME = {**TEXT, "minLength": 1, "maxLength": 200}
MAYBE = {**TEXT, "maxLength": 200}  # a name that may be left out, also as an empty text
LONG = {**TEXT, "maxLength": 10_000}
SCORE = {**NUMBER, "minimum": 0, "maximum": 10}


def _choice(*words: str, **more: str) -> Json:
    return {**TEXT, "enum": [*words], **more}


def _count(default: int, most: int) -> Json:
    return {**NUMBER, "minimum": 1, "multipleOf": 1, "maximum": most, "default": default}


# What is required of each tool, and what is optional; every tool takes a network_id beside it.
CONTRACT: dict[str, tuple[Json, Json]] = {
    "report_status": (
        {
            "resume_id": NAME,
            "alias": NAME,
            "status": _choice("working", "idle", "blocked", "error", "waiting_input", "offline"),
        },
        {
            "task": LONG,
            "output": {**TEXT, "maxLength": 50_000},
            "score": SCORE,
            "progress": {**NUMBER, "minimum": 0, "maximum": 100},
            **dict.fromkeys(
                ("server", "hostname", "agent", "project_dir", "version", "tmux_name", "node_id", "session_id",
                 "config_path", "channels", "model", "node_name"),
                TEXT,
            ),
        },
    ),
    "report_completion": (
        {"alias": NAME, "task": TEXT, "result": {**TEXT, "maxLength": 50_000}},
        {
            "artifacts": {"type": "array", "items": TEXT, "maxItems": 50},
            "score": SCORE,
            "duration_minutes": NUMBER,
        },
    ),
    "get_inbox": ({"alias": NAME}, {"limit": _count(10, 100)}),
    "ack_inbox": ({"alias": NAME, "message_id": TEXT}, {"response": TEXT}),
    "send_task": (
        {"alias": NAME, "task": LONG},
        {
            "priority": _choice("high", "normal", "low", default="normal"),
            "context": LONG,
            "from_session": MAYBE,
            "ttl_seconds": {**NUMBER, "exclusiveMinimum": 0, "maximum": 86_400, "default": 3600},
            "parent_task_id": TEXT,
        },
    ),
    "send_message": ({"alias": NAME, "message": LONG}, {"from_session": MAYBE}),
    "send_reply": (
        {"alias": NAME, "text": LONG},
        {
            "in_reply_to": TEXT,
            "status": _choice("replied", "failed", "cancelled", default="replied"),
            "from_session": MAYBE,
        },
    ),
    "send_ack": ({"task_id": TEXT}, {"from_session": MAYBE}),
    "retry_task": ({"task_id": TEXT}, {"from_session": MAYBE}),
    "cancel_task": ({"task_id": TEXT}, {"reason": {**TEXT, "maxLength": 1_000}, "from_session": MAYBE}),
    "reassign_task": ({"task_id": TEXT, "new_alias": NAME}, {"from_session": MAYBE}),
    "get_task": ({"task_id": TEXT}, {}),
    "list_tasks": ({}, {"alias": TEXT, "status": TEXT, "from_name": TEXT, "limit": _count(20, 100)}),
    "get_all_status": ({}, {"filter_status": TEXT, "filter_server": TEXT}),
    "get_session_status": ({"alias": NAME}, {}),
    "get_completions": ({}, {"alias": TEXT, "since": TEXT, "limit": _count(50, 500)}),
    "broadcast": ({"message": LONG}, {"filter_server": TEXT, "filter_status": TEXT}),
}  # fmt: skip

# A call of each tool with nothing but what it needs, and right in everything.
CALLS: dict[str, Json] = {
    "report_status": {"resume_id": "r", "alias": "coder-1", "status": "idle"},
    "report_completion": {"alias": "coder-1", "task": "t", "result": "r"},
    "get_inbox": {"alias": "coder-1"},
    "ack_inbox": {"alias": "coder-1", "message_id": "none"},
    "send_task": {"alias": "coder-1", "task": "t"},
    "send_message": {"alias": "coder-1", "message": "m"},
    "send_reply": {"alias": "coder-1", "text": "t"},
    "send_ack": {"task_id": "none"},
    "retry_task": {"task_id": "none"},
    "cancel_task": {"task_id": "none"},
    "reassign_task": {"task_id": "none", "new_alias": "coder-1"},
    "get_task": {"task_id": "none"},
    "list_tasks": {},
    "get_all_status": {},
    "get_session_status": {"alias": "coder-1"},
    "get_completions": {},
    "broadcast": {"message": "m"},
}

LIMITS: list[tuple[str, str, object, object]] = [
    ("report_status", "resume_id", "x" * 200, "x" * 201),
    ("report_status", "alias", "名" * 200, "名" * 201),
    ("report_status", "status", "waiting_input", "asleep"),
    ("report_status", "task", "名" * 10_000, "名" * 10_001),
    ("report_status", "output", "x" * 50_000, "x" * 50_001),
    ("report_status", "score", 10, 10.01),
    ("report_status", "score", 0, -0.01),
    ("report_status", "progress", 100, 101),
    ("report_status", "progress", 0, -1),
    ("report_completion", "result", "x" * 50_000, "x" * 50_001),
    ("report_completion", "artifacts", ["a"] * 50, ["a"] * 51),
    ("report_completion", "score", 10, 11),
    ("report_completion", "score", 0, -1),
    ("report_completion", "duration_minutes", 0.5, "0.5"),
    ("report_completion", "duration_minutes", 0, -1),
    ("get_inbox", "limit", 100, 101),
    ("get_inbox", "limit", 1, 0),
    ("send_task", "task", "x" * 10_000, "x" * 10_001),
    ("send_task", "context", "x" * 10_000, "x" * 10_001),
    ("send_task", "priority", "high", "critical"),
    ("send_task", "ttl_seconds", 86_400, 86_401),
    ("send_task", "ttl_seconds", 1, 0),
    ("send_message", "message", "x" * 10_000, "x" * 10_001),
    ("send_reply", "text", "x" * 10_000, "x" * 10_001),
    ("send_reply", "status", "failed", "expired"),
    ("cancel_task", "reason", "x" * 1_000, "x" * 1_001),
    ("list_tasks", "limit", 100, 101),
    ("list_tasks", "limit", 1, 1.5),
    ("get_completions", "limit", 500, 501),
    ("get_completions", "limit", 1, -1),
    ("broadcast", "message", "x" * 10_000, "x" * 10_001),
]


def _wrong_type(schema: Json) -> object:
    """A value that is not of the type."""
    return {"string": 7, "number": "7", "array": "seven"}[schema["type"]]


def _check_invalid(fleet: Fleet, tool: str, arguments: Json, names: str) -> None:
    answer = fleet.program().wrong(tool, **arguments)
    assert answer["ok"] is False
    assert answer["error"] == "invalid_arguments"
    assert names in answer["message"]


@requires("all.seventeen", "tokens.network_id", "report_status.network_id", "report_completion.network_id",
          "send_task.network_id")  # fmt: skip
def test_the_tools_are_the_documented_ones(anywhere: Fleet) -> None:
    """There are 17 tools; each takes the documented parameters, of their types and limits, and a network_id."""
    listed = anywhere.hub.portal.call(anywhere.program().client.list_tools).tools

    assert len(listed) == 17
    for tool in listed:
        required, optional = CONTRACT[tool.name]
        assert tool.input_schema == {
            "type": "object",
            "properties": {**required, **optional, "network_id": TEXT},
            **({"required": [*required]} if required else {}),
        }, tool.name


@requires("all.content")
def test_every_tool_answers(fleet: Fleet) -> None:
    """A call with what is required is answered by one text with a JSON object that says ok, or an error."""
    fleet.online("coder-1")
    program = fleet.program()

    for tool, arguments in CALLS.items():
        answer, is_error = program.ask(tool, arguments)
        assert not is_error, tool
        assert answer["ok"] is True or answer["error"].endswith(("not found", "not yours")), tool


@requires("report_completion.required", "get_inbox.alias", "ack_inbox.required", "send_task.required",
          "send_message.required", "send_reply.required", "send_ack.required", "retry_task.required",
          "cancel_task.required", "reassign_task.required", "get_task.required", "get_session_status.required",
          "broadcast.required", "transport.invalid", "transport.null")  # fmt: skip
def test_what_is_required_cannot_be_omitted(anywhere: Fleet) -> None:
    """Without a required parameter, or with null for it, the call is invalid, and the message names it."""
    anywhere.online("coder-1")
    anywhere.program()

    with every_row() as row, anywhere.unchanged():
        for tool, (required, _optional) in CONTRACT.items():
            for missing in required:
                others = {name: value for name, value in CALLS[tool].items() if name != missing}
                with row(tool, missing):
                    _check_invalid(anywhere, tool, others, missing)
                    _check_invalid(anywhere, tool, {**others, missing: None}, missing)


@requires("all.types")
def test_a_parameter_is_of_its_type(anywhere: Fleet) -> None:
    """A value of another type is invalid, not converted, and the message names the parameter."""
    anywhere.online("coder-1")
    anywhere.program()

    with every_row() as row, anywhere.unchanged():
        for tool, (required, optional) in CONTRACT.items():
            for name, schema in {**required, **optional, "network_id": TEXT}.items():
                for wrong in (_wrong_type(schema), True, [{"a": 1}]):
                    with row(tool, name, wrong):
                        _check_invalid(anywhere, tool, {**CALLS[tool], name: wrong}, name)


def test_an_empty_text_counts_as_left_out(anywhere: Fleet) -> None:
    """An optional id, name or time that is an empty text is none: programs fill arguments in that they do not use."""
    anywhere.online("coder-1")
    program = anywhere.program()

    with every_row() as row:
        for tool, (_required, optional) in CONTRACT.items():
            ids = {"network_id", "parent_task_id", "in_reply_to", "from_session", "since"} & {
                *optional,
                "network_id",
            }
            with row(tool):
                answer, is_error = program.ask(tool, {**CALLS[tool], **dict.fromkeys(ids, "")})
                assert not is_error
                assert answer.get("error") not in (
                    "access denied to requested network",
                    "parent task not found",
                )


@requires("report_status.resume_id", "report_status.alias", "report_status.status", "report_status.task.limit",
          "report_status.output.limit", "report_status.score", "report_status.progress",
          "report_completion.result.limit", "report_completion.artifacts.limit", "report_completion.score",
          "report_completion.duration_minutes", "get_inbox.limit", "send_task.task.limit", "send_task.context.limit",
          "send_task.priority", "send_task.ttl_seconds.limit", "send_message.message.limit", "send_reply.text.limit",
          "send_reply.status", "cancel_task.reason.limit", "list_tasks.limit", "get_completions.limit",
          "broadcast.message.limit", "transport.range")  # fmt: skip
def test_a_limit_is_where_it_is_documented(anywhere: Fleet) -> None:
    """The value at the limit is taken; the next one is invalid, never clamped, and changes nothing."""
    anywhere.online("coder-1")
    program = anywhere.program()

    with every_row() as row:
        with anywhere.unchanged():
            for tool, name, _at_limit, past_it in LIMITS:
                with row(tool, name, "past it"):
                    _check_invalid(anywhere, tool, {**CALLS[tool], name: past_it}, name)
        for tool, name, at_limit, _past_it in LIMITS:
            with row(tool, name, "at it"):
                answer, is_error = program.ask(tool, {**CALLS[tool], name: at_limit})
                assert not is_error, answer


@requires("transport.extra")
def test_unknown_arguments_are_ignored(anywhere: Fleet) -> None:
    """A client that sends more than is documented is served as if it had not."""
    anywhere.online("coder-1")
    extra: dict[str, Any] = {"verbose": True, "tx": "x", "": None}

    with every_row() as row:
        for tool, arguments in CALLS.items():
            plain, _ = anywhere.program().ask(tool, arguments)
            answer, is_error = anywhere.program().ask(tool, {**arguments, **extra})
            with row(tool):
                assert not is_error
                assert answer.keys() == plain.keys()


@requires("transport.unknown_tool")
def test_an_unknown_tool_is_said_to_be_unknown(anywhere: Fleet) -> None:
    """A tool that is not there is an error in CommHub's envelope, and changes nothing."""
    program = anywhere.program()

    with every_row() as row, anywhere.unchanged():
        for tool in ("no_such_tool", "Send_Task", "", "发任务", "__init__"):
            with row(tool):
                answer = program.wrong(tool, alias="coder-1")
                assert (answer["ok"], answer["error"]) == (False, "unknown_tool")
