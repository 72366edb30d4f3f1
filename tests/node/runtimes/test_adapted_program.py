"""Programs that we know as the agents of a machine, played from recordings of their streams."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from hubbub.model.cost.printed_usage import Used
from hubbub.node.policy.node_policy import AdaptedRuntime
from hubbub.node.runtimes import conversation
from hubbub.node.runtimes.adapted_program import ADAPTERS, AdaptedConversation
from hubbub.node.runtimes.agent_program import CUT, MOST
from hubbub.node.runtimes.conversation import Answer, RuntimeFailed, ToolCall
from hubbub.node.runtimes.event_stream import ARGUMENTS, LINE, MOST_CALLS
from tests.cli.processes import ends
from tests.node.runtimes.recorded_program import Player, recorded
from tests.node.tool_access import Record

EACH = tuple(ADAPTERS)
SAID_FIRST = {"claude": "I count ", "codex": "I count the lines.", "gemini": "I count "}
CALLS = {
    "claude": (
        ToolCall("Bash", {"command": "wc -l README.md", "description": "Count lines"}, ok=True),
        ToolCall("Task", {"prompt": "check the count"}, ok=True),
        ToolCall("Read", {"file_path": "/etc/shadow"}, ok=False),
    ),
    "codex": (
        ToolCall("command_execution", {"command": "bash -lc 'wc -l README.md'"}, ok=True),
        ToolCall("command_execution", {"command": "bash -lc 'make lint'"}, ok=False),
        ToolCall("file_change", {"changes": ["update README.md"]}, ok=True),
        ToolCall("hub.issue_list", {"status": "open"}, ok=False),
        ToolCall("web_search", {"query": "lines in a file"}, ok=True),
    ),
    "gemini": (
        ToolCall("run_shell_command", {"command": "wc -l README.md"}, ok=True),
        ToolCall("read_file", {"path": "missing.md"}, ok=False),
    ),
    "opencode": (
        ToolCall("bash", {"command": "wc -l README.md"}, ok=True),
        ToolCall("read", {"filePath": "missing.md"}, ok=False),
    ),
}
WORDS = {
    "claude": "-p --output-format stream-json --verbose --include-partial-messages --model big --more",
    "codex": "exec --json --model big --more -",
    "gemini": "--output-format stream-json --model big --more",
    "opencode": "run --format json --model big --more",
}
each = pytest.mark.parametrize("kind", EACH)


@pytest.fixture
def record(tmp_path: Path) -> Record:
    return Record(tmp_path)


def ask(player: Player, record: Record, prompt: str = "") -> Answer:
    """Return the result of a run of the program."""
    runtime = AdaptedRuntime(player.program.name, program=str(player.program))
    return asyncio.run(AdaptedConversation(runtime).say(prompt, record.hands()))


def lines(*events: object) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


@each
def test_the_answer_is_what_was_said_last(kind: str, record: Record) -> None:
    """The text of the end comes from a whole stream, and every call of a tool with its arguments and its outcome."""
    answer = ask(Player.of(record.folder, kind, recorded(f"{kind}-answer")), record)

    assert answer.text == "Twelve lines ✓"
    assert answer.tool_calls == CALLS[kind]


@each
def test_the_text_is_heard_while_it_comes(kind: str, record: Record) -> None:
    """Pieces are heard as they are printed, one paragraph for each thing that is said, and nothing else."""
    player = Player.of(record.folder, kind, recorded(f"{kind}-answer", pauses=True))
    heard: list[str] = []

    async def hear(piece: str) -> None:
        heard.append(piece)
        if len(heard) == 1:  # it will not go on before that
            await asyncio.to_thread(player.go_on)

    runtime = AdaptedRuntime(kind, program=str(player.program))
    asyncio.run(AdaptedConversation(runtime).say("", record.hands(), hear))

    assert heard[0] == SAID_FIRST.get(kind, "I count the lines.")
    assert "".join(heard) == "I count the lines.\n\nTwelve lines ✓"


@each
def test_the_prompt_is_on_standard_input(kind: str, record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    """The words say only how to run; the prompt, however it begins, is none of them. The key is passed on."""
    monkeypatch.setenv("HUBBUB_TOKEN", "utok_secret")
    monkeypatch.setenv("MODEL_KEY", "sk-model")
    player = Player.of(record.folder, kind, recorded(f"{kind}-answer"))
    runtime = AdaptedRuntime(kind, str(player.program), model="big", arguments=("--more",), key="MODEL_KEY")

    asyncio.run(AdaptedConversation(runtime).say("--yolo\nü", record.hands()))
    words, given, environment = player.called

    assert (words, given) == (WORDS[kind].split(), "--yolo\nü")
    assert (environment["MODEL_KEY"], environment["HUBBUB_TASK_ID"]) == ("sk-model", "7")
    assert "HUBBUB_TOKEN" not in environment


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("claude-logged-out", "claude failed: Not logged in · Please run /login"),
        ("claude-too-many-turns", "claude failed: it has taken as many turns as it may, and has no answer"),
        ("codex-rate-limited", "codex failed: You have reached your usage limit. Try again at 18:00."),
        ("gemini-too-many-turns", "gemini failed: Maximum session turns exceeded"),
        ("opencode-logged-out", "opencode failed: The API key is missing. Run opencode auth login."),
    ],
)
def test_what_went_wrong_is_said_in_the_words_of_the_program(
    name: str, sentence: str, record: Record
) -> None:
    """A failure that the stream tells is told as it stands there, whatever else the program complains of."""
    player = Player.of(record.folder, name.partition("-")[0], recorded(name), code=1, complaint="stack trace")

    with pytest.raises(RuntimeFailed) as failed:
        ask(player, record)

    assert str(failed.value) == sentence


@each
@pytest.mark.parametrize("code", [0, 3])
def test_a_stream_that_is_cut_is_no_answer(kind: str, code: int, record: Record) -> None:
    """A program that ends before it has said that it is done has failed, and what it complained of is told."""
    whole = recorded(f"{kind}-answer")
    player = Player.of(
        record.folder, kind, whole[: whole.rindex(b"{", 0, -400)], code=code, complaint="no memory"
    )

    with pytest.raises(RuntimeFailed) as failed:
        ask(player, record)

    told = f"{kind} ended with exit code 3: no memory"
    cut = f"the stream of {kind} ended in the middle; the last that it said: no memory"
    assert str(failed.value) == (told if code else cut)


def test_an_exit_code_counts_more_than_a_good_end(record: Record) -> None:
    """A program that says that all is well and then ends with another exit code than 0 has failed."""
    player = Player.of(record.folder, "gemini", recorded("gemini-answer"), code=1)

    with pytest.raises(RuntimeFailed, match=r"^gemini ended with exit code 1 and said nothing"):
        ask(player, record)


def test_a_program_that_speaks_plainly_is_quoted(record: Record) -> None:
    """Output that is no stream is told when there is nothing else to tell."""
    player = Player.of(record.folder, "claude", b"Credit balance is too low\n", code=1)

    with pytest.raises(RuntimeFailed, match=r"^claude ended with exit code 1: Credit balance is too low$"):
        ask(player, record)


@each
def test_a_program_that_is_not_installed_is_said_so(
    kind: str, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is looked for on the PATH, or where the operator says that it is."""
    monkeypatch.setenv("PATH", str(record.folder))

    with pytest.raises(RuntimeFailed) as missing:
        asyncio.run(AdaptedConversation(AdaptedRuntime(kind)).say("", record.hands()))
    talk = AdaptedConversation(AdaptedRuntime(kind, program="bin/agent"))
    with pytest.raises(RuntimeFailed) as elsewhere:
        asyncio.run(talk.say("", record.hands()))

    assert str(missing.value) == (
        f"{kind} is not installed on this machine, or not on the PATH of the daemon;"
        " install it or set [runtime] program"
    )
    assert str(elsewhere.value) == "[runtime] program names 'bin/agent', which is not a program"


