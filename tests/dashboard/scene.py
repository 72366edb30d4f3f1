"""A believable team: 28 agents on four machines, tasks in every state, and two hours of what they did.

Everything is done by the core's own operations, each at its moment; so the log of it can be replayed. The same each
time, but for its ids and that it ends now. Tests, and those who want to see the dashboard with something in it, use it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Concatenate, ParamSpec
from uuid import UUID

from hubbub.core.actions import inbox, task_actions
from hubbub.core.agents import agents, scopes
from hubbub.core.cost import meter
from hubbub.core.fleet import approvals, nodes
from hubbub.core.mail import messages
from hubbub.core.mail.messages import Thread
from hubbub.core.presence import presences
from hubbub.core.work import completion, tasks
from hubbub.model.agents.scopes import Scope
from hubbub.model.cost.spending import Measure, Reading, Source
from hubbub.model.fleet.calls import NodeInfo, Principal, Question, call_digest
from hubbub.model.lifecycle import Event
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Condition, Presence, Priority, Profile, Project, Task
from hubbub.store.agents import agents as agent_rows
from hubbub.store.tx import Store, Tx

MACHINES = {
    "atlas": ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove"),
    "borealis": ("harbor", "iris", "jade", "kelp", "lumen", "maple", "north"),
    "cobalt": ("onyx", "pine", "quartz", "river", "sable", "tundra", "umber"),
    "dev-laptop": ("vale", "willow", "xenon", "yarrow", "zephyr", "alder", "basil"),
}
RUNTIMES = ("claude-code", "codex", "gemini-cli", "opencode")
AREAS = {
    "api": ["src/api/**"],
    "store": ["src/store/**", "migrations/**"],
    "web": ["web/**"],
    "node": ["src/node/**"],
    "cli": ["src/cli/**"],
    "docs": ["docs/**", "README.md"],
}
DEEDS = ("Test", "Fix", "Document", "Refactor", "Review", "Harden", "Speed up", "Add")
THINGS = (
    ("atomic claim under contention", "store"), ("WAL checkpoint policy", "store"), ("rate limit headers", "api"),
    ("`hubbub doctor` network checks", "cli"), ("idempotency keys on POST /tasks", "api"),
    ("migration guide", "docs"), ("shell completion for zsh", "cli"), ("replay scrubber", "web"),
    ("daemon reconnect backoff", "node"), ("dark theme contrast", "web"), ("token scopes table", "docs"),
    ("PTY resize handling", "node"), ("event log compaction", "store"), ("keyboard navigation on the board", "web"),
    ("--json output for status", "cli"), ("lifecycle timeline", "web"),
)  # fmt: skip
BLOCKED = (
    "Waits for a decision on retention",
    "Needs write access to the prod registry",
    "Upstream schema not merged",
)
FAILED = (
    "AssertionError: expected 3 rows, got 2 in `test_claim_race`",
    "make: *** [test] Error 2: disk quota exceeded",
)
P = ParamSpec("P")
NEVER = timedelta(days=30)  # the presences of a scene do not fall silent while somebody looks
SILENT_AFTER = timedelta(minutes=60)
MINUTE = 60_000
LEFT = ("north", "basil")  # who were there, and went home
LENGTH = 110  # minutes that the story takes

# Who used how many tokens, of which model: the minute, input, output, and what was read from a cache.
SPENT = (
    (18, "cedar", "claude-opus-4-5", 21_400, 68_200, 4_120_000),
    (30, "onyx", "made-at-home", 48_000, 3_100, 0),
    (47, "iris", "gpt-5-codex", 310_500, 41_700, 902_000),
    (92, "cedar", "claude-opus-4-5", 9_800, 31_000, 2_450_000),
    (100, "ember", "claude-sonnet-5", 1_500_000, 0, 0),
)

# What becomes of a task: the steps, each so many minutes after the one before.
FATES: dict[str, tuple[str, ...]] = {
    "done": ("accept", "start", "progress", "progress", "complete"),
    "review": ("accept", "start", "progress", "submit"),
    "running": ("accept", "start", "progress", "progress"),
    "blocked": ("accept", "start", "progress", "block"),
    "failed": ("accept", "start", "progress", "fail"),
    "cancelled": ("cancel",),
    "expired": ("expire",),
    "acked": ("accept",),
    "delivered": (),
    "queued": (),
}
# How many tasks go each of these ways: in tests, where each is drawn by every page that has them all; in pictures.
FEW = (8, 3, 9, 4, 3, 1, 1, 2, 3, 3)
MANY = (20, 5, 11, 4, 3, 2, 1, 3, 6, 5)


@dataclass
class Scene:
    """The scene, by kind: `scene.tasks["blocked"]`; the agents; the questions to people."""

    project: Project
    tasks: dict[str, list[Task]] = field(default_factory=lambda: {fate: [] for fate in FATES})
    agents: list[str] = field(default_factory=list)
    approvals: list[UUID] = field(default_factory=list)
    stale: str = "tundra"
    waiting: str = "zephyr"


@dataclass
class _Story:
    """The operations of the story, each with its moment, to be done in that order."""

    scene: Scene
    random: Random
    begin: int
    moments: list[tuple[int, Callable[[Tx], object]]] = field(default_factory=list)

    def at(
        self,
        minute: float,
        operation: Callable[Concatenate[Tx, P], object],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> None:
        moment = self.begin + int(minute * MINUTE)
        self.moments.append((moment, lambda tx: operation(tx, *args, **kwargs)))

    def tell(self, tx: Tx) -> None:
        """Let all of it happen."""
        for moment, operation in sorted(self.moments, key=lambda each: each[0]):
            tx.now = moment
            operation(tx)


def fill(store: Store, project: Project, counts: Sequence[int] = FEW) -> Scene:
    """Let a team have been at work in the project for two hours, on so many tasks of each fate."""
    scene = Scene(project)

    def tell(tx: Tx) -> None:
        story = _Story(scene, Random(7), tx.now - LENGTH * MINUTE)
        _gather(story)
        _work(story, counts)
        _talk(story)
        _trouble(story)
        _spend(story)
        story.tell(tx)

    store.write_now(SYSTEM, tell)
    return scene


def _gather(story: _Story) -> None:
    """Machines join, agents come, areas are drawn."""
    project = story.scene.project
    for area, patterns in AREAS.items():
        story.at(0, scopes.put_area, project, area, name=area.title(), patterns=patterns)
    for place, (machine, crew) in enumerate(MACHINES.items()):
        about = NodeInfo(
            name=machine,
            machine_id=f"id-{machine}",
            platform="Linux 6.12 x86_64",
            version="0.1.0",
            sandbox="bwrap",
        )
        story.at(place / 10, nodes.report, project, about, ttl=NEVER)
        for name in crew:
            story.scene.agents.append(name)
            minute = 0.5 + story.random.random() * 3
            story.at(minute, _report, story, name, machine=machine)


def _report(
    tx: Tx,
    story: _Story,
    name: str,
    *,
    condition: Condition = Condition.IDLE,
    doing: str | None = None,
    machine: str | None = None,
) -> Presence:
    runtime = RUNTIMES[len(name) % len(RUNTIMES)] if machine is not None else None
    told = Profile(doing=doing, hostname=machine, runtime=runtime)
    ttl = SILENT_AFTER if name == story.scene.stale else NEVER
    return presences.report(
        tx, story.scene.project.id, name, instance=name, condition=condition, profile=told, ttl=ttl
    )


def _work(story: _Story, counts: Sequence[int]) -> None:
    """Tasks are sent, and each meets its fate."""
    fates = [fate for fate, count in zip(FATES, counts, strict=True) for _ in range(count)]
    free = _free_hands(story)
    for number, fate in enumerate(fates):
        thing, area = THINGS[number % len(THINGS)]
        title = f"{DEEDS[(number * 3 + number // 16) % len(DEEDS)]} {thing}"
        is_over = fate in ("done", "failed", "cancelled", "expired")
        begin = 4 + number * 1.6 if is_over else 45 + story.random.random() * 40
        to = None if fate in ("queued", "expired") else next(free)
        _live(story, fate, title, area=area, to=to, begin=begin, number=number)


def _free_hands(story: _Story) -> Iterator[str]:
    """Agents in turn, but those who have another part to play."""
    busy = (story.scene.stale, story.scene.waiting, *LEFT)
    hands = [name for name in story.scene.agents if name not in busy]
    while True:
        story.random.shuffle(hands)
        yield from hands


def _live(
    story: _Story, fate: str, title: str, *, area: str, to: str | None, begin: float, number: int
) -> None:
    place = len(story.scene.tasks[fate])
    kept: dict[str, Task] = {}
    priority = (Priority.CRITICAL, Priority.HIGH, Priority.MEDIUM, Priority.MEDIUM, Priority.LOW)[number % 5]

    def send(tx: Tx) -> None:
        earlier = story.scene.tasks["running"][:2] if fate == "queued" and place % 2 == 0 else []
        text = f"{title}\n\nLook at `{area}` first. Done when its tests pass and the page about it says so."
        kept["it"] = tasks.send(
            tx, story.scene.project.id, sender="hub", to=to, text=text, area=area, priority=priority,
            needs=[tasks.find(tx, [story.scene.project.id], str(each.id)) for each in earlier],
        )  # fmt: skip
        story.scene.tasks[fate].append(kept["it"])

    story.at(begin, send)
    minute = begin
    for step in FATES[fate]:
        minute += 0.3 + story.random.random() * (1 if step in ("accept", "start") else 6)
        story.at(minute, _step, story, kept, step, by=to, number=number)


def _step(tx: Tx, story: _Story, kept: dict[str, Task], step: str, *, by: str | None, number: int) -> None:
    task = tasks.find(tx, [story.scene.project.id], str(kept["it"].id))
    who = by or "hub"
    if step == "accept":
        task_actions.accept(tx, task, who)
    elif step == "start":
        task_actions.start(tx, task, who)
        _report(tx, story, who, condition=Condition.WORKING, doing=task.title)
    elif step == "progress":
        task_actions.progress(
            tx, task, who, output="12 tests passed", progress=20 + (number * 17 + tx.now) % 70
        )
    elif step == "block":
        reason = BLOCKED[number % len(BLOCKED)]
        tasks.step(tx, task, Event.BLOCK, actor=who, detail={"reason": reason})
        _report(tx, story, who, condition=Condition.BLOCKED, doing=reason)
    elif step == "submit":
        tasks.step(tx, task, Event.SUBMIT, actor=who)
    else:
        _end(tx, story, task, step, who=who, number=number)


def _end(tx: Tx, story: _Story, task: Task, step: str, *, who: str, number: int) -> None:
    if step == "complete":
        completion.end(
            tx, task, Event.COMPLETE, by=who, text="Done: all tests pass.", result="All tests pass."
        )
    elif step == "fail":
        reason = FAILED[number % len(FAILED)]
        completion.end(tx, task, Event.FAIL, by=who, text=reason, result=reason)
    elif step == "cancel":
        task_actions.cancel(tx, task, by="hub", reason="superseded")
    else:
        completion.expire(tx, task)
    if step in ("complete", "fail"):
        _report(tx, story, who)


def _talk(story: _Story) -> None:
    """Agents write to each other and to people."""
    project_id = story.scene.project.id

    def say(minute: float, sender: str, to: str, body: str, thread: str | None = None) -> None:
        story.at(
            minute, messages.send, project_id, sender=sender, to=to, body=body, thread=Thread(name=thread)
        )

    say(20, "cedar", "dune", "Schema is ready in `src/api/schemas.py`, please rebase.", "schema")
    say(24, "dune", "cedar", "Rebased. Two tests of the claim are red now, looking.", "schema")
    say(31, "iris", "hub", "May I drop the old `messages_v1` table? Nothing reads it.")
    say(58, "harbor", "maple", "I hold `web/tokens.css` for ten minutes.")
    say(96, "yarrow", "hub", "The staging registry answers 403 since this morning.")
    everyone = story.scene.agents[:7]
    story.at(
        40, messages.broadcast, project_id, sender="hub", recipients=everyone, body="Release freeze at six."
    )
    story.at(41, _read, project_id, "amber")


def _read(tx: Tx, project_id: UUID, name: str) -> None:
    letters = inbox.read(tx, project_id, name, 1)
    inbox.note_seen(tx, letters)


def _trouble(story: _Story) -> None:
    """Make what needs people: questions, a waiting agent, a silent agent, and files in two hands."""
    _claim(story, 60, "ember", ["src/store/compaction.py", "src/store/wal.py"])
    _claim(story, 61, "xenon", ["src/store/compaction.py"])
    _claim(story, 70, "lumen", ["web/tokens.css", "web/board.js"])
    _claim(story, 71, "onyx", ["web/tokens.css"])
    _claim(story, 72, "grove", ["docs/part_165.md"])
    _hold(story, "ember", "Compact the event log by day", 55)
    _hold(story, story.scene.stale, "Harden session resume by token", 30)
    _hold(story, story.scene.waiting, "Add shell completion for zsh", 80)
    waits = "Which completion should be the default?"
    story.at(98, _report, story, story.scene.waiting, condition=Condition.WAITING, doing=waits)
    story.at(99, _fall_silent, story.scene)
    for name in LEFT:
        story.at(3.6, presences.leave, story.scene.project.id, name, instance=name)
    _ask(story, 107, "ember", "uv publish --index staging", "matches rule `publish*`")
    _ask(
        story, 108, "quartz", "git push --force-with-lease origin api-v2", "matches rule `git push --force*`"
    )


def _spend(story: _Story) -> None:
    """Report some use of tokens; one model has no known price."""

    def note(tx: Tx, agent: str, model: str, tokens: Sequence[int]) -> None:
        reading = Reading(
            conversation=agent,
            source=Source.EVENTS,
            mark=str(tx.now),
            at=tx.now * 1_000_000,
            value=1,
            weights=dict(zip((Measure.INPUT, Measure.OUTPUT, Measure.CACHE_READ), tokens, strict=True)),
            model=model,
            agent=agent,
        )
        meter.note(tx, story.scene.project, [reading])

    for minute, agent, model, *tokens in SPENT:
        story.at(minute, note, agent, model, tokens)


def _claim(story: _Story, minute: float, name: str, files: Sequence[str]) -> None:
    def claim(tx: Tx) -> None:
        presence = agents.presence(tx, story.scene.project.id, name)
        assert presence is not None
        scopes.declare(tx, story.scene.project, presence, Scope.of(None, files))

    story.at(minute, claim)


def _hold(story: _Story, name: str, title: str, minute: float) -> None:
    """A task that somebody begins, and has still."""
    _live(story, "running", title, area="cli", to=name, begin=minute, number=3)


def _fall_silent(tx: Tx, scene: Scene) -> None:
    presence = agent_rows.presence(tx, scene.project.id, scene.stale, lock=True)
    assert presence is not None
    presences.lapse(tx, presence)


def _ask(story: _Story, minute: float, name: str, command: str, reason: str) -> None:
    def ask(tx: Tx) -> None:
        project = story.scene.project
        who = Principal(project=project.slug, name=name)
        call = {"command": command}
        question = Question(
            who=who, node="atlas", tool="run_command", arguments=call, folder="/srv/acme", shown=command,
            reason=reason, digest=call_digest(who, "run_command", call, "/srv/acme", "atlas"),
        )  # fmt: skip
        asked, _receipt = approvals.put(tx, project, question, timedelta(hours=1))
        story.scene.approvals.append(asked.id)

    story.at(minute, ask)
