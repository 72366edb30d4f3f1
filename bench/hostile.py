"""Delay for others while one token sends the costliest requests: the longest `/health` beside each.

Each row is one request, small or large, by a member or a viewer, with what it cost the hub in CPU and in memory at its
highest. Only on Linux. Run with `python -m bench.hostile`.
"""

import asyncio
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from bench.serving import Line, Served, served

MIB = 1024 * 1024
PAUSE = 0.002  # seconds between two looks at the hub's health


@dataclass(frozen=True, slots=True)
class Shot:
    """One hostile request; the body is made when it is sent."""

    name: str
    who: str
    path: str
    body: Callable[[], bytes]


def call(tool: str, arguments: str) -> bytes:
    """Return the call of an MCP tool, with its arguments given as JSON."""
    return (
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call",'
        f' "params": {{"name": "{tool}", "arguments": {arguments}}}}}'
    ).encode()


def filled(size: int, piece: str) -> str:
    """A list of as many pieces as make `size` bytes."""
    return "[" + ",".join([piece] * (size // (len(piece) + 1))) + "]"


def patterns(count: int, make: Callable[[int], str]) -> str:
    return json.dumps([make(number) for number in range(count)])


def stars(number: int) -> str:
    return "**/" + "*b" * 470 + f"*q{number}"


def scope(files: str) -> bytes:
    return f'{{"files": {files}}}'.encode()


def named(content: str) -> bytes:
    return f'{{"name": "x", "content": {content}}}'.encode()


def wide(size: int) -> str:
    """Return text of that many bytes, with one character that makes it four times as large in memory."""
    return "\U0001f600" + "x" * size


def worded(size: int) -> bytes:
    return named(f'"{wide(size)}"')


def opening(size: int) -> bytes:
    """An `initialize` of that many bytes."""
    params = {
        "protocolVersion": "2025-06-18",
        "clientInfo": {"name": "x", "version": "1"},
        "capabilities": {"experimental": {"x": {"y": "z" * size}}},
    }
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()


CHECK = "/api/v1/scopes/check"
SHOTS = (
    Shot("scopes/check: 40 long patterns", "viewer", CHECK, lambda: scope(patterns(40, stars))),
    Shot("scopes/check: 100 long patterns", "viewer", CHECK, lambda: scope(patterns(100, stars))),
    Shot(
        "scopes/check: 1,000 short patterns",
        "viewer",
        CHECK,
        lambda: scope(patterns(1000, lambda number: f"**/b*{number}*.py")),
    ),
    Shot(
        "scopes/check: 1,000 paths",
        "viewer",
        CHECK,
        lambda: scope(patterns(1000, lambda number: f"src/some/where/module_{number}/file_{number}.py")),
    ),
    Shot(
        "conflict_check: 100 long patterns",
        "member",
        "/mcp/golemxv",
        lambda: call(
            "conflict_check", f'{{"project_slug": "default", "declared_files": {patterns(100, stars)}}}'
        ),
    ),
    Shot(
        "1 MiB of {} to a tool",
        "viewer",
        "/mcp/hub",
        lambda: call("inbox", f'{{"x": {filled(MIB - 500, "{}")}}}'),
    ),
    Shot(
        "10 MiB of {} to a tool",
        "viewer",
        "/mcp/relay",
        lambda: call("get_messages", f'{{"agent_id": "vera", "x": {filled(10 * MIB - 500, "{}")}}}'),
    ),
    Shot(
        "10 MiB of {} to a tool",
        "member",
        "/mcp/relay",
        lambda: call("get_messages", f'{{"agent_id": "mia", "x": {filled(10 * MIB - 500, "{}")}}}'),
    ),
    Shot(
        "10 MiB of text to a tool",
        "member",
        "/mcp/relay",
        lambda: call("create_artifact", json.dumps({"title": "x", "content": "x" * (10 * MIB - 500)})),
    ),
    Shot(
        "10 MiB of \\u escapes to a tool",
        "member",
        "/mcp/relay",
        lambda: call(
            "create_artifact", '{"title": "x", "content": "' + "\\ud83d\\ude00" * (10 * MIB // 12 - 50) + '"}'
        ),
    ),
    Shot(
        "10 MiB of wide text to a tool",
        "member",
        "/mcp/relay",
        lambda: call("create_artifact", f'{{"title": "x", "content": "{wide(10 * MIB - 500)}"}}'),
    ),
    Shot("10 MiB of wide text as an artifact", "member", "/api/v1/artifacts", lambda: worded(10 * MIB - 500)),
    Shot("1 MiB of [] over REST", "viewer", CHECK, lambda: named(filled(MIB - 50, "[]"))),
    Shot(
        "10 MiB of [] as an artifact",
        "member",
        "/api/v1/artifacts",
        lambda: named(filled(10 * MIB - 50, "[]")),
    ),
    Shot(
        "10 MiB of text as an artifact",
        "member",
        "/api/v1/artifacts",
        lambda: json.dumps({"name": "x", "content": "x" * (10 * MIB - 50)}).encode(),
    ),
    Shot("initialize of 9.9 MB", "viewer", "/mcp/relay", lambda: opening(9_900_000)),
    Shot("initialize of 60 KB", "viewer", "/mcp/relay", lambda: opening(60_000)),
)


async def send(hub: Served, secret: str, path: str, body: bytes) -> tuple[int, float]:
    """The status of the answer, and the seconds it took."""
    reader, writer = await asyncio.open_connection(*hub.address)
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {urlsplit(hub.url).netloc}\r\nAuthorization: Bearer {secret}\r\n"
        "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
        f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    begun = time.perf_counter()
    writer.write(head.encode() + body)
    try:
        status = int((await reader.readuntil(b"\r\n")).split()[1])
        await reader.read()
    except (asyncio.IncompleteReadError, ConnectionError):
        status = 0
    writer.close()
    return status, time.perf_counter() - begun


async def watched(probe: Line, stop: asyncio.Event) -> float:
    """The longest wait for `/health`, until told to stop."""
    longest = 0.0
    while not stop.is_set():
        begun = time.perf_counter()
        await probe.ask("GET", "/health")
        longest = max(longest, time.perf_counter() - begun)
        await asyncio.sleep(PAUSE)
    return longest


def highest(pid: int) -> int:
    """The most bytes that a process has held since `forget`."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def forget(pid: int) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def used(pid: int) -> float:
    """Seconds of CPU that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def shoot(hub: Served, secrets: dict[str, str]) -> None:
    probe = await Line.to(hub)
    columns = ("request", "by", "bytes", "status", "took ms", "CPU ms", "/health waited ms", "memory +MB")
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for shot in SHOTS:
        body = shot.body()
        stop = asyncio.Event()
        forget(hub.pid)
        memory, cpu = highest(hub.pid), used(hub.pid)
        looking = asyncio.create_task(watched(probe, stop))
        await asyncio.sleep(PAUSE * 5)
        status, took = await send(hub, secrets[shot.who], shot.path, body)
        stop.set()
        longest = await looking
        grown, cost = (highest(hub.pid) - memory) / 1e6, used(hub.pid) - cpu
        numbers = f"{took * 1e3:,.0f} | {cost * 1e3:,.0f} | {longest * 1e3:,.1f} | {grown:,.0f}"
        print(f"| {shot.name} | {shot.who} | {len(body):,} | {status} | {numbers} |", flush=True)


async def prepared(hub: Served) -> dict[str, str]:
    """Tokens of a member and a viewer; and somebody who has declared what is costly to compare with."""
    owner = await Line.to(hub)
    secrets = {}
    for who, agent, role in (
        ("member", "mia", "member"),
        ("viewer", "vera", "viewer"),
        ("ann", "ann", "member"),
    ):
        made = await owner.ask("POST", "/api/v1/tokens", {"agent": agent, "role": role})
        secrets[who] = str(made["secret"])
    files = ["**/" + "*a" * 470 + f"*q{number}" for number in range(100)]
    arguments = json.dumps({"project_slug": "default", "agent_name": "ann", "declared_files": files})
    status, took = await send(hub, secrets["ann"], "/mcp/golemxv", call("checkin", arguments))
    print(f"somebody declares 100 long patterns: {status}, {took * 1e3:,.0f} ms\n")
    return secrets


def main() -> None:
    with served() as hub:
        asyncio.run(attack(hub))


async def attack(hub: Served) -> None:
    await shoot(hub, await prepared(hub))


if __name__ == "__main__":
    main()
