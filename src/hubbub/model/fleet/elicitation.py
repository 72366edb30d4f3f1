"""Asking whoever sits at an MCP client: the words of a question, and what comes back.

The client writes the answer, not the person: it counts only where the operator of the machine has said so.
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
    """What is asked, for people."""
    return (
        f"{question.who.name} wants {question.tool} on {question.node}, in {question.folder}:\n"
        f"{question.shown}\n\nIt is asked because {question.reason}. Let it through, once?"
    )


def read_answer(action: object, content: object) -> bool | None:
    """Yes, no, or neither: the question was put away."""
    if action == "accept":
        return isinstance(content, Mapping) and content.get("approve") is True
    return False if action == "decline" else None
