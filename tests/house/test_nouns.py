"""The texts on a noun beside its record, compared with the record: tables, replies, secrets, shapes of several."""

import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

import pytest
from pydantic import BaseModel, TypeAdapter

import hubbub.model
from docs.words import BARE, SECOND, example
from hubbub import client
from hubbub.model.fields import NOWHERE, declared
from hubbub.model.fleet.managed_agents import ManagedAgent
from hubbub.model.log.projection import CARD_SHAPES
from hubbub.model.records import Delivery, Letter, Presence, Task
from hubbub.serve.rest.agents import agent_shapes
from hubbub.serve.rest.application import ROUTERS
from hubbub.serve.rest.base import shapes
from hubbub.serve.rest.log import why
from hubbub.serve.rest.mail import message_shapes
from hubbub.store.engine.sqlite import DATABASE
from hubbub.store.table import Table
from tests.support.each_row import each_row
from tests.support.migrated_database import migrated
from tests.support.store_tables import TABLES, modules

assert ROUTERS  # with them all shapes are known

# Columns that their records do not have.
BESIDE = {
    "presences": {
        "claimed",
        "stamp",
    },  # what it holds, to be shown with what it declared; another with each change
    "machines": {"folded"},  # the name, to be found whatever its case
    "claims": {"project_id", "number"},
    "shares": {"machine"},  # the id, which the record calls otherwise
    "join_codes": {"hash", "used_at"},  # the code itself is with whoever was given it
    "projects": {"home_repository"},  # of its files, once one is claimed
    "agents": {"account"},  # the one that it shares with others
    "audit_heads": {"broken"},  # which the record calls otherwise
    "evidence": {"project_id"},
}

# Shapes that are made of several records: with these they agree where they have a name in common.
OF_SEVERAL = (
    (shapes.PresenceShape, (Presence,)),
    (shapes.LetterShape, (Letter, Delivery)),
    (message_shapes.DeliveryShape, (Delivery,)),
    (agent_shapes.PlacedShape, (ManagedAgent,)),
    (agent_shapes.WorkShape, (Task,)),
)

REPLIES: tuple[tuple[type, type[BaseModel]], ...] = (
    (client.TaskReply, shapes.TaskShape),
    (client.LetterReply, shapes.LetterShape),
    (client.AgentReply, agent_shapes.AgentShape),
    (client.ActivityReply, shapes.ActivityShape),
    (client.WhyReply, why.Why),
)

# What is called like a secret and is none.
KNOWN = {("AuditHead", "hash")}  # of a line of an audit log
SECRET = re.compile(r"(secret|password|hash|receipt|token)$")


RECORDS = {
    value
    for module in modules(hubbub.model)
    for value in vars(module).values()
    if isinstance(value, type) and is_dataclass(value) and value.__module__.startswith("hubbub.model.")
}


def shapes_of_rest(of: type[shapes.Shape] = shapes.Shape) -> Iterator[type[shapes.Shape]]:
    """Every shape that a record may be told in."""
    for shape in of.__subclasses__():
        yield shape
        yield from shapes_of_rest(shape)


def kinds(schema: Mapping[str, Any], known: Mapping[str, Any]) -> set[str]:
    """The kinds of JSON that a schema allows."""
    if "$ref" in schema:
        return kinds(known[schema["$ref"].rsplit("/", 1)[1]], known)
    if "anyOf" in schema:
        return {kind for each in schema["anyOf"] for kind in kinds(each, known)}
    return {schema["type"]}


def kinds_of(hint: Any) -> set[str]:
    """The kinds of JSON as which a value of the type is told."""
    schema = TypeAdapter(hint).json_schema(mode="serialization")
    return kinds(schema, schema.get("$defs", {}))


@pytest.fixture(scope="module")
def columns(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, set[str]]:
    """The columns of each table of a database of this version."""
    file = migrated(tmp_path_factory.mktemp("columns") / "hub") / DATABASE
    with closing(sqlite3.connect(file)) as db:
        names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: {row[1] for row in db.execute(f"PRAGMA table_info({name})")} for name in names}


def test_a_table_has_a_column_for_each_field(columns: Mapping[str, set[str]]) -> None:
    """Each field that is kept is a column after all migrations, and each column is a field, or known to be more."""
    assert len(TABLES) > 15
    found = {table.name: set(table.columns) | BESIDE.get(table.name, set()) for table in TABLES}

    assert found == {name: columns[name] for name in found}


@each_row("table", TABLES)
def test_what_is_kept_comes_back(table: Table[Any]) -> None:
    """A record is the same after it was a row, whatever its fields hold, and however much more the row has."""
    for values in (SECOND, BARE):
        record = example(table.kind, values)
        joined = {name: getattr(record, name) for name in table.fields}
        row = {"more": 1, **joined, **table.row(record)}
        assert all(
            type(value).__name__ not in ("bool", "tuple", "dict") for value in table.row(record).values()
        )
        assert table.record(row) == record


@each_row(("reply", "shape"), REPLIES)
def test_the_client_knows_what_the_hub_tells(reply: type, shape: type[BaseModel]) -> None:
    """An answer has every field that the typed client reads, in the client's type."""
    schema = shape.model_json_schema(mode="serialization")
    for name, hint in get_type_hints(reply).items():
        assert name in schema["properties"], name
        assert kinds(schema["properties"][name], schema.get("$defs", {})) == kinds_of(hint), name


@each_row(("shape", "records"), OF_SEVERAL)
def test_a_shape_of_several_agrees_with_them(shape: type[BaseModel], records: tuple[type, ...]) -> None:
    """A member that is called like a field of the record that it tells is of the same kind."""
    schema, agreed = shape.model_json_schema(mode="serialization"), 0
    for name, member in schema["properties"].items():
        for record in records:
            field = declared(record).get(name)
            if field is not None:
                told = kinds(member, schema.get("$defs", {}))
                asked = {"string"} if name == "priority" else kinds_of(field.type)
                assert told == asked, name
                assert not field.is_secret, name
                agreed += 1
    assert agreed >= 3


@each_row("record", sorted(RECORDS, key=str))
def test_what_is_called_a_secret_is_declared_one(record: type) -> None:
    """A text that is called like a secret is declared as one; such a field is seen nowhere, not even in a `repr`."""
    shown = {field.name: field.repr for field in fields(record)}
    for name, field in declared(record).items():
        if SECRET.search(name) and field.type in (str, str | None) and (record.__name__, name) not in KNOWN:
            assert field.is_secret, name
        if field.is_secret:
            assert field.seen.where is NOWHERE
            assert not shown[name], name


def test_no_shape_and_no_card_has_a_secret() -> None:
    """No member of any shape of REST or of any card has the name of a declared secret."""
    secrets = {name for record in RECORDS for name, field in declared(record).items() if field.is_secret}
    told = {(shape.__name__, name) for shape in shapes_of_rest() for name in shape.model_fields}
    told |= {(noun, name) for noun, face in CARD_SHAPES.items() for name in face.members}

    assert {"secret", "hash", "password", "receipt"} <= secrets
    assert not {(where, name) for where, name in told if name in secrets} - {("HeadShape", "hash")}
