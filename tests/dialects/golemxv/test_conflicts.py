"""Conflicts: overlapping scopes, the agents that are told, and those that are kept out."""

from collections.abc import Iterator
from itertools import product

import pytest

from tests.dialects.conftest import both_engines
from tests.dialects.every_row import every_row
from tests.dialects.golemxv.callers import NOWHERE, Crew, no, scope, token
from tests.dialects.golemxv.requirements import requires
from tests.dialects.running_hub import Hub, Json


@pytest.fixture
def blocking(hub: Hub) -> Iterator[Crew]:
    """A project that refuses overlaps."""
    with Crew.made(hub, conflict_mode="block") as made:
        yield made


@pytest.fixture
def careless(hub: Hub) -> Iterator[Crew]:
    """A project that does not look for overlaps."""
    with Crew.made(hub, conflict_mode="off") as made:
        yield made


def _conflict(areas: list[str], files: list[str], name: str = "ann") -> Json:
    return {"agent_name": name, "overlapping_areas": areas, "overlapping_files": files}


OVERLAPS = [
    ("the same area", scope("backend"), scope("backend"), (["backend"], [])),
    ("the same file", scope(None, "a", "b"), scope(None, "b", "c"), ([], ["b"])),
    ("**", scope(None, "src/**"), scope(None, "src/x/y.py"), ([], ["src/x/y.py"])),
    ("*", scope(None, "src/*.py"), scope(None, "src/y.py"), ([], ["src/y.py"])),
    ("?", scope(None, "src/?.py"), scope(None, "src/y.py"), ([], ["src/y.py"])),
    ("the other way", scope(None, "src/y.py"), scope(None, "src/*.py"), ([], ["src/y.py"])),
    ("two globs", scope(None, "src/**"), scope(None, "**/y.py"), ([], ["src/**"])),
    ("a file in an area", scope("web"), scope(None, "web/a.ts"), (["web"], ["web/a.ts"])),
    ("a glob in an area", scope(None, "web/*.ts"), scope("web"), (["web"], ["web/*.ts"])),
    ("another spelling", scope(None, "b"), scope(None, "./a/../b"), ([], ["b"])),
    ("any script", scope(None, "名/文.md"), scope(None, "名/*"), ([], ["名/文.md"])),
]
APART = [
    ("two areas", scope("backend"), scope("web")),
    ("two files", scope(None, "src/a.py"), scope(None, "src/b.py")),
    ("another case", scope(None, "src/A.py"), scope(None, "src/a.py")),
    ("* stays in a folder", scope(None, "src/*.py"), scope(None, "src/x/y.py")),
    ("? is one character", scope(None, "src/?.py"), scope(None, "src/xy.py")),
    ("globs that share no path", scope(None, "src/*.py"), scope(None, "src/*.ts")),
    ("a file of another area", scope("web"), scope(None, "app/a.php")),
    ("nothing declared", scope(None), scope(None, "a")),
]


def _areas(crew: Crew) -> None:
    crew.area("backend", "app/**", "plugins/**")
    crew.area("web", "web/**")


@requires("conflicts.area", "conflicts.file", "conflicts.glob", "conflicts.globs", "conflicts.inside",
          "conflicts.normal", "conflicts.warn", "checkin.conflicts", "conflict_check.reply",
          "scope_update.conflicts")  # fmt: skip
def test_what_overlaps_is_told(anywhere: Crew) -> None:
    """Overlapping agents are named with what they share."""
    _areas(anywhere)
    ann = anywhere.checkin("ann")

    with every_row() as row:
        for what, theirs, mine, met in OVERLAPS:
            ann.scope_update(**theirs | {"declared_area": theirs["declared_area"] or ""})
            with row(what):
                expected = {"has_conflicts": True, "conflicts": [_conflict(*met)]}
                assert anywhere.viewer().conflict_check(**mine) == expected


@requires("conflicts.warn", "checkin.conflicts", "conflict_check.reply", "scope_update.conflicts")
@both_engines
def test_all_tools_tell_of_the_same_conflicts(crew: Crew) -> None:
    """Overlapping agents are named alike by conflict_check, checkin and scope_update."""
    _areas(crew)
    crew.checkin("ann", **scope("web", "app/a.php", "web/*.ts"))
    mine = scope("backend", "web/a.ts")
    expected = [_conflict(["backend", "web"], ["app/a.php", "web/a.ts"])]

    assert crew.viewer().conflict_check(**mine) == {"has_conflicts": True, "conflicts": expected}
    assert crew.member().checkin(agent_name="bob", **mine)["conflicts"] == expected
    crew.later(seconds=1)
    told = crew.checkin("cyd").scope_update(**mine)["conflicts"]
    assert [each for each in told if each["agent_name"] == "ann"] == expected
    assert [each["agent_name"] for each in told] == ["ann", "bob"]


