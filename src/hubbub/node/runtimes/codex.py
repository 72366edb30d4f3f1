"""Codex as the agent of a machine: `codex exec --json`, which prints what its thread comes to, item by item."""

from collections.abc import Iterator, Sequence

from hubbub.node.runtimes.stream import (
    Began,
    Called,
    Done,
    Failed,
    Pause,
    Piece,
    Returned,
    Said,
    Seen,
    Trouble,
)

STDIN = "-"  # where the prompt is


class Codex:
    """Its stream: an item begins and is completed; a message of the agent comes as a whole."""

    def words(self, program: str, options: Sequence[str]) -> list[str]:
        return [program, "exec", "--json", *options, STDIN]

    def read(self, event: Said) -> Iterator[Seen]:
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
                yield Trouble(event["message"].text)


def _completed(item: Said) -> Iterator[Seen]:
    if item["type"].text == "agent_message":
        yield Pause()
        yield Piece(item["text"].text)
        return
    for call in _called(item):
        yield call
        exit_code = item["exit_code"].number
        yield Returned(call.call_id, ok=item["status"].text in ("", "completed") and exit_code in (None, 0))


def _called(item: Said) -> Iterator[Called]:
    """The call of a tool that an item is, if it is one."""
    call_id, kind = item["id"].text, item["type"].text
    match kind:
        case "command_execution":
            yield Called(call_id, kind, Said({"command": item["command"].text}).arguments)
        case "file_change":
            changes = [f"{each['kind'].text} {each['path'].text}" for each in item["changes"].items]
            yield Called(call_id, kind, Said({"changes": changes}).arguments)
        case "web_search":
            yield Called(call_id, kind, Said({"query": item["query"].text}).arguments)
        case "collab_tool_call":
            yield Called(call_id, item["tool"].text, Said({"prompt": item["prompt"].text}).arguments)
        case "mcp_tool_call":
            name = f"{item['server'].text}.{item['tool'].text}"
            yield Called(call_id, name, item["arguments"].arguments)
