"""A hub in a process of its own, to be measured from outside, with two tools that no hub has.

Run with `python -m bench.serving DATA`: it prints its address, and serves until a signal.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from hubbub import app, settings
from hubbub.dialects.dialect import Dialect, Reply
from hubbub.model.errors import HubError
from hubbub.store.tx import Tx

REVISION = "2025-11-25"
SESSION = b"mcp-session-id"

BENCH = Dialect(
    name="bench",
    guide="For measuring.",
    success=lambda reply: {"ok": True, **reply},
    refusals={HubError: lambda error: {"ok": False, "error": error.code}},
    invalid=lambda sentence: {"ok": False, "error": sentence},
    unknown=lambda name: {"ok": False, "error": name},
)


@BENCH.tool(reads=True)
def no_op(_tx: Tx, alias: str, task: str) -> Reply:  # noqa: ARG001  # it takes what a send takes
    """Does nothing."""
    return {"message_id": "", "session_status": ""}


@BENCH.tool(reads=True)
def usage(_tx: Tx) -> Reply:
    """The CPU that the hub has used, in seconds."""
    return {"cpu": time.process_time()}


@dataclass(frozen=True, slots=True)
class Served:
    """A running hub: its address, process, data and owner's token."""

    url: str
    pid: int
    data: Path
    secret: str

    @property
    def address(self) -> tuple[str, int]:
        parts = urlsplit(self.url)
        return parts.hostname or "", parts.port or 0

    def memory(self) -> int:
        """Bytes of memory that the hub holds now."""
        return memory(self.pid)

    def worked(self) -> float:
        """Seconds of a processor that the hub has had, and for which it waited for one."""
        return sum(self._threads(0, 1))

    def used(self) -> float:
        """Seconds of a processor that the hub has had."""
        return sum(self._threads(0))

    def _threads(self, *fields: int) -> Iterator[float]:
        """These fields of how Linux scheduled each thread of the hub."""
        for file in Path(f"/proc/{self.pid}/task").glob("*/schedstat"):
            with suppress(OSError):  # the thread has ended
                told = file.read_text().split()
                yield sum(int(told[field]) for field in fields) / 1e9


def memory(pid: int) -> int:
    """Bytes of memory that a process holds now."""
    printed = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], check=True, capture_output=True, text=True)
    return int(printed.stdout) * 1024


class Line:
    """One connection, kept alive: requests one after the other, at little cost to the measuring side."""

    def __init__(self, head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._head, self._reader, self._writer = head, reader, writer

    @classmethod
    async def to(cls, served: Served, headers: Mapping[str, str] | None = None) -> "Line":
        """Open a line whose every request also has these headers."""
        own = {
            "Host": urlsplit(served.url).netloc,
            "Authorization": f"Bearer {served.secret}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in {**own, **(headers or {})}.items())
        return cls(head, *await asyncio.open_connection(*served.address))

    def again(self) -> "Line":
        """Return the same connection without its transport session."""
        return Line(self._head, self._reader, self._writer)

    async def join(self, dialect: str) -> None:
        """Open a transport session, as clients do; all later requests belong to it."""
        about = {"name": "bench", "version": "1"}
        params = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": about}
        opening = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        head, _body = await self._exchange("POST", f"/mcp/{dialect}", opening)
        session = head[SESSION].decode()
        self._head += f"Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: {REVISION}\r\n"
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        await self._exchange("POST", f"/mcp/{dialect}", ready)

    async def leave(self, dialect: str) -> None:
        """End the session, as polite clients do."""
        await self._exchange("DELETE", f"/mcp/{dialect}")

    async def ask(self, method: str, path: str, body: object = None) -> dict[str, object]:
        """The JSON of an answer. Raises `RuntimeError` when it is a refusal."""
        _head, answer = await self._exchange(method, path, body)
        told: dict[str, object] = json.loads(answer)
        return told

    async def _exchange(
        self, method: str, path: str, body: object = None
    ) -> tuple[dict[bytes, bytes], bytes]:
        """The fields of an answer by lower-case name, and its body. Raises `RuntimeError` when it is a refusal."""
        content = json.dumps(body).encode() if body is not None else b""
        head = f"{method} {path} HTTP/1.1\r\n{self._head}Content-Length: {len(content)}\r\n\r\n"
        self._writer.write(head.encode() + content)
        status, *lines = (await self._reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
        parts = (line.partition(b":") for line in lines if line)
        fields = {name.lower(): value.strip() for name, _colon, value in parts}
        answer = await self._reader.readexactly(int(fields.get(b"content-length", b"0")))
        if b" 20" not in status:
            raise RuntimeError(f"{status.decode()}: {answer.decode()}")
        return fields, answer

    async def call(self, dialect: str, tool: str, **arguments: object) -> dict[str, object]:
        """Return the answer of a tool. Raises `RuntimeError` if it failed."""
        content = await self.order(dialect, tool, **arguments)
        if not (content.get("ok") or content.get("success")):  # as CommHub says it, and as Relay does
            raise RuntimeError(str(content))
        return content

    async def order(self, dialect: str, tool: str, **arguments: object) -> dict[str, object]:
        """Return the answer of a tool whose answers have no field for success. Raises `RuntimeError` if it failed."""
        params = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = await self.ask("POST", f"/mcp/{dialect}", message)
        result = answer["result"]
        assert isinstance(result, dict)
        content: dict[str, object] = result["structuredContent"]
        if result.get("isError"):
            raise RuntimeError(str(content))
        return content

    async def stream(self, path: str) -> asyncio.StreamReader:
        """The connection from now on gives the frames of an event stream; its greeting has been read."""
        self._writer.write(f"GET {path} HTTP/1.1\r\n{self._head}\r\n".encode())
        await self._reader.readuntil(b"\r\n\r\n")
        await self._reader.readuntil(b"\n\n")
        return self._reader

    async def open(self, path: str) -> None:
        """Give the connection to a stream from now on."""
        self._writer.write(f"GET {path} HTTP/1.1\r\n{self._head}\r\n".encode())
        if b" 200 " not in await self._reader.readuntil(b"\r\n\r\n"):
            raise RuntimeError(f"{path} is no stream")

    def close(self) -> None:
        self._writer.close()


@contextmanager
def served(**variables: str) -> Iterator[Served]:
    """A fresh hub with the tools of this module and these variables too, until the context ends."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "hub"
        with running([sys.executable, "-m", "bench.serving", str(data)], data, **variables) as hub:
            yield hub


@contextmanager
def running(command: list[str], data: Path, **variables: str) -> Iterator[Served]:
    """Run a hub started by `command`, which prints its address when it is ready."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 20_000)), hard))
    quiet = {**os.environ, "HUBBUB_LOG_LEVEL": "warning", **variables}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=quiet) as child:
        assert child.stdout is not None
        try:
            url = child.stdout.readline().strip()
            yield Served(url, child.pid, data, (data / "owner-token").read_text().strip())
        finally:
            child.terminate()


UNREACHED = "999999999"  # as a limit: what a token uses is counted, and nothing is refused


def main() -> None:
    limits = dict.fromkeys(("token_rate", "token_burst", "token_streams", "token_megabytes"), UNREACHED)
    chosen = settings.read(data=sys.argv[1], port="0", log_level="warning", **limits)
    app.prepare_process(chosen)
    hub = app.Hub(chosen)
    hub.dialects |= {BENCH.name: BENCH}
    hub.serve(lambda ready: print(ready.url, flush=True))


if __name__ == "__main__":
    main()
