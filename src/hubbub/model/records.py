"""The nouns, as frozen dataclasses.

Every `…_at` is Unix milliseconds, UTC. No behaviour beyond derived fields, no imports from above.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum, auto
from typing import Annotated
from uuid import UUID

from hubbub.model.fields import CARD, REST, Secret, Seen
from hubbub.model.lifecycle import ENDED, Status
from hubbub.model.mail.delivery_status import DeliveryStatus

TITLE_LENGTH = 80


class Priority(IntEnum):
    """The urgency of a task; the smaller number goes first."""

    CRITICAL = 0
    HIGH = 1
    MEDIUM = 2
    LOW = 3


class Condition(StrEnum):
    """An agent's own report of its state."""

    WORKING = auto()
    IDLE = auto()
    BLOCKED = auto()
    ERROR = auto()
    WAITING = auto()  # for a person's input
    OFFLINE = auto()


class LetterKind(StrEnum):
    """The kind of a letter in an inbox. Tasks and broadcasts ask for thought; messages and replies are only shown."""

    TASK = auto()
    MESSAGE = auto()
    REPLY = auto()
    BROADCAST = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    id: Annotated[UUID, Seen(REST)]
    number: int | None = None  # counted in the hub, from 1; None only while it is being made
    slug: Annotated[str, Seen(REST)]
    name: Annotated[str, Seen(REST)]
    description: Annotated[str | None, Seen(REST)] = None
    conflict_mode: Annotated[str, Seen(REST)]
    repo_url: Annotated[str | None, Seen(REST)]
    heartbeat_interval: Annotated[int, Seen(REST, "seconds")]
    heartbeat_ttl: Annotated[int, Seen(REST, "seconds")]
    created_at: Annotated[int, Seen(REST)]
    archived_at: Annotated[
        int | None, Seen(REST, "the time since when it is read-only; null: it is writable", since="0.2.0")
    ] = None
    hand_over_after: Annotated[
        int,
        Seen(
            REST,
            "minutes that an account is to be paused before its tasks go to others; 0: never",
            since="0.2.0",
        ),
    ] = 0
    run_id: UUID | None = None  # its current run; None only while it is being made


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """A name known to the project, with the presence it has or last had."""

    project_id: UUID
    name: str
    created_at: int
    presence_id: UUID | None
    description: str | None = None  # what people say that it is for


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """An agent's description of itself. None means not told: the earlier value stays."""

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
    instance: str  # the run of the agent's program, in the reporter's words
    condition: Condition
    ttl: int  # milliseconds of silence after which it is gone
    opened_at: int
    seen_at: int
    expires_at: int
    ended_at: int | None
    end_reason: str | None
    token_id: UUID | None = None  # that opened it
    secret: Annotated[str | None, Secret("of its opener's secret")] = field(default=None, repr=False)
    area: str | None = None  # where it declared to work
    files: tuple[str, ...] | None = None  # its declared paths and patterns
    outcome: str | None = None  # its own report on the result
    summary: str | None = None  # its own report on the work
    touched: tuple[str, ...] | None = None  # the files that it reported at the end
    since: int | None = None  # start of its present condition
    voices: Mapping[str, str] = field(default_factory=dict)  # the instance that speaks for it, by its door
    heartbeat_told_at: int | None = None  # when a bare heartbeat of the agent was last recorded
    paused_until: int | None = None  # until when its clock stands still, or did

    def is_live(self, now: int) -> bool:
        return self.ended_at is None and self.expires_at > now

    def lasts_until(self, now: int, ttl: int) -> int:
        """Return when the presence ends if the agent stays silent for `ttl` milliseconds, not counting a pause."""
        return max(now, self.paused_until or 0) + ttl


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A stretch of work in a project: the tasks, messages, artifacts and reviews that belong together."""

    id: Annotated[UUID, Seen(REST)]
    project_id: UUID
    name: Annotated[str | None, Seen(REST, "null: not named yet")]
    notebook: str | None  # its orchestrator's notes; opaque
    created_at: Annotated[int, Seen(REST)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    id: Annotated[UUID, Seen(REST | CARD)]
    project_id: UUID
    number: Annotated[int, Seen(REST | CARD, "counted in the project, from 1")]
    title: Annotated[str, Seen(REST | CARD)]
    description: Annotated[str, Seen(REST)]
    context: Annotated[str | None, Seen(REST)]
    status: Annotated[Status, Seen(REST | CARD)]
    priority: Annotated[Priority, Seen(REST | CARD)]
    sender: Annotated[str, Seen(REST | CARD)]
    author: Annotated[
        str | None,
        Seen(
            REST | CARD,
            "the person, if the sender is `hub`, the name of every caller without one",
            since="0.2.0",
        ),
    ] = None
    edited_by: Annotated[
        str | None, Seen(REST, "the last editor of its description; null: it is the sender's")
    ] = None
    assignee: Annotated[str | None, Seen(REST | CARD, "null: any agent may claim it")]
    addressed: Annotated[
        bool, Seen(REST, "sent to its assignee by name, rather than claimed from the open queue")
    ]
    result: Annotated[str | None, Seen(REST)] = None
    area: Annotated[str | None, Seen(REST | CARD, "its area of the project")] = None
    issue: Annotated[str | None, Seen(REST | CARD, "its GitHub issue, as owner/repository#number")] = None
    files: Annotated[tuple[str, ...] | None, Seen(REST, "the files changed for it")] = None
    run_id: Annotated[UUID | None, Seen(REST | CARD)] = None
    parent_id: Annotated[UUID | None, Seen(REST | CARD)]
    depth: Annotated[int, Seen(REST, "the number of its ancestors")] = 0
    reason: Annotated[str | None, Seen(REST, "the reason why it was derived from its parent")] = None
    external_id: Annotated[str | None, Seen(REST, "its maker's id for it; unique in the run")] = None
    gated: bool = False  # tasks must be completed before it may be claimed
    epoch: Annotated[int, Seen(REST, "rises with every change of hands")] = 1
    attempt: Annotated[
        int, Seen(REST | CARD, "1 for the first delivery; rises with retries and redeliveries")
    ] = 1
    leased: bool = False  # held by an agent with a heartbeat: when that falls silent, the hold ends
    door: str | None = None  # the tool set in which its holder took it
    delivery_id: UUID | None = None  # its current row in an inbox
    note: Annotated[
        str | None,
        Seen(
            CARD,
            "the last reason for its status: why it is blocked, or was released",
        ),
    ] = None
    created_at: Annotated[int, Seen(REST | CARD)]
    updated_at: Annotated[int, Seen(REST | CARD)]
    delivered_at: Annotated[int | None, Seen(REST | CARD)] = None
    accepted_at: Annotated[int | None, Seen(REST | CARD)] = None
    started_at: Annotated[int | None, Seen(REST | CARD)] = None
    ended_at: Annotated[int | None, Seen(REST | CARD)] = None
    expires_at: Annotated[int | None, Seen(REST | CARD)]

    @property
    def text(self) -> str:
        return joined_text(self.title, self.description)

    @property
    def sent_by(self) -> str:
        """Return the one name of its sender: a person's own."""
        return self.author or self.sender

    @property
    def is_ended(self) -> bool:
        return self.status in ENDED


