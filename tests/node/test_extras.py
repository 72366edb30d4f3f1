"""A machine on which an extra is not installed does everything else, and says what is missing."""

import sys
from pathlib import Path

import pytest

from hubbub.model.programs.extras import NotInstalled
from hubbub.node import runtimes
from hubbub.node.gate import hook_trust
from hubbub.node.policy.node_policy import OpenAIRuntime
from hubbub.node.runtimes.conversation import RuntimeFailed
from hubbub.node.ssh import destination
from hubbub.node.ssh.not_connected import NotConnected
from hubbub.node.ssh.remote_shells import open_shell


def lacks(monkeypatch: pytest.MonkeyPatch, library: str, ours: str) -> None:
    """Have a library be as if it was not installed, and what of ours imports it not loaded yet."""
    monkeypatch.setitem(sys.modules, library, None)
    for name in [each for each in sys.modules if each == ours or each.startswith(f"{ours}.")]:
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.anyio
async def test_without_ssh_a_shell_elsewhere_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A caller who wants a shell on another machine hears how its operator gets the missing extra."""
    lacks(monkeypatch, "asyncssh", "hubbub.node.ssh.connect")
    with pytest.raises(NotConnected) as refused:
        await open_shell(destination.parse("box"), tmp_path, None)
    assert str(refused.value) == str(NotInstalled("ssh"))


@pytest.mark.anyio
async def test_without_chat_a_model_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A caller of the machine's agent hears how its operator gets the model that the agent needs."""
    lacks(monkeypatch, "pydantic_ai", "hubbub.node.runtimes.openai")
    with pytest.raises(RuntimeFailed) as failed:
        await runtimes.conversation(OpenAIRuntime("http://127.0.0.1:1", "m"))
    assert str(failed.value) == str(NotInstalled("chat"))


def test_without_a_gate_no_hook_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A hook of a team is denied where nothing is there to judge it, and the reason says how to get that."""
    lacks(monkeypatch, "tree_sitter", "shellgate")
    assert (
        hook_trust.denial("make", tmp_path, tmp_path)
        == f"nothing can judge it here: {NotInstalled('machine')}"
    )
