"""Delays of the event loop are logged, where that is watched."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hubbub.dialects.dialect import Dialect, Reply
from hubbub.model.errors import HubError
from hubbub.serve.monitoring import loop_watch
from hubbub.serve.monitoring.loop_watch import GOES_ON, HELD_UP
from hubbub.store.tx import Tx
from tests.serve.served_hub import running_hub
from tests.serve.web_client import Web, done
from tests.support.waiting import patience, until

SLOW = Dialect(
    name="slow",
    guide="Say `hold`.",
    success=lambda reply: {"fine": True, **reply},
    refusals={HubError: lambda error: {"fine": False, "why": error.code}},
    invalid=lambda sentence: {"fine": False, "message": sentence},
    unknown=lambda name: {"fine": False, "message": name},
)
heard = threading.Event()


@SLOW.tool(reads=True)
def hold(_tx: Tx) -> Reply:
    """Hold the event loop until the hub has said so."""
    return {"heard": heard.wait(patience())}


class Kept(logging.Handler):
    """The log entries of the loop."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)
        if "in hold" in vars(record).get("stack", ""):
            heard.set()

    def told(self, message: str) -> list[logging.LogRecord]:
        return [each for each in self.records if each.msg == message]


@contextmanager
def kept() -> Iterator[Kept]:
    """The log entries of the loop until the context ends."""
    log, handler = logging.getLogger(loop_watch.__name__), Kept()
    log.addHandler(handler)
    try:
        yield handler
    finally:
        log.removeHandler(handler)


def test_what_holds_the_loop_up_is_logged(tmp_path: Path) -> None:
    """While something holds the event loop up its stack is logged, and then for how long it did."""
    heard.clear()
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "hold", "arguments": {}}}
    with kept() as log, running_hub(tmp_path / "hub", also=SLOW, watch_loop=20) as hub:
        accepted = {"Accept": "application/json, text/event-stream"}
        web = Web(hub.url, hub.token("ann"))
        with web.http:
            answer = done(web.post("/mcp/slow", call, **accepted))
        until(lambda: log.told(GOES_ON), "the hub to say that its loop goes on")

    assert answer["result"]["structuredContent"] == {"fine": True, "heard": True}
    stacks = [vars(each)["stack"] for each in log.told(HELD_UP)]
    assert [stack for stack in stacks if "in hold" in stack and "test_loop_watch.py" in stack]
    assert all(vars(each)["late_ms"] > 0 for each in log.told(GOES_ON))


def test_nothing_is_watched_unless_asked_for(tmp_path: Path) -> None:
    """A hub that is not asked to watch its event loop has no thread that does."""
    before = watchers()
    with running_hub(tmp_path / "hub", watch_loop=None):
        assert watchers() <= before
    with running_hub(tmp_path / "other", watch_loop=20):
        assert watchers() - before


def watchers() -> set[threading.Thread]:
    return {each for each in threading.enumerate() if each.name == loop_watch.THREAD}
