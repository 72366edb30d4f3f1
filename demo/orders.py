"""The line to the commander: orders to it, its answers, and its mail."""

import json
from contextlib import suppress
from itertools import count
from typing import Any, TypedDict

from demo.processes import Process, Vanished


class Refused(Exception):
    """The hub refused a call of the commander, which no play expects."""


class Unexpected(Exception):
    """A task ended in another way than the play provides for."""


class Letter(TypedDict):
    """A letter in the commander's inbox, in CommHub's terms; the context of a reply names what it answers."""

    id: str
    type: str
    content: str
    context: str | None
    from_session: str


class Orders:
    """One commander at the end of a pipe."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.letters: list[Letter] = []
        self.promised: list[str] = []  # the tasks that the hub has said to have
        self.greeting: dict[str, Any] = {}
        self._answers: list[Any] = []
        self._keys = count(1)

    def arrive(self) -> dict[str, Any]:
        """Wait for and return the commander's findings on its arrival at the hub."""
        while not self.greeting:
            self._hear()
        return self.greeting

    def give(self, tool: str, **arguments: object) -> None:
        """Have it call a tool, whenever it can."""
        line = {"tool": tool, "arguments": arguments, "key": f"order {next(self._keys)}"}
        self.process.tell(json.dumps(line))

    def answer(self) -> Any:
        """Return the result of the oldest order. Raises `Refused`."""
        while not self._answers:
            self._hear()
        answer = self._answers.pop(0)
        if not answer["ok"]:
            raise Refused(f"{answer['error']} {answer.get('message', '')}".strip())
        return answer

    def task(self, to: str, text: str, **more: object) -> str:
        """Have it send a task; the id that the hub gave it."""
        self.give("send_task", alias=to, task=text, **more)
        return self.promise()

    def promise(self) -> str:
        """Return the id of the task that the oldest order sent."""
        task_id: str = self.answer()["message_id"]
        self.promised.append(task_id)
        return task_id

    def retry(self, task_id: str) -> None:
        """Have it send a failed task again."""
        self.give("retry_task", task_id=task_id)
        self.answer()

    def reply(self, subject: str, *, status: str = "replied") -> Letter:
        """Wait for and return the first reply to a task with that status.

        Raises `Unexpected` if one with another status comes instead.
        """
        known = len(self.letters)
        about = f"in_reply_to: {subject}, status: "
        while True:
            for letter in self.letters:
                if letter["context"] == about + status:
                    return letter
            for letter in self.letters[known:]:
                if (letter["context"] or "").startswith(about):
                    raise Unexpected(f"a task that should be {status} is not: {letter['content']}")
            self._hear()

    def mail(self, number: int) -> list[Letter]:
        """Wait until there are so many letters and return all."""
        while len(self.letters) < number:
            self._hear()
        return self.letters

    def dismiss(self) -> int:
        """Have no more orders, and hear it out. Returns its exit code."""
        self.process.hush()
        with suppress(Vanished):
            while True:
                self._hear()
        return self.process.end()

    def _hear(self) -> None:
        line = json.loads(self.process.line())
        self.greeting = line.get("here", self.greeting)
        if "letter" in line:
            self.letters.append(line["letter"])
        if "answer" in line:
            self._answers.append(line["answer"])
