"""What a machine needs of its hub: people to ask, a place for its log's head, and tasks for what it starts."""

from datetime import timedelta
from typing import Protocol

from hubbub.model.orders import Answered, Principal, Question


class Hub(Protocol):
    """The hub, seen from a machine. Whatever it says, the gate is the machine's own."""

    async def ask(self, question: Question, patience: timedelta) -> Answered:
        """Put a question before people and wait for their answer, `patience` at most.

        An approval is spent by being told here: it lets one call through.
        """

    async def resolve(self, approval_id: str, *, approved: bool, by: str) -> Answered:
        """The answer that came by the client that made the call, where the operator lets it."""

    async def put(self, question: Question, patience: timedelta) -> str:
        """Put a question before people without waiting: the id of its approval."""

    async def seal(self, node: str, seq: int, digest: str) -> None:
        """Keep the head of the machine's audit log, so that a log that was cut short shows."""

    async def begin_task(self, who: Principal, title: str, description: str, assignee: str) -> str:
        """The id of a new task of `who`, begun by `assignee`."""

    async def end_task(self, task_id: str, *, text: str, failed: bool) -> None:
        """End a task with its result, or with why there is none."""
