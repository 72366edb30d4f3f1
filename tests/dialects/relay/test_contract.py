"""The contract of the 23 tools: their names, their parameters, and every limit, at it and one past it."""

from itertools import product

import pytest

from tests.dialects.conftest import both_engines
from tests.dialects.every_row import every_row
from tests.dialects.relay.callers import NOWHERE, Team, yes
from tests.dialects.relay.requirements import requires
from tests.dialects.running_hub import Json, Place, call

TEXT = {"type": "string"}
NAME = {
    **TEXT,
    "minLength": 1,
    "maxLength": 200,
}  # names of agents from elsewhere are longer than Relay's own
RUN = {**TEXT, "minLength": 1, "maxLength": 128, "pattern": "^[A-Za-z0-9_-]{1,128}$"}
AGENT = {"agent_id": NAME}


def _text(most: int, least: int = 0) -> Json:
    return {**TEXT, **({"minLength": least} if least else {}), "maxLength": most}


def _choice(*words: str) -> Json:
    return {**TEXT, "enum": [*words]}


# What is required of each tool, and what is optional.
CONTRACT: dict[str, tuple[Json, Json]] = {
    "get_server_info": (AGENT, {}),
    "start_session": ({**AGENT, "session_id": RUN}, {}),
    "send_message": (
        {**AGENT, "content": _text(65_536)},
        {
            "to": {**NAME, "type": ["string", "null"]},
            "thread_id": _text(256),
            "metadata": {
                "type": "object",
                "maxProperties": 20,
                "propertyNames": {"maxLength": 64},
                "additionalProperties": _text(1024),
            },
        },
    ),
    "get_messages": (
        AGENT,
        {
            "after_seq": {"type": "integer", "minimum": 0},
            "wait_seconds": {"type": "number", "minimum": 0, "maximum": 45, "default": 0},
            "after_event": {"type": "integer", "minimum": 0},
        },
    ),
    "create_task": (
        {**AGENT, "title": _text(256, 1), "priority": _choice("critical", "high", "medium", "low")},
        {
            "description": _text(8192),
            "assignee": NAME,
            "depends_on": {"type": "array", "items": _text(256), "maxItems": 32},
            "idempotency_key": _text(256),
            "parent_task_id": _text(128),
            "derived_reason": _text(512),
        },
    ),
    "update_task": (
        {**AGENT, "task_id": _text(128)},
        {"status": _choice("todo", "in_progress", "in_review", "done"), "assignee": NAME},
    ),
    "claim_task": ({**AGENT, "task_id": _text(128)}, {}),
    "get_all_tasks": (
        AGENT,
        {
            "assignee": NAME,
            "status": _choice("todo", "in_progress", "in_review", "done", "failed", "cancelled", "expired"),
            "include_description": {"type": "boolean", "default": False},
            "include_last_event": {"type": "boolean", "default": False},
        },
    ),
    "post_artifact": (
        {
            **AGENT,
            "name": _text(256, 1),
            "type": _choice("figma_spec", "pr", "report", "analytics_plan", "design", "document"),
            "content": _text(524_288),
        },
        {"task_id": _text(128)},
    ),
    "get_artifact": ({**AGENT, "name": _text(256, 1)}, {}),
    "request_review": ({**AGENT, "artifact_id": _text(128), "reviewer": NAME}, {}),
    "submit_review": (
        {**AGENT, "review_id": _text(128), "status": _choice("approved", "changes_requested")},
        {"comments": _text(16_384)},
    ),
    "read_memory": ({}, AGENT),
    "write_memory": ({"key": _text(256, 1), "content": _text(131_072)}, AGENT),
    "append_memory": ({**AGENT, "content": _text(131_072)}, {}),
    "save_session_summary": ({**AGENT, "session_id": RUN, "summary": _text(131_072)}, {}),
    "list_sessions": (AGENT, {}),
    "get_session_summary": ({**AGENT, "session_id": RUN}, {}),
    "save_orchestrator_state": ({**AGENT, "state": _text(65_536)}, {}),
    "get_orchestrator_state": (AGENT, {}),
    "list_agents": (AGENT, {"session_id": RUN}),
    "list_pool_agents": (AGENT, {}),
    "broadcast_thinking": ({**AGENT, "content": _text(65_536)}, {}),
}

