"""Writes what is made of the nouns' declarations: `reference/nouns.md`, and the types of cards in the page's code.

`make docs` runs it, and a test says when that was forgotten. The names, types and meanings are those of the records
(`model/fields.py`), of the shapes of REST, and of the cards.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin
from uuid import UUID

from docs.words import NOTHING, table
from hubbub.model.agents.scopes import Area
from hubbub.model.fields import FIRST, Field, Seen, declared, merged
from hubbub.model.fleet.approvals import Approval
from hubbub.model.fleet.managed_agents import ManagedAgent
from hubbub.model.fleet.nodes import Machine, ShareLink
from hubbub.model.limits.accounts import Account
from hubbub.model.limits.breakers import BreakerRules, Stop
from hubbub.model.limits.budgets import Budget
from hubbub.model.log.outbox_items import OutboxItem
from hubbub.model.log.projection import CARD_SHAPES, CardShape
from hubbub.model.log.webhooks import Webhook
from hubbub.model.people.accounts import Token, User
from hubbub.model.people.logins import Login
from hubbub.model.records import Artifact, CompletionReport, Message, Priority, Project, Review, Run, Task
from hubbub.model.work.leases import Capacity, Lease, LeaseRule
from hubbub.model.work.proof import Contract, ProofRules, Sighting
from hubbub.serve.rest.base.shapes import (
    AreaShape,
    ArtifactShape,
    CompletionShape,
    MessageShape,
    ParcelShape,
    ProjectShape,
    ReviewShape,
    RunShape,
    Shape,
    TaskShape,
    TokenShape,
    UserShape,
    WebhookShape,
)
from hubbub.serve.rest.fleet.approvals import ApprovalShape
from hubbub.serve.rest.fleet.managed_agents import PlacementShape
from hubbub.serve.rest.fleet.nodes import MachineShape
from hubbub.serve.rest.fleet.shares import ShareShape
from hubbub.serve.rest.limits.breakers import BreakerRulesShape, StopShape
from hubbub.serve.rest.limits.budgets import BudgetShape
from hubbub.serve.rest.limits.usage_limits import AccountShape
from hubbub.serve.rest.people.logins import LoginShape
from hubbub.serve.rest.work.leases import CapacityShape, LeaseRuleShape, LeaseShape
from hubbub.serve.rest.work.proof import ContractShape, ProofRulesShape, SightingShape

HEAD = """# The fields of every noun

