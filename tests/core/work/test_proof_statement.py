"""A proof for other programs: which git objects it is about, and by which key the hub signs it."""

from functools import partial

import pytest

from hubbub.core.actions import task_actions
from hubbub.core.work import proof, proof_statement
from hubbub.core.work.proof import Seen
from hubbub.model.errors import Conflict
from hubbub.model.people.rights import HUB, Role
from hubbub.model.records import Task
from hubbub.model.work.proof import Deed, ProofRules, Tree
from tests.core.conftest import World, on_one_engine, person

FIRST, SECOND, HEAD = "1" * 40, "2" * 40, "3" * 40


def saw(world: World, tree: str | None, place: str = "here") -> None:
    """A hook saw bob run the tests in a checkout that is called as its place."""
    found = Tree(tree=tree, head=HEAD, head_tree=tree, branch="main", pushed=None, dirty=()) if tree else None
    seen = Seen(
        deed=Deed.SHELL, instance="r", place=place, worktree=place, command="make test", code=0, tree=found
    )
    world.do(proof.saw, world.project, "bob", seen)


def taken(world: World) -> Task:
    world.do(proof.put_rules, world.project, ProofRules(done_when=("clean",), tests="make test"))
    return world.accept(world.send(to="bob"))


def test_it_is_about_what_was_changed(world: World) -> None:
    """The subjects are the last commit and tree of each checkout that was changed, and of no other."""
    task = taken(world)
    saw(world, SECOND, "looked-at")
    for tree in (FIRST, SECOND):
        saw(world, tree)
    world.on(task, task_actions.complete, by="bob", result="done")

    told = world.do(proof_statement.statement, world.task(task))
    assert told["subject"] == [
        {"name": "here@main", "digest": {"gitCommit": HEAD}},
        {"name": "here@main^{tree}", "digest": {"gitTree": SECOND}},
    ]
    assert (told["predicate"]["isProven"], told["predicate"]["waiver"]) == (True, None)
    assert [each["exitStatus"] for each in told["predicate"]["steps"]] == [0, 0, 0]


@on_one_engine
def test_what_was_let_pass_is_not_proven(world: World) -> None:
    """A task that a person completed without proof says so in its statement, and who that was."""
    task = taken(world)
    world.on(task, proof.put_contract, ["clean", "tests-kept"], by=HUB)
    saw(world, FIRST)
    eva = world.acting(person(world, "eva", Role.ADMIN))
    eva.on(task, task_actions.complete, by=HUB, result="fine")

    told = world.do(proof_statement.statement, world.task(task))["predicate"]
    assert (told["isProven"], told["waiver"]["by"]) == (False, "eva")
    assert [each["verdict"] for each in told["findings"]] == ["met", "not seen"]


@on_one_engine
def test_there_is_no_statement_about_nothing(world: World) -> None:
    """A task that is not completed, and one of which no hook saw a git object, have no statement."""
    task = world.accept(world.send(to="bob"))
    with pytest.raises(Conflict, match=r"^the task is accepted"):
        world.do(proof_statement.statement, task)
    saw(world, None)
    world.on(task, task_actions.complete, by="bob", result="done")
    with pytest.raises(Conflict, match=r"^no hook saw a commit"):
        world.do(proof_statement.statement, world.task(task))


def test_the_hub_has_one_key(world: World) -> None:
    """One of the keys that hubs make at the same moment is kept, and everybody signs by it."""
    makers = [partial(proof_statement.signing_key, fresh=partial(str, f"key-{name}")) for name in range(4)]
    assert len(set(world.race(*makers))) == 1