def test_a_program_is_found_on_the_path(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a `program`, the one of that name is run."""
    Player.of(record.folder, "codex", recorded("codex-answer"))
    monkeypatch.setenv("PATH", str(record.folder))

    async def story() -> Answer:
        return await (await conversation(AdaptedRuntime("codex"))).say("", record.hands())

    assert asyncio.run(story()).text == "Twelve lines ✓"


HOSTILE: Sequence[bytes] = (
    b"\xff\xfe\x00 no text\n",
    b"not json\n[1, 2]\nnull\n\n",
    b"[" * 100_000 + b"\n",
    b'{"type":' * 50_000 + b"1" + b"}" * 50_000 + b"\n",
    b'{"type":"assistant","message":' + b'{"content":' * 5 + b"1" + b"}" * 6 + b"\n",
    lines(
        *({"type": kind, "message": wrong, "item": wrong, "part": wrong, "event": wrong, "error": wrong}
          for kind in ("assistant", "user", "stream_event", "item.completed", "message", "text", "tool_result")
          for wrong in (None, 7, "text", [1], {"content": [None, 3, {"type": []}], "type": {}, "delta": 9})),
        {"type": ["result"], "subtype": "success", "status": "success"},
        {"subtype": "success"},
    ),
)  # fmt: skip


@each
def test_what_is_no_part_of_the_stream_is_passed_over(kind: str, record: Record) -> None:
    """Neither bytes that are no text nor JSON of any other form keeps the rest from being read."""
    stream = b"".join(HOSTILE) + recorded(f"{kind}-answer")

    answer = ask(Player.of(record.folder, kind, stream), record)

    assert (answer.text, answer.tool_calls) == ("Twelve lines ✓", CALLS[kind])


def test_a_line_is_read_up_to_a_limit(record: Record) -> None:
    """A line of more than 10 MiB is dropped as it comes, and said to have been where it is missed."""
    endless = b'{"type":"result","subtype":"success","result":"' + b"x" * LINE + b'"}\n'
    player = Player.of(record.folder, "claude", endless + recorded("claude-answer"))

    assert ask(player, record).text == "Twelve lines ✓"

    (record.folder / "stream").write_bytes(endless)
    with pytest.raises(RuntimeFailed, match=r"the last that it said: a line of over 10 MiB"):
        ask(player, record)


def test_an_endless_stream_is_kept_within_bounds(record: Record) -> None:
    """The beginning of the text is kept, and the cut is marked; of the calls the first, and short arguments."""
    text = {"type": "message", "role": "assistant", "content": "x" * 65_536, "delta": True}
    calls = [
        {"type": "tool_use", "tool_id": f"{n}", "tool_name": "write", "parameters": {"text": "y" * 5_000}}
        for n in range(MOST_CALLS + 100)
    ]
    stream = lines(*calls, *[text] * (2 * MOST // 65_536), {"type": "result", "status": "success"})

    answer = ask(Player.of(record.folder, "gemini", stream), record)

    assert answer.text == "x" * MOST + CUT
    assert len(answer.tool_calls) == MOST_CALLS
    assert len(json.dumps([dict(call.arguments) for call in answer.tool_calls])) < ARGUMENTS + 10_000
    assert str(answer.tool_calls[0].arguments["text"]).endswith("characters more)")


def test_what_no_store_can_keep_is_replaced(record: Record) -> None:
    """Halves of surrogate pairs, NUL characters and numbers that JSON does not have do not get through."""
    stream = (
        b'{"type":"tool_use","tool_id":"1","tool_name":"a\\ud800","parameters":{"b\\u0000":[1e999,NaN]}}\n'
        b'{"type":"message","role":"assistant","content":"c\\ud800\\u0000"}\n{"type":"result","status":"success"}\n'
    )

    answer = ask(Player.of(record.folder, "gemini", stream), record)

    assert answer.text == "c?\ufffd"
    assert answer.tool_calls == (ToolCall("a?", {"b\ufffd": ["1e999", "NaN"]}, ok=False),)


def test_a_last_line_needs_no_end(record: Record) -> None:
    """A stream whose last line is not ended is read to its last byte."""
    stream = recorded("gemini-answer").rstrip(b"\n")

    assert ask(Player.of(record.folder, "gemini", stream), record).text == "Twelve lines ✓"


def test_an_older_program_that_prints_no_pieces_is_heard_by_its_messages(record: Record) -> None:
    """Where Claude prints only whole messages, each is a piece."""
    whole = [
        line for line in recorded("claude-answer").splitlines(keepends=True) if b"stream_event" not in line
    ]
    player = Player.of(record.folder, "claude", b"".join(whole))
    heard: list[str] = []

    async def hear(piece: str) -> None:
        heard.append(piece)

    runtime = AdaptedRuntime("claude", program=str(player.program))
    asyncio.run(AdaptedConversation(runtime).say("", record.hands(), hear))

    assert heard == ["I count the lines.", "\n\nTwelve lines ✓"]


def test_a_program_that_takes_too_long_is_stopped(record: Record) -> None:
    """Patience with one prompt is bounded, and the sentence says whose it was at an end with."""
    player = Player.of(record.folder, "claude", recorded("claude-answer", pauses=True))
    runtime = AdaptedRuntime("claude", program=str(player.program))
    talk = AdaptedConversation(runtime, patience=timedelta(milliseconds=300))

    with pytest.raises(RuntimeFailed, match=r"^claude took over 0.005 minutes and was stopped$"):
        asyncio.run(talk.say("", record.hands()))


def test_each_kind_has_its_adapter() -> None:
    """Every program that `node.toml` may name can be run."""
    assert set(ADAPTERS) == set(AdaptedRuntime.kinds)


def test_who_cancels_a_prompt_ends_the_program(record: Record) -> None:
    """A program that is not waited for any more is ended, with all that it started."""
    player = Player.of(record.folder, "claude", recorded("claude-answer", pauses=True))
    talk = AdaptedConversation(AdaptedRuntime("claude", program=str(player.program)))
    heard = asyncio.Event()

    async def hear(_piece: str) -> None:
        heard.set()

    async def story() -> None:
        turn = asyncio.create_task(talk.say("", record.hands(), hear))
        await heard.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn

    asyncio.run(story())
    assert ends(player.pid)


@each
def test_what_it_used_is_told(kind: str, record: Record) -> None:
    """Tokens that a program prints are reported to the hub, even without an answer."""
    told: list[Used] = []

    async def tell(used: Sequence[Used]) -> None:
        told.extend(used)

    player = Player.of(record.folder, kind, recorded(f"{kind}-answer"), code=3)
    runtime = AdaptedRuntime(kind, program=str(player.program))
    with pytest.raises(RuntimeFailed):
        asyncio.run(AdaptedConversation(runtime).say("", replace(record.hands(), tell=tell)))
    assert {"claude": "claude-code"}.get(kind, kind) in {each.client for each in told}
