"""A program as the agent of a machine: it gets the prompt, and its output is the answer.

It is the operator's own program and runs as the operator, outside the sandbox and past the gate: its own tools are its
own business. It is told the tools it was limited to, but cannot be held to them.
"""

import shlex
from collections.abc import Sequence
from datetime import timedelta

from hubbub.model.limits.known_programs import program_of
from hubbub.node.runtimes import agent_program
from hubbub.node.runtimes.agent_program import BoundedText
from hubbub.node.runtimes.conversation import PATIENCE, Answer, OnText, RuntimeFailed, ToolAccess

CALLED = "the agent's program"
PROMPT = "{prompt}"  # the word that stands for the prompt


class CommandConversation:
    """Every prompt is a run of its own: the program remembers nothing unless it does so by itself."""

    def __init__(
        self, command: Sequence[str], *, key: str | None = None, patience: timedelta = PATIENCE
    ) -> None:
        """Set up the conversation; `key` is the variable with the program's own key, if it wants one."""
        self._command, self._key, self._patience = tuple(command), key, patience

    async def say(self, prompt: str, hands: ToolAccess, hear: OnText | None = None) -> Answer:
        words = [_as_word(prompt) if word == PROMPT else word for word in self._command]
        given = "" if PROMPT in self._command else prompt
        text = BoundedText(hear)
        ended = await agent_program.run_agent(
            words, given, text, hands, key=self._key, patience=self._patience, called=CALLED
        )
        if ended.code != 0:
            raise RuntimeFailed(ended.why(CALLED), ended.complaint, program_of(shlex.join(self._command)))
        return Answer(str(text))


def _as_word(prompt: str) -> str:
    """Return the prompt as a word that no program takes for one of its options."""
    return f" {prompt}" if prompt.startswith("-") else prompt