@requires("conflicts.case", "conflicts.glob", "conflicts.globs", "conflicts.inside", "conflict_check.reply")
def test_what_does_not_overlap_is_not_told(anywhere: Crew) -> None:
    """Scopes that share neither an area nor a path are no conflict."""
    _areas(anywhere)
    ann = anywhere.checkin("ann")

    with every_row() as row:
        for what, theirs, mine in APART:
            ann.scope_update(**theirs | {"declared_area": theirs["declared_area"] or ""})
            with row(what):
                told = anywhere.viewer().conflict_check(**mine)
                assert told == {"has_conflicts": False, "conflicts": []}
    assert anywhere.member().checkin(agent_name="bob", **scope("backend", "src/a.py"))["conflicts"] == []


@requires("conflicts.outside", "envelope.clean")
def test_a_path_stays_in_the_repository(crew: Crew) -> None:
    """A path that leaves the repository, or is none, is refused by every tool that takes one, and changes nothing."""
    ann, member = crew.checkin("ann", declared_files=["a"]), crew.member()

    tools = ((member, "checkin"), (member, "conflict_check"), (ann, "scope_update"))
    with crew.unchanged(), every_row() as row:
        for path, (caller, tool) in product(("../x", "a/../../x", "/etc/passwd", ""), tools):
            with row(repr(path), tool):
                assert no(caller, tool, declared_files=["ok", path])


@requires("conflicts.warn", "checkin.conflicts")
def test_everyone_who_overlaps_is_named(crew: Crew) -> None:
    """Several who overlap are each named once, by name; who overlaps in nothing is not."""
    crew.checkin("cyd", **scope("backend", "x", "y"))
    crew.checkin("ann", **scope(None, "x"))
    crew.checkin("bob", **scope(None, "z"))

    told = crew.member().checkin(agent_name="dan", **scope("backend", "y", "x"))

    assert told["conflicts"] == [_conflict([], ["x"]), _conflict(["backend"], ["x", "y"], "cyd")]


@requires("conflicts.off", "conflict_check.reply")
def test_in_mode_off_nobody_is_told(careless: Crew) -> None:
    """Where the mode is off the same files are no conflict, for any tool."""
    careless.checkin("ann", declared_files=["a"])

    assert careless.member().checkin(agent_name="bob", declared_files=["a"])["conflicts"] == []
    assert careless.viewer().conflict_check(declared_files=["a"])["has_conflicts"] is False
    assert careless.checkin("cyd").scope_update(declared_files=["a"])["conflicts"] == []
    assert [row["declared_files"] for row in careless.viewer().presence()["agents"]] == [["a"]] * 3


@requires("conflicts.block", "envelope.clean", "events.committed")
@both_engines
def test_in_mode_block_nobody_overlaps(blocking: Crew) -> None:
    """Where the mode is block an overlapping checkin or scope_update is refused, with the conflicts, and undone."""
    blocking.checkin("ann", declared_files=["a"])
    bob, member = blocking.checkin("bob", declared_files=["b"]), blocking.member()

    with blocking.unchanged():
        for caller, tool, more in (
            (member, "checkin", {"agent_name": "newcomer"}),
            (bob, "scope_update", {}),
        ):
            answer = caller.wrong(tool, declared_files=["a"], **more)
            assert answer == {"error": answer["error"], "conflicts": [_conflict([], ["a"])]}
            assert "'ann'" in answer["error"]
    assert bob.scope_update(declared_files=["c"])["conflicts"] == []
    member.checkin(agent_name="newcomer", declared_files=["d"])


@requires("conflicts.block", "checkin.replaces")
def test_in_mode_block_a_refused_checkin_keeps_the_old_presence(blocking: Crew) -> None:
    """An agent that is refused a new presence is still there by the old one, in its old scope."""
    blocking.checkin("ann", declared_files=["a"])
    bob = blocking.checkin("bob", declared_files=["b"])

    blocking.of(bob.secret).wrong("checkin", agent_name="bob", declared_files=["a"])

    assert bob.heartbeat()["ok"] is True
    assert blocking.of(bob.secret).checkin(agent_name="bob", declared_files=["b"])["conflicts"] == []


@requires("conflicts.block", "presence.live")
@pytest.mark.parametrize("how", ["checkout", "timeout", "scope_update"])
def test_in_mode_block_what_is_left_is_free(blocking: Crew, how: str) -> None:
    """A file is free again when its holder has checked out, has fallen silent, or has turned to others."""
    ann = blocking.checkin("ann", declared_files=["a"])
    bob = blocking.checkin("bob")
    bob.wrong("scope_update", declared_files=["a"])

    if how == "checkout":
        ann.checkout()
    elif how == "timeout":
        blocking.later(seconds=179)
        bob.heartbeat()
        blocking.later(seconds=1)
    else:
        ann.scope_update(declared_files=[])

    assert bob.scope_update(declared_files=["a"])["conflicts"] == []


