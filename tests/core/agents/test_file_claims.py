"""Files that agents hold because they edit them: shown and minded like what they have declared."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from hubbub.core.agents import agents, file_claims, scopes
from hubbub.core.people import projects
from hubbub.core.presence import presences
from hubbub.model.agents.file_claims import TTL
from hubbub.model.agents.scopes import AgentConflict, Scope
from hubbub.model.errors import Invalid, ScopeConflict
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Condition, Presence, Profile
from hubbub.store.log import projection
from hubbub.store.tx import Tx
from tests.core.conftest import RACERS, World, errors_of, member, on_one_engine

HERE = "github.com/acme/shop"
ELSEWHERE = "github.com/acme/docs"
LONG = timedelta(hours=3)


def there(world: World, name: str, instance: str = "first") -> Presence:
    """The agent, by way of its client, for longer than any claim lasts."""
    return world.do(
        presences.attend,
        world.id,
        name,
        instance=instance,
        condition=Condition.WORKING,
        profile=Profile(),
        ttl=LONG,
    )


def claim(
    world: World, name: str, *paths: str, repository: str | None = HERE, seen: bool = True
) -> list[str]:
    """Claim and return the agents in conflict with it."""
    seen = seen and repository is not None
    found = world.do(
        file_claims.claim, world.project, there(world, name), paths, repository=repository, seen=seen
    )
    return [each.agent for each in found]


def check(world: World, *paths: str, repository: str | None = None) -> list[str]:
    """Return the agents with whom claiming that would be in conflict."""
    return [each.agent for each in world.do(file_claims.check, world.project, paths, repository=repository)]


def held(world: World, name: str | None = None) -> list[str]:
    return [each.entry for each in world.do(file_claims.held, world.id, name)]


def in_mode(world: World, mode: str, repo_url: str | None = None) -> World:
    project = world.acting(SYSTEM).do(projects.create, f"in-{mode}", conflict_mode=mode, repo_url=repo_url)
    return replace(world, project=project, actor=member(project))


def shown(world: World, name: str) -> tuple[str, ...] | None:
    """Return the files that a presence shows."""
    presence = world.do(agents.presence, world.id, name)
    return presence.files if presence else None


def test_what_is_claimed_is_held_and_shown_as_what_is_declared(world: World) -> None:
    """A claimed file stands among the files of its agent: in its presence, among the scopes and in the picture."""
    assert claim(world, "ann", "src/a.py") == []

    assert held(world, "ann") == ["src/a.py"]
    assert shown(world, "ann") == ("src/a.py",)
    assert [each.scope for each in world.do(scopes.live, world.id)] == [Scope(None, ("src/a.py",))]
    row = world.do(projection.agent, world.id, "ann")
    assert row is not None
    assert row["claimed"] == '["src/a.py"]'


def test_what_another_holds_is_a_conflict(world: World) -> None:
    """An agent that claims what another holds is told the holder, and holds it too, where the project warns."""
    claim(world, "ann", "src/a.py")

    assert claim(world, "bob", "src/a.py", "src/b.py") == ["ann"]
    assert held(world, "bob") == ["src/a.py", "src/b.py"]


def test_claims_and_declared_scopes_meet(world: World) -> None:
    """A claim is in conflict with what somebody has declared, and a declaration with what somebody holds."""
    world.do(scopes.declare, world.project, there(world, "ann"), Scope.of(None, ["src/"]))
    assert claim(world, "bob", "src/a.py") == ["ann"]

    conflicts = world.do(scopes.declare, world.project, there(world, "代码1号"), Scope.of(None, ["src/*.py"]))
    assert [each.agent for each in conflicts] == ["ann", "bob"]


def test_declaring_again_leaves_claims_as_they_are(world: World) -> None:
    """A scope that is declared anew stands beside what the agent holds, and does not become it."""
    claim(world, "ann", "src/a.py")
    world.do(scopes.declare, world.project, there(world, "ann"), Scope.of(None, ["docs/"]))

    assert shown(world, "ann") == ("docs/", "src/a.py")
    assert world.do(scopes.declared, there(world, "ann")) == Scope(None, ("docs/",))
    assert claim(world, "bob", "src/a.py") == ["ann"]

    world.do(scopes.declare, world.project, there(world, "ann"), Scope())
    assert shown(world, "ann") == ("src/a.py",)


def test_a_blocking_project_gives_a_file_to_one(world: World) -> None:
    """Where the project blocks, whoever claims what is held is refused, and holds nothing of what it asked for."""
    world = in_mode(world, "block")
    claim(world, "ann", "src/a.py")

    with pytest.raises(ScopeConflict, match="'ann'"):
        claim(world, "bob", "src/b.py", "src/a.py")
    assert held(world, "bob") == []


def test_where_nothing_is_minded_nothing_is_told(world: World) -> None:
    """In a project that looks for no conflicts a claim makes none."""
    world = in_mode(world, "off")
    claim(world, "ann", "src/a.py")

    assert claim(world, "bob", "src/a.py") == []


def test_a_race_for_a_file_has_one_winner(world: World) -> None:
    """One of many agents that claim a file at once holds it, where the project blocks."""
    world = in_mode(world, "block")

    def racer(number: int) -> object:
        def run(tx: Tx) -> list[AgentConflict]:
            presence = presences.attend(
                tx,
                world.id,
                f"agent-{number}",
                instance="first",
                condition=Condition.WORKING,
                profile=Profile(),
            )
            return file_claims.claim(tx, world.project, presence, ["src/a.py"], repository=HERE, seen=True)

        return run

    outcomes = world.race(*map(racer, range(RACERS)))  # type: ignore[arg-type]
    assert errors_of(outcomes) == [ScopeConflict] * (RACERS - 1)
    assert held(world) == ["src/a.py"]


def test_a_claim_ends_when_nobody_edits_for_a_while(world: World) -> None:
    """Half an hour after the last edit a file is free again, and its agent is seen without it."""
    claim(world, "ann", "src/a.py", "src/b.py")
    world.pass_time(TTL - timedelta(minutes=1))
    claim(world, "ann", "src/b.py")
    world.pass_time(timedelta(minutes=1))

    assert held(world) == ["src/b.py"]
    assert shown(world, "ann") == ("src/b.py",)
    assert claim(world, "bob", "src/a.py") == []
    assert world.kinds().count("file.released") == 1


def test_a_claim_ends_with_the_presence(world: World) -> None:
    """An agent that leaves holds nothing any more, and is in nobody's way."""
    claim(world, "ann", "src/a.py")
    claim(world, "bob", "src/a.py")
    world.do(presences.leave, world.id, "ann", instance="first")

    assert held(world) == ["src/a.py"]
    assert claim(world, "bob", "src/a.py") == []


