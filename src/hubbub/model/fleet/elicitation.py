"""Questions to the person at an MCP client: their words, and the answer.

The client writes the answer, not the person: it counts only where the operator of the machine accepts it.
"""

from collections.abc import Mapping
from typing import Any

from hubbub.model.fleet.calls import Question

KEY = "approval"  # of our one question in an unfinished result
METHOD = "elicitation/create"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"approve": {"type": "boolean", "title": "Let this one call through"}},
    "required": ["approve"],
}


def sentence(question: Question) -> str:
    """Word the question for people."""
    return (
        f"{question.who.name} wants {question.tool} on {question.node}, in {question.folder}:\n"
        f"{question.shown}\n\nIt is asked because {question.reason}. Let it through, once?"
    )


def read_answer(action: object, content: object) -> bool | None:
    """Read a yes or a no; None if the question was dismissed."""
    if action == "accept":
        return isinstance(content, Mapping) and content.get("approve") is True
    return False if action == "decline" else None
