"""Peak memory of a hub for one request; the hub is a process of its own here."""

import json
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from hubbub.client import owner_token
from tests.cli.processes import RunningHub
from tests.support.waiting import patience

MIB = 1024 * 1024
MOST = 64 * 1000 * 1000  # bytes
KEPT = (
    26 * 1000 * 1000
)  # bytes, that malloc keeps of pieces that were given back: more or less, as threads come
LARGE = 10 * MIB - 500
WIDE = "\U0001f600" + "x" * LARGE  # one such character, and a text takes four bytes for each

pytestmark = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux tells it")


def called(content: str) -> str:
    """A call of a tool with what is large, written as JSON."""
    arguments = f'{{"title": "x", "content": "{content}"}}'
    params = f'{{"name": "create_artifact", "arguments": {arguments}}}'
    return f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {params}}}'


def stored(content: str) -> str:
    return f'{{"name": "x", "content": "{content}"}}'


REQUESTS: dict[str, tuple[str, Callable[[], str]]] = {
    "text to a tool": ("/mcp/relay", lambda: called("x" * LARGE)),
    "wide text to a tool": ("/mcp/relay", lambda: called(WIDE)),
    "escapes to a tool": ("/mcp/relay", lambda: called("\\ud83d\\ude00" * (LARGE // 12))),
    "text as an artifact": ("/api/v1/artifacts", lambda: stored("x" * LARGE)),
    "wide text as an artifact": ("/api/v1/artifacts", lambda: stored(WIDE)),
    "wide text that is no JSON": ("/mcp/relay", lambda: called(WIDE)[:-1]),
    "quotes": ("/mcp/relay", lambda: called('\\"' * (LARGE // 2))),
    "values": ("/mcp/relay", lambda: json.dumps([{}] * (LARGE // 4))),
}


def highest(pid: int) -> int:
    """The most bytes that a process has held since `forget`."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def forget(pid: int) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")


@pytest.mark.system
def test_no_request_takes_much_memory(own_hub: RunningHub) -> None:
    """A request of the largest size takes no more than 64 MB of memory, whatever is in it, and what malloc keeps."""
    assert own_hub.process is not None
    pid, took = own_hub.process.pid, {}
    headers = {
        "Authorization": f"Bearer {owner_token(own_hub.data)}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
    }
    with httpx2.Client(base_url=own_hub.url, headers=headers, timeout=patience(60)) as http:
        for path, body in REQUESTS.values():  # the first calls build what a hub is made of
            http.post(path, content=body()[:1000])
        for name, (path, body) in REQUESTS.items():
            content = body().encode()
            forget(pid)
            before = highest(pid)
            http.post(path, content=content)
            took[name] = highest(pid) - before
    assert {name: many for name, many in took.items() if many > MOST + KEPT} == {}
    assert took["wide text to a tool"] > 2 * LARGE  # that anything is measured
