"""Output of agents: kept, cleaned, numbered, followed."""

import asyncio
import os
from pathlib import Path

import pytest

from hubbub.model.fleet.managed_agents import MOST_LINES
from hubbub.node.agents import agent_log as module
from hubbub.node.agents.agent_log import AgentLog

pytestmark = pytest.mark.anyio


def heard(folder: Path) -> AgentLog:
    folder.mkdir(exist_ok=True)
    return AgentLog(folder, lambda text: text.replace("hunter2", "[redacted]"), lambda: None)


def texts(output: AgentLog) -> list[str]:
    return [line.text for line in output.recent(MOST_LINES)]


async def test_lines_come_in_pieces(tmp_path: Path) -> None:
    """A line is taken when it is whole; bytes that are no text are replaced; the last need not end."""
    output = heard(tmp_path)
    for piece in (b"one\r\ntw", b"o\n\n", b"\xff th", "réé".encode()):
        await output.add(piece)
    await output.end_line()
    assert texts(output) == ["one", "two", "", "\ufffd thréé"]
    assert [line.id for line in output.recent(2)] == [3, 4]
    assert output.recent(0) == []


async def test_secrets_are_taken_out(tmp_path: Path) -> None:
    """A known secret is neither told nor on disk; neither is a private key, however it comes."""
    output = heard(tmp_path)
    await output.add(b"the word is hunter2\nbefore\n-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n")
    await output.add(b"BBBB\n")
    await output.add(b"CCCC\n-----END OPENSSH PRIVATE KEY-----\nafter\n")
    written = (tmp_path / module.FILE).read_text()
    for secret in ("hunter2", "BBBB", "CCCC"):
        assert secret not in written
    assert "the word is [redacted]" in texts(output)
    assert texts(output)[-1] == "after"


async def test_a_line_without_end_is_cut(tmp_path: Path) -> None:
    """A line that never ends fills no memory: it is taken in pieces."""
    output = heard(tmp_path)
    await output.add(b"x" * 200_000)
    assert {len(each) for each in texts(output)[:-1]} == {module.LONGEST}
    assert len("".join(texts(output))) == 200_000


async def test_it_is_there_again(tmp_path: Path) -> None:
    """Earlier output is known to the next process, and the numbers go on."""
    await heard(tmp_path).add(b"before\n")
    again = heard(tmp_path)
    await again.add(b"after\n")
    assert [(line.id, line.text) for line in again.recent(10)] == [(1, "before"), (2, "after")]


async def test_two_files_hold_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is full becomes the older one, and what was that is gone."""
    monkeypatch.setattr(module, "LARGEST", 1_000)
    output = heard(tmp_path)
    for number in range(100):
        await output.add(f"line {number} {'x' * 80}\n".encode())
    files = {entry.name: entry.stat().st_size for entry in os.scandir(tmp_path)}
    assert sorted(files) == [module.FILE, module.OLDER]
    assert max(files.values()) < 1_200
    assert texts(heard(tmp_path))[-1] == texts(output)[-1]


async def test_a_full_disk_holds_up_nobody(tmp_path: Path) -> None:
    """Where nothing can be written the lines are heard all the same."""
    output = heard(tmp_path)
    (tmp_path / module.FILE).mkdir()
    await output.add(b"still here\n")
    assert texts(output) == ["still here"]


async def test_followers_hear_every_line_once(tmp_path: Path) -> None:
    """A follower gets the earlier output, then the new one, in order, until nothing more will come."""
    output = heard(tmp_path)
    await output.add(b"old\nolder\n")
    got: list[str] = []

    async def follow() -> None:
        async for batch in output.follow(1):
            got.extend(line.text for line in batch)

    following = asyncio.create_task(follow())
    for number in range(50):
        await output.add(f"{number}\n".encode())
    output.close()
    await following
    assert got[-50:] == list(map(str, range(50)))
    assert len(got) == len(set(got))
