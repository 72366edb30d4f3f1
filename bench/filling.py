"""A hub with tools that fill it fast, and one that tells for how long its event loop was held up.

Run with `python -m bench.filling DATA`: it prints its address, and serves until a signal.
"""

import asyncio
import threading
import time
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from bench import serving
from bench.serving import BENCH
from bench.texts import different
from hubbub.core.actions import inbox, task_actions
from hubbub.core.agents import agents
from hubbub.core.mail import messages
from hubbub.core.people import access
from hubbub.core.presence import presences
from hubbub.core.work import completion, tasks
from hubbub.dialects.dialect import Reply
from hubbub.model.lifecycle import Event
from hubbub.model.records import Condition, Profile, Project
from hubbub.store.mail import messages as rows
from hubbub.store.tx import Tx

LONG = "hoarder"  # who has half of all open tasks in its inbox
OTHERS = 100  # who share the other half
STAYS = timedelta(days=1)
TEXTS = different(1)
TEXT = "Count the words of every chapter\n" + "and say which is the longest. " * 10
PAUSE = 0.005  # seconds between two marks of the loop


def _staffed(tx: Tx) -> Project:
    """Return the project, with everyone known who is sent tasks."""
    project = access.enter(tx)
    for name in (LONG, *(f"worker-{place}" for place in range(OTHERS))):
        agents.meet(tx, project.id, name)
    return project


@BENCH.tool()
def fill(tx: Tx, first: int, number: int) -> Reply:
    """So many open tasks more: half of them in one inbox."""
    project = _staffed(tx)
    for place in range(first, first + number):
        to = LONG if place % 2 else f"worker-{place // 2 % OTHERS}"
        tasks.send(tx, project.id, sender="hub", to=to, text=next(TEXTS))
    return {}


@BENCH.tool()
def end(tx: Tx, number: int) -> Reply:
    """So many tasks that were done, and a message for each; the first of their project. The rest are copies of them."""
    project = _staffed(tx)
    for place in range(number):
        who = f"worker-{place % OTHERS}"
        task = tasks.send(tx, project.id, sender="hub", to=who, text=next(TEXTS))
        task = task_actions.start(tx, task_actions.accept(tx, task, who), who)
        completion.end(tx, task, Event.COMPLETE, by=who, text="Done.", result="All tests pass.")
        messages.send(tx, project.id, sender=who, to=LONG, body=TEXT)
    for name in (LONG, "hub"):
        for letter in inbox.read(tx, project.id, name, 2 * number):
            rows.ack(tx, letter.delivery.id)
    counted = {noun: number for (_project_id, noun), number in tx.tally.last.items()}
    last = tx.one("SELECT max(seq) AS seq FROM activity")
    return {
        "begun": tx.now,
        "last": last["seq"] if last else 0,
        "counted": counted,
        "project": project.id.hex,
    }


@BENCH.tool()
def gather(tx: Tx, first: int, number: int) -> Reply:
    """So many agents are there."""
    project_id = access.enter(tx).id
    for name in (f"bee-{place}" for place in range(first, first + number)):
        _come(tx, project_id, name)
    return {}


def _come(tx: Tx, project_id: UUID, name: str) -> None:
    profile = Profile(doing="reads the plan", hostname="rack", runtime="codex")
    agents.meet(tx, project_id, name)
    presences.report(
        tx, project_id, name, instance=name, condition=Condition.IDLE, profile=profile, ttl=STAYS
    )


class Late:
    """Measures how long the hub itself, not other work of the machine, held up the loop since the last question."""

    def __init__(self) -> None:
        self._longest, self._marking = 0.0, False

    def ask(self) -> float:
        if not self._marking:
            self._marking = True
            self._keep = asyncio.get_running_loop().create_task(self._mark())
        longest, self._longest = self._longest, 0.0
        return longest

    async def _mark(self) -> None:
        schedule = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")
        while True:
            begun, used, stood = time.perf_counter(), time.process_time(), _stood(schedule)
            await asyncio.sleep(PAUSE)
            late = time.perf_counter() - begun - PAUSE - (_stood(schedule) - stood)
            self._longest = max(self._longest, min(late, time.process_time() - used))


def _stood(schedule: Path) -> float:
    """Seconds that a runnable thread has waited for a processor; 0 where the kernel does not count them."""
    return int(schedule.read_text().split()[1]) / 1e9 if schedule.exists() else 0.0


LATE = Late()


@BENCH.tool(reads=True)
def pause(_tx: Tx) -> Reply:
    """The longest pause of the event loop since this was asked last, in milliseconds."""
    return {"longest": LATE.ask() * 1e3}


if __name__ == "__main__":
    serving.main()
