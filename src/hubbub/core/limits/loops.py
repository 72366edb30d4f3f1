"""Detection of loops: a reader of activities that notices agents which repeat themselves.

It reads the log afterwards, so no call waits for it. What it remembers is short and belongs to one
process: after a restart it counts the end of the log again.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from uuid import UUID

from hubbub.model.limits.breakers import RULES, BreakerRules, Loop, LoopKind
from hubbub.model.people.rights import HUB
from hubbub.model.records import Activity

REMEMBERED = 20_000  # tasks, and pairs of agents
SHOWN = 6  # messages or tasks that a loop names
CHANGED = "project.breakers"
LIFTED = "breaker.lifted"
TRIPPED = "breaker.tripped"
# Activities that show no progress: the mail of a task, and the hub's own reminders.
_STILL = frozenset({"task.delivered", "task.late", "task.noted", "task.sent"})
_TAKEN = frozenset({"task.accepted", "task.started"})
_LEFT = frozenset({
    "task.cancelled", "task.completed", "task.expired", "task.failed", "task.reassigned", "task.released",
})  # fmt: skip
_AGAIN = frozenset({"task.reopened", "task.retried"})

K = TypeVar("K")
V = TypeVar("V")


class _Recent(Generic[K, V]):
    """A mapping that drops the entry untouched for longest."""

    def __init__(self, make: Callable[[], V]) -> None:
        self._kept: OrderedDict[K, V] = OrderedDict()
        self._make = make

    def __getitem__(self, key: K) -> V:
        if key not in self._kept:
            self._kept[key] = self._make()
            if len(self._kept) > REMEMBERED:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]

    def find(self, key: K) -> V | None:
        return self._kept.get(key)

    def forget(self, key: K) -> None:
        self._kept.pop(key, None)


@dataclass(slots=True)
class _Talk:
    """Two agents that answer each other."""

    last: str = ""
    turns: int = 0
    refs: deque[str] = field(default_factory=lambda: deque(maxlen=SHOWN))


@dataclass(slots=True)
class _Line:
    """The descent of a task."""

    root: UUID | None = None
    depth: int = 0
    offspring: int = 0  # of a root task
    tries: int = 0
    refs: deque[str] = field(default_factory=lambda: deque(maxlen=SHOWN))


class LoopDetector:
    """Takes the activities of all projects, in order, and yields the loops that it finds."""

    def __init__(self, rules: Mapping[UUID, BreakerRules]) -> None:
        self._rules = dict(rules)
        self._talks: _Recent[tuple[UUID, frozenset[str]], _Talk] = _Recent(_Talk)
        self._partners: _Recent[tuple[UUID, str], set[str]] = _Recent(set)
        self._tasks: _Recent[UUID, _Line] = _Recent(_Line)
        self._at: _Recent[tuple[UUID, str], dict[UUID, None]] = _Recent(dict)

    def take(self, activities: Iterable[Activity]) -> Iterator[Loop]:
        """Yield each loop that an activity brings to its limit."""
        for each in activities:
            if each.project_id is None:
                continue
            if each.kind == CHANGED:
                told = {name: each.detail[name] for name in RULES if name in each.detail}
                self._rules[each.project_id] = BreakerRules(
                    **{name: int(str(value)) for name, value in told.items()}
                )
            elif each.kind == LIFTED:
                self._begin_anew(each.project_id, each)
            elif each.kind == "message.sent":
                yield from self._message(each.project_id, each)
            elif each.kind.startswith("task.") and each.task_id is not None:
                yield from self._task(each.project_id, each, each.task_id)

    def recall(self, activities: Iterable[Activity], found: dict[tuple[object, ...], Loop]) -> None:
        """Count past activities; add loops to `found`, and take away those whose stop followed."""
        for each in activities:
            names = each.detail.get("agents")
            if each.kind in (TRIPPED, LIFTED) and isinstance(names, list):
                found.pop((each.project_id, each.detail.get("rule"), *names), None)
            found |= {(loop.project_id, loop.kind, *sorted(loop.agents)): loop for loop in self.take([each])}

    def _message(self, project_id: UUID, sent: Activity) -> Iterator[Loop]:
        sender, to = sent.detail.get("sender"), sent.agent
        is_to_people = bool(sent.patch) or to == HUB
        if not isinstance(sender, str) or to is None or is_to_people or sender in (HUB, to):
            return
        pair = frozenset({sender, to})
        talk = self._talks[project_id, pair]
        self._partners[project_id, sender].add(to)
        self._partners[project_id, to].add(sender)
        if talk.last == sender:
            return
        talk.last, talk.turns = sender, talk.turns + 1
        talk.refs.append(str(sent.message_id))
        if self._is_reached(project_id, LoopKind.ANSWERING, talk.turns):
            yield Loop(
                project_id=project_id,
                kind=LoopKind.ANSWERING,
                agents=tuple(sorted(pair)),
                count=talk.turns,
                refs=tuple(talk.refs),
            )

    def _task(self, project_id: UUID, happened: Activity, task_id: UUID) -> Iterator[Loop]:
        agent = happened.agent
        if happened.kind == "task.sent":
            yield from self._made(project_id, happened, task_id)
        if happened.kind not in _STILL:
            for name in {agent, happened.actor, happened.detail.get("sender")}:
                if isinstance(name, str):
                    self._end_talks(project_id, name)
        if happened.kind in _TAKEN and agent is not None:
            self._at[project_id, agent][task_id] = None
        if happened.kind in _LEFT:
            left = happened.detail.get("taken_from") or agent
            if isinstance(left, str) and (at := self._at.find((project_id, left))) is not None:
                at.pop(task_id, None)
        if happened.kind == "task.completed":
            self._tasks[task_id].tries = 0
        if happened.kind in _AGAIN:
            yield from self._tried(project_id, happened, task_id)

    def _made(self, project_id: UUID, sent: Activity, task_id: UUID) -> Iterator[Loop]:
        """Count a task that an agent sent while it worked on another."""
        sender = sent.detail.get("sender")
        at = self._at.find((project_id, sender)) if isinstance(sender, str) else None
        if not at or not isinstance(sender, str):
            return
        parent_id = next(reversed(at))
        parent = self._tasks[parent_id]
        line = self._tasks[task_id]
        line.root, line.depth = parent.root or parent_id, parent.depth + 1
        root = self._tasks[line.root]
        root.offspring += 1
        root.refs.append(str(task_id))
        for kind, count in ((LoopKind.NESTING, line.depth), (LoopKind.MULTIPLYING, root.offspring)):
            if self._is_reached(project_id, kind, count):
                yield Loop(
                    project_id=project_id,
                    kind=kind,
                    agents=(sender,),
                    count=count,
                    task_id=line.root,
                    refs=tuple(root.refs),
                )

    def _tried(self, project_id: UUID, again: Activity, task_id: UUID) -> Iterator[Loop]:
        line = self._tasks[task_id]
        line.tries += 1
        if again.agent is not None and self._is_reached(project_id, LoopKind.RETRYING, line.tries):
            yield Loop(
                project_id=project_id,
                kind=LoopKind.RETRYING,
                agents=(again.agent,),
                count=line.tries,
                task_id=task_id,
                refs=(str(task_id),),
            )

    def _is_reached(self, project_id: UUID, kind: LoopKind, count: int) -> bool:
        """Tell whether a count is at its limit, or a multiple of it: the first time may have been missed."""
        most = self._rules.get(project_id, _USUAL).most(kind)
        return bool(most and count) and count % most == 0

    def _end_talks(self, project_id: UUID, name: str) -> None:
        for other in self._partners.find((project_id, name)) or ():
            self._talks.forget((project_id, frozenset({name, other})))
        self._partners.forget((project_id, name))

    def _begin_anew(self, project_id: UUID, lifted: Activity) -> None:
        """Reset the counts behind a stop that a person has lifted."""
        names = lifted.detail.get("agents")
        for name in names if isinstance(names, list) else ():
            self._end_talks(project_id, str(name))
            self._at.forget((project_id, str(name)))
        if lifted.task_id is not None:
            self._tasks.forget(lifted.task_id)


_USUAL = BreakerRules()
