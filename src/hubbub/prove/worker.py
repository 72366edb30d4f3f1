"""`python -m hubbub.prove.worker PLAN NUMBER`: agents that work at the hubs until a signal, whatever breaks meanwhile.

Each agent has a door and a thread, and makes one call after the other; all are recorded. A killed program is started
again, and its agents remember nothing. With `--drain` they only empty their inboxes.
"""

import argparse
import json
import random
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from hubbub.model.errors import Invalid
from hubbub.prove.clocks import SKEW
from hubbub.prove.doors import RESULT, Bridge, Door, Reply, Unanswered, Wire
from hubbub.prove.history import Answer, History

THINGS = ("port:1", "port:2", "staging")
LASTS = 120 - 3 * int(
    SKEW
)  # seconds for which one may rely on what one took; the hub's clock may be set meanwhile
MACHINE = "box"
NOT_DONE = frozenset({"denied", "needs_approval", "invalid", "not_found", "offline"})


class Agent:
    """One of the agents: its next calls, and their records."""

    def __init__(
        self, plan: dict[str, Any], name: str, history: History, shared: "SharedState", seed: str
    ) -> None:
        facts = plan["agents"][name]
        self.name, self._history, self._shared = name, history, shared
        self._chance = random.Random(seed)  # noqa: S311  # chooses what it does
        self._others = [each for each in plan["agents"] if each != name]
        self.wire = Wire(plan["urls"], facts["token"], self._chance, shared.given_up)
        environment = {"HUBBUB_DATA": plan["nowhere"], "HUBBUB_CONFIG": plan["nowhere"]}
        self._bridge = Bridge(self.wire, environment, lambda: history.gone([name]))
        self.door = Door(facts["door"], name, self.wire, self._bridge)
        self._marks = plan.get("marks")

    def work(self) -> None:
        """Make one call after the other until everybody stops."""
        deeds: list[tuple[int, Callable[[], object]]] = [
            (45, self.send), (25, self.read_mail), (5, self.offer), (10, self.claim), (10, self.lease), (1, self.fail),
        ]  # fmt: skip
        if self._marks:
            deeds.append((4, self.order))
        weights = [weight for weight, _ in deeds]
        with suppress(Unanswered):
            while not self._shared.stopping.wait(self._chance.expovariate(1 / self._shared.pause)):
                ((_, deed),) = self._chance.choices(deeds, weights)
                deed()
        self.close()

    def close(self) -> None:
        if self.wire.broken:
            self._history.note(broken=self.wire.broken)
        self._bridge.kill()
        self.wire.hang_up()

    def fail(self) -> None:
        """Lose the bridge, or the connection."""
        if self._bridge.kill():
            self._history.note(fault="bridge killed")
        self.wire.hang_up()

    def send(self) -> None:
        if self.door.must_come:
            call = self._history.asked("come", self.name, door=self.door.kind)
            self._tell(call, self.door.come())
        facts = {"to": self._chance.choice(self._others), "text": self._text()}
        kind = {"work": True} if self.door.sends_work else {}
        call = self._history.asked("send", self.name, **facts, **kind, door=self.door.kind)
        self._tell(call, self.door.send(facts["to"], facts["text"], call))

    def offer(self) -> None:
        call = self._history.asked("offer", self.name, text=(text := self._text()))
        reply = self.door.offer(text, call)
        self._tell(call, reply)
        if reply.is_yes:
            self._shared.tasks.append({**reply.said["task"], "text": text})

    def read_mail(self) -> bool:
        """Read the inbox, and acknowledge most of it; return whether nothing is left."""
        call = self._history.asked("look", self.name, door=self.door.kind)
        found = self.door.look()
        if found is None:
            self._history.told(call, "no", shows=False)
            return False
        letters, whole = found
        texts = [text for _, text in letters if text != RESULT]
        self._history.told(call, "yes", shows=self.door.shows, texts=texts, whole=whole)
        for letter, text in letters:
            if self._shared.drains or self._chance.randrange(4):
                call = self._history.asked("ack", self.name, texts=[text] if text != RESULT else [])
                self._tell(call, self.door.acknowledge(letter, call))
        return not letters

    def claim(self) -> None:
        """Claim a task that others want too, and finish it if that was granted."""
        if not (tasks := self._shared.tasks):
            return
        task = self._chance.choice(tasks[-3:])
        call = self._history.asked("take", self.name, thing=task["text"], lasts=LASTS)
        reply = self.door.claim(task, call)
        self._tell(call, reply)
        if not reply.is_yes and len(tasks) > 1:
            with suppress(ValueError):
                tasks.remove(task)
        if reply.is_yes:
            call = self._history.asked("finish", self.name, thing=task["text"])
            self._tell(call, self.door.finish(task, call))

    def lease(self) -> None:
        """Take a thing, hold it for a moment, and give it back."""
        thing = self._chance.choice(THINGS)
        call = self._history.asked("take", self.name, thing=thing, lasts=LASTS)
        reply = self.door.take(thing, call)
        fences = [each["fence"] for each in reply.said.get("leased", []) if thing in each["things"]]
        self._tell(call, reply, **({"fence": fences[0]} if fences else {}))
        if reply.is_yes:
            self._shared.stopping.wait(self._chance.random() * self._shared.pause * 3)
            call = self._history.asked("give", self.name, thing=thing)
            self._tell(call, self.door.give(thing, call))

    def order(self) -> None:
        """Have a machine make a mark."""
        call = self._history.asked("order", self.name, mark=(mark := self._text()))
        reply = self.door.order(MACHINE, f"echo {mark} >>{self._marks}", call)
        answer: Answer = "yes" if reply.is_yes and reply.said.get("exit_code") == 0 else "unknown"
        if reply.said.get("code") in NOT_DONE and "order" not in reply.said:
            answer = "no"
        self._history.told(call, answer, shows=False, said=reply.said)

    def _tell(self, call: str, reply: Reply, **facts: object) -> None:
        why = {} if reply.is_yes else {"said": reply.said}
        if reply.said.get("error") == Invalid.code:  # the fault is ours, and the history proves little
            self._history.note(broken=[f"{self.door.kind}: {reply.said}"])
        shows = reply.is_yes and self.door.shows
        self._history.told(call, "yes" if reply.is_yes else "no", shows=shows, **facts, **why)

    def _text(self) -> str:
        """Return a text that nobody else has."""
        return f"{self.name}-{self._chance.getrandbits(64):x}"


