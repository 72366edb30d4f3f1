"""A program as the agent of a machine: it is given the prompt, and what it prints is the answer.

It is the operator's own program and runs as the operator, outside the sandbox and past the gate: what it does by tools
of its own is between the two of them. It is told the tools it was limited to, and cannot be held to them.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from hubbub.node.commands.environment import passed_on
from hubbub.node.runtimes import program
from hubbub.node.runtimes.conversation import PATIENCE, Answer, Hands, Hear, RuntimeFailed
from hubbub.node.runtimes.program import Tail, Text

PROMPT = "{prompt}"  # the word that stands for it
XDG = "XDG_"  # so begin the variables that say where a program's own files are


class CommandConversation:
    """Every prompt is a run of its own: the program remembers nothing unless it does so by itself."""

    def __init__(
        self, command: Sequence[str], *, key: str | None = None, patience: timedelta = PATIENCE
    ) -> None:
        """`key` is the environment variable that holds the program's own key, if it wants one."""
        self._command, self._key, self._patience = tuple(command), key, patience

    async def say(self, prompt: str, hands: Hands, hear: Hear | None = None) -> Answer:
        words = [_as_word(prompt) if word == PROMPT else word for word in self._command]
        given = "" if PROMPT in self._command else prompt
        environment = _environment(os.environ, self._key, hands)
        text, complaint = Text(hear), Tail()
        try:
            async with asyncio.timeout(self._patience.total_seconds()):
                code = await program.run(
                    words, given, text, complaint, folder=hands.folder, environment=environment
                )
        except TimeoutError:
            minutes = self._patience.total_seconds() / 60
            raise RuntimeFailed(
                f"the agent's program took over {minutes:g} minutes and was stopped"
            ) from None
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "the prompt has a NUL character"
            raise RuntimeFailed(f"the agent's program {words[0]!r} cannot be started: {reason}") from None
        if code != 0:
            raise RuntimeFailed(_why(code, str(complaint)))
        return Answer(str(text))


def _as_word(prompt: str) -> str:
    """The prompt as a word that no program takes for one of its options."""
    return f" {prompt}" if prompt.startswith("-") else prompt


def _environment(ours: Mapping[str, str], key: str | None, hands: Hands) -> dict[str, str]:
    """What a command finds in its environment, what the program needs beside that, and what it works on."""
    own = {name: value for name, value in ours.items() if name == key or name.startswith(XDG)}
    told = {"HUBBUB_NODE": hands.node}
    if hands.task_id is not None:
        told["HUBBUB_TASK_ID"] = hands.task_id
    if hands.is_limited:
        told["HUBBUB_TOOLS"] = ",".join(tool.name for tool in hands.tools)
    return passed_on(ours, str(Path.home())) | own | told


def _why(code: int, complaint: str) -> str:
    ended = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
    said = f": {complaint}" if complaint else " and said nothing on standard error"
    return f"the agent's program {ended}{said}"
