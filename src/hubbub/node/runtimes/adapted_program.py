"""A known program as the agent of a machine: run without a person, its stream read as it comes.

It is run like any program of the operator's choice: outside the sandbox and past the gate, with the operator's own
settings of it.
"""

import os
import shutil
from collections.abc import Callable, Sequence
from datetime import timedelta

from hubbub.node.commands.environment import PATH
from hubbub.node.policy.node_policy import AdaptedRuntime
from hubbub.node.runtimes import agent_program
from hubbub.node.runtimes.claude import Claude
from hubbub.node.runtimes.codex import Codex
from hubbub.node.runtimes.conversation import PATIENCE, Answer, OnText, RuntimeFailed, ToolAccess
from hubbub.node.runtimes.event_stream import Adapter, EventStream
from hubbub.node.runtimes.gemini import Gemini
from hubbub.node.runtimes.opencode import OpenCode

ADAPTERS: dict[str, Callable[[], Adapter]] = {
    "claude": Claude,
    "codex": Codex,
    "gemini": Gemini,
    "opencode": OpenCode,
}


class AdaptedConversation:
    """Every prompt is a run of its own, with the prompt on standard input."""

    def __init__(self, runtime: AdaptedRuntime, *, patience: timedelta = PATIENCE) -> None:
        self._runtime, self._patience = runtime, patience

    async def say(self, prompt: str, hands: ToolAccess, hear: OnText | None = None) -> Answer:
        runtime = self._runtime
        adapter = ADAPTERS[runtime.kind]()
        stream = EventStream(runtime.kind, adapter, hear)
        words = adapter.words(_found(runtime), [*_model(runtime), *runtime.arguments])
        try:
            ended = await agent_program.run_agent(
                words, prompt, stream, hands, key=runtime.key, patience=self._patience, called=runtime.kind
            )
            return await stream.answer(ended)
        finally:
            if hands.tell is not None and (used := stream.used()):
                await hands.tell(used)


def _model(runtime: AdaptedRuntime) -> Sequence[str]:
    """Return the option that tells each program its model."""
    return ("--model", runtime.model) if runtime.model is not None else ()


def _found(runtime: AdaptedRuntime) -> str:
    """Return the program's path. Raises `RuntimeFailed` if it is not there."""
    named = runtime.program or runtime.kind
    found = shutil.which(named, path=os.environ.get("PATH", PATH))
    if found is None and runtime.program is None:
        raise RuntimeFailed(
            f"{named} is not installed on this machine, or not on the PATH of the daemon;"
            " install it or set [runtime] program"
        )
    if found is None:
        raise RuntimeFailed(f"[runtime] program names {named!r}, which is not a program")
    return found