# A call of each tool with nothing but what it needs, and right in everything.
CALLS: dict[str, Json] = {
    "get_server_info": {"agent_id": "lead"},
    "start_session": {"agent_id": "lead", "session_id": "r"},
    "send_message": {"agent_id": "lead", "content": "c"},
    "get_messages": {"agent_id": "lead"},
    "create_task": {"agent_id": "lead", "title": "t", "priority": "low"},
    "update_task": {"agent_id": "lead", "task_id": NOWHERE},
    "claim_task": {"agent_id": "lead", "task_id": NOWHERE},
    "get_all_tasks": {"agent_id": "lead"},
    "post_artifact": {"agent_id": "lead", "name": "n", "type": "pr", "content": "c"},
    "get_artifact": {"agent_id": "lead", "name": "n"},
    "request_review": {"agent_id": "lead", "artifact_id": NOWHERE, "reviewer": "qa"},
    "submit_review": {"agent_id": "lead", "review_id": NOWHERE, "status": "approved"},
    "read_memory": {},
    "write_memory": {"key": "k", "content": "c"},
    "append_memory": {"agent_id": "lead", "content": "c"},
    "save_session_summary": {"agent_id": "lead", "session_id": "r", "summary": "s"},
    "list_sessions": {"agent_id": "lead"},
    "get_session_summary": {"agent_id": "lead", "session_id": "r"},
    "save_orchestrator_state": {"agent_id": "lead", "state": "{}"},
    "get_orchestrator_state": {"agent_id": "lead"},
    "list_agents": {"agent_id": "lead"},
    "list_pool_agents": {"agent_id": "lead"},
    "broadcast_thinking": {"agent_id": "lead", "content": "c"},
}

