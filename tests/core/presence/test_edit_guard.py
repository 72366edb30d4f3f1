"""The question of a client's hook before an edit, and the answer: one sentence that a model can act upon."""

from dataclasses import replace
from datetime import timedelta

import pytest

from hubbub.core.agents import file_claims, scopes
from hubbub.core.people import projects
from hubbub.core.presence import edit_guard, presences
from hubbub.core.presence.edit_guard import EditDecision, Editor, EditVerdict, TouchedFile
from hubbub.model.agents.scopes import Scope
from hubbub.model.errors import Invalid
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Profile
from tests.core.conftest import World, member, on_one_engine

HERE = "github.com/acme/shop"
ONE, TWO = "1" * 64, "2" * 64


def editor(name: str, **more: str | None) -> Editor:
    values: dict[str, str | None] = {
        "agent": name,
        "instance": f"run of {name}",
        "client": "claude-code",
        "host": "tower",
        "repository": HERE,
        "branch": "main",
        "worktree": "shop",
        **more,
    }
    return Editor(**values)  # type: ignore[arg-type]


def before(world: World, name: str, *paths: str | TouchedFile, **more: str | None) -> EditVerdict:
    files = [each if isinstance(each, TouchedFile) else TouchedFile(path=each) for each in paths]
    return world.do(edit_guard.before, world.project, editor(name, **more), files)


def after(world: World, name: str, path: str, digest: str) -> None:
    world.do(edit_guard.after, world.project, editor(name), [TouchedFile(path=path, digest=digest)])


def blocking(world: World) -> World:
    project = world.acting(SYSTEM).do(projects.create, "strict", conflict_mode="block")
    return replace(world, project=project, actor=member(project))


def test_a_denial_says_whose_the_file_is_and_how_to_ask(world: World) -> None:
    """It names the holder, since when, on which branch and where, and the tool to ask with; it changes nothing."""
    world = blocking(world)
    before(world, "ann", "a.py", branch="login", worktree="shop-2")
    world.clock.advance(timedelta(minutes=12))

    verdict = before(world, "bob", "b.py", "a.py")

    since = verdict.since
    assert (verdict.decision, verdict.holder) == (EditDecision.DENY, "ann")
    assert since is not None
    assert verdict.sentence is not None
    assert verdict.sentence.startswith("hubbub: a.py is held by 'ann' since ")
    assert "(12 minutes ago), on branch 'login' in worktree 'shop-2'" in verdict.sentence
    assert "`send` with to='ann'" in verdict.sentence
    assert [each.agent for each in world.do(file_claims.held, world.id)] == ["ann"]
    refused = next(each for each in world.log() if each.kind == "file.refused")
    assert (refused.agent, refused.detail["files"], refused.detail["holder"]) == (
        "bob",
        ["b.py", "a.py"],
        "ann",
    )


def test_a_declared_scope_is_in_the_way_as_well(world: World) -> None:
    """An agent that edits another's declared file hears that, without a time."""
    world = blocking(world)
    world.do(scopes.declare, world.project, world.report("ann"), Scope.of(None, ["src/"]))

    verdict = before(world, "bob", "src/a.py")

    assert (verdict.decision, verdict.holder, verdict.since) == (EditDecision.DENY, "ann", None)
    assert verdict.sentence is not None
    assert "src/a.py is in the declared scope of 'ann'" in verdict.sentence


def test_a_file_that_is_not_as_it_was_read_is_told_with_who_changed_it(world: World) -> None:
    """The hub knows by the file's digest who made it what it is; else it was somebody."""
    after(world, "ann", "a.py", ONE)
    world.clock.advance(timedelta(hours=3))

    known = before(world, "bob", TouchedFile(path="a.py", digest=ONE, changed=True))
    unknown = before(world, "bob", TouchedFile(path="a.py", digest=TWO, changed=True))

    assert known.decision is EditDecision.WARN
    assert known.sentence is not None
    assert "changed by 'ann' (3 hours ago) since you read it" in known.sentence
    assert unknown.sentence is not None
    assert "'ann'" not in unknown.sentence


def test_ones_own_change_is_no_news(world: World) -> None:
    """A file that the agent itself made what it is, perhaps in another window, is not told as changed."""
    after(world, "bob", "a.py", ONE)

    assert before(world, "bob", TouchedFile(path="a.py", digest=ONE, changed=True)) == EditVerdict()


