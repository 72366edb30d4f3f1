"""The agents that can be asked on a machine: a known program, one of the operator's choice, or a model."""

import asyncio
import importlib
import os

from hubbub.model.programs import extras
from hubbub.node.policy.node_policy import AdaptedRuntime, CommandRuntime, Runtime
from hubbub.node.runtimes.adapted_program import AdaptedConversation
from hubbub.node.runtimes.conversation import Conversation, RuntimeFailed
from hubbub.node.runtimes.custom_program import CommandConversation

NONE = (
    "no agent is configured on this machine; its operator names one under [runtime] in node.toml: "
    'kind = "claude", "codex", "gemini" or "opencode", kind = "command" with a command,'
    ' or kind = "openai" with a url and a model'
)


async def conversation(runtime: Runtime | None, project_key: str | None = None) -> Conversation:
    """Begin a conversation with the agent that the policy names.

    `project_key` is for an endpoint whose key the policy does not name. Raises `RuntimeFailed` if there is no agent, or
    its key is missing.
    """
    if runtime is None:
        raise RuntimeFailed(NONE)
    if isinstance(runtime, CommandRuntime):
        return CommandConversation(runtime.command, key=runtime.key)
    if isinstance(runtime, AdaptedRuntime):
        return AdaptedConversation(runtime)
    key = project_key if runtime.key is None else os.environ.get(runtime.key)
    if runtime.key is not None and not key:
        raise RuntimeFailed(
            f"the environment variable {runtime.key} is not set, which is to hold the model's key"
        )
    # The import takes a second or two, too long for the event loop.
    try:
        with extras.required():
            openai = await asyncio.to_thread(importlib.import_module, "hubbub.node.runtimes.openai")
    except extras.NotInstalled as error:
        raise RuntimeFailed(str(error)) from None
    made: Conversation = openai.OpenAIConversation(url=runtime.url, model=runtime.model, key=key)
    return made
