"""Codex as the agent of a machine: `codex exec --json`, which prints its thread's items."""

from collections.abc import Iterator, Sequence

from hubbub.node.runtimes.event_stream import (
    Began,
    Done,
    Failed,
    LooseJson,
    Pause,
    StreamEvent,
    StreamWarning,
    TextPiece,
    ToolFinished,
    ToolStarted,
)

STDIN = "-"  # stands for the prompt on standard input


class Codex:
    """Its stream: an item begins and is completed; a message of the agent comes as a whole."""

    def words(self, program: str, options: Sequence[str]) -> list[str]:
        return [program, "exec", "--json", *options, STDIN]

    def read(self, event: LooseJson) -> Iterator[StreamEvent]:
        match event["type"].text:
            case "turn.started":
                yield Began()
            case "item.started":
                yield from _called(event["item"])
            case "item.completed":
                yield from _completed(event["item"])
            case "turn.completed":
                yield Done()
            case "turn.failed":
                yield Failed(event["error"]["message"].text)
            case "error":
                yield StreamWarning(event["message"].text)


def _completed(item: LooseJson) -> Iterator[StreamEvent]:
    if item["type"].text == "agent_message":
        yield Pause()
        yield TextPiece(item["text"].text)
        return
    for call in _called(item):
        yield call
        exit_code = item["exit_code"].number
        yield ToolFinished(
            call.call_id, ok=item["status"].text in ("", "completed") and exit_code in (None, 0)
        )


def _called(item: LooseJson) -> Iterator[ToolStarted]:
    """Yield the call of a tool in an item, if it is one."""
    call_id, kind = item["id"].text, item["type"].text
    match kind:
        case "command_execution":
            yield ToolStarted(call_id, kind, LooseJson({"command": item["command"].text}).arguments)
        case "file_change":
            changes = [f"{each['kind'].text} {each['path'].text}" for each in item["changes"].items]
            yield ToolStarted(call_id, kind, LooseJson({"changes": changes}).arguments)
        case "web_search":
            yield ToolStarted(call_id, kind, LooseJson({"query": item["query"].text}).arguments)
        case "collab_tool_call":
            yield ToolStarted(
                call_id, item["tool"].text, LooseJson({"prompt": item["prompt"].text}).arguments
            )
        case "mcp_tool_call":
            name = f"{item['server'].text}.{item['tool'].text}"
            yield ToolStarted(call_id, name, item["arguments"].arguments)
