"""A dialect: tools made of functions, arguments checked against their contract, and refusals in its words."""

import asyncio
from typing import Annotated, Any, Literal, get_args

import pytest
from pydantic import Field

from hubbub.core.transaction import Transactions
from hubbub.dialects import discover, names
from hubbub.dialects.commhub import vocabulary
from hubbub.dialects.dialect import BadArguments, Dialect, Reply
from hubbub.model.errors import Conflict, HubError, Invalid, NotFound, UnknownAgent
from hubbub.model.fleet.calls import ToolResult
from hubbub.model.lifecycle import Status
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Condition, LetterKind, Priority
from hubbub.store.tx import Store, Tx

CURT = Dialect(
    "curt",
    guide="Say little.",
    success=lambda reply: {"yes": True, **reply},
    refusals={
        NotFound: lambda e: {"yes": False, "why": f"no {e.kind}"},
        HubError: lambda e: {"yes": False, "why": e.code},
    },
    invalid=lambda sentence: {"yes": False, "why": "invalid", "sentence": sentence},
    unknown=lambda name: {"yes": False, "why": "unknown", "tool": name},
)


@CURT.tool(reads=True)
def look(
    tx: Tx,
    name: str,
    size: Literal["small", "large"] = "small",
    most: Annotated[float, Field(le=10)] = 5,
    tags: Annotated[list[str], Field(max_length=2)] | None = None,
) -> Reply:
    """Look at it.

    Closely.
    """
    return {"name": name, "size": size, "most": most, "tags": tags}


@CURT.tool()
def make(tx: Tx, name: str) -> Reply:
    """Make it known, by a line in the log."""
    tx.record("agent.met", project_id=None, actor=name)
    return {"made": name}


@CURT.tool({UnknownAgent: lambda e: {"yes": False, "why": f"who is {e.name}?"}})
def fail(tx: Tx, how: str) -> Reply:
    """Write something, and then refuse."""
    tx.record("agent.met", project_id=None, actor="nobody")
    errors: dict[str, Exception] = {
        "unknown agent": UnknownAgent("x", []),
        "not found": NotFound("thing", "x"),
        "conflict": Conflict("it is there already"),
        "invalid": Invalid("how: must be otherwise"),
        "bug": KeyError("x"),
    }
    raise errors[how]


@CURT.tool(reads=True)
def write(tx: Tx) -> Reply:
    """Promise to change nothing, and try to."""
    return make(tx, "x")


@pytest.fixture
def transactions(store: Store) -> Transactions:
    return Transactions(store)


def _call(transactions: Transactions, tool: str, key: str | None = None, **arguments: object) -> ToolResult:
    async def calling() -> ToolResult:
        return await CURT.call(transactions, SYSTEM, tool, arguments, key)

    return asyncio.run(calling())


def _log(transactions: Transactions) -> list[str]:
    rows = transactions.store.read_now(SYSTEM, lambda tx: tx.all("SELECT actor FROM activity ORDER BY seq"))
    return [row["actor"] for row in rows]


def test_the_contract_is_made_of_the_signature() -> None:
    """A tool is called as its function is, is described by its docstring, and its schema has nothing made up."""
    tool = CURT.tools["look"]

    assert (tool.name, tool.description, tool.reads) == ("look", "Look at it.\n\nClosely.", True)
    assert tool.schema == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "size": {"type": "string", "enum": ["small", "large"], "default": "small"},
            "most": {"type": "number", "maximum": 10, "default": 5},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        },
        "required": ["name"],
    }
    assert CURT.tools["write"].schema == {"type": "object", "properties": {}}
    assert CURT.tools["make"].reads is False


@pytest.mark.parametrize(
    ("dialect", "tool", "name"),
    [
        ("golemxv", "get_messages", "limit"),
        ("relay", "get_messages", "after_seq"),
        ("cmdop", "read_logs", "since_minutes"),
        ("hub", "inbox", "limit"),
    ],
)
def test_a_whole_number_may_have_a_fraction_of_none(dialect: str, tool: str, name: str) -> None:
    """Where a tool takes an integer it takes 5.0 as 5, as its JSON Schema says, and neither 5.5 nor "5"."""
    asked = discover()[dialect].tools[tool]
    required = {"agent_id": "a"} if dialect == "relay" else {}

    assert repr(asked.given({**required, name: 5.0})[name]) == "5"
    for wrong in (5.5, "5", True):
        with pytest.raises(BadArguments, match=name):
            asked.given({**required, name: wrong})


def test_arguments_are_taken_as_they_are_meant(transactions: Transactions) -> None:
    """Null is omitted, what is unknown is ignored, and what is omitted has its default."""
    answer = _call(transactions, "look", name="x", size=None, tags=None, colour="red")

    assert answer == ToolResult({"yes": True, "name": "x", "size": "small", "most": 5, "tags": None})


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({}, "name"),
        ({"name": 7}, "name"),
        ({"name": "x", "size": "huge"}, "size"),
        ({"name": "x", "most": 10.5}, "most"),
        ({"name": "x", "most": "5"}, "most"),
        ({"name": "x", "most": True}, "most"),
        ({"name": "x", "most": float("inf")}, "most"),
        ({"name": "x", "most": float("nan")}, "most"),
        ({"name": "x", "tags": ["a", "b", "c"]}, "tags"),
        ({"name": "x", "tags": ["a", None]}, "tags.1"),
        ({"name": "x", "tags": "ab"}, "tags"),
        ({"name": "a\0b"}, "name"),
        ({"name": "x", "tags": ["\ud800"]}, "tags[0]"),
        ({"name": 7, "most": "5"}, "most"),
    ],
)
def test_wrong_arguments_are_invalid(
    transactions: Transactions, arguments: dict[str, Any], names: str
) -> None:
    """Whatever is wrong with arguments is said in one sentence that names them, and does not quote their values."""
    answer = _call(transactions, "look", **arguments)

    assert answer.is_error
    assert (answer.content["yes"], answer.content["why"]) == (False, "invalid")
    assert names in str(answer.content["sentence"])
    assert "a\0b" not in "".join(answer.shown)