@requires("conflicts.race")
@both_engines
@pytest.mark.parametrize("how", ["file", "glob", "area"])
def test_of_racing_checkins_one_succeeds(blocking: Crew, how: str) -> None:
    """When ten check in at once with scopes that all overlap exactly one succeeds, and nine are told of that one."""
    blocking.area("web", "web/**")
    scopes = {
        "file": [scope(None, "web/a.ts", f"own/{n}") for n in range(10)],
        "glob": [scope(None, f"{'*' * (n % 2 + 1)}/a.ts") for n in range(10)],
        "area": [scope("web") if n % 2 else scope("web", "web/a.ts") for n in range(10)],
    }[how]
    members = [blocking.member() for _ in range(10)]
    for member in members:
        member.presence()

    waits = [
        member.soon("checkin", agent_name=f"ann-{number}", **mine)
        for number, (member, mine) in enumerate(zip(members, scopes, strict=True))
    ]
    answers = [wait() for wait in waits]

    (winner,) = [answer["agent_name"] for answer in answers if "session_token" in answer]
    refused = [answer for answer in answers if "error" in answer]
    assert len(refused) == 9
    assert {each["agent_name"] for answer in refused for each in answer["conflicts"]} == {winner}
    assert blocking.here() == [winner]


@requires("conflicts.race")
@both_engines
def test_of_racing_scope_updates_one_succeeds(blocking: Crew) -> None:
    """When ten agents turn to the same file at once exactly one does, and the others stay where they were."""
    agents = [blocking.checkin(f"ann-{number}", declared_files=[f"own/{number}"]) for number in range(10)]

    waits = [agent.soon("scope_update", declared_files=["shared"]) for agent in agents]
    answers = [wait() for wait in waits]

    assert len([answer for answer in answers if answer.get("ok")]) == 1
    files = [row["declared_files"] for row in blocking.viewer().presence()["agents"]]
    assert files.count(["shared"]) == 1
    assert len({each for (each,) in files}) == 10


@requires("conflict_check.writes_nothing", "conflict_check.reply")
@both_engines
def test_a_check_writes_nothing(crew: Crew) -> None:
    """A conflict_check opens no presence, declares nothing, and leaves no line in the log."""
    crew.checkin("ann", declared_files=["a"])
    member = crew.member()

    with crew.unchanged():
        assert member.conflict_check(declared_files=["a"])["has_conflicts"] is True
        assert member.conflict_check() == {"has_conflicts": False, "conflicts": []}


@requires("conflict_check.own", "defaults.token.header", "defaults.token.only")
def test_ones_own_presence_is_no_conflict(crew: Crew) -> None:
    """The caller's presence is left out, known by its token's only one or by the header; another's is not."""
    ann = crew.checkin("ann", declared_files=["a"])
    crew.checkin("bob", declared_files=["a"])
    mine = [_conflict([], ["a"], "bob")]

    assert crew.of(ann.secret).conflict_check(declared_files=["a"])["conflicts"] == mine
    told = crew.with_headers(crew.viewer(), {"X-GXV-Session": token(ann)}, project_slug=crew.slug)
    assert told.conflict_check(declared_files=["a"])["conflicts"] == mine
    stale = crew.with_headers(crew.viewer(), {"X-GXV-Session": NOWHERE}, project_slug=crew.slug)
    assert len(stale.conflict_check(declared_files=["a"])["conflicts"]) == 2
    assert len(crew.viewer().conflict_check(declared_files=["a"])["conflicts"]) == 2


@requires("scope_update.reply", "scope_update.omitted", "scope_update.clears")
def test_a_scope_is_changed_in_part(crew: Crew) -> None:
    """A field left out stays as it was; an empty list clears the files, an empty area the area."""
    ann = crew.checkin("ann", **scope("backend", "a"))

    assert ann.scope_update(declared_files=["b", "./b", "c"]) == {
        "ok": True,
        "declared_area": "backend",
        "declared_files": ["b", "c"],
        "conflicts": [],
    }
    assert ann.scope_update(declared_area="web")["declared_files"] == ["b", "c"]
    assert ann.scope_update()["declared_area"] == "web"
    assert ann.scope_update(declared_files=[])["declared_files"] == []
    (row,) = crew.viewer().presence()["agents"]
    assert (row["declared_area"], row["declared_files"]) == ("web", None)
    assert ann.scope_update(declared_area="")["declared_area"] is None
    (row,) = crew.viewer().presence()["agents"]
    assert (row["declared_area"], row["declared_files"]) == (None, None)


@requires("scope_update.omitted")
def test_an_area_that_the_project_does_not_know_any_more_may_stay(crew: Crew) -> None:
    """Where a project without areas got some, its agents keep the slug that they declared; another one is refused."""
    ann = crew.checkin("ann", **scope("free", "a"))
    crew.area("web", "web/**")

    changed = ann.scope_update(declared_files=["b"])

    assert (changed["declared_area"], changed["declared_files"]) == ("free", ["b"])
    refused = no(ann, "scope_update", declared_area="backend")
    assert refused == "the project has no area 'backend'; it has web"


@requires("scope_update.conflicts", "conflict_check.own")
def test_changing_a_scope_is_no_conflict_with_itself(crew: Crew) -> None:
    """An agent that declares again what it had declared is in conflict with nobody."""
    ann = crew.checkin("ann", **scope("backend", "a", "src/**"))

    assert ann.scope_update(declared_files=["a", "src/x.py"])["conflicts"] == []