`make docs` makes this page from the code. A *kept* field is a column of that name; the JSON of *REST* and the *cards*
of [pictures](events.md#pictures-and-patches) have it under the same name. The hub computes other fields when it
answers. The dialects have [words of their own](words.md). The hub never shows a *secret* field; a kept field that is
in neither REST nor a card is for the hub itself. Another page says [how to add a field](../how-to/add-a-field.md)."""

PAGE = Path(__file__).parent / "reference" / "nouns.md"
SCRIPT = Path(__file__).parent.parent / "src/hubbub/serve/dashboard/static/model/fold.js"
BEGIN, END = "// The cards, as the hub declares them: made by `make docs`.\n", "// The end of the cards.\n"
NO_FACE = CardShape(None, None)
MOST_NAMES = 6  # that a type in the page's code spells out


@dataclass(frozen=True)
class Noun:
    """A record, and where else it stands."""

    title: str
    record: type
    shape: type[Shape]
    face: CardShape = NO_FACE


NOUNS = (
    Noun("A task", Task, TaskShape, CARD_SHAPES["tasks"]),
    Noun("A message", Message, MessageShape),
    Noun("A project", Project, ProjectShape),
    Noun("An area", Area, AreaShape),
    Noun("A run", Run, RunShape),
    Noun("An artifact", Artifact, ArtifactShape),
    Noun("A review", Review, ReviewShape),
    Noun("A completion", CompletionReport, CompletionShape),
    Noun("An approval", Approval, ApprovalShape, CARD_SHAPES["approvals"]),
    Noun("A machine", Machine, MachineShape, CARD_SHAPES["machines"]),
    Noun("A placement", ManagedAgent, PlacementShape),
    Noun("An account", Account, AccountShape, CARD_SHAPES["accounts"]),
    Noun("A budget", Budget, BudgetShape, CARD_SHAPES["budgets"]),
    Noun("What is too often", BreakerRules, BreakerRulesShape),
    Noun("A stop", Stop, StopShape, CARD_SHAPES["stops"]),
    Noun("A lease", Lease, LeaseShape, CARD_SHAPES["leases"]),
    Noun("A capacity", Capacity, CapacityShape),
    Noun("A rule for a command", LeaseRule, LeaseRuleShape),
    Noun("What a project's tasks ask for", ProofRules, ProofRulesShape),
    Noun("What a task asks for", Contract, ContractShape),
    Noun("What a hook saw", Sighting, SightingShape),
    Noun("A share link", ShareLink, ShareShape),
    Noun("A webhook", Webhook, WebhookShape),
    Noun("What leaves the hub", OutboxItem, ParcelShape),
    Noun("A person", User, UserShape),
    Noun("A token", Token, TokenShape),
    Noun("A login", Login, LoginShape),
)
CARDS = {
    "tasks": "Task",
    "agents": "Agent",
    "machines": "Machine",
    "approvals": "Approval",
    "letters": "Letter",
    "overlaps": "Overlap",
    "leases": "Lease",
    "accounts": "Account",
    "budgets": "Budget",
    "stops": "Stop",
}
COLUMNS = ("field", "type", "kept", "REST", "card", "")


def of_shape(noun: Noun) -> Mapping[str, Field]:
    """Return the members of a noun's shape that its record lacks."""
    notes = {
        name: next(each for each in info.metadata if isinstance(each, Seen))
        for name, info in noun.shape.model_fields.items()
        if any(isinstance(each, Seen) for each in info.metadata)
    }
    return {
        name: Field(name, noun.shape.model_fields[name].annotation, seen, False)
        for name, seen in notes.items()
    }


def rows(noun: Noun) -> Iterator[list[str]]:
    """Each field of a noun, with all that stands in its JSON."""
    own, on_card = declared(noun.record), noun.face.members
    told_too = of_shape(noun)
    beside = {**told_too, **{name: on_card[name] for name in on_card if name not in {*own, *told_too}}}
    for name in merged(own, {name: field for name, field in beside.items() if name not in own}):
        field = own.get(name) or beside[name]
        told = name in noun.shape.model_fields
        seen = field.seen if field.seen.says or name not in beside else beside[name].seen
        says = ("**secret** " if field.is_secret else "") + seen.says
        since = f" (since {seen.since})" if seen.since != FIRST else ""
        marks = [name in own, told, name in on_card]
        yield [
            f"`{name}`",
            _word(field.type),
            *("yes" if each else NOTHING for each in marks),
            (says + since).strip(),
        ]


def page() -> str:
    """The page as it is to be."""
    sections = [HEAD]
    for noun in NOUNS:
        sections += [f"## {noun.title}", table(COLUMNS, rows(noun))]
    sections += ["## Cards without a record", "These cards combine several records."]
    for key, name in CARDS.items():
        if CARD_SHAPES[key].record is None:
            members = CARD_SHAPES[key].members.values()
            listed = ([f"`{each.name}`", _word(each.type), each.seen.says] for each in members)
            sections += [f"### {name}", table(["member", "type", ""], listed)]
    return "\n\n".join(sections) + "\n"


def script() -> str:
    """The page's module with the types of cards as they are to be."""
    text = SCRIPT.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return (
        before
        + BEGIN
        + "".join(_typedef(CARD_SHAPES[key], name) for key, name in CARDS.items())
        + END
        + after
    )


def _typedef(face: CardShape, name: str) -> str:
    lines = [f" * @typedef {{object}} {name}"]
    for each in face.members.values():
        line = f" * @property {{{scripted(each.type)}}} {each.name}"
        lines.append(f"{line}  {each.seen.says}" if each.seen.says else line)
    return "\n".join(["/**", *lines, " */"]) + "\n"


def scripted(hint: Any) -> str:
    """A type as it is written in the page's code."""
    if isinstance(hint, UnionType):
        (inner,) = set(get_args(hint)) - {NoneType}
        return f"{scripted(inner)}|null"
    if isinstance(hint, type) and issubclass(hint, Enum):
        names = [each.name.lower() if hint is Priority else str(each) for each in hint]
        return "|".join(f'"{name}"' for name in names) if len(names) <= MOST_NAMES else "string"
    if get_origin(hint) in {tuple, list}:
        return f"{scripted(get_args(hint)[0])}[]"
    simple = {str: "string", UUID: "string", bool: "boolean", int: "number", float: "number"}
    return simple.get(hint, "object")


def _word(hint: Any) -> str:
    """A type as people read it: that of the JSON."""
    if isinstance(hint, UnionType):
        (inner,) = set(get_args(hint)) - {NoneType}
        return f"{_word(inner)} or null"
    return "string" if isinstance(hint, type) and issubclass(hint, Enum) else scripted(hint)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
    SCRIPT.write_text(script(), "utf-8")
