"""Waiting for an order about which a machine may ask a person: the person at the terminal is asked here.

The order is given in a thread of its own, and another follows the log; both report through one queue.
"""

import os
import select
import sys
import termios
import threading
import time
import tty
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from hubbub.cli.fleet import approvals
from hubbub.cli.fleet.approvals import Approval
from hubbub.client import Hub, HubRefused, HubUnreachable
from hubbub.model.timestamps import duration_text
from hubbub.terminal import display

TICK = 0.25  # seconds between updates of the remaining time
ASKED, PENDING = "approval.asked", "pending"
END = b"\x04"  # of the input, as Ctrl-D types it
ANSWERING: Mapping[bytes, bool | None] = {b"y": True, b"n": False}
SKIPPING = {**ANSWERING, b"s": None, b"\r": None, b"\n": None}

Event = dict[str, Any] | None  # a line of the log; None when the order has ended
T = TypeVar("T")


def answer_here(hub: Hub, approval: Approval) -> None:
    """Have the person at the terminal answer a question that is already shown, or leave it as it is.

    Raises `EOFError` if they end the input.
    """
    _Waiting(hub).settle(approval, may_skip=True)


def with_prompts(hub: Hub, order: Callable[[], T], is_ours: Callable[[Approval], bool]) -> T:
    """Return the order's result, and let the person answer its questions meanwhile.

    At a terminal they are asked there; else they are told which id to approve. Raises the order's errors.
    """
    waiting = _Waiting(hub)
    past = hub.get("/activity", limit=1)["activity"]
    threading.Thread(target=waiting.follow, args=(str(past[0]["id"] if past else 0),), daemon=True).start()
    outcome: Future[T] = Future()
    threading.Thread(target=waiting.give, args=(order, outcome), daemon=True).start()
    while (event := waiting.events.get()) is not None:
        if event["kind"] != ASKED:
            continue
        approval = approvals.find(hub, event["detail"]["approval_id"])
        if approval["status"] == PENDING and is_ours(approval):
            waiting.put(approval)
    return outcome.result()


@dataclass
class _Waiting:
    """One order under way."""

    hub: Hub
    events: SimpleQueue[Event] = field(default_factory=SimpleQueue)

    def follow(self, after: str) -> None:
        """Follow the events. Without a hub the order fails too, and reports it."""
        with suppress(HubRefused, HubUnreachable):
            for frame in self.hub.follow(after=after):
                self.events.put(frame.data)

    def give(self, order: Callable[[], T], outcome: "Future[T]") -> None:
        """Give the order, and keep its result."""
        try:
            outcome.set_result(order())
        except BaseException as error:  # noqa: BLE001  # it is raised in the thread that waits for us
            outcome.set_exception(error)
        self.events.put(None)

    def put(self, approval: Approval) -> None:
        """Put a question to the person."""
        _say("\n".join(approvals.described(approval)))
        if sys.stdin.isatty() and sys.stderr.isatty():
            with suppress(EOFError):
                self.settle(approval)
                return
        _say(f"the machine asks first; answer with: hubbub approve {approval['id'][: approvals.SHORT]}")

    def settle(self, approval: Approval, *, may_skip: bool = False) -> None:
        """Have the person answer a question that they see. Raises `EOFError` if they end the input."""
        says_yes = self._answered(approval, SKIPPING if may_skip else ANSWERING)
        if says_yes is None:
            return
        try:
            _say(approvals.said(approvals.answer(self.hub, approval["id"], approved=says_yes)))
        except HubRefused as error:
            _say(str(error))

    def _answered(self, approval: Approval, keys: Mapping[bytes, bool | None]) -> bool | None:
        """Return the person's answer; None without one, after an answer elsewhere, or when the time is over."""
        over = time.monotonic() + (approval["expires_at"] - approval["now"]) / 1000
        with _keys() as typed:
            is_yes = self._typed(typed, over, "yes or no?", keys)
            if is_yes and approval["dangerous"]:
                is_yes = self._typed(typed, over, "it is marked dangerous: y once more?", keys)
        return is_yes

    def _typed(
        self, typed: Callable[[], bytes], over: float, question: str, keys: Mapping[bytes, bool | None]
    ) -> bool | None:
        offered = "/".join(key.decode() for key in keys if key.isalpha())
        while (left := over - time.monotonic()) > 0:
            shown = f"\r{question} [{offered}, {duration_text(int(left * 1000))} left] \x1b[K"
            print(shown, end="", file=sys.stderr, flush=True)
            key = typed().lower()
            if key in keys or self._is_settled():
                print(key.decode(errors="replace").strip(), file=sys.stderr)
                return keys.get(key)
        print(file=sys.stderr)
        return None

    def _is_settled(self) -> bool:
        """Tell whether the order has ended meanwhile, as after an answer elsewhere, or none in time."""
        try:
            event = self.events.get_nowait()
        except Empty:
            return False
        if event is None:
            self.events.put(None)  # for the waiting thread
        return event is None or event["kind"].startswith("approval.")


@contextmanager
def _keys() -> Iterator[Callable[[], bytes]]:
    """Yield a reader of single keys from the terminal: each call returns one, or nothing after a tick.

    It raises `EOFError` at Ctrl-D, and if the terminal has gone.
    """
    there = sys.stdin.fileno()

    def read() -> bytes:
        if not select.select([there], [], [], TICK)[0]:
            return b""
        if (key := os.read(there, 1)) in (b"", END):
            print(file=sys.stderr)
            raise EOFError
        return key

    before = termios.tcgetattr(there)
    tty.setcbreak(there)
    try:
        yield read
    finally:
        termios.tcsetattr(there, termios.TCSADRAIN, before)


def _say(text: str) -> None:
    print(display.clean(text, lines=True), file=sys.stderr, flush=True)
