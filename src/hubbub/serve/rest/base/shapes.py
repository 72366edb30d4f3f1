"""The JSON of the REST interface: the outside view of nouns, and the members of requests."""

from collections.abc import Callable
from types import FunctionType
from typing import Annotated, Any, Self, TypeVar, cast, get_args
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError

from hubbub.model.agents.scopes import Area
from hubbub.model.argument_names import complaint
from hubbub.model.fields import REST, Seen, declared, merged, seen
from hubbub.model.fields import Field as NounField
from hubbub.model.json_fields import storable
from hubbub.model.lifecycle import Status
from hubbub.model.log.attention import NeedKind, TaskState
from hubbub.model.log.outbox_items import OutboxItem
from hubbub.model.log.webhooks import Webhook
from hubbub.model.mail.delivery_status import DeliveryStatus
from hubbub.model.mail.wakes import WakeChannel
from hubbub.model.people.accounts import Token, User
from hubbub.model.people.rights import GIVEN, Role
from hubbub.model.records import (
    Artifact,
    CompletionReport,
    Condition,
    LetterKind,
    Message,
    Priority,
    Project,
    Review,
    Run,
    Task,
)
from hubbub.model.text_limits import LONGEST_TEXT

UNKNOWN_MEMBER = "unknown_member"  # pydantic's type of this problem
MOST_TOLD = 5  # unknown members of one body
PRIORITIES = {priority.name.lower(): priority for priority in Priority}


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


def told(**form: Any) -> WithJsonSchema:
    """Return the form of a text for OpenAPI; the core checks it, in its own words."""
    return WithJsonSchema({"type": "string", **form})


Storable = AfterValidator(storable)
Name = Annotated[str, Field(min_length=1, max_length=200), Storable, AfterValidator(_is_given)]
Line = Annotated[str, Field(max_length=1_000), Storable]
Label = Annotated[str, Field(min_length=1, max_length=100), Storable]
Text = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT), Storable, AfterValidator(_is_given)]
LongText = Annotated[str, Field(max_length=LONGEST_TEXT), Storable]
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


class Model(BaseModel):
    """JSON of the interface. It is checked and written by code that pydantic makes when it first needs it."""

    model_config = ConfigDict(defer_build=True)


def complete(hint: Any) -> None:
    """Have the models of a type made; the inner ones first, so that others share them."""
    if isinstance(hint, type) and issubclass(hint, Model) and not hint.__pydantic_complete__:
        for field in hint.model_fields.values():
            complete(field.annotation)
        hint.model_config["defer_build"] = False  # nor do types that are made of it wait any longer
        hint.model_rebuild()
    for part in get_args(hint):
        complete(part)