LIMITS: list[tuple[str, str, object, object]] = [
    *((tool, "agent_id", "名" * 64, "名" * 65) for tool in CALLS),
    ("start_session", "session_id", "r" * 128, "r" * 129),
    ("save_session_summary", "session_id", "r" * 128, "r" * 129),
    ("get_session_summary", "session_id", "r" * 128, "r" * 129),
    ("list_agents", "session_id", "r" * 128, "r" * 129),
    ("send_message", "content", "名" * 65_536, "名" * 65_537),
    ("send_message", "to", "名" * 64, "名" * 65),
    ("send_message", "thread_id", "x" * 256, "x" * 257),
    ("send_message", "metadata", {str(n): "v" for n in range(20)}, {str(n): "v" for n in range(21)}),
    ("send_message", "metadata", {"k" * 64: "v"}, {"k" * 65: "v"}),
    ("send_message", "metadata", {"k": "v" * 1024}, {"k": "v" * 1025}),
    ("send_message", "metadata", {"": ""}, {"k": 1}),
    ("get_messages", "after_seq", 0, -1),
    ("get_messages", "after_seq", 2**53, 1.5),
    ("get_messages", "wait_seconds", 0, -0.1),
    ("get_messages", "wait_seconds", 0.01, 45.01),
    ("create_task", "title", "名" * 256, "名" * 257),
    ("create_task", "title", "t", ""),
    ("create_task", "priority", "critical", "normal"),
    ("create_task", "description", "x" * 8192, "x" * 8193),
    ("create_task", "assignee", "a" * 64, "a" * 65),
    ("create_task", "depends_on", ["x"] * 32, ["x"] * 33),
    ("create_task", "depends_on", ["x" * 256], ["x" * 257]),
    ("create_task", "idempotency_key", "x" * 256, "x" * 257),
    ("create_task", "parent_task_id", "x" * 128, "x" * 129),
    ("create_task", "derived_reason", "x" * 512, "x" * 513),
    ("update_task", "task_id", "x" * 128, "x" * 129),
    ("update_task", "status", "in_review", "failed"),
    ("update_task", "assignee", "a" * 64, "a" * 65),
    ("claim_task", "task_id", "x" * 128, "x" * 129),
    ("claim_task", "task_id", "", 7),
    ("get_all_tasks", "status", "expired", "blocked"),
    ("get_all_tasks", "include_description", True, "yes"),
    ("post_artifact", "name", "x" * 256, "x" * 257),
    ("post_artifact", "type", "analytics_plan", "diagram"),
    ("post_artifact", "content", "名" * 524_288, "名" * 524_289),
    ("post_artifact", "task_id", "x" * 128, "x" * 129),
    ("get_artifact", "name", "x" * 256, "x" * 257),
    ("request_review", "artifact_id", "x" * 128, "x" * 129),
    ("request_review", "reviewer", "a" * 64, "a" * 65),
    ("submit_review", "review_id", "x" * 128, "x" * 129),
    ("submit_review", "status", "changes_requested", "pending"),
    ("submit_review", "comments", "x" * 16_384, "x" * 16_385),
    ("write_memory", "key", "名" * 256, "名" * 257),
    ("write_memory", "key", "a # b", "# a"),
    ("write_memory", "key", "k", ""),
    ("write_memory", "key", "a b", "a\nb"),
    ("write_memory", "key", "a/b", "a\u2028b"),
    ("write_memory", "content", "x" * 131_072, "x" * 131_073),
    ("append_memory", "content", "x" * 131_072, "x" * 131_073),
    ("save_session_summary", "summary", "x" * 131_072, "x" * 131_073),
    ("save_orchestrator_state", "state", "x" * 65_536, "x" * 65_537),
    ("broadcast_thinking", "content", "x" * 65_536, "x" * 65_537),
]

GOOD_NAMES = ["a", "fe2", "代码1号", "ग्राहक", "Ünïcode_-", "-", "٣", "می\u200cروم"]
BAD_NAMES = ["", "a b", "a/b", "a.b", "../a", "a\n", " a", "🦊", "a\u200b", "½", "a\u200cb"]
BAD_RUNS = ["", "a b", "a.b", "../a", "a/b", "r\n", "名", "a\u0661"]


def _wrong_type(schema: Json) -> object:
    """A value that is not of the type."""
    wrong = {"string": 7, "number": "7", "integer": "7", "array": "seven", "object": "{}", "boolean": 1}
    return wrong["string" if "null" in schema["type"] else schema["type"]]


def _check_invalid(place: Place, tool: str, arguments: Json, names: str) -> None:
    answer = place.program().wrong(tool, **arguments)
    assert answer == {"success": False, "error": answer["error"]}
    assert names in answer["error"]


def _check_alike(place: Place, tool: str, more: Json) -> None:
    """Check that the tool answers with those arguments too as without them."""
    plain, _ = place.program().ask(tool, CALLS[tool])
    answer, is_error = place.program().ask(tool, {**CALLS[tool], **more})
    assert not is_error, answer
    assert answer.keys() == plain.keys()


@requires("all.tools", "all.types", "all.agent_id")
def test_the_tools_are_the_documented_ones(anywhere: Team) -> None:
    """There are 23 tools; each takes the documented parameters, of their types and limits."""
    listed = anywhere.hub.portal.call(anywhere.program().client.list_tools).tools

    assert len(listed) == 23
    for tool in listed:
        required, optional = CONTRACT[tool.name]
        assert tool.input_schema == {
            "type": "object",
            "properties": {**required, **optional},
            **({"required": [*required]} if required else {}),
        }, tool.name


