"""Gemini CLI as the agent of a machine: without a terminal it reads the prompt, and prints its events as JSON."""

from collections.abc import Iterator, Sequence

from hubbub.node.runtimes.event_stream import (
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


class Gemini:
    """Its stream: chunks of messages, a tool's use and its result; errors may come before the end."""

    def __init__(self) -> None:
        self._trouble = ""

    def words(self, program: str, options: Sequence[str]) -> list[str]:
        return [program, "--output-format", "stream-json", *options]

    def read(self, event: LooseJson) -> Iterator[StreamEvent]:
        match event["type"].text:
            case "message" if event["role"].text == "assistant":
                if not event["delta"].is_true:
                    yield Pause()
                yield TextPiece(event["content"].text)
            case "tool_use":
                yield ToolStarted(
                    event["tool_id"].text, event["tool_name"].text, event["parameters"].arguments
                )
            case "tool_result":
                yield ToolFinished(event["tool_id"].text, ok=event["status"].text == "success")
            case "error" if event["severity"].text != "warning":
                self._trouble = event["message"].text
                yield StreamWarning(self._trouble)
            case "result" if event["status"].text == "success":
                yield Done()
            case "result":
                yield Failed(event["error"]["message"].text or self._trouble)
