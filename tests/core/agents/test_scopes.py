"""Scopes: declaring them, hearing of conflicts, and the project's modes for these."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from hubbub.core.agents import scopes
from hubbub.core.people import projects
from hubbub.core.presence import presences
from hubbub.core.work import tasks
from hubbub.model.agents.scopes import AgentConflict, Area, Declaration, Overlap, Scope
from hubbub.model.errors import Invalid, NotFound, ScopeConflict
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Condition, Presence, Profile
from hubbub.store.agents import scopes as rows
from hubbub.store.tx import Tx
from tests.core.conftest import RACERS, TEN_MINUTES, World, member, on_one_engine

AUTH = Scope.of(None, ["src/auth.py"])

Seen = tuple[str, tuple[str, ...], tuple[str, ...]]


def in_mode(world: World, mode: str) -> World:
    """A project that does about overlaps what the mode says."""
    project = world.acting(SYSTEM).do(projects.create, f"in-{mode}", conflict_mode=mode)
    return replace(world, project=project, actor=member(project))


def declare(world: World, name: str, scope: Scope) -> list[Seen]:
    return seen(world.do(scopes.declare, world.project, world.report(name), scope))


def check(world: World, scope: Scope, but: Presence | None = None) -> list[Seen]:
    return seen(world.do(scopes.check, world.project, scope, but=but.id if but else None))


def seen(conflicts: list[AgentConflict]) -> list[Seen]:
    return [(each.agent, each.overlap.areas, each.overlap.files) for each in conflicts]


def files(*names: str) -> Scope:
    return Scope.of(None, names)


def put(world: World, slug: str, *patterns: str) -> Area:
    return world.do(scopes.put_area, world.project, slug, name=slug.title(), patterns=patterns)


def declared(world: World, name: str) -> Scope:
    return world.do(scopes.declared, world.report(name))


def told(world: World) -> list[tuple[str | None, object, object]]:
    """Return the log's entries on scopes: the agent, its files, and those in conflict."""
    changes = [each for each in world.log() if each.kind == "agent.scope_change"]
    return [(each.agent, each.detail["files"], each.detail["conflicts"]) for each in changes]


def test_who_declares_hears_who_is_there(world: World) -> None:
    """A declaration names the agents who have declared what overlaps, by name, with what both have in common."""
    declare(world, "bob", files("src/auth.py", "src/b.py"))
    declare(world, "ann", files("src/**", "docs/"))
    bob, ann = world.report("bob"), world.report("ann")

    assert world.do(scopes.declare, world.project, world.report("dora"), AUTH) == [
        AgentConflict("ann", ann.id, Overlap((), ("src/auth.py",))),
        AgentConflict("bob", bob.id, Overlap((), ("src/auth.py",))),
    ]


@pytest.mark.parametrize(
    ("mine", "theirs", "common"),
    [
        (["a.py"], ["a.py"], ["a.py"]),
        (["src/a.py"], ["src/*.py"], ["src/a.py"]),
        (["src/*.py"], ["src/a.py"], ["src/a.py"]),
        (["src/"], ["src/a/**/z.py"], ["src/a/**/z.py"]),
        (["src/a/**/z.py"], ["src/"], ["src/a/**/z.py"]),
        (["src/*"], ["src/B", "src/é", "src/文", "src-x/a", "src.x", "srca"], ["src/B", "src/é", "src/文"]),
        (["."], ["-", "a/b", "文"], ["-", "a/b", "文"]),
        (["**/b.py"], ["a/b.py", "b.py", "a/b.pyc"], ["a/b.py", "b.py"]),
        (["n/" * 200 + "*.py"], ["n/" * 200 + "a.py", "n/" * 199 + "a.py"], ["n/" * 200 + "a.py"]),
        (["文" * 1000 + "/a"], ["文" * 1000 + "/?"], ["文" * 1000 + "/a"]),
        ([f"src/{number}" for number in range(300)], ["src/7", "src/299", "src/300"], ["src/299", "src/7"]),
        (["src/A.py"], ["src/a.py", "src/[A].py"], []),
    ],
)  # fmt: skip
def test_the_store_finds_what_overlaps(
    world: World, mine: list[str], theirs: list[str], common: list[str]
) -> None:
    """Paths and patterns of any script, depth and number are found by each other, in both directions."""
    declare(world, "bob", files(*theirs))

    assert check(world, files(*mine)) == ([("bob", (), tuple(common))] if common else [])