def test_an_agent_that_goes_on_as_another_instance_keeps_its_claims(world: World) -> None:
    """An agent's claims go over to the presence that replaces its own."""
    claim(world, "ann", "src/a.py")
    world.report("ann", instance="second")

    assert held(world, "ann") == ["src/a.py"]
    assert claim(world, "bob", "src/a.py") == ["ann"]


@pytest.mark.parametrize(
    ("named", "left"),
    [
        ({}, []),
        ({"paths": ["src/a.py"], "repository": HERE}, ["src/b.py", f"{ELSEWHERE}:src/a.py"]),
        ({"repository": ELSEWHERE}, ["src/a.py", "src/b.py"]),
        ({"paths": ["src/c.py"]}, ["src/a.py", "src/b.py", f"{ELSEWHERE}:src/a.py"]),
        ({"instance": "of nobody"}, ["src/a.py", "src/b.py", f"{ELSEWHERE}:src/a.py"]),
    ],
)
def test_what_is_named_is_released(world: World, named: dict[str, object], left: list[str]) -> None:
    """An agent lets go of everything, of some paths, of a repository, or of what one instance claimed."""
    claim(world, "ann", "src/a.py", "src/b.py")
    claim(world, "ann", "src/a.py", repository=ELSEWHERE)
    everything = held(world)

    released = world.do(file_claims.release, world.project, there(world, "ann"), **named)  # type: ignore[arg-type]

    assert held(world) == left
    assert sorted([*released, *left]) == sorted(everything)
    assert (shown(world, "ann") or ()) == tuple(left)


def test_the_first_repository_that_is_edited_is_the_projects_own(world: World) -> None:
    """Its files are written by their paths alone; those of any other with the repository in front."""
    claim(world, "ann", "src/a.py", repository=HERE)
    claim(world, "ann", "src/a.py", repository=ELSEWHERE)

    assert held(world) == ["src/a.py", f"{ELSEWHERE}:src/a.py"]
    assert claim(world, "bob", "src/a.py", repository=None) == ["ann"]


def test_a_repository_that_is_only_named_stays_another(world: World) -> None:
    """A named repository is not the project's own: a claim there is in nobody's way elsewhere."""
    claim(world, "ann", "README.md", repository=ELSEWHERE, seen=False)

    assert held(world) == [f"{ELSEWHERE}:README.md"]
    assert check(world, "README.md") == []
    claim(world, "bob", "src/a.py", repository=HERE)
    assert held(world, "bob") == ["src/a.py"]
    assert check(world, "src/a.py") == ["bob"]
    assert check(world, "README.md", repository=ELSEWHERE) == ["ann"]


