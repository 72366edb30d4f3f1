"""The nouns, as frozen dataclasses.

Every `…_at` is Unix milliseconds, UTC. No behaviour beyond derived fields, no imports from above.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum, auto
from uuid import UUID

from hubbub.model.lifecycle import ENDED, Status
from hubbub.model.reached import Reached
from hubbub.model.rights import Role

TITLE_LENGTH = 80


class Priority(IntEnum):
    """How urgent a task is; the smaller number goes first."""

    CRITICAL = 0
    HIGH = 1
    MEDIUM = 2
    LOW = 3


class Condition(StrEnum):
    """What an agent says it is doing."""

    WORKING = auto()
    IDLE = auto()
    BLOCKED = auto()
    ERROR = auto()
    WAITING = auto()  # for a person's input
    OFFLINE = auto()


class Kind(StrEnum):
    """What lies in an inbox. Tasks and broadcasts ask for thought; messages and replies are only shown."""

    TASK = auto()
    MESSAGE = auto()
    REPLY = auto()
    BROADCAST = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    id: UUID
    name: str
    password: str | None  # an argon2id hash, never the password
    owns_hub: bool
    created_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    id: UUID
    slug: str
    name: str
    conflict_mode: str
    repo_url: str | None
    heartbeat_interval: int  # seconds
    heartbeat_ttl: int  # seconds
    created_at: int
    run_id: UUID | None = None  # its current run; None only while it is being made
    number: int | None = None  # counted in the hub, from 1; None only while it is being made
    description: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """What is kept of a token: never the secret itself, only its SHA-256."""

    id: UUID
    hash: str
    user_id: UUID | None
    project_id: UUID | None
    agent: str | None
    role: Role | None
    rate: int | None  # calls a second, where it is not the hub's common limit
    created_at: int
    expires_at: int | None
    revoked_at: int | None
    lent_from: UUID | None = None  # the token with which it ends
    lent_for: UUID | None = None  # the order, or the task in the background, with which it ends


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """A name the project knows, with the presence it has or last had."""

    project_id: UUID
    name: str
    created_at: int
    presence_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What an agent tells about itself. None means not told: what was told before stays."""

    doing: str | None = None
    output: str | None = None
    score: float | None = None
    progress: float | None = None
    server: str | None = None
    hostname: str | None = None
    runtime: str | None = None
    workdir: str | None = None
    version: str | None = None
    terminal: str | None = None
    node: str | None = None
    thread: str | None = None
    config_path: str | None = None
    channels: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Presence(Profile):
    """One stay of an agent: from its first report to its leaving, its silence, or its replacement."""

    id: UUID
    project_id: UUID
    agent: str
    instance: str  # which run of the agent's program this is, in the words of whoever reports
    condition: Condition
    ttl: int  # milliseconds of silence after which it is gone
    opened_at: int
    seen_at: int
    expires_at: int
    ended_at: int | None
    end_reason: str | None
    token_id: UUID | None = None  # by which it was opened
    secret: str | None = None  # the hash of what whoever opened it was told, never that itself
    area: str | None = None  # where it said it works
    files: tuple[str, ...] | None = None  # what it said it touches: paths and patterns
    outcome: str | None = None  # how it said it went
    summary: str | None = None  # what it said it did
    touched: tuple[str, ...] | None = None  # what it said it had touched in the end
    since: int | None = None  # when it came to be in this condition
    voices: Mapping[str, str] = field(default_factory=dict)  # the instance that speaks for it, by its door
    heartbeat_told_at: int | None = None  # when a bare heartbeat of the agent was recorded last

    def is_live(self, now: int) -> bool:
        return self.ended_at is None and self.expires_at > now


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A stretch of work in a project: the tasks, messages, artifacts and reviews that belong together."""

    id: UUID
    project_id: UUID
    name: str | None  # None: nobody has named it yet
    notebook: str | None  # what its orchestrator wants to find again; opaque
    created_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    id: UUID
    project_id: UUID
    number: int  # counted in the project, from 1
    sender: str
    assignee: str | None  # None: free for anyone to claim
    addressed: bool  # sent to its assignee by name, rather than claimed from the open queue
    title: str
    description: str
    context: str | None
    priority: Priority
    status: Status
    result: str | None = None
    parent_id: UUID | None
    depth: int = 0  # how many ancestors it has
    reason: str | None = None  # why it was derived from its parent
    run_id: UUID | None = None
    external_id: str | None = None  # what its maker calls it; unique in the run
    area: str | None = None  # the work area it is in
    issue: str | None = None  # the issue on GitHub it is about, as owner/repository#number
    files: tuple[str, ...] | None = None  # what was changed for it
    gated: bool = False  # there are tasks that must be completed before it may be claimed
    epoch: int = 1  # rises with every change of hands
    attempt: int = 1  # 1 for the first delivery; rises with retries and redeliveries
    leased: bool = False  # held by an agent with a heartbeat: when that falls silent, the hold ends
    door: str | None = None  # the tool set in which its holder took it
    delivery_id: UUID | None = None  # its current row in an inbox
    note: str | None = None  # what was said last of why it is as it is
    edited_by: str | None = None  # who gave it the description that it has; None: its sender
    created_at: int
    updated_at: int
    delivered_at: int | None = None
    accepted_at: int | None = None
    started_at: int | None = None
    ended_at: int | None = None
    expires_at: int | None

    @property
    def text(self) -> str:
        return joined(self.title, self.description)

    @property
    def is_ended(self) -> bool:
        return self.status in ENDED


def joined(title: str, description: str) -> str:
    """Title and description as one text; the description alone where it begins with the title, after any blanks."""
    if description.lstrip().startswith(title):
        return description
    return f"{title}\n\n{description}" if description else title


def title_of(text: str) -> str:
    """The title of a task that was given as one text: its first line, at most 80 characters."""
    return text.strip().split("\n", 1)[0][:TITLE_LENGTH].strip()


class Intent(StrEnum):
    """What a message is for."""

    TEXT = auto()
    STATUS = auto()
    REQUEST = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    id: UUID
    project_id: UUID
    number: int  # counted in the project, from 1
    kind: Kind
    sender: str
    recipient: str | None  # None: everyone
    body: str
    in_reply_to: UUID | None  # a task or a message
    outcome: Status | None  # how the task that it answers ended
    created_at: int
    run_id: UUID | None = None
    thread: str | None = None  # what its sender calls the conversation
    metadata: Mapping[str, str] | None = None
    intent: Intent | None = None
    author: str | None = None  # the person who wrote it, where the sender is everyone who has no name

    @property
    def thread_name(self) -> str | None:
        """The conversation that it belongs to: as its sender called it, else what it answers."""
        return self.thread or (str(self.in_reply_to) if self.in_reply_to else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """Something made, to be shown to others. Its content is kept apart."""

    id: UUID
    project_id: UUID
    run_id: UUID
    number: int  # counted in the project, from 1
    name: str  # need not be unique: the newest of a name is meant by it
    kind: str
    creator: str
    task: str | None  # the words of its creator: an id, or any text
    length: int  # of its content, in characters
    created_at: int


class Verdict(StrEnum):
    """What a reviewer says."""

    APPROVED = auto()
    CHANGES_REQUESTED = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """An artifact that somebody was asked to look at."""

    id: UUID
    project_id: UUID
    run_id: UUID
    artifact_id: UUID
    requester: str
    reviewer: str
    verdict: Verdict | None  # None: not given yet
    comments: str | None
    created_at: int
    submitted_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A task being looked at before it counts as completed: a lease, renewed by whoever does the looking."""

    id: UUID
    task_id: UUID
    agent: str
    started_at: int
    expires_at: int
    ended_at: int | None = None
    passed: bool | None = None
    output: str | None = None  # why it did not pass

    def is_running(self, now: int) -> bool:
        return self.ended_at is None and self.expires_at > now


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One row of one inbox, and how far it got: stored, notified, seen, acked; withdrawn; dead."""

    id: UUID
    project_id: UUID
    recipient: str
    task_id: UUID | None
    message_id: UUID | None
    priority: Priority
    stored_at: int
    notified_at: int | None = None
    seen_at: int | None = None
    acked_at: int | None = None
    withdrawn_at: int | None = None
    for_people: bool = False  # a message that waits for somebody who is no agent
    wake_id: UUID | None = None  # the wake that pointed its receiver at it
    dead_at: int | None = None  # since when it is known that nobody came to read it; not once somebody has

    @property
    def reached(self) -> Reached:
        """How far it got."""
        return Reached.by(self.notified_at, self.seen_at, self.acked_at, self.dead_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A delivery together with what was delivered, as its reader sees it."""

    delivery: Delivery
    number: int  # of the task or the message
    kind: Kind
    sender: str
    title: str
    body: str
    context: str | None = None
    edited_by: str | None = None  # whose words the body of a task is, if not its sender's
    task_id: UUID | None = None
    in_reply_to: UUID | None = None
    outcome: Status | None = None

    @property
    def text(self) -> str:
        return joined(self.title, self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What an agent said it had done; kept whole, whatever became of the task."""

    id: UUID
    project_id: UUID
    agent: str
    task: str  # the words of the agent: an id or a text
    task_id: UUID | None
    result: str
    artifacts: str | None  # a JSON array
    score: float | None
    duration_minutes: float | None
    completed_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A machine, as the agents on it describe it."""

    project_id: UUID
    key: str
    name: str | None
    model: str | None
    runtime: str | None
    seen_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """One thing that happened. `agent` is whom it concerns; (`tx`, `seq`) is its place in the log.

    `tx` is the writing transaction, on engines that give out `seq` before the commit.
    """

    seq: int
    tx: int = 0
    project_id: UUID | None
    at: int
    kind: str
    actor: str
    agent: str | None
    task_id: UUID | None
    message_id: UUID | None
    detail: Mapping[str, object]
    patch: str | None = None  # JSON: what it made of the project's picture; read only where it is passed on