def test_an_unknown_tool_is_unknown(transactions: Transactions) -> None:
    """A tool that the dialect does not have is an error in its own words."""
    answer = _call(transactions, "sing", name="x")

    assert answer == ToolResult({"yes": False, "why": "unknown", "tool": "sing"}, is_error=True)


@pytest.mark.parametrize(
    ("how", "why"),
    [("unknown agent", "who is x?"), ("not found", "no thing"), ("conflict", "conflict")],
)
def test_a_refusal_is_said_by_its_class(transactions: Transactions, how: str, why: str) -> None:
    """The nearest class that has words speaks, the tool's own before the dialect's; nothing of the call is kept."""
    answer = _call(transactions, "fail", how=how)

    assert (answer.content, answer.is_error) == ({"yes": False, "why": why}, False)
    assert isinstance(answer.refusal, HubError)
    assert _log(transactions) == []


def test_what_only_the_core_finds_invalid_is_invalid_too(transactions: Transactions) -> None:
    """A value that the core refuses is said like one that the contract refuses."""
    answer = _call(transactions, "fail", how="invalid")

    assert (answer.content["why"], answer.is_error) == ("invalid", True)
    assert answer.content["sentence"] == "how: must be otherwise"


def test_a_bug_is_loud(transactions: Transactions) -> None:
    """An error that is no refusal is raised, not answered, and nothing of the call is kept."""
    with pytest.raises(KeyError):
        _call(transactions, "fail", how="bug")
    assert _log(transactions) == []


def test_a_tool_that_reads_cannot_write(transactions: Transactions) -> None:
    """A tool that promised to change nothing is held to it."""
    with pytest.raises(RuntimeError):
        _call(transactions, "write")
    assert _log(transactions) == []


def test_a_key_makes_a_write_happen_once(transactions: Transactions) -> None:
    """The same call under the same key has the answer of the first; another call under it is refused."""
    first = _call(transactions, "make", "k", name="名")
    assert _call(transactions, "make", "k", name="名") == first == ToolResult({"yes": True, "made": "名"})
    assert _call(transactions, "make", "k", name="other").content["why"] == "conflict"
    _call(transactions, "make", "k 2", name="名")
    _call(transactions, "make", name="名")

    assert _log(transactions) == ["名"] * 3


@pytest.mark.parametrize("key", ["", "k" * 257])
def test_a_key_is_bounded(transactions: Transactions, key: str) -> None:
    """An idempotency key has 1 to 256 characters."""
    assert _call(transactions, "make", key, name="x").is_error
    assert _call(transactions, "make", "k" * 256, name="x").content["yes"] is True
    assert _log(transactions) == ["x"]


def test_a_refused_write_may_be_tried_again_under_its_key(transactions: Transactions) -> None:
    """A refusal is not kept: the same call under the same key is done anew."""
    for _ in range(2):
        assert _call(transactions, "fail", "k", how="not found").content["why"] == "no thing"
    assert _log(transactions) == []


def test_an_answer_is_json_in_every_script() -> None:
    """The text of an answer is compact JSON, its letters as they are."""
    assert ToolResult({"a": "代码", "b": [1, None]}).shown == ('{"a":"代码","b":[1,null]}',)


def test_every_dialect_is_found() -> None:
    """A module that defines DIALECT is all it takes; each has a guide, and every tool says what it does."""
    found = discover()

    assert "commhub" in found
    assert list(found) == names()
    for name, dialect in found.items():
        assert dialect.name == name
        assert dialect.guide.strip()
        assert dialect.tools
        assert all(tool.description for tool in dialect.tools.values())
        assert all(HubError in tool.refusals for tool in dialect.tools.values())


@pytest.mark.parametrize(
    ("vocabulary", "everything"),
    [
        (vocabulary.STATUS, Status),
        (vocabulary.PRIORITY, Priority),
        (vocabulary.CONDITION, Condition),
        (vocabulary.KIND, LetterKind),
    ],
    ids=["status", "priority", "condition", "kind"],
)
def test_commhubs_vocabularies_are_total(vocabulary: dict[Any, str], everything: Any) -> None:
    """Every status, priority, condition and kind has a word of CommHub's."""
    assert set(vocabulary) == set(everything)
    assert all(vocabulary.values())


def test_commhubs_words_lead_back() -> None:
    """CommHub's words lead to ours and back, and an unknown word means no status."""
    for word, priority in vocabulary.PRIORITIES.items():
        assert vocabulary.PRIORITY[priority] == word
    for word, condition in vocabulary.CONDITIONS.items():
        assert vocabulary.CONDITION[condition] == word
    assert {status for word in vocabulary.STATUS.values() for status in vocabulary.statuses(word)} == set(
        Status
    )
    assert vocabulary.statuses("asleep") == []
    reportable = get_args(
        discover()["commhub"].tools["report_status"].input.model_fields["status"].annotation
    )
    assert set(reportable) == set(vocabulary.CONDITIONS)
