"""The merge radar at the hub: which branches are compared, and who hears of a conflict."""

from datetime import timedelta

from hubbub.core.work import merge_radar
from hubbub.core.work.merge_radar import Judgement
from hubbub.model.agents.merges import KEEP, BranchHead, MergeForecast
from tests.core.conftest import World

PARSER = "github.com/octo/parser"


def head(
    world: World, agent: str, branch: str, commit: str, *paths: str, repository: str = PARSER
) -> BranchHead:
    return BranchHead(
        project_id=world.id,
        repository=repository,
        agent=agent,
        branch=branch,
        head=commit * 40,
        tree=commit * 40,
        paths=paths,
        emptied=(),
        host=None,
        told_at=world.clock(),
    )


def commit(world: World, agent: str, branch: str, commit: str, *paths: str, **more: str) -> list[str]:
    """An agent commits; whose branches it has to be compared with."""
    found = world.do(merge_radar.tell_head, world.project, head(world, agent, branch, commit, *paths, **more))
    return [each.agent for each in found]


def judge(world: World, agent: str, branch: str, commit: str, *judgements: Judgement) -> list[MergeForecast]:
    """Git has said how an agent's branch merges with others."""
    return world.do(
        merge_radar.tell_judgements, world.project, head(world, agent, branch, commit), judgements
    )


def with_ann(*files: str, commit: str = "1", merged: bool = False) -> Judgement:
    return Judgement(agent="ann", branch="login", head=commit * 40, files=files, is_merged=merged)


def conflicts(world: World) -> list[MergeForecast]:
    return world.do(merge_radar.conflicts, world.id)


def kinds(world: World) -> list[str]:
    return [each for each in world.kinds() if each.startswith("merge.")]


def test_branches_that_meet_are_compared(world: World) -> None:
    """At a commit the hub names the branches of others that touch the same files of the repository, each pair once."""
    assert commit(world, "ann", "login", "1", "src/a.py", "src/b.py") == []
    assert commit(world, "bob", "logout", "2", "src/c.py") == []
    assert commit(world, "bob", "logout", "3", "src/c.py", "src/b.py") == ["ann"]
    assert commit(world, "bob", "other", "4", "src/b.py", repository="github.com/octo/site") == []
    assert commit(world.elsewhere("other"), "bob", "logout", "3", "src/b.py") == []
    judge(world, "bob", "logout", "3", with_ann())

    assert commit(world, "bob", "logout", "3", "src/c.py", "src/b.py") == []
    assert commit(world, "bob", "logout", "5", "src/c.py", "src/b.py") == ["ann"]


def test_both_hear_of_a_conflict_once(world: World) -> None:
    """Both agents are told once of a new conflict: who, where, and which to merge first."""
    commit(world, "ann", "login", "1", "src/a.py", "src/b.py")
    commit(world, "bob", "logout", "2", "src/b.py")
    judge(world, "bob", "logout", "2", with_ann("src/b.py"))
    commit(world, "bob", "logout", "3", "src/b.py")
    judge(world, "bob", "logout", "3", with_ann("src/b.py"))

    waits = "Have 'bob' merge first, as that branch changes less; then rebase yours on it."
    begins = "Merge yours first, as it changes less; 'ann' then rebases on it."
    assert world.mail("ann") == [
        f"Your branch 'login' and 'logout' of 'bob' will conflict in src/b.py. {waits}"
    ]
    assert world.mail("bob") == [
        f"Your branch 'logout' and 'login' of 'ann' will conflict in src/b.py. {begins}"
    ]
    assert kinds(world) == ["merge.conflict"]
    assert [(each.one_agent, each.other_head, each.first) for each in conflicts(world)] == [
        ("ann", "3" * 40, "bob")
    ]


def test_a_conflict_that_is_over_is_gone(world: World) -> None:
    """A pair that git merges, that meets no more, or that is merged is no conflict; the next conflict is told anew."""
    for over in ("clean", "elsewhere", "merged", "ended"):
        commit(world, "ann", "login", "1", "src/b.py")
        commit(world, "bob", "logout", "2", "src/b.py")
        judge(world, "bob", "logout", "2", with_ann("src/b.py"))
        assert len(conflicts(world)) == 1
        match over:
            case "clean":
                judge(world, "bob", "logout", "2", with_ann())
            case "elsewhere":
                commit(world, "bob", "logout", "3", "src/c.py")
            case "merged":
                judge(world, "bob", "logout", "2", with_ann(merged=True))
            case "ended":
                commit(world, "bob", "logout", "4")
        assert conflicts(world) == [], over
    assert kinds(world) == ["merge.conflict", "merge.clear"] * 4
    assert len(world.mail("ann")) == 4


def test_an_old_judgement_says_nothing(world: World) -> None:
    """Git's word on a commit that is no longer the newest of its branch is left out."""
    commit(world, "ann", "login", "1", "src/b.py")
    commit(world, "bob", "logout", "2", "src/b.py")
    assert judge(world, "bob", "logout", "2", with_ann("src/b.py", commit="9")) == []
    assert judge(world, "bob", "logout", "8", with_ann("src/b.py")) == []
    assert kinds(world) == []


def test_what_lies_for_long_is_forgotten(world: World) -> None:
    """A branch on which nobody commits for two weeks is compared no more, and its conflicts are over."""
    commit(world, "ann", "login", "1", "src/b.py")
    world.clock.advance(timedelta(minutes=1))
    commit(world, "bob", "logout", "2", "src/b.py")
    judge(world, "bob", "logout", "2", with_ann("src/b.py"))
    world.clock.advance(KEEP - timedelta(seconds=30))
    world.do(merge_radar.forget)

    assert conflicts(world) == []
    assert commit(world, "代码1号", "third", "3", "src/b.py") == ["bob"]
    world.do(merge_radar.forget_agent, world.id, "bob")
    assert commit(world, "代码1号", "third", "4", "src/b.py") == []
