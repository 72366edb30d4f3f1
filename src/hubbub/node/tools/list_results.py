"""Answers that are lists, with a note if they were cut."""

from collections.abc import Sequence

from hubbub.model.fleet.calls import ToolResult, as_json


def of(rows: Sequence[object], more: str | None) -> ToolResult:
    """Return the rows; `more` is the sentence that says that there are more."""
    if more is None:
        return ToolResult(value=rows)
    texts = (as_json(rows), more)
    return ToolResult(value=rows, texts=texts, structured={"result": rows, "truncated": True})


def readable(name: str) -> str:
    """Return a file's name as text; bytes that are not UTF-8 are replaced."""
    return name.encode(errors="surrogateescape").decode(errors="replace")
