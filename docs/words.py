"""Writes `reference/words.md`: the words of every dialect for what the hub keeps, as the code has them.

`make docs` runs it, and a test says when that was forgotten. The words of a table are looked up. Those of fields are
found by trial: a record is changed in one field, and what then changes in a dialect's row is its word for that field.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints
from uuid import UUID

from hubbub.dialects import names
from hubbub.dialects.cmdop import vocabulary as cmdop
from hubbub.dialects.commhub import vocabulary as commhub
from hubbub.dialects.golemxv import vocabulary as golemxv
from hubbub.dialects.hub import vocabulary as own
from hubbub.dialects.relay import vocabulary as relay
from hubbub.model.agents.scopes import AgentConflict, Area
from hubbub.model.fleet.nodes import Machine
from hubbub.model.lifecycle import Status
from hubbub.model.people.rights import Role
from hubbub.model.records import (
    Artifact,
    CompletionReport,
    Condition,
    Intent,
    Letter,
    LetterKind,
    Message,
    Presence,
    Priority,
    Project,
    Review,
    ReviewVerdict,
    Run,
    Task,
)

HEAD = """# The words of every dialect

`make docs` makes this page from the code. The [glossary](../glossary.md) explains our own words. A word that stands
for several of ours loses a detail, but never says anything wrong."""

PAGE = Path(__file__).parent / "reference" / "words.md"

OWN, COMMHUB, RELAY, GOLEMXV, CMDOP = "hub", "CommHub", "Relay", "GolemXV", "cmdop"
TITLES = {"hub": OWN, "commhub": COMMHUB, "relay": RELAY, "golemxv": GOLEMXV, "cmdop": CMDOP}
NOTHING = "–"

Record = TypeVar("Record")
Row = Mapping[str, object]

ONE, OTHER = UUID(int=1), UUID(int=2)
DAY = 86_400_000  # milliseconds, so that a later time is another one however it is written
FIRST: Mapping[Any, Any] = {UUID: ONE, str: "a", int: 1, float: 1.0, bool: False}
SECOND: Mapping[Any, Any] = {UUID: OTHER, str: "b", int: 1 + DAY, float: 2.0, bool: True}
BARE: Mapping[Any, Any] = {**FIRST, NoneType: None}  # where a field may have no value, it has none
ENDED = {"end_reason": golemxv.ENDED["timed_out"][0]}  # which not any text will do for


@dataclass(frozen=True)
class Noun(Generic[Record]):
    """A record of the hub, and the row that each dialect makes of it."""

    title: str
    kind: type[Record]
    rows: Mapping[str, Callable[[Record], Row]]


def example(kind: type[Record], values: Mapping[Any, Any] = FIRST) -> Record:
    """A record of these values."""
    hints = get_type_hints(kind)
    return kind(**{field.name: _value(hints[field.name], values) for field in fields(kind)})  # type: ignore[arg-type]


def _value(hint: Any, values: Mapping[Any, Any]) -> Any:
    """A value of the type that is written so."""
    if isinstance(hint, UnionType):
        if NoneType in values:
            return None
        (hint,) = set(get_args(hint)) - {NoneType}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return list(hint)[-1 if values is SECOND else 0]
    if is_dataclass(hint):
        return example(hint, values)  # type: ignore[arg-type]
    if hint in values:
        return values[hint]
    inner = _value(get_args(hint)[0], values)
    return {"k": inner} if get_origin(hint) is Mapping else (inner,)


def variants(record: Record, other: Record) -> Iterator[tuple[str, Record]]:
    """The record with one field from the `other`, for each field, by its name."""
    for field in fields(record):  # type: ignore[arg-type]
        mine, theirs = getattr(record, field.name), getattr(other, field.name)
        if is_dataclass(mine):
            for name, inner in variants(mine, theirs):
                yield f"{field.name}.{name}", replace(record, **{field.name: inner})  # type: ignore[type-var]
        else:
            yield field.name, replace(record, **{field.name: theirs})  # type: ignore[type-var]


def field_words(noun: Noun[Record]) -> Iterator[list[str]]:
    """For each field that some dialect tells: its name, and what each dialect calls it."""
    other = replace(example(noun.kind, SECOND), **_special(noun.kind))  # type: ignore[type-var]
    found: dict[str, list[dict[str, None]]] = {}
    for record in (example(noun.kind), example(noun.kind, BARE)):  # one field may hide another
        for name, variant in variants(record, other):
            words = found.setdefault(name, [{} for _ in noun.rows])
            for known, row in zip(words, noun.rows.values(), strict=True):
                known.update(_difference(row(record), row(variant)))
    for name, words in found.items():
        if any(words):
            yield [f"`{name}`", *(", ".join(f"`{word}`" for word in known) or NOTHING for known in words)]


def _special(kind: type[Any]) -> Mapping[str, object]:
    return {name: value for name, value in ENDED.items() if name in kind.__dataclass_fields__}


def _difference(before: Row, after: Row) -> dict[str, None]:
    return dict.fromkeys(name for name in before if before[name] != after.get(name))


def _in_project(project_id: UUID) -> Project:
    return replace(example(Project), id=project_id)


def _in_run(run_id: UUID | None) -> Run:
    return replace(example(Run), name=str(run_id))


def _relay_task(task: Task) -> Row:
    needs = [OTHER] if task.gated else []
    return relay.task_row(task, _in_run(task.run_id), needs, relay.described(task))


def _golemxv_task(task: Task) -> Row:
    area = replace(example(Area), patterns=(task.area or "",))
    return {**golemxv.task_row(task), **golemxv.claimed_task(task, area)}


NOUNS: tuple[Noun[Any], ...] = (
    Noun(
        "A task",
        Task,
        {
            CMDOP: lambda task: cmdop.issue(task, [], [], ""),
            COMMHUB: lambda task: commhub.task_row(task, _in_project(task.project_id)),
            GOLEMXV: _golemxv_task,
            OWN: lambda task: own.task_whole(task, [], [], {}, []),
            RELAY: _relay_task,
        },
    ),
    Noun(
        "A message",
        Message,
        {
            CMDOP: cmdop.comment_row,
            COMMHUB: lambda message: commhub.message_row(message, _in_project(message.project_id)),
            GOLEMXV: golemxv.message_row,
            OWN: lambda message: own.message(message, [], {}, reply_to=str(message.in_reply_to)),
            RELAY: lambda message: relay.message_row(message, _in_run(message.run_id)),
        },
    ),
    Noun(
        "A row of an inbox",
        Letter,
        {
            COMMHUB: lambda letter: commhub.letter_row(letter, _in_project(letter.delivery.project_id)),
            OWN: lambda letter: own.letter(
                letter, reply_to=str(letter.in_reply_to), seen_at=letter.delivery.seen_at
            ),
        },
    ),
    Noun(
        "A presence",
        Presence,
        {
            COMMHUB: lambda presence: commhub.session_row(presence, _in_project(presence.project_id)),
            GOLEMXV: golemxv.stay_row,
        },
    ),
    Noun(
        "A project",
        Project,
        {
            CMDOP: lambda project: cmdop.workspace_row(project, Role.MEMBER, example(Project)),
            COMMHUB: lambda project: commhub.network_row(project, Role.MEMBER),
            GOLEMXV: golemxv.project_row,
        },
    ),
    Noun("A machine", Machine, {CMDOP: lambda machine: cmdop.machine_row(machine, 0)}),
    Noun("An area of a project", Area, {GOLEMXV: golemxv.area_row}),
    Noun("A conflict", AgentConflict, {GOLEMXV: lambda conflict: golemxv.conflict_rows([conflict])[0]}),
    Noun(
        "A completion",
        CompletionReport,
        {COMMHUB: lambda done: commhub.completion_row(done, example(Project))},
    ),
    Noun("An artifact", Artifact, {RELAY: lambda made: relay.artifact_row(made, _in_run(made.run_id))}),
    Noun("A review", Review, {RELAY: lambda review: relay.review_row(review, _in_run(review.run_id))}),
)


def _reviewed(verdict: ReviewVerdict) -> object:
    return relay.review_row(replace(example(Review), verdict=verdict), example(Run))["status"]


def _intended(intent: Intent) -> object:
    return golemxv.message_row(replace(example(Message), intent=intent))["type"]


VOCABULARIES: Mapping[
    str, tuple[type[Enum], str]
] = {  # and the name of the table in each dialect that has one
    "Statuses of a task": (Status, "STATUS"),
    "Priorities": (Priority, "PRIORITY"),
    "What an agent says it is doing": (Condition, "CONDITION"),
    "What lies in an inbox": (LetterKind, "KIND"),
}
SAYINGS: Mapping[str, tuple[type[Enum], str, Callable[[Any], object]]] = {
    "What a message is for": (Intent, GOLEMXV, _intended),
    "What a reviewer says": (ReviewVerdict, RELAY, _reviewed),
}


def vocabularies(name: str) -> Mapping[str, Mapping[Any, str]]:
    """The tables of that name, by dialect: each has its own in its module, or in a folder its `vocabulary`."""
    found = {}
    for dialect in names():
        module = import_module(f"hubbub.dialects.{dialect}")
        words = getattr(module, "vocabulary", module)
        if table := getattr(words, name, None):
            found[TITLES.get(dialect, dialect)] = table
    return found


def _here(member: Enum) -> str:
    return f"`{member.name.lower()}`"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    columns = list(head)
    lines = [columns, ["---"] * len(columns), *map(list, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page() -> str:
    """The page as it is to be."""
    sections = [HEAD]
    for title, (kind, name) in VOCABULARIES.items():
        said = vocabularies(name)
        rows = [[_here(each), *(f"`{words[each]}`" for words in said.values())] for each in kind]
        sections += [f"## {title}", table(["here", *said], rows)]
    for title, (kind, dialect, word) in SAYINGS.items():
        rows = [[_here(each), f"`{word(each)}`"] for each in kind]
        sections += [f"## {title}", table(["here", dialect], rows)]
    sections += [
        "## What happens",
        "The names of activities in the [log](events.md#the-kinds-of-the-log), and in GolemXV's `activity_log`.",
        table(["here", GOLEMXV], ([f"`{kind}`", f"`{said}`"] for kind, said in golemxv.EVENTS.items())),
    ]
    sections += [
        "## Fields",
        "The tables leave out what a dialect does not show. REST shows everything under our own names.",
    ]
    for noun in NOUNS:
        sections += [f"### {noun.title}", table(["here", *noun.rows], field_words(noun))]
    return "\n\n".join(sections) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
