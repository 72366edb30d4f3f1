"""The JSON of the REST interface: what the nouns look like from outside, and what may be said about them."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
)

from hubbub.model.lifecycle import Status
from hubbub.model.parcels import Outcome, ParcelKind
from hubbub.model.reached import Reached
from hubbub.model.records import Condition, Intent, Kind, Priority, Verdict
from hubbub.model.rights import GIVEN, Role
from hubbub.model.wakes import WakeWay
from hubbub.model.webhooks import Form

PRIORITIES = {priority.name.lower(): priority for priority in Priority}


def storable(text: str) -> str:
    """`text`, unless it holds what no store can keep."""
    if "\0" in text:
        raise ValueError("must not contain NUL characters")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("must not contain halves of surrogate pairs") from None
    return text


def _priority(given: object) -> object:
    if isinstance(given, Priority):
        return given
    if not isinstance(given, str) or given not in PRIORITIES:
        raise ValueError(f"must be one of {', '.join(PRIORITIES)}")
    return PRIORITIES[given]


def _is_given(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text


def _given(role: Role) -> Role:
    if role not in GIVEN:
        raise ValueError(f"must be one of {', '.join(GIVEN)}")
    return role


Storable = AfterValidator(storable)
Name = Annotated[str, Field(min_length=1, max_length=200), Storable, AfterValidator(_is_given)]
Line = Annotated[str, Field(max_length=1_000), Storable]
Text = Annotated[str, Field(min_length=1, max_length=50_000), Storable, AfterValidator(_is_given)]
LongText = Annotated[str, Field(max_length=50_000), Storable]
Whole = Annotated[int, Field(strict=True)]
Seconds = Annotated[float, Field(strict=True, gt=0, le=366 * 24 * 3600, allow_inf_nan=False)]
Percent = Annotated[float, Field(strict=True, ge=0, le=100, allow_inf_nan=False)]
GivenRole = Annotated[
    Role, AfterValidator(_given), WithJsonSchema({"type": "string", "enum": list(map(str, GIVEN))})
]
PriorityName = Annotated[
    Priority,
    BeforeValidator(_priority),
    PlainSerializer(lambda priority: priority.name.lower(), return_type=str),
    WithJsonSchema({"type": "string", "enum": list(PRIORITIES)}),
]


class Body(BaseModel):
    """What a call brings. Members that are not known are ignored, null means omitted."""

    model_config = ConfigDict(hide_input_in_errors=True)


class Shape(BaseModel):
    """What a call answers, made from a record: times are Unix milliseconds, UTC."""

    model_config = ConfigDict(from_attributes=True)

    @classmethod
    def of(cls, record: object, **more: object) -> Any:
        """The shape of a record; `more` are the members that the record does not have."""
        known = {name: getattr(record, name) for name in cls.model_fields if hasattr(record, name)}
        return cls.model_validate({**known, **more})


class Failure(BaseModel):
    """Any refusal: a stable code, and a sentence for people."""

    error: str
    message: str


class ProjectShape(Shape):
    id: UUID
    number: int
    slug: str
    name: str
    description: str | None
    conflict_mode: str
    repo_url: str | None
    heartbeat_interval: int = Field(description="seconds")
    heartbeat_ttl: int = Field(description="seconds")
    role: Role | None = Field(None, description="the caller's, where it was asked who the caller is")
    created_at: int


class AreaShape(Shape):
    slug: str
    number: int
    name: str
    description: str | None
    patterns: list[str]


class ConflictShape(Shape):
    agent: str
    areas: list[str]
    files: list[str] = Field(description="of two entries that meet, the one that says more")


class ScopeShape(Shape):
    agent: str
    area: str | None
    files: list[str]
    conflicts: list[ConflictShape]


class UserShape(Shape):
    id: UUID
    name: str
    owns_hub: bool
    created_at: int


class TokenShape(Shape):
    id: UUID
    user_id: UUID | None
    user: str | None = Field(None, description="the person whose it is, or who made it; in lists")
    project_id: UUID | None
    project: str | None = Field(None, description="the slug of its project; in lists")
    agent: str | None
    role: Role | None
    rate: int | None = Field(description="calls a second, where it is not as many as all may make")
    created_at: int
    expires_at: int | None
    revoked_at: int | None


class PresenceShape(Shape):
    instance: str
    condition: Condition
    doing: str | None
    output: str | None
    progress: float | None
    score: float | None
    server: str | None
    hostname: str | None
    runtime: str | None
    workdir: str | None
    version: str | None
    model: str | None
    area: str | None = Field(description="where it said it works")
    files: list[str] | None = Field(description="and on what: paths and patterns")
    opened_at: int
    seen_at: int
    expires_at: int
    ended_at: int | None
    end_reason: str | None


class OutlookShape(Shape):
    """What the sender of a letter may expect of its receiver."""

    wake: WakeWay = Field(description="a hook, a door of its client, `hubbub work`, or nothing wakes it")
    likely_seen: bool = Field(description="whether it will probably look soon")
    note: str


class SentShape(OutlookShape):
    status: Reached = Field(Reached.STORED, description="how far it got; it is safe from now on")


class TaskShape(Shape):
    id: UUID
    number: int
    title: str
    description: str
    text: str = Field(description="title and description as one text")
    context: str | None
    status: Status
    priority: PriorityName
    sender: str
    edited_by: str | None = Field(description="who wrote its description anew; null: it is the sender's")
    assignee: str | None
    addressed: bool
    result: str | None
    machine: str | None = Field(None, description="where its assignee runs, as far as is known")
    area: str | None = Field(description="the area of the project that it is in")
    issue: str | None = Field(description="the issue on GitHub it is about, as owner/repository#number")
    files: list[str] | None = Field(description="what was changed for it")
    run_id: UUID | None
    parent_id: UUID | None
    depth: int = Field(description="how many ancestors it has")
    reason: str | None = Field(description="why it was derived from its parent")
    external_id: str | None = Field(description="what its maker calls it")
    depends_on: list[UUID] = Field(description="the tasks that must be completed before it may be claimed")
    ready: bool = Field(description="whether all of them are")
    epoch: int = Field(description="rises with every change of hands")
    attempt: int
    created_at: int
    updated_at: int
    delivered_at: int | None
    accepted_at: int | None
    started_at: int | None
    ended_at: int | None
    expires_at: int | None


class MessageShape(Shape):
    id: UUID
    number: int
    kind: Kind
    sender: str
    author: str | None = Field(
        description="the person, where the sender is `hub`, as everyone without a name"
    )
    recipient: str | None = Field(description="null: everyone who was there")
    body: str
    intent: Intent | None = Field(description="what it is for, where its sender said so")
    in_reply_to: UUID | None
    outcome: Status | None
    created_at: int


class RunShape(Shape):
    id: UUID
    name: str | None = Field(description="null: nobody has named it yet")
    current: bool = Field(description="whether to it belongs what names no run")
    created_at: int


class ArtifactShape(Shape):
    id: UUID
    number: int
    run_id: UUID
    name: str
    kind: str
    creator: str
    task: str | None
    length: int = Field(description="of its content, in characters")
    created_at: int


class ReviewShape(Shape):
    id: UUID
    run_id: UUID
    artifact_id: UUID
    requester: str
    reviewer: str
    verdict: Verdict | None = Field(description="null: not given yet")
    comments: str | None
    created_at: int
    submitted_at: int | None


class LetterShape(Shape):
    """A row of an inbox."""

    id: UUID
    kind: Kind
    sender: str
    edited_by: str | None = Field(description="who wrote a task's description anew; null: its sender")
    text: str
    context: str | None
    priority: PriorityName
    task_id: UUID | None
    in_reply_to: UUID | None
    outcome: Status | None
    stored_at: int
    notified_at: int | None
    seen_at: int | None


class CompletionShape(Shape):
    id: UUID
    agent: str
    task: str
    task_id: UUID | None
    result: str
    artifacts: str | None = Field(description="a JSON array")
    score: float | None
    duration_minutes: float | None
    completed_at: int


class WebhookShape(Shape):
    id: UUID
    url: str
    events: list[str] = Field(description="kinds, groups such as task.*, needs, or * for all")
    form: Form
    created_by: str
    created_at: int


class ParcelShape(Shape):
    """Something that has left the hub, or is to leave it."""

    id: UUID = Field(description="told to webhooks as Hubbub-Delivery")
    seq: int = Field(description="its place in the outbox")
    kind: ParcelKind
    webhook_id: UUID | None
    activity: int | None = Field(description="the id of what a webhook is told of")
    event: str | None = Field(description="the kind of that")
    issue: str | None = Field(description="where a comment goes")
    task_id: UUID | None
    attempts: int
    next_at: int = Field(description="when it is tried next, unless it has ended")
    outcome: Outcome | None = Field(description="null: it is still to leave")
    last_error: str | None
    created_at: int
    ended_at: int | None


class ActivityShape(Shape):
    id: int = Field(description="its place in the log")
    kind: str
    at: int
    actor: str
    agent: str | None
    task_id: UUID | None
    message_id: UUID | None
    detail: dict[str, Any]
