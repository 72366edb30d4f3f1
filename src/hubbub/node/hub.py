"""What a machine needs of its hub: people to ask, a place for its log's head, and tasks for what it starts.

What the hub refuses is a `hubbub.model.errors.HubError` with one sentence; `StoreUnavailable` where it cannot be
reached, or cannot do it just now.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from hubbub.model.orders import Answered, Principal, Question
from hubbub.model.placements import Credentials, Fares

TITLE_LENGTH, TEXT_LENGTH = 200, 50_000  # characters of a task's title, and of other texts, that a hub takes
NO_AGENTS = (
    "agents are placed on machines that have joined the hub or that it runs on; this one serves one client"
)


class Hub(Protocol):
    """The hub, seen from a machine. Whatever it says, the gate is the machine's own."""

    async def ask(self, question: Question, patience: timedelta) -> Answered:
        """Put a question before people and wait for their answer, `patience` at most.

        An approval is spent by being told here: it lets one call through.
        """

    async def put(self, question: Question, patience: timedelta, *, elicitation: bool = False) -> str:
        """Put a question before people without waiting: the id of its approval.

        `elicitation` says that the client that made the call may answer it too, by `resolve`.
        """

    async def answer(self, approval_id: str) -> Answered:
        """What became of a question that this machine has put; waits until it is answered or its time is over.

        An approval is spent by being told here.
        """

    async def resolve(self, approval_id: str, *, approved: bool, by: str) -> Answered:
        """The answer that came by the client that made the call, where the operator lets it.

        Where a person was faster, it is theirs. An approval is spent by being told here.
        """

    async def seal(self, node: str, seq: int, digest: str) -> None:
        """Keep the head of the machine's audit log, so that a log that was cut short shows."""

    async def key(self) -> str | None:
        """The project's API key, where there is one and the hub gives it to this machine."""

    async def begin_task(self, who: Principal, title: str, description: str, assignee: str) -> str:
        """The id of a new task of `who`, begun by the machine `assignee`: on the board, by `node:` and its name."""

    async def end_task(self, task_id: str, *, text: str, failed: bool) -> None:
        """End a task with its result, or with why there is none."""

    async def lend(self, who: Principal, task_id: str | None = None) -> Credentials:
        """With what a program acts that is this machine's agent, while it works for `who`, or on a task of theirs.

        It ends with the order or the task.
        """

    async def give_back(self, lent: Credentials) -> None:
        """Tell that what was lent is not needed any more, where the hub does not see that by itself."""

    async def credentials(self, agent: str) -> Credentials:
        """With what an agent that was placed on this machine acts; what it had before is worth nothing from now on."""

    async def fare(self, agents: Sequence[Fares]) -> None:
        """Tell how the agents that were placed on this machine fare. What cannot be told now is told anew later."""