def joined_text(title: str, description: str) -> str:
    """Join title and description; the description alone if it begins with the title, after any blanks."""
    if description.lstrip().startswith(title):
        return description
    return f"{title}\n\n{description}" if description else title


def title_of(text: str) -> str:
    """Return the title of a task given as one text: its first line, at most 80 characters."""
    return text.strip().split("\n", 1)[0][:TITLE_LENGTH].strip()


class Intent(StrEnum):
    """The purpose of a message."""

    TEXT = auto()
    STATUS = auto()
    REQUEST = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    id: Annotated[UUID, Seen(REST)]
    project_id: UUID
    number: Annotated[int, Seen(REST, "counted in the project, from 1")]
    kind: Annotated[LetterKind, Seen(REST)]
    sender: Annotated[str, Seen(REST)]
    author: Annotated[
        str | None, Seen(REST, "the person, if the sender is `hub`, the name of every caller without one")
    ] = None
    recipient: Annotated[str | None, Seen(REST, "null: everyone who was there")]
    addressee: Annotated[
        str | None,
        Seen(REST, "the person, if the recipient is `hub` and one of the people is meant", since="0.2.0"),
    ] = None
    body: Annotated[str, Seen(REST)]
    intent: Annotated[Intent | None, Seen(REST, "its purpose, if its sender gave one")] = None
    in_reply_to: Annotated[UUID | None, Seen(REST, "a task or a message")]
    outcome: Annotated[
        Status | None,
        Seen(
            REST,
            "the final status of the task that it answers, or of its child that ended; or `in_review`",
        ),
    ]
    created_at: Annotated[int, Seen(REST)]
    run_id: UUID | None = None
    thread: str | None = None  # its sender's name for the conversation
    metadata: Mapping[str, str] | None = None

    @property
    def sent_by(self) -> str:
        """Return the one name of its sender: a person's own."""
        return self.author or self.sender

    @property
    def sent_to(self) -> str | None:
        """Return the one name of its receiver: a person's own; None for everyone."""
        return self.addressee or self.recipient

    @property
    def thread_name(self) -> str | None:
        """Return the message's conversation: as its sender named it, else the message that it answers."""
        return self.thread or (str(self.in_reply_to) if self.in_reply_to else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A thing made to be shown to others. Its content is stored apart."""

    id: Annotated[UUID, Seen(REST)]
    project_id: UUID
    number: Annotated[int, Seen(REST, "counted in the project, from 1")]
    run_id: Annotated[UUID, Seen(REST)]
    name: Annotated[str, Seen(REST, "need not be unique: a name means its newest artifact")]
    kind: Annotated[str, Seen(REST)]
    creator: Annotated[str, Seen(REST)]
    task: Annotated[str | None, Seen(REST, "the words of its creator: an id, or any text")]
    length: Annotated[int, Seen(REST, "of its content, in characters")]
    created_at: Annotated[int, Seen(REST)]


class ReviewVerdict(StrEnum):
    """The word of a reviewer."""

    APPROVED = auto()
    CHANGES_REQUESTED = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """An artifact that an agent was asked to review."""

    id: Annotated[UUID, Seen(REST)]
    project_id: UUID
    run_id: Annotated[UUID, Seen(REST)]
    artifact_id: Annotated[UUID, Seen(REST)]
    requester: Annotated[str, Seen(REST)]
    reviewer: Annotated[str, Seen(REST)]
    verdict: Annotated[ReviewVerdict | None, Seen(REST, "null: not given yet")]
    comments: Annotated[str | None, Seen(REST)]
    created_at: Annotated[int, Seen(REST)]
    submitted_at: Annotated[int | None, Seen(REST)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A check of a task before it counts as completed: a lease, renewed by the checker."""

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
    """One row of one inbox, and its progress: stored, notified, seen, acked; withdrawn; dead."""

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
    for_people: bool = False  # a message that waits for a person
    wake_id: UUID | None = None  # the wake that pointed its receiver at it
    dead_at: int | None = None  # since when it counts as unread for ever; cleared once it is read

    @property
    def reached(self) -> DeliveryStatus:
        """Return the last station that it reached."""
        return DeliveryStatus.by(self.notified_at, self.seen_at, self.acked_at, self.dead_at)


CHILD = "child_task_id"  # in the metadata of a reply: the derived task whose end it tells


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A delivery together with its content, as its reader sees it."""

    delivery: Delivery
    number: int  # of the task or the message
    kind: LetterKind
    sender: str
    author: str | None = None  # the person, if the sender is `hub`
    title: str
    body: str
    context: str | None = None
    edited_by: str | None = None  # the writer of a task's body, if not its sender
    task_id: UUID | None = None
    in_reply_to: UUID | None = None
    outcome: Status | None = None
    child: str | None = None  # the id of the derived task whose end a reply tells; the outcome is its

    @property
    def sent_by(self) -> str:
        """Return the one name of its sender: a person's own."""
        return self.author or self.sender

    @property
    def text(self) -> str:
        return joined_text(self.title, self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionReport:
    """An agent's report of completed work, kept whole, whatever becomes of the task."""

    id: Annotated[UUID, Seen(REST)]
    project_id: UUID
    agent: Annotated[str, Seen(REST)]
    task: Annotated[str, Seen(REST, "the words of the agent: an id or a text")]
    task_id: Annotated[UUID | None, Seen(REST)]
    result: Annotated[str, Seen(REST)]
    artifacts: Annotated[str | None, Seen(REST, "a JSON array")]
    score: Annotated[float | None, Seen(REST)]
    duration_minutes: Annotated[float | None, Seen(REST)]
    completed_at: Annotated[int, Seen(REST)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedNode:
    """A machine, as the agents on it describe it."""

    project_id: UUID
    key: str
    name: str | None
    model: str | None
    runtime: str | None
    seen_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """One thing that happened. `agent` is the agent concerned; (`tx`, `seq`) is its place in the log.

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
    patch: str | None = None  # JSON: its effect on the project's picture; read only where it is passed on
