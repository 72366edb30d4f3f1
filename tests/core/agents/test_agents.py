"""The names a project knows, and how the agents of those names are."""

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from hubbub.core.agents import agents, file_claims, scopes
from hubbub.core.presence import checkins, presences
from hubbub.model.agents.scopes import Scope
from hubbub.model.errors import Invalid, UnknownAgent
from hubbub.model.records import Condition, Presence, ReportedNode
from hubbub.store.agents import agents as rows
from tests.core.conftest import CREW, RACERS, TEN_MINUTES, World, on_one_engine


def test_a_name_is_met_once(world: World) -> None:
    """A name is known from its first meeting on, which is recorded, and only that."""
    world.do(agents.meet, world.id, "dora")
    world.do(agents.meet, world.id, "dora")

    assert [each.agent for each in world.log() if each.kind == "agent.met"] == [*CREW, "dora"]
    assert {agent.name for agent in world.do(agents.of_project, world.id)} == {*CREW, "dora"}


def test_a_name_met_by_many_at_once_is_met_once(world: World) -> None:
    """One of racing first meetings is recorded, and none fails."""
    outcomes = world.race(*[lambda tx: agents.meet(tx, world.id, "dora")] * RACERS)

    assert outcomes == [None] * RACERS
    assert world.kinds().count("agent.met") == len(CREW) + 1


@on_one_engine
@pytest.mark.parametrize(
    "name", ["hub", "everyone", "all", "broadcast", " ann", "ann ", "a\nb", "a\x1b[31mb", "\t", ".", ".."]
)
def test_some_names_are_nobodys(world: World, name: str) -> None:
    """No agent is named as the hub or all are, with control characters, blanks at its ends, or as steps of a path."""
    with pytest.raises(Invalid):
        world.do(agents.meet, world.id, name)


@on_one_engine
@pytest.mark.parametrize("mark", [*"\u200b\u200c\u200d\u00ad\u202e\u2060\ufeff\ufe0f\u3164\u3000"])
def test_no_name_hides_a_character(world: World, mark: str) -> None:
    """A name that looks like another's is refused, with the character that nobody sees."""
    with pytest.raises(
        Invalid, match=rf"no invisible or control characters, and this has U\+{ord(mark):04X}"
    ):
        world.do(agents.meet, world.id, f"ann{mark}")


@pytest.mark.parametrize("name", ["代码 1号", "ग्राहक", "Ünïcode", "🦊", "e\u0301ve"])
def test_names_of_all_scripts_are_good(name: str) -> None:
    """Letters with their marks, pictures and single blanks may be in a name."""
    agents.require_nameable(name)


SHAPED = {
    "two emoji in one": "\U0001f469\u200d\U0001f4bb",
    "with a skin tone": "\U0001f469\U0001f3fd\u200d\U0001f4bb",
    "a sign as an emoji": "\u2764\ufe0f bot",
    "a sign before another": "\U0001f3f3\ufe0f\u200d\U0001f308",
    "a key": "1\ufe0f\u20e3",
    "a Persian word": "می\u200cروم",
    "a Persian word with a vowel": "مِ\u200cروم",
    "a conjunct held apart": "क्\u200cष",
    "a half letter": "क्\u200dष",
}


@pytest.mark.parametrize("name", SHAPED.values(), ids=SHAPED)
def test_a_name_has_the_joiners_that_its_writing_needs(name: str) -> None:
    """What shapes an emoji or a word of its script may be in a name."""
    agents.require_nameable(name)


@pytest.mark.parametrize(
    "name",
    [
        "a\u200db", "\U0001f469\u200d", "\u200d\U0001f4bb", "\U0001f469\u200dx", "\u200cروم", "می\u200c", "می\u200cx",
        "می\u200c\u200cروم", "می\u200dروم", "क्\u200d", "क\u200dष", "क्\u200d1", "\ufe0f\u2764", "a\ufe0f", "1\ufe0f",
        "\u2764\ufe0f\ufe0f", "\U0001f469\u200d\u200d\U0001f4bb", "\u2764\ufe0e",
    ],
)  # fmt: skip
def test_a_joiner_that_shapes_nothing_is_refused(name: str) -> None:
    """A joiner elsewhere would only hide in the name."""
    with pytest.raises(Invalid, match="no invisible or control characters"):
        agents.require_nameable(name)


@pytest.mark.parametrize(
    ("known", "like"),
    [
        ("\u2764\ufe0f", "\u2764"),
        ("\u2764", "\u2764\ufe0f"),
        ("می\u200cروم", "میروم"),
        ("میروم", "می\u200cروم"),
    ],
)
def test_no_name_differs_from_another_by_what_nobody_sees(world: World, known: str, like: str) -> None:
    """A new name that differs from an agent's by joiners alone is refused; the first of the two stays."""
    world.do(rows.meet, world.id, known)

    with pytest.raises(Invalid, match=re.escape(f"looks like that of the agent {known!r}")):
        world.do(agents.meet, world.id, like)

    world.do(agents.meet, world.id, known)


@on_one_engine
def test_no_task_is_for_everyone(world: World) -> None:
    """Where one agent is to be named, the name of all is refused with the reason."""
    with pytest.raises(Invalid, match="'everyone' means all agents of the project; name one of them here"):
        world.do(agents.require_known, world.id, "everyone")


def test_an_agent_that_had_a_name_before_the_rule_keeps_it(world: World) -> None:
    """An agent with a name that is refused now, and that is known already, acts as before."""
    world.do(rows.meet, world.id, "everyone")
    world.do(agents.meet, world.id, "everyone")

    world.do(agents.require_known, world.id, "everyone")