@requires("all.flat", "all.refusal", "envelope.text", "envelope.refusal")
def test_every_tool_answers(team: Team) -> None:
    """A call with what is required is answered by one text: a flat object with success, and an error if it is false."""
    for tool, arguments in CALLS.items():
        answer, is_error = team.program().ask(tool, arguments)
        assert not is_error, tool
        assert "data" not in answer
        assert answer["success"] is ("error" not in answer), tool


@requires("start_session.required", "send_message.required", "get_messages.required", "create_task.required",
          "update_task.required", "claim_task.required", "get_all_tasks.required", "post_artifact.required",
          "get_artifact.required", "request_review.required", "submit_review.required", "write_memory.required",
          "append_memory.required", "save_session_summary.required", "list_sessions.required",
          "get_session_summary.required", "save_orchestrator_state.required", "get_orchestrator_state.required",
          "list_agents.required", "list_pool_agents.required", "broadcast_thinking.required", "all.agent_id",
          "envelope.invalid", "envelope.null", "envelope.clean")  # fmt: skip
def test_what_is_required_cannot_be_omitted(anywhere: Team) -> None:
    """Without a required parameter, or with null for it, the call is invalid, and the error names it."""
    anywhere.program()

    with anywhere.unchanged(), every_row() as row:
        for tool, (required, _optional) in CONTRACT.items():
            for missing in required:
                others = {name: value for name, value in CALLS[tool].items() if name != missing}
                for arguments in (others, {**others, missing: None}):
                    with row(tool, missing, arguments):
                        _check_invalid(anywhere, tool, arguments, missing)


@requires("envelope.null")
def test_null_is_the_same_as_omitted(anywhere: Team) -> None:
    """With null for all that is optional a tool answers as without it."""
    with every_row() as row:
        for tool, (_required, optional) in CONTRACT.items():
            with row(tool):
                _check_alike(anywhere, tool, dict.fromkeys(optional))


@requires("all.types", "envelope.invalid", "envelope.clean")
def test_a_parameter_is_of_its_type(anywhere: Team) -> None:
    """A value of another type is invalid, not converted, and the error names the parameter."""
    anywhere.program()

    with anywhere.unchanged(), every_row() as row:
        for tool, (required, optional) in CONTRACT.items():
            for name, schema in {**required, **optional}.items():
                for wrong in (_wrong_type(schema), [{"a": 1}]):
                    with row(tool, name, wrong):
                        _check_invalid(anywhere, tool, {**CALLS[tool], name: wrong}, name)


@requires("limits.agent_id", "limits.names", "limits.session_id", "limits.thread_id", "limits.depends_on.each",
          "limits.refs", "limits.content", "limits.metadata", "limits.after_seq", "limits.title",
          "limits.description", "limits.depends_on", "limits.idempotency_key", "limits.derived_reason",
          "limits.status", "limits.artifact.name", "limits.artifact.content", "limits.comments", "limits.key",
          "limits.memory", "limits.summary", "limits.state", "limits.thought", "create_task.priority",
          "update_task.status", "post_artifact.type", "submit_review.status", "envelope.range", "envelope.clean",
          "envelope.large")  # fmt: skip
def test_a_limit_is_where_it_is_documented(anywhere: Team) -> None:
    """The value at the limit is taken; the next one is invalid, never clamped, and changes nothing."""
    program = anywhere.program()

    with anywhere.unchanged(), every_row() as row:
        for tool, name, _at_limit, past_it in LIMITS:
            with row(tool, name, "past it"):
                _check_invalid(anywhere, tool, {**CALLS[tool], name: past_it}, name)
    with every_row() as row:
        for tool, name, at_limit, _past_it in LIMITS:
            with row(tool, name, "at the limit"):
                answer, is_error = program.ask(tool, {**CALLS[tool], name: at_limit})
                assert not is_error, answer