def test_areas_and_files_find_each_other(world: World) -> None:
    """The same area is an overlap, and so is a file inside the other's area, whoever comes first."""
    put(world, "backend", "app/**", "Makefile")
    put(world, "docs", "docs/")
    declare(world, "ann", Scope("backend"))
    declare(world, "bob", files("app/x.py", "Makefile", "README.md"))
    declare(world, "dora", Scope("docs"))

    assert check(world, Scope("backend")) == [
        ("ann", ("backend",), ()),
        ("bob", ("backend",), ("Makefile", "app/x.py")),
    ]
    assert check(world, files("app/y.py", "docs/z.md")) == [
        ("ann", ("backend",), ("app/y.py",)),
        ("dora", ("docs",), ("docs/z.md",)),
    ]


def test_nobody_is_in_conflict_with_themselves(world: World) -> None:
    """An agent that declares again, or asks, is not told of its own earlier scope."""
    declare(world, "bob", AUTH)

    assert declare(world, "bob", files("src/**")) == []
    assert check(world, AUTH, but=world.report("bob")) == []
    assert check(world, AUTH) == [("bob", (), ("src/auth.py",))]


def test_a_declaration_replaces_the_last(world: World) -> None:
    """An earlier declaration stands in nobody's way any more; an empty scope takes back everything."""
    declare(world, "bob", Scope.of("backend", ["src/auth.py"]))
    declare(world, "bob", files("src/b.py"))

    assert declared(world, "bob") == files("src/b.py")
    assert check(world, AUTH) == check(world, Scope("backend")) == []
    assert check(world, files("src/")) == [("bob", (), ("src/b.py",))]

    declare(world, "bob", Scope())
    assert declared(world, "bob") == Scope()
    assert check(world, files(".")) == []
    assert told(world) == [
        ("bob", ["src/auth.py"], []),
        ("bob", ["src/b.py"], []),
        ("bob", [], []),
    ]


def test_declaring_nothing_is_nothing(world: World) -> None:
    """An empty scope of somebody who has none is no news, and in nobody's way."""
    declare(world, "ann", files("."))

    assert declare(world, "bob", Scope()) == []
    assert told(world) == [("ann", ["."], [])]


def test_asking_changes_nothing(world: World) -> None:
    """A check finds the same as a declaration would, and leaves neither a scope nor a line in the log."""
    declare(world, "bob", AUTH)
    before = world.log()

    found = world.store.read_now(world.actor, lambda tx: scopes.check(tx, world.project, AUTH))

    assert seen(found) == [("bob", (), ("src/auth.py",))]
    assert world.log() == before
    assert [each.agent for each in world.do(scopes.live, world.id)] == ["bob"]


def leave(world: World) -> None:
    world.do(presences.leave, world.id, "bob", instance="first")


def come_back_elsewhere(world: World) -> None:
    world.report("bob", instance="second")


def fall_silent(world: World) -> None:
    world.clock.advance(TEN_MINUTES + timedelta(seconds=1))


@pytest.mark.parametrize("end", [leave, come_back_elsewhere, fall_silent])
def test_only_who_is_there_counts(world: World, end: Callable[[World], None]) -> None:
    """An agent that left, was replaced or is silent for too long conflicts with nobody, also before that is settled."""
    declare(world, "bob", Scope.of("backend", ["src/auth.py"]))
    end(world)

    assert check(world, Scope.of("backend", ["src/"])) == []
    assert world.do(scopes.live, world.id) == []


def test_what_a_gone_agent_had_declared_is_remembered(world: World) -> None:
    """When a presence has ended nothing is kept for others to find, but what it had declared can still be read."""
    declare(world, "bob", AUTH)
    gone = world.do(presences.leave, world.id, "bob", instance="first")
    assert gone is not None

    assert world.do(scopes.declared, gone) == AUTH
    assert told(world) == [("bob", ["src/auth.py"], [])]
    assert world.do(lambda tx: tx.all("SELECT entry FROM scope_entries")) == []