def test_names_belong_to_a_project(world: World) -> None:
    """An agent of one project is unknown in another."""
    other = world.elsewhere("other")
    world.do(agents.meet, world.id, "dora")

    world.do(agents.require_known, world.id, "dora")
    with pytest.raises(UnknownAgent):
        other.do(agents.require_known, other.id, "dora")


@pytest.mark.parametrize(
    ("typed", "near"),
    [("an", ("ann",)), ("BOB", ("bob",)), ("代码2号", ("代码1号",)), ("zzzzzz", ())],
)
def test_an_unknown_name_is_refused_with_near_ones(world: World, typed: str, near: tuple[str, ...]) -> None:
    """An unknown name is refused with the names most like it, in any script."""
    with pytest.raises(UnknownAgent) as refusal:
        world.do(agents.require_known, world.id, typed)
    assert refusal.value.near == near
    assert ("did you mean" in str(refusal.value)) == bool(near)


def test_at_most_three_near_names_are_told(world: World) -> None:
    """The three nearest of many similar names are told."""
    for number in range(6):
        world.do(agents.meet, world.id, f"coder-{number}")
    with pytest.raises(UnknownAgent) as refusal:
        world.do(agents.require_known, world.id, "coder-")
    assert len(refusal.value.near) == 3
    assert all(name.startswith("coder-") for name in refusal.value.near)


def test_who_was_never_there_is_offline(world: World) -> None:
    """An agent is offline until it reports, what it says while it is live, and offline when it is silent or gone."""
    assert world.do(agents.condition, world.id, "bob") is Condition.OFFLINE
    assert world.do(agents.presence, world.id, "bob") is None

    world.report("bob", Condition.WAITING)
    assert world.do(agents.condition, world.id, "bob") is Condition.WAITING

    world.clock.advance(TEN_MINUTES)
    assert world.do(agents.condition, world.id, "bob") is Condition.OFFLINE

    world.report("bob")
    world.report("bob", Condition.OFFLINE)
    assert world.do(agents.condition, world.id, "bob") is Condition.OFFLINE


def test_the_present_and_the_last_are_listed(world: World) -> None:
    """Each agent that ever reported is listed once, with its present or last presence, in the order of coming."""
    other = world.elsewhere("other")
    other.report("ann")
    world.report("bob", instance="first")
    world.report("ann")
    world.report("bob", instance="second")
    world.report("ann", Condition.OFFLINE)

    listed = world.do(agents.presences, [world.id])
    assert [(each.agent, each.condition) for each in listed] == [
        ("ann", Condition.OFFLINE),
        ("bob", Condition.IDLE),
    ]
    assert len(world.do(agents.presences, [world.id, other.id])) == 3
    assert world.do(agents.presences, []) == []


def test_whatever_changes_is_another_version(world: World) -> None:
    """After each change of what is told of agents, the project is at a version at which it never was; else it stays."""

    def look() -> tuple[object, object]:
        told, version = world.do(agents.presences, [world.id]), world.do(agents.versions, [world.id])
        return told, version[world.id]

    def there(name: str) -> Presence:
        found = world.do(agents.presence, world.id, name)
        assert found is not None
        return found

    task = world.accept(world.send("bob"))
    changes: list[Callable[[], object]] = [
        lambda: world.report("bob"),
        lambda: world.report("ann", instance="first"),
        lambda: world.report("ann", instance="second"),  # in place of the first
        lambda: world.report("bob", Condition.WORKING, doing="counts"),
        lambda: world.on(task, presences.progress, "bob", progress=50),
        lambda: world.do(scopes.declare, world.project, there("bob"), Scope.of(None, ["docs/"])),
        lambda: world.do(file_claims.claim, world.project, there("bob"), ["src/a.py"]),
        lambda: world.do(file_claims.release, world.project, there("bob"), why="done"),
        lambda: world.do(presences.rest, world.id, "bob"),
        lambda: world.do(checkins.end, there("ann"), outcome="done", summary=None, touched=None),
        lambda: world.pass_time(TEN_MINUTES),  # in which bob is silent
        lambda: world.report("bob"),
        lambda: world.do(rows.forget, world.id, "ann"),
        lambda: world.report("ann"),
    ]
    told, first = look()
    versions = [first]
    for change in changes:
        world.clock.advance(timedelta(milliseconds=1))  # so that a heartbeat is another one
        change()
        now, version = look()
        assert now != told
        assert version not in versions
        assert look() == (now, version)
        told = now
        versions.append(version)


def test_every_change_of_a_presence_stamps_it() -> None:
    """Each statement of the program that changes presences sets their stamp."""
    source = Path(agents.__file__).parents[2]
    statements = [
        found
        for file in source.rglob("*.py")
        for found in re.findall(
            r"(?:UPDATE|INSERT INTO) presences\b[^;]*?(?=WHERE|\Z)", file.read_text("utf-8")
        )
    ]
    assert len(statements) >= 5
    assert all("stamp = :stamp" in each for each in statements)


def test_a_machine_is_known_by_what_was_told_of_it(world: World) -> None:
    """An agent's facts about its machine are kept; those that it leaves out stay as they were."""

    def tell(
        moment: int, *, name: str | None = None, model: str | None = None, runtime: str | None = None
    ) -> None:
        node = ReportedNode(
            project_id=world.id, key="n_1", name=name, model=model, runtime=runtime, seen_at=moment
        )
        world.do(agents.describe_node, node)

    tell(1, name="box", model="m1")
    tell(2, runtime="codex")
    tell(3, model="m2")

    assert world.do(agents.nodes, world.id) == [
        ReportedNode(project_id=world.id, key="n_1", name="box", model="m2", runtime="codex", seen_at=3)
    ]