@requires("limits.agent_id", "limits.agent_id.not", "limits.names")
def test_a_name_is_letters_digits_underscores_and_hyphens(anywhere: Team) -> None:
    """Names of any script are good; blanks, slashes, dots, controls and symbols are invalid and change nothing."""
    program = anywhere.program()
    named = [("send_message", "agent_id"), ("send_message", "to"), ("get_all_tasks", "agent_id"),
             ("create_task", "assignee")]  # fmt: skip
    every_tool = [(tool, "agent_id") for tool in CALLS]

    with anywhere.unchanged(), every_row() as row:
        for (tool, name), bad in [*product(named, BAD_NAMES), *product(every_tool, ["a b"])]:
            with row(tool, name, repr(bad)):
                _check_invalid(anywhere, tool, {**CALLS[tool], name: bad}, name)
    with every_row() as row:
        for (tool, name), good in [*product(named, GOOD_NAMES), *product(every_tool, ["代码1号"])]:
            with row(tool, name, repr(good)):
                answer, is_error = program.ask(tool, {**CALLS[tool], name: good})
                assert not is_error, answer


@requires("limits.session_id")
def test_a_session_id_is_ascii(anywhere: Team) -> None:
    """Letters of other scripts, blanks, slashes, dots and line breaks are invalid in a session_id."""
    program = anywhere.program()
    named = [tool for tool, arguments in CALLS.items() if "session_id" in arguments] + ["list_agents"]

    with anywhere.unchanged(), every_row() as row:
        for tool, bad in product(named, BAD_RUNS):
            with row(tool, repr(bad)):
                answer = program.wrong(tool, **{**CALLS[tool], "session_id": bad})
                assert answer["error"].endswith("session_id: must be 1 to 128 letters, digits, _ or -")
    for tool in named:
        assert not program.ask(tool, {**CALLS[tool], "session_id": "2026-03-14-007_Ab"})[1], tool


@requires("limits.after_seq")
def test_any_integer_is_a_cursor(team: Team) -> None:
    """An after_seq beyond every message gives none, however large it is; a message before it stays unread."""
    yes(team.agent("lead").send_message(content="c", to="lead"))

    for after in (2**31, 2**63 - 1, 2**63, 10**30):
        assert team.mail("lead", after_seq=after) == []
    assert len(team.mail("lead", after_seq=0)) == 1


@requires("envelope.unstorable", "envelope.clean")
@both_engines
@pytest.mark.parametrize("text", ["a\0b", "a\ud800b"], ids=["nul", "half of a pair"])
def test_what_cannot_be_kept_is_invalid(team: Team, text: str) -> None:
    """NUL characters and halves of surrogate pairs are invalid wherever there is text, keys of metadata included."""
    body = {"agent_id": "lead", "content": "c"}
    secret = team.program().secret

    with team.unchanged():
        for arguments in (
            {**body, "content": text},
            {**body, "thread_id": text},
            {**body, "metadata": {"k": text}},
            {**body, "metadata": {text: "v"}},
        ):
            answer = team.post(call("send_message", **arguments), secret)
            assert answer.status_code in {200, 400}, answer.text
            if answer.status_code == 200:
                result = answer.json()["result"]
                assert result["isError"] is True
                assert result["structuredContent"]["success"] is False


@requires("envelope.extra")
def test_unknown_arguments_are_ignored(anywhere: Team) -> None:
    """A client that sends more than is documented is served as if it had not."""
    with every_row() as row:
        for tool in CALLS:
            with row(tool):
                _check_alike(anywhere, tool, {"verbose": True, "tx": "x", "call": {}, "": None})


@requires("envelope.unknown_tool")
def test_an_unknown_tool_is_said_to_be_unknown(anywhere: Team) -> None:
    """A tool that is not there, or is another dialect's, is an error in Relay's envelope, and changes nothing."""
    anywhere.program()

    with anywhere.unchanged(), every_row() as row:
        for tool in ("no_such_tool", "Send_Message", "", "发任务", "__init__", "send_task"):
            with row(repr(tool)):
                _check_invalid(anywhere, tool, {"agent_id": "lead"}, repr(tool))