def test_who_has_declared_what(world: World) -> None:
    """The live scopes of a project are listed by agent, each as it was declared."""
    one, other = Scope.of("backend", ["b.py", "a.py", "文/"]), Scope("backend")
    declare(world, "bob", one)
    declare(world, "ann", other)
    world.report("dora")
    bob, ann = world.report("bob"), world.report("ann")

    assert world.do(scopes.live, world.id) == [
        Declaration("ann", ann.id, other),
        Declaration("bob", bob.id, one),
    ]


def test_projects_do_not_meet(world: World) -> None:
    """The same scope in another project is no conflict."""
    declare(world, "bob", Scope.of("backend", ["src/auth.py"]))
    other = world.elsewhere("field")

    assert check(other, Scope.of("backend", ["."])) == []


def test_off_reports_none(world: World) -> None:
    """A project in the mode `off` keeps scopes and looks for no conflicts."""
    quiet = in_mode(world, "off")
    declare(quiet, "bob", AUTH)

    assert declare(quiet, "ann", AUTH) == check(quiet, AUTH) == []
    assert [each.agent for each in world.do(scopes.live, quiet.id)] == ["ann", "bob"]


def test_warn_tells_and_lets_through(world: World) -> None:
    """A project in the mode `warn` tells of the conflict, also its log, and both work on."""
    declare(world, "bob", AUTH)

    assert declare(world, "ann", AUTH) == [("bob", (), ("src/auth.py",))]
    assert declared(world, "ann") == AUTH
    assert told(world)[-1] == ("ann", ["src/auth.py"], ["bob"])


def test_block_refuses_and_changes_nothing(world: World) -> None:
    """A project in the mode `block` refuses what overlaps: what was declared before stays, and so does the log."""
    strict = in_mode(world, "block")
    declare(strict, "bob", AUTH)
    declare(strict, "ann", files("docs/"))
    before = strict.log()

    with pytest.raises(ScopeConflict, match="overlaps with the scopes of others: 'bob'") as refusal:
        declare(strict, "ann", files("docs/", "src/*"))

    assert seen(list(refusal.value.conflicts)) == [("bob", (), ("src/auth.py",))]
    assert declared(strict, "ann") == files("docs/")
    assert strict.log() == before
    assert check(strict, files("src/*")) == [("bob", (), ("src/auth.py",))]


def test_of_racers_for_one_file_one_succeeds(world: World) -> None:
    """Where overlaps are blocked, exactly one of the agents that come at once with overlapping scopes gets in."""
    strict = in_mode(world, "block")
    wanted = [files("src/a.py"), files("src/*.py"), files("src/"), files("**/a.py")]

    outcomes = strict.race(*(come(strict, f"racer-{n}", wanted[n % len(wanted)]) for n in range(RACERS)))

    assert [each for each in outcomes if not isinstance(each, ScopeConflict)] == [[]]
    assert len(strict.do(scopes.live, strict.id)) == 1


def test_of_racers_who_are_warned_all_but_the_first_hear_of_it(world: World) -> None:
    """Each agent that comes at once with the same scope hears of all who came before."""
    outcomes = world.race(*(come(world, f"racer-{n}", AUTH) for n in range(RACERS)))

    assert sorted(len(each) for each in outcomes if isinstance(each, list)) == list(range(RACERS))


def come(world: World, name: str, scope: Scope) -> Callable[[Tx], list[AgentConflict]]:
    """Let an agent come and declare, in one transaction."""

    def operation(tx: Tx) -> list[AgentConflict]:
        presence = presences.report(
            tx,
            world.id,
            name,
            instance="first",
            condition=Condition.IDLE,
            profile=Profile(),
            ttl=TEN_MINUTES,
        )
        return scopes.declare(tx, world.project, presence, scope)

    return operation


def test_areas_are_counted_and_replaced(world: World) -> None:
    """Areas are numbered in their project from 1; one that is put again keeps its number and place."""
    first = put(world, "backend", "app//**", "./plugins/")
    put(world, "docs", "docs/")
    again = world.do(
        scopes.put_area, world.project, "backend", name=" Server ", patterns=["srv/"], description="in PHP"
    )

    assert (first.number, first.name, first.patterns) == (1, "Backend", ("app/**", "plugins/"))
    assert again == Area(slug="backend", number=1, name="Server", description="in PHP", patterns=("srv/",))
    docs = Area(slug="docs", number=2, name="Docs", description=None, patterns=("docs/",))
    assert world.do(scopes.areas, world.id) == [again, docs]
    assert world.do(scopes.areas, world.elsewhere("field").id) == []
    assert world.kinds().count("area.put") == 3