def test_a_claim_lasts_as_long_as_the_hub_says(world: World) -> None:
    """Where claims are held for longer than a hook's presence lasts otherwise, the presence lasts that long too."""
    world.do(presences.attend, world.id, "ann", instance="run of ann", condition=None, profile=Profile())
    files, ttl = [TouchedFile(path="a.py")], timedelta(hours=2)
    world.do(lambda tx: edit_guard.before(tx, world.project, editor("ann"), files, ttl=ttl))
    world.do(edit_guard.read, world.project, editor("ann"))

    world.clock.advance(timedelta(minutes=119))
    assert before(world, "bob", "a.py").holder == "ann"
    world.clock.advance(timedelta(minutes=2))
    assert before(world, "cleo", "a.py").holder == "bob"


def test_both_are_told_at_once(world: World) -> None:
    """A file that is held by another and was changed since it was read brings one answer with both sentences."""
    before(world, "ann", "a.py")
    after(world, "ann", "a.py", ONE)

    verdict = before(world, "bob", TouchedFile(path="a.py", digest=ONE, changed=True))

    assert (verdict.decision, verdict.holder) == (EditDecision.WARN, "ann")
    assert verdict.sentence is not None
    assert "held by 'ann'" in verdict.sentence
    assert "changed by 'ann'" in verdict.sentence


def test_a_warning_comes_again_only_with_news(world: World) -> None:
    """An agent that was warned and goes on is left alone until the other edits the file again."""
    before(world, "ann", "a.py")
    assert before(world, "bob", "a.py").decision is EditDecision.WARN
    world.clock.advance(timedelta(minutes=1))
    assert before(world, "bob", "a.py").decision is EditDecision.ALLOW
    world.clock.advance(timedelta(minutes=1))
    before(world, "ann", "a.py")
    world.clock.advance(timedelta(minutes=1))
    assert before(world, "bob", "a.py").decision is EditDecision.WARN


def test_edits_keep_the_claim(world: World) -> None:
    """A report after an edit lets the claim go on from there."""
    before(world, "ann", "a.py")
    world.pass_time(timedelta(minutes=29))
    after(world, "ann", "a.py", ONE)
    world.pass_time(timedelta(minutes=29))

    assert [each.path for each in world.do(file_claims.held, world.id)] == ["a.py"]


def test_an_instance_releases_its_own(world: World) -> None:
    """Each of an agent's two clients lets go of its own claims."""
    before(world, "ann", "a.py")
    before(world, "ann", "b.py", instance="another")

    released = world.do(
        edit_guard.release, world.project, "ann", instance="another", repository=None, paths=None, why="ended"
    )

    assert released == ["b.py"]
    assert [each.path for each in world.do(file_claims.held, world.id)] == ["a.py"]


def test_two_windows_of_one_agent_hear_of_each_other(world: World) -> None:
    """An agent that runs twice is warned where both edit one file, and never denied its own."""
    world = blocking(world)
    before(world, "ann", "a.py")

    verdict = before(world, "ann", "a.py", instance="another")

    assert verdict.decision is EditDecision.WARN
    assert verdict.sentence is not None
    assert "another window of yours" in verdict.sentence
    assert before(world, "ann", "a.py", instance="another") == EditVerdict()
    assert before(world, "ann", "a.py").decision is EditDecision.WARN


def test_who_was_never_there_releases_nothing(world: World) -> None:
    """To release what nobody holds is no mistake."""
    released = world.do(
        edit_guard.release, world.project, "ann", instance="x", repository=None, paths=None, why="ended"
    )
    assert released == []


def test_what_was_changed_long_ago_is_forgotten(world: World) -> None:
    """The last editor of a file is remembered for a week."""
    after(world, "ann", "a.py", ONE)
    world.clock.advance(edit_guard.KEEP + timedelta(seconds=1))
    world.do(edit_guard.forget)

    verdict = before(world, "bob", TouchedFile(path="a.py", digest=ONE, changed=True))
    assert verdict.sentence is not None
    assert "'ann'" not in verdict.sentence


@on_one_engine
@pytest.mark.parametrize("path", ["../a.py", "/etc/passwd", "a\nb", ""])
def test_what_is_no_path_of_a_repository_is_refused(world: World, path: str) -> None:
    """A path is named from the root of the repository, and leads nowhere else."""
    with pytest.raises(Invalid, match="path"):
        before(world, "ann", path)


def test_the_hook_opens_the_presence_of_its_agent(world: World) -> None:
    """An agent that edits is there, and works; by its client, on its machine."""
    before(world, "ann", "a.py")

    presence = world.do(
        presences.attend, world.id, "ann", instance="run of ann", condition=None, profile=Profile()
    )
    assert (presence.runtime, presence.hostname, presence.condition.value) == (
        "claude-code",
        "tower",
        "working",
    )
