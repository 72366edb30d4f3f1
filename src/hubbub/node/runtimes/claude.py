"""Claude Code as the agent of a machine: `claude -p`, which prints its messages as lines of JSON."""

from collections.abc import Iterator, Sequence

from hubbub.node.runtimes.event_stream import (
    Done,
    Failed,
    LooseJson,
    Pause,
    StreamEvent,
    TextPiece,
    ToolFinished,
    ToolStarted,
)

HEADLESS = ("-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages")
STOPPED = {
    "error_max_turns": "it has taken as many turns as it may, and has no answer",
    "error_max_budget_usd": "it has spent as much as it may, and has no answer",
}


class Claude:
    """Its stream: a message comes in pieces, then again as a whole with its calls of tools."""

    def __init__(self) -> None:
        self._has_pieces = False  # of the current message

    def words(self, program: str, options: Sequence[str]) -> list[str]:
        return [program, *HEADLESS, *options]

    def read(self, event: LooseJson) -> Iterator[StreamEvent]:
        is_its_own = not event["parent_tool_use_id"].text  # and not that of an agent that it asked
        match event["type"].text:
            case "stream_event" if is_its_own:
                yield from self._piece(event["event"])
            case "assistant":
                yield from self._message(event["message"], is_heard=self._has_pieces or not is_its_own)
            case "user":
                for block in event["message"]["content"].items:
                    if block["type"].text == "tool_result":
                        yield ToolFinished(block["tool_use_id"].text, ok=not block["is_error"].is_true)
            case "result":
                yield _result(event)

    def _piece(self, event: LooseJson) -> Iterator[StreamEvent]:
        match event["type"].text:
            case "message_start":
                self._has_pieces = False
                yield Pause()
            case "content_block_start":
                yield Pause()
            case "content_block_delta" if event["delta"]["type"].text == "text_delta":
                self._has_pieces = True
                yield TextPiece(event["delta"]["text"].text)

    def _message(self, message: LooseJson, *, is_heard: bool) -> Iterator[StreamEvent]:
        for block in message["content"].items:
            if block["type"].text == "tool_use":
                yield ToolStarted(block["id"].text, block["name"].text, block["input"].arguments)
            elif block["type"].text == "text" and not is_heard:
                yield Pause()
                yield TextPiece(block["text"].text)


def _result(event: LooseJson) -> StreamEvent:
    kind = event["subtype"].text
    if kind == "success" and not event["is_error"].is_true:
        return Done(event["result"].text)
    told = "; ".join(each.text for each in event["errors"].items if each.text)
    return Failed(event["result"].text or told or STOPPED.get(kind, kind.replace("_", " ")))