def test_a_changed_area_counts_at_once(world: World) -> None:
    """An agent that has declared an area is where its patterns are now."""
    put(world, "backend", "app/")
    declare(world, "bob", Scope("backend"))
    put(world, "backend", "srv/")

    assert check(world, files("app/x", "srv/x")) == [("bob", ("backend",), ("srv/x",))]


@on_one_engine
@pytest.mark.parametrize(
    ("slug", "name", "patterns", "reason"),
    [
        ("no slug", "Name", ["src/"], "slug of an area"),
        ("slug", " ", ["src/"], "name of an area is empty"),
        ("slug", "Name", [], "at least one pattern"),
        ("slug", "Name", ["../x"], "leaves the repository"),
    ],
)
def test_what_is_no_area(world: World, slug: str, name: str, patterns: list[str], reason: str) -> None:
    """An area needs a slug, a name and patterns inside the repository; without one of them there is none."""
    with pytest.raises(Invalid, match=reason):
        world.do(scopes.put_area, world.project, slug, name=name, patterns=patterns)
    assert world.do(scopes.areas, world.id) == []


def test_an_unknown_area_is_refused(world: World) -> None:
    """A project with areas takes none but those, and names them; one without takes any slug."""
    assert declare(world, "bob", Scope("anything")) == []
    put(world, "docs", "docs/")
    put(world, "backend", "app/")

    for operation in (declare, lambda world, _name, scope: check(world, scope)):
        with pytest.raises(Invalid, match="no area 'frontend'; it has backend, docs"):
            operation(world, "ann", Scope.of("frontend", ["src/auth.py"]))
    assert [each.agent for each in world.do(scopes.live, world.id)] == ["bob"]


def test_a_large_scope_is_kept_whole(world: World) -> None:
    """A scope of a thousand files is kept in its order, each of them found, though statements take fewer at once."""
    large = files(*(f"src/{number}.py" for number in range(1000)))
    assert len(large.files) > 2 * max(rows.ROWS, rows.PLACES)
    declare(world, "bob", large)

    assert declared(world, "bob") == large
    assert check(world, large) == [("bob", (), tuple(sorted(large.files)))]


def test_everyone_is_listed_with_their_conflicts(world: World) -> None:
    """Present agents with a scope are listed by name, with those they meet; never with themselves."""
    declare(world, "bob", files("src/**"))
    declare(world, "ann", files("src/auth.py"))
    declare(world, "cleo", Scope("anything"))
    world.report("dora")
    put(world, "docs", "docs/")  # from now on cleo's slug would be refused

    assert [(each.agent, seen(met)) for each, met in world.do(scopes.standing, world.project)] == [
        ("ann", [("bob", (), ("src/auth.py",))]),
        ("bob", [("ann", (), ("src/auth.py",))]),
        ("cleo", []),
    ]


def test_an_area_is_found_by_its_slug(world: World) -> None:
    """A slug finds its area however it is composed; one that the project does not have is not found."""
    made = put(world, "caf\u00e9", "docs/")

    assert world.do(scopes.find_area, world.id, "cafe\u0301") == made
    with pytest.raises(NotFound, match="area 'nothing' not found"):
        world.do(scopes.find_area, world.id, "nothing")


def test_a_task_is_in_an_area_of_its_project(world: World) -> None:
    """A task may be in any area while the project has none, and then only in one that it has."""

    def send(area: str) -> str | None:
        return world.do(tasks.send, world.id, sender="hub", to=None, text="t", area=area).area

    assert send("anything") == "anything"
    put(world, "caf\u00e9", "docs/")
    assert send("cafe\u0301") == "caf\u00e9"
    for wrong, reason in (("anything", "no area 'anything'; it has café"), ("no slug", "slug of an area")):
        with pytest.raises(Invalid, match=reason):
            send(wrong)
