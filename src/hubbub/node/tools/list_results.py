"""Answers that are lists, which say so when they were cut."""

from collections.abc import Sequence

from hubbub.model.fleet.calls import ToolResult, as_json


def of(rows: Sequence[object], more: str | None) -> ToolResult:
    """The rows; `more`, where there would be more of them, is the sentence that says so."""
    if more is None:
        return ToolResult(value=rows)
    texts = (as_json(rows), more)
    return ToolResult(value=rows, texts=texts, structured={"result": rows, "truncated": True})


def readable(name: str) -> str:
    """A file's name as text; what is not UTF-8 in it is replaced."""
    return name.encode(errors="surrogateescape").decode(errors="replace")
