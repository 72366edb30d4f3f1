"""Use printed by programs: each in its own words; any other line says nothing."""

import json

from hubbub.model.cost.printed_usage import Listener, Used
from tests.node.runtimes.recorded_program import recorded
from tests.support.each_row import each_row


def heard(*lines: object) -> list[Used]:
    listener = Listener("run")
    for line in lines:
        listener.hear(line if isinstance(line, str) else json.dumps(line))
    return listener.used()


def played(name: str) -> list[Used]:
    return heard(*recorded(name).decode().splitlines())


def test_what_claude_code_prints() -> None:
    """Its result says what each model came to, and what that cost by its own estimate; it goes before its messages."""
    usage = {
        "input_tokens": 5,
        "output_tokens": 7,
        "cache_read_input_tokens": 40,
        "cache_creation_input_tokens": 2,
    }
    message = {
        "type": "assistant",
        "session_id": "s-1",
        "message": {"id": "m-1", "model": "opus", "usage": usage},
    }
    told = Used(
        id="m-1",
        conversation="s-1",
        client="claude-code",
        model="opus",
        input=5,
        output=7,
        cache_read=40,
        cache_written=2,
    )
    assert heard(message, message) == [told]

    models = {
        "opus": {"inputTokens": 50, "outputTokens": 9, "cacheReadInputTokens": 400, "costUSD": 0.25},
        "haiku": {"inputTokens": 3, "outputTokens": 1},
    }
    result = {"type": "result", "session_id": "s-1", "usage": usage, "modelUsage": models}
    assert [(each.model, each.input, each.cache_read, each.cost) for each in heard(message, result)] == [
        ("opus", 50, 400, 0.25),
        ("haiku", 3, 0, None),
    ]


def test_what_codex_prints() -> None:
    """It says what its thread came to up to now, by which a thread that goes on is not counted twice."""
    (used,) = played("codex-answer")
    assert (used.client, used.input, used.output, used.total) == ("codex", 100, 20, True)
    usage = {
        "input_tokens": 100,
        "cached_input_tokens": 60,
        "cache_write_input_tokens": 10,
        "output_tokens": 5,
    }
    begun = {"type": "thread.started", "thread_id": "t-1"}
    (used,) = heard(begun, {"type": "turn.completed", "usage": usage})
    assert (used.conversation, used.input, used.cache_read, used.cache_written) == ("t-1", 30, 60, 10)


def test_what_gemini_prints() -> None:
    """It says at the end what its session came to."""
    (used,) = played("gemini-answer")
    assert used == Used(
        id="run gemini-test",
        conversation="g1",
        client="gemini",
        model="gemini-test",
        input=80,
        output=20,
    )


def test_what_opencode_prints() -> None:
    """It says of each step what it took; of none is told twice."""
    used = played("opencode-answer")
    assert {(each.client, each.input, each.output) for each in used} == {("opencode", 1, 1)}
    assert len({each.id for each in used}) == len(used) == 2


@each_row(
    "line",
    [
        "no JSON with usage",
        '{"type": "turn.completed", "usage"',
        [{"usage": 1}],
        {"type": "turn.completed", "usage": {"input_tokens": 5}},  # of no thread
        {"type": "assistant", "session_id": "s", "message": {"usage": "much"}},
        {"type": "result", "session_id": "s", "modelUsage": [1], "usage": 1},
        {"type": "result", "stats": 7},
        {"type": "step_finish", "part": "tokens", "tokens": 7},
        '{"usage": ' + "[" * 100_000,
    ],
)
def test_all_else_says_nothing(line: object) -> None:
    """A line of any unknown form is ignored."""
    assert heard(line) == []


def test_numbers_that_are_none_count_as_nothing() -> None:
    """A number that is negative, a text or too large for tokens is left out."""
    models = {"opus": {"inputTokens": -1, "outputTokens": "9", "cacheReadInputTokens": 10**15, "costUSD": -1}}
    (used,) = heard({"type": "result", "session_id": "s", "modelUsage": models, "usage": {}})
    assert (used.input, used.output, used.cache_read, used.cost) == (0, 0, 0, None)
