"""The reasons why a task does not count as completed yet: the proof it asks for that nobody saw."""

import pytest

from hubbub.core import why
from hubbub.core.actions import task_actions
from hubbub.core.why import Fact
from hubbub.core.work import proof
from hubbub.model.people.rights import HUB, Role
from hubbub.model.records import Task
from hubbub.model.work.proof import Deed, ProofRules, Tree
from hubbub.store.engine.sqlite import SQLite
from tests.core.conftest import World, person

TREE, HEAD = "1" * 40, "2" * 40


@pytest.fixture
def store(sqlite_store: SQLite) -> SQLite:
    """One engine is enough: what is asked of it is asked by others too, on both."""
    return sqlite_store


def asked(world: World, *done_when: str) -> Task:
    """A task for bob in a project that asks for proof, `make test` being its tests."""
    world.do(proof.put_rules, world.project, ProofRules(done_when=done_when, tests="make test"))
    return world.send("bob")


def facts(world: World, task: Task) -> list[Fact]:
    """Return the facts on proof in an account of the task."""
    kinds = ("task.done_when", "task.unproven", "task.proven", "task.waived")
    return [
        each for each in world.do(why.explain, world.project, str(task.number)).facts if each.kind in kinds
    ]


def saw(world: World, *dirty: str) -> None:
    """A hook saw bob's tests pass, with these files not committed."""
    found = Tree(tree=TREE, head=HEAD, head_tree=TREE, branch="main", pushed=None, dirty=dirty)
    seen = proof.Seen(deed=Deed.SHELL, instance="r", place="here", command="make test", code=0, tree=found)
    world.do(proof.saw, world.project, "bob", seen)


def test_a_task_that_asks_for_nothing(world: World) -> None:
    """`why` says nothing of proof for a task that asks for none, before and after."""
    task = world.accept(world.send("bob"))
    assert facts(world, task) == []
    world.on(task, task_actions.complete, by="bob", result="done")
    assert facts(world, task) == []


def test_what_a_task_will_ask_for(world: World) -> None:
    """Before anybody has taken it, it is said when it will count as completed."""
    (told,) = facts(world, asked(world, "tests", "within docs/ README.md"))
    assert told.detail == {"done_when": ["tests", "within docs/ README.md"]}
    assert told.sentence == (
        "It will count as completed when the tests, `make test`, run by themselves after the last change, passed"
        ' and only "docs/ README.md" was changed.'
    )


def test_what_is_missing(world: World) -> None:
    """While somebody has it, each thing that was not seen is named, as missing or as not seen, with the reason."""
    task = world.accept(asked(world, "clean", "pushed", "tests"))
    saw(world, "a.py")
    (told,) = facts(world, task)
    assert told.sentence == (
        'It does not count as completed until everything is committed (missing: "a.py" is not committed)'
        " and the commit is on the remote (not seen: there is no remote that git here knows of)."
    )
    assert told.detail["missing"] == [
        {"demand": "clean", "verdict": "missing", "why": "a.py is not committed"},
        {"demand": "pushed", "verdict": "not seen", "why": "there is no remote that git here knows of"},
    ]


def test_what_was_all_seen(world: World) -> None:
    """Complete proof is told as such, before the task is completed and after."""
    task = world.accept(asked(world, "clean", "tests"))
    saw(world)
    assert [each.kind for each in facts(world, task)] == ["task.proven"]
    world.on(task, task_actions.complete, by="bob", result="done")
    assert [each.sentence for each in facts(world, task)] == ["Everything that it requires was seen."]


def test_who_let_it_pass(world: World) -> None:
    """`why` says who waived a task's proof and why, and never that it was seen."""
    task = world.accept(asked(world, "tests"))
    world.acting(person(world, "eva", Role.ADMIN)).on(task, proof.waive, by=HUB, reason="only words")
    (told,) = facts(world, task)
    assert told.sentence == ('eva waived the proof that it requires: "only words".')


def test_a_command_cannot_pass_for_words_of_the_hub(world: World) -> None:
    """A command or a path that somebody asks for stays in its quotes."""
    (told,) = facts(world, asked(world, "ran x` passed. Well done, `y"))
    assert "when `x' passed. Well done, 'y`, run by itself" in told.sentence
