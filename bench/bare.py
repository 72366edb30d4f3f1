"""Cost of HTTP and one commit a call with nothing around them: the yardstick of `bench.http`.

A bare ASGI application, served as the hub is, that reads each call as JSON, keeps a send as one row in SQLite and waits
until that is on the disk. It has no authentication, no checks and no notifications. Run with
`python -m bench.bare DATA`: it prints its address, and serves until a signal.
"""

import json
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import uvicorn
from starlette.types import Receive, Scope, Send

from bench.serving import Served, running

TABLE = "CREATE TABLE sent (id INTEGER PRIMARY KEY, alias TEXT NOT NULL, task TEXT NOT NULL)"
INSERTION = "INSERT INTO sent (alias, task) VALUES (:alias, :task)"


def opened(file: Path) -> apsw.Connection:
    """Open a database that syncs every commit to the disk, as the hub's does."""
    db = apsw.Connection(str(file))
    db.pragma("journal_mode", "WAL")
    db.pragma("synchronous", "FULL")
    db.execute(TABLE)
    return db


class Bare:
    """The application."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        call = json.loads(body)
        content = self._done(**call["params"])
        result = {"content": [{"type": "text", "text": json.dumps(content)}], "structuredContent": content}
        answer = json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": result}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(answer)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    def _done(self, name: str, arguments: dict[str, object]) -> dict[str, object]:
        if name == "usage":
            return {"ok": True, "cpu": time.process_time()}
        if name == "send_task":
            self._db.execute(INSERTION, arguments)
        return {"ok": True, "message_id": "", "session_status": ""}


@contextmanager
def bare() -> Iterator[Served]:
    """The application in a process of its own, until the context ends."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        (data / "owner-token").write_text("anybody")
        with running([sys.executable, "-m", "bench.bare", folder], data) as server:
            yield server


def raw_rate(calls: int, text: str) -> float:
    """Sends a second in a loop of this process, each committed by itself: what the disk lets anybody do alone."""
    with tempfile.TemporaryDirectory() as folder:
        db, begun = opened(Path(folder) / "sent.db"), time.perf_counter()
        for _ in range(calls):
            db.execute(INSERTION, {"alias": "worker", "task": text})
        return calls / (time.perf_counter() - begun)


def main() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    app = Bare(opened(Path(sys.argv[1]) / "sent.db"))
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http="httptools",
        lifespan="off",
        access_log=False,
        log_config=None,
        timeout_keep_alive=75,
    )
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    uvicorn.Server(config).run([listening])


if __name__ == "__main__":
    main()
