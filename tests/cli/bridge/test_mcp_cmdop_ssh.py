"""`ssh_session` from a real client of `hubbub mcp cmdop`, to a real SSH server."""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.cli.bridge.test_mcp_cmdop import BYPASS, MachinePeer, Site
from tests.cli.processes import RunningHub, ends
from tests.node.ssh.ssh_server import Server, User, key, served

ASKED = "approval_timeout = 300"
SECRET = "ghp_" + "a1B2" * 10


class Traveller(Site):
    """A folder to work in, whose user has a key for a server that they know."""

    def __init__(self, folder: Path, hub: RunningHub, closing: ExitStack) -> None:
        super().__init__(folder, hub, closing)
        self.server: Server = closing.enter_context(served(folder / "sshd"))
        self.user = User(folder / "home")
        self.user.folder.mkdir(mode=0o700, parents=True)
        made = key()
        self.user.has_key(made)
        self.user.is_let_in(self.server, made)
        self.user.knows(self.server)

    def client(self, agent: str = "ada") -> MachinePeer:
        """A client of theirs, in their own home."""
        return self.start(agent=agent, HOME=str(self.user.home))

    def approved(self, peer: MachinePeer, times: int, shown: str, **arguments: str) -> dict[str, Any]:
        """Return the result of a call that a person approves after being shown this; it is the so many-th question."""
        number = peer.request("tools/call", {"name": "ssh_session", "arguments": arguments})
        approval_id = self.hub.until("approval.asked", self._is_ours, times)["detail"]["approval_id"]
        assert self.hub.client().get(f"/approvals/{approval_id}")["approval"]["shown"] == shown
        self.approve(approval_id)
        result: dict[str, Any] = peer.answer(number)["result"]["structuredContent"]
        return result

    def _is_ours(self, asked: dict[str, Any]) -> bool:
        approval = self.hub.client().get(f"/approvals/{asked['detail']['approval_id']}")["approval"]
        return bool(approval["folder"] == str(self.work))

    def audit(self) -> str:
        return (self.hub.data / "audit.jsonl").read_text("utf-8")


@pytest.fixture
def site(hub: RunningHub, tmp_path: Path) -> Iterator[Traveller]:
    with ExitStack() as closing:
        yield Traveller(tmp_path, hub, closing)


def read_until(peer: MachinePeer, shell: str, expected: str) -> str:
    """Return a shell's output, once enough of it has come."""
    seen = ""
    while expected not in seen:
        found: dict[str, Any] = peer.call("ssh_session", operation="read", session_id=shell)
        seen += found["output"]
        assert found["output"] or found["status"] == "open", seen
    return seen


def test_a_client_works_on_another_machine(site: Traveller) -> None:
    """From opening a shell to closing it; secrets are in no output, and nothing of keys is in the audit log."""
    site.policy(BYPASS)
    peer = site.client()
    opened = peer.call("ssh_session", operation="open", hostname=site.server.hostname)
    shell = opened["session_id"]

    assert peer.call("ssh_session", operation="send", session_id=shell, command="x=$((6*7))") == {
        "sent": True
    }
    peer.call("ssh_session", operation="send", session_id=shell, command=f"echo {SECRET} is $x")
    seen = read_until(peer, shell, "is 42")
    assert SECRET not in seen
    (row,) = json.loads(peer.result("ssh_session", {"operation": "list"})["content"][0]["text"])
    assert (row["session_id"], row["status"]) == (shell, "open")
    assert peer.call("ssh_session", operation="close", session_id=shell) == {"closed": True}
    assert SECRET not in site.audit()
    assert str(site.user.folder) not in site.audit()
    assert f"send:{site.server.hostname} x=$((6*7))" in site.audit()


def test_a_person_is_asked_before_a_shell_is_opened_and_before_it_is_used(site: Traveller) -> None:
    """They see the machine and the words; about what nothing can come of nobody is asked."""
    site.policy(ASKED)
    peer = site.client()
    assert peer.wrong("ssh_session", operation="open")["code"] == "invalid"
    assert peer.wrong("ssh_session", operation="send", session_id="x", command="ls")["code"] == "not_found"

    where = site.server.hostname
    opened = site.approved(peer, 1, f"open:{where}", operation="open", hostname=where)
    given = {"session_id": opened["session_id"], "command": "echo on$((1))"}
    assert site.approved(peer, 2, f"send:{where} echo on$((1))", operation="send", **given) == {"sent": True}
    assert "on1" in read_until(peer, opened["session_id"], "on1")


def test_a_shell_ends_with_its_client(site: Traveller) -> None:
    """It lives in the process that holds it; nothing of it is left on the other machine."""
    site.policy(BYPASS)
    peer = site.client()
    shell = peer.call("ssh_session", operation="open", hostname=site.server.hostname)["session_id"]
    # The terminal also shows what is sent to it, with its end in two halves.
    peer.call("ssh_session", operation="send", session_id=shell, command='echo pid:$$:do""ne')
    pid = re.search(r"pid:(\d+):", read_until(peer, shell, "done"))
    assert pid is not None

    peer.close()
    assert ends(int(pid[1]))