def test_what_was_named_is_held_as_the_projects_own_once_that_is_known(world: World) -> None:
    """A repository that was named before the project knew that it is its own meets what is edited there."""
    claim(world, "ann", "src/a.py", "src/b.py", repository=HERE, seen=False)
    claim(world, "ann", "src/b.py", repository=None)

    assert claim(world, "bob", "src/a.py") == ["ann"]

    assert sorted(held(world, "ann")) == ["src/a.py", "src/b.py"]
    assert sorted(shown(world, "ann") or ()) == ["src/a.py", "src/b.py"]
    row = world.do(projection.agent, world.id, "ann")
    assert row is not None
    assert sorted(json.loads(row["claimed"])) == ["src/a.py", "src/b.py"]


def test_a_repository_is_the_same_in_capitals(world: World) -> None:
    """Hosts do not tell them apart, and those who name a repository write it as they have seen it."""
    claim(world, "ann", "README.md", repository=ELSEWHERE, seen=False)
    assert check(world, "README.md", repository=ELSEWHERE.upper()) == ["ann"]


@pytest.mark.parametrize("named", [HERE, ELSEWHERE])
def test_a_repository_may_be_named_in_front_of_a_path(world: World, named: str) -> None:
    """A path with its repository in front is the file that the two are apart, of the own repository and of others."""
    claim(world, "bob", "src/b.py", repository=HERE)
    claim(world, "ann", "src/a.py", repository=named)

    assert check(world, f"{named}:src/a.py") == ["ann"]
    assert check(world, f"{named}:src/a.py", repository=named) == ["ann"]
    world.do(file_claims.release, world.project, there(world, "ann"), [f"{named}:src/a.py"])
    assert held(world, "ann") == []


def test_a_projects_address_says_which_repository_is_its_own(world: World) -> None:
    """Where a project has the address of a repository, that one is its own, however it is written."""
    world = in_mode(world, "warn", repo_url="git@github.com:Acme/Docs.git")
    claim(world, "ann", "src/a.py", repository=HERE)
    claim(world, "ann", "src/a.py", repository=ELSEWHERE)

    assert held(world) == [f"{HERE}:src/a.py", "src/a.py"]


def test_files_of_two_repositories_do_not_meet(world: World) -> None:
    """The same path elsewhere is another file, and a pattern for everything means everything of the project's own."""
    claim(world, "ann", "src/a.py")
    world.do(scopes.declare, world.project, there(world, "代码1号"), Scope.of(None, ["**", "*/*/*/*.py"]))

    assert claim(world, "bob", "src/a.py", repository=ELSEWHERE) == []
    assert claim(world, "ann", "src/a.py", repository=ELSEWHERE) == ["bob"]


def test_of_too_many_claims_the_oldest_are_let_go(world: World) -> None:
    """An agent holds 500 files at most: what it began to edit first is free again."""
    paths = [f"{number}.py" for number in range(file_claims.MOST)]
    claim(world, "ann", *paths)
    claim(world, "ann", "one-more.py")

    assert held(world) == [*paths[1:], "one-more.py"]


@on_one_engine
@pytest.mark.parametrize("repository", ["", "a b", "a/../b", "*", "a:b", "x" * 301, "a//b", "/a"])
def test_what_can_be_no_repository_is_refused(world: World, repository: str) -> None:
    """A repository is named like `github.com/owner/name`."""
    with pytest.raises(Invalid, match=r"github\.com/owner/name"):
        claim(world, "ann", "src/a.py", repository=repository)


def test_checking_changes_nothing(world: World) -> None:
    """Checking the conflicts of a claim neither claims anything nor settles a repository."""
    claim(world, "ann", "src/a.py")
    before = world.log()

    found = world.do(file_claims.check, world.project, ["src/a.py"], repository=HERE)

    assert [each.agent for each in found] == ["ann"]
    assert world.log() == before


def test_what_is_claimed_is_told_once(world: World) -> None:
    """The log has the first claim of a file, with who is in conflict with it; not that it is held for longer."""
    claim(world, "ann", "src/a.py")
    claim(world, "bob", "src/a.py")
    claim(world, "bob", "src/a.py")

    told = [each for each in world.log() if each.kind == "file.claimed"]
    assert [(each.agent, each.detail["files"], each.detail["conflicts"]) for each in told] == [
        ("ann", ["src/a.py"], []),
        ("bob", ["src/a.py"], ["ann"]),
    ]


def test_a_person_releases_what_an_agent_holds(world: World) -> None:
    """Releasing what an agent has declared lets go of its claims as well, and the agent is told of all of it."""
    claim(world, "ann", "src/a.py")
    world.do(scopes.declare, world.project, there(world, "ann"), Scope.of(None, ["docs/"]))

    was = world.do(presences.release_scope, world.project, "ann", by="bob", reason="it hangs")

    assert was.files == ("docs/", "src/a.py")
    assert held(world) == []
    assert shown(world, "ann") in (None, ())
    assert "docs/, src/a.py" in world.mail("ann")[0]