class Body(Model):
    """The body of a call. An unknown member is refused with the one that was probably meant; null means omitted."""

    model_config = ConfigDict(hide_input_in_errors=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _require_known(cls, given: object) -> object:
        """Refuse unknown members before anything else: one that is missing has often come by another name."""
        known = cls.model_fields
        strange = [name for name in given if name not in known] if isinstance(given, dict) else []
        if strange:
            said = "; ".join(complaint("this call", each, known, "member") for each in strange[:MOST_TOLD])
            raise PydanticCustomError(UNKNOWN_MEMBER, "{said}", {"said": said})
        return given


class Shape(Model):
    """The answer to a call, made from a record: times are Unix milliseconds, UTC."""

    model_config = ConfigDict(from_attributes=True)

    @classmethod
    def of(cls, record: object, **more: object) -> Self:
        """Make the shape of a record; `more` are the members that the record does not have."""
        known = {name: getattr(record, name) for name in cls.model_fields if hasattr(record, name)}
        return cls.model_validate({**known, **more})


S = TypeVar("S", bound=Shape)
_METHODS = (FunctionType, classmethod, staticmethod, property)


def tells(noun: type) -> Callable[[type[S]], type[S]]:
    """Give a shape the noun's visible fields, and its own ones, each `after` the one that it names.

    Its class is made anew for that, with its members alone: raises `TypeError` for one that has methods.
    """

    def derived(beside: type[S]) -> type[S]:
        if lost := [
            name for name, value in vars(beside).items() if name[0] != "_" and isinstance(value, _METHODS)
        ]:
            raise TypeError(f"{beside.__name__} tells a noun, and has members only: not {', '.join(lost)}")
        own = seen(noun, REST)
        added = {name: declared(beside)[name] for name in beside.__annotations__}
        members: dict[str, Any] = {name: (_told(each.type), _explained(each)) for name, each in own.items()}
        for name, field in added.items():
            info = beside.model_fields[name]
            info.description = field.seen.says or info.description
            members[name] = (info.annotation, info)
        ordered = {name: members[name] for name in merged(own, added)}
        bases = cast(tuple[type[S], ...], beside.__bases__)
        return create_model(
            beside.__name__, __base__=bases, __doc__=beside.__doc__, __module__=beside.__module__, **ordered
        )

    return derived


def _explained(field: NounField) -> Any:
    return Field(description=field.seen.says or None)


def _told(hint: Any) -> Any:
    """Return the JSON type of a record's field."""
    return PriorityName if hint is Priority else hint


class Failure(Model):
    """Any refusal: a stable code, and a sentence for people."""

    error: str
    message: str


@tells(Project)
class ProjectShape(Shape):
    number: Annotated[int, Seen(REST, "counted in the hub, from 1", after="id")]
    role: Annotated[
        Role | None, Seen(REST, "the caller's; only in replies about the caller", after="heartbeat_ttl")
    ] = None


@tells(Area)
class AreaShape(Shape):
    pass


class ConflictShape(Shape):
    agent: str
    areas: list[str]
    files: list[str] = Field(description="of two entries that meet, the one that says more")


class ScopeShape(Shape):
    agent: str
    area: str | None
    files: list[str]
    conflicts: list[ConflictShape]


@tells(User)
class UserShape(Shape):
    pass


@tells(Token)
class TokenShape(Shape):
    user: Annotated[
        str | None, Seen(REST, "its owner, or the person who made it; in lists", after="user_id")
    ] = None
    project: Annotated[str | None, Seen(REST, "the slug of its project; in lists", after="project_id")] = None


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
    """Forecast for the sender of a message."""

    wake: WakeChannel = Field(description="a hook, a door of its client, `hubbub work`, or nothing wakes it")
    likely_seen: bool = Field(description="whether it will probably look soon")
    note: str


class SentShape(OutlookShape):
    status: DeliveryStatus = Field(
        DeliveryStatus.STORED, description="how far it got; it is safe from now on"
    )


class NeedShape(Shape):
    kind: NeedKind
    rank: int = Field(description="the smaller, the more urgent")
    since: int = Field(description="from when on; it may lie ahead")
    until: int | None = Field(description="null: until something happens")


@tells(Task)
class TaskShape(Shape):
    state: Annotated[
        TaskState,
        Seen(REST, "the status as people see it; waiting: its holder waits for a person", after="status"),
    ]
    need: Annotated[
        NeedShape | None, Seen(REST, "the reason why a person is needed, and its beginning; null: none")
    ]
    may: Annotated[list[str], Seen(REST, "the verbs that are possible now, for people who may write")]
    text: Annotated[str, Seen(REST, "title and description as one text", after="description")]
    machine: Annotated[
        str | None, Seen(REST, "the machine that its assignee runs on, if known", after="result")
    ] = None
    depends_on: Annotated[
        list[UUID],
        Seen(REST, "the tasks that must be completed before it may be claimed", after="external_id"),
    ]
    ready: Annotated[bool, Seen(REST, "true if all of them are completed")]


@tells(Message)
class MessageShape(Shape):
    pass


@tells(Run)
class RunShape(Shape):
    current: Annotated[bool, Seen(REST, "true if things that name no run belong to it", after="name")]


@tells(Artifact)
class ArtifactShape(Shape):
    pass


@tells(Review)
class ReviewShape(Shape):
    pass


class LetterShape(Shape):
    """A row of an inbox."""

    id: UUID
    ref: str = Field(description="its short name: M-7 of a message, T-4 of a task")
    kind: LetterKind
    sender: str
    author: str | None = Field(description="the person, if the sender is `hub`")
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


@tells(CompletionReport)
class CompletionShape(Shape):
    pass


@tells(Webhook)
class WebhookShape(Shape):
    pass


@tells(OutboxItem)
class ParcelShape(Shape):
    """A delivery that has left the hub, or will leave it."""


class ActivityShape(Shape):
    id: int = Field(description="its place in the log")
    kind: str
    at: int
    actor: str
    agent: str | None
    task_id: UUID | None
    message_id: UUID | None
    detail: dict[str, Any]
