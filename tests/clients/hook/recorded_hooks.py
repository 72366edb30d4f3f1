"""Recorded calls of real clients to their hooks, kept in `fixtures`, and our module's answers to them."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hubbub.clients.hook.event import Event, HookOutput, Reply

FIXTURES = Path(__file__).parent / "fixtures"
SENTENCE = "a.txt is held by 'flint'"


@dataclass(frozen=True)
class Recorded:
    """The records of one client, and the two functions that its module must have."""

    client: str
    read: Callable[[str, Mapping[str, object]], Event | None]
    say: Callable[[str, Event, Reply], HookOutput]

    @property
    def names(self) -> list[str]:
        """Every record there is."""
        return sorted(each.stem for each in (FIXTURES / self.client).iterdir())

    def told(self, name: str) -> dict[str, Any]:
        """Return the hook's standard input."""
        content: dict[str, Any] = json.loads((FIXTURES / self.client / f"{name}.json").read_text("utf-8"))
        return content

    def happened(self, name: str) -> Event:
        """The same in our words."""
        content = self.told(name)
        understood = self.read(content["hook_event_name"], content)
        assert understood is not None
        return understood

    def answer(self, name: str, reply: Reply) -> HookOutput:
        """The reply in the client's form."""
        return self.say(self.told(name)["hook_event_name"], self.happened(name), reply)

    def said(self, name: str, reply: Reply) -> Any:
        """Return the hook's standard output as JSON, None if it is empty; the client gets nothing else."""
        answer = self.answer(name, reply)
        assert (answer.stderr, answer.code) == ("", 0)
        return json.loads(answer.stdout) if answer.stdout else None
