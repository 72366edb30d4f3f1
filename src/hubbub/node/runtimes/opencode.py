"""OpenCode as the agent of a machine: `opencode run --format json`, which prints the parts of its messages."""

from collections.abc import Iterator, Sequence

from hubbub.node.runtimes.event_stream import (
    Began,
    Done,
    Failed,
    LooseJson,
    Pause,
    StreamEvent,
    TextPiece,
    ToolFinished,
    ToolStarted,
)

GOES_ON = "tool-calls"  # the reason of a step's end that another step follows


class OpenCode:
    """Its stream: steps with texts and calls of tools, each told when it is complete."""

    def words(self, program: str, options: Sequence[str]) -> list[str]:
        return [program, "run", "--format", "json", *options]

    def read(self, event: LooseJson) -> Iterator[StreamEvent]:
        part = event["part"]
        match event["type"].text:
            case "step_start":
                yield Began()
            case "text":
                yield Pause()
                yield TextPiece(part["text"].text)
            case "tool_use":
                call_id = part["callID"].text or part["id"].text
                yield ToolStarted(call_id, part["tool"].text, part["state"]["input"].arguments)
                yield ToolFinished(call_id, ok=part["state"]["status"].text == "completed")
            case "step_finish" if part["reason"].text != GOES_ON:
                yield Done()
            case "error":
                error = event["error"]
                yield Failed(error["data"]["message"].text or error["message"].text or error["name"].text)