class SharedState:
    """The shared state of one program's agents."""

    def __init__(self, pause: float, *, drains: bool) -> None:
        self.pause, self.drains = pause, drains
        self.stopping, self.given_up = threading.Event(), threading.Event()
        self.tasks: list[dict[str, Any]] = []

    def heard(self, *_signal: object) -> None:
        """End properly at the first signal, and at once at the second."""
        (self.given_up if self.stopping.is_set() else self.stopping).set()


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("plan", type=Path)
    parser.add_argument("number", type=int)
    parser.add_argument("--drain", action="store_true")
    given = parser.parse_args(words)
    plan = json.loads(given.plan.read_text("utf-8"))
    shared = SharedState(plan["pause"], drains=given.drain)
    signal.signal(signal.SIGTERM, shared.heard)
    history = History(given.plan.parent / "histories" / f"worker{given.number}.jsonl")
    seed = random.SystemRandom().getrandbits(64)
    agents = [
        Agent(plan, name, history, shared, f"{seed} {name}")
        for name, facts in plan["agents"].items()
        if facts["program"] == given.number
    ]
    threads = [
        threading.Thread(target=_drain if given.drain else Agent.work, args=(each,)) for each in agents
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def _drain(agent: Agent) -> None:
    with suppress(Unanswered):
        while not agent.read_mail():
            continue
    agent.close()


if __name__ == "__main__":
    main(sys.argv[1:])
