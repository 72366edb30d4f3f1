"""Another name for an agent: what moves with it, what stays, and what prevents it."""

import json
from collections.abc import Callable
from functools import partial
from itertools import pairwise

import pytest

from hubbub.core import agent_removal, agent_renaming
from hubbub.core.actions import inbox, task_actions
from hubbub.core.agent_renaming import Renamed
from hubbub.core.agents import agents
from hubbub.core.fleet import approvals
from hubbub.core.limits import accounts, breakers, budgets
from hubbub.core.limits.budgets import BudgetTerms
from hubbub.core.mail import messages
from hubbub.core.people import access, coordinators, tokens
from hubbub.core.presence import wakes
from hubbub.core.work import leases, memory, tasks, transfers
from hubbub.model.cost.prices import Prices, usual
from hubbub.model.errors import Conflict, Forbidden, Invalid, UnknownAgent
from hubbub.model.fleet.calls import Principal, Question
from hubbub.model.lifecycle import Status
from hubbub.model.limits.budgets import BudgetKind, BudgetUnit
from hubbub.model.mail.wakes import WakeMethod, Waker
from hubbub.model.people.rights import Role
from hubbub.model.records import Condition, Message, Task
from hubbub.store import status_counters
from hubbub.store.people import coordinators as coordinator_rows
from hubbub.store.tx import Tx
from hubbub.store.work import memory as memory_rows
from tests.core.conftest import TEN_MINUTES, World, member, on_one_engine, person

LIMIT = BudgetTerms(kind=BudgetKind.AGENT, whom="typo", unit=BudgetUnit.TOKENS, amount=100)
ROUNDS = 6
PRICES = Prices({}, usual())


@pytest.fixture
def boss(world: World) -> World:
    """A person who manages the project, in which `typo` was seen, and has left."""
    world.report("typo", hostname="tower")
    world.report("typo", Condition.OFFLINE)
    return world.acting(person(world, "boss", Role.ADMIN))


def rename(boss: World, old: str = "typo", new: str = "name") -> Renamed:
    return boss.do(agent_renaming.rename, boss.project, old, new)


def write(world: World, text: str) -> None:
    world.do(messages.send, world.id, sender="ann", to="typo", body=text)


def in_inbox(world: World, name: str) -> tuple[int, int]:
    """The counts of an inbox: what waits, and what of it is unread."""
    counts = status_counters.pending, status_counters.unread
    pending, unread = (world.do(count, world.id, name) for count in counts)
    return pending, unread


def test_an_old_name_leads_to_the_present_one(world: World, boss: World) -> None:
    """However often an agent was renamed, each name that it had tells the last, until another agent takes it."""
    rename(boss, "typo", "ember")
    rename(boss, "ember", "birch")
    for old in ("typo", "ember"):
        with pytest.raises(UnknownAgent, match=f"'{old}' is called 'birch' now"):
            boss.do(agents.find, boss.id, old)
    world.do(agents.meet, world.id, "ember")
    assert boss.do(agents.find, boss.id, "ember").name == "ember"

    boss.do(agent_removal.remove, boss.project, "birch")
    with pytest.raises(UnknownAgent, match="was ever seen"):
        boss.do(agents.find, boss.id, "typo")


def test_an_old_name_tells_nothing_in_other_dialects(world: World, boss: World) -> None:
    """The documented tool sets refuse it as any unknown name."""
    rename(boss, "typo", "ember")

    def by_another_door(tx: Tx) -> None:
        tx.door = "commhub"
        agents.require_known(tx, world.id, "typo")

    with pytest.raises(UnknownAgent, match="was ever seen"):
        world.do(by_another_door)


def test_mail_and_tasks_go_to_the_new_name(world: World, boss: World) -> None:
    """Unread mail and open tasks move to the new name; ended tasks and read mail keep the old one."""
    write(world, "read")
    (letter,) = world.inbox("typo")
    world.do(inbox.ack, world.id, "typo", str(letter.delivery.id))
    write(world, "unread")
    ended, waiting, begun = (world.send("typo", text=text) for text in ("ended", "waiting", "begun"))
    for task in (ended, begun):
        world.start(task, "typo")
    world.on(ended, task_actions.complete, by="typo", result="done")
    sent = world.send("bob", sender="typo")

    assert rename(boss) == Renamed(old="typo", new="name", machines=("tower",))

    now = [world.task(each) for each in (ended, waiting, begun)]
    assert [each.assignee for each in now] == ["typo", "name", "name"]
    assert [each.status for each in now] == [Status.COMPLETED, Status.DELIVERED, Status.WORKING]
    assert [each.epoch for each in now[1:]] == [waiting.epoch + 1, begun.epoch + 1]
    (first,) = [each for each in world.do(messages.history, world.id, limit=9) if each.body == "read"]
    assert (world.task(sent).sender, first.recipient) == ("name", "typo")
    assert sorted(world.mail("name")) == ["begun", "unread", "waiting"]
    assert (world.mail("typo"), in_inbox(world, "typo"), in_inbox(world, "name")) == ([], (0, 0), (3, 3))
    world.start(sent)
    world.on(sent, task_actions.complete, by="bob", result="three lines")
    assert in_inbox(world, "name") == (4, 4)


def test_what_is_its_own_moves_along(world: World, boss: World) -> None:
    """Its token, memory, budget, account and role of coordinator are the new name's, and the log tells of it."""
    _token, secret = boss.do(tokens.for_project, world.project, role=Role.MEMBER, agent="typo")
    world.do(memory.write, world.id, "typo", "plan", "first this")
    boss.do(budgets.put, world.project, PRICES, LIMIT)
    boss.do(accounts.put, world.project, "max", ["typo"])
    boss.do(coordinators.grant, world.project, "typo")

    rename(boss)

    assert world.do(access.authenticate, secret).agent == "name"
    assert [world.do(memory_rows.find, world.id, each) is not None for each in ("typo", "name")] == [
        False,
        True,
    ]
    assert [each.whom for each in world.do(budgets.of_project, world.id)] == ["name"]
    account = world.do(accounts.of_agent, world.id, "name")
    assert account is not None
    assert account.name == "max"
    assert [world.do(coordinator_rows.holds, world.id, each) for each in ("typo", "name")] == [False, True]
    told = world.log()[-1]
    patch = json.loads(told.patch or "")["agents"]
    assert (told.kind, told.agent, told.actor) == ("agent.renamed", "name", "boss")
    assert (told.detail, patch["typo"], patch["name"]["name"]) == (
        {"old": "typo", "new": "name"},
        None,
        "name",
    )
    with pytest.raises(UnknownAgent, match="typo"):
        world.send("typo")


def present(world: World) -> None:
    world.report("typo", hostname="tower")


def leased(world: World) -> None:
    world.do(leases.ask, world.project, ["db"], by="typo")


def asking(world: World) -> None:
    world.do(
        approvals.put,
        world.project,
        Question(
            who=Principal(project=world.project.slug, name="typo", token_id=str(world.actor.token_id)),
            node="box",
            tool="execute_command",
            arguments={"command": "x"},
            folder="/",
            shown="x",
            reason="no rule is about it",
            digest="0" * 64,
        ),
        TEN_MINUTES,
        elicitation=True,
    )


def awake(world: World) -> None:
    waker = Waker(
        project_id=world.id,
        agent="typo",
        instance="one",
        client="claude-code",
        method=WakeMethod.MONITOR,
        idle=True,
    )
    world.do(wakes.register, waker, TEN_MINUTES)


def stopped(world: World) -> None:
    world.do(breakers.repeated, world.project, "typo", 30)


def full(world: World) -> None:
    write(world, "one")
    write(world, "two")


def reviewed(world: World) -> None:
    task = world.start(world.send("typo"), "typo")
    world.on(task, transfers.move_to, Status.IN_REVIEW, by="typo")


def busy(world: World) -> None:
    world.send("typo")
    world.send("bob", sender="typo")


@pytest.mark.parametrize(
    ("prevents", "sentence"),
    [
        (present, "'typo' is here now on 'tower'; end its program first"),
        (leased, "it has a lease; release that first"),
        (asking, "its call waits for an approval; answer that first"),
        (awake, "its client waits for mail; end that first"),
        (stopped, "a breaker has stopped it; let it continue first"),
        (reviewed, "its task is in review; end the review first"),
        (full, "more than 1 letters wait for it"),
        (busy, "it has more than 1 open tasks"),
    ],
)
def test_what_cannot_move_prevents_it(
    world: World,
    boss: World,
    monkeypatch: pytest.MonkeyPatch,
    prevents: Callable[[World], None],
    sentence: str,
) -> None:
    """While the agent is there, or has what cannot move, it keeps its name and everything else."""
    monkeypatch.setattr(agent_renaming, "MOST", 1)
    prevents(world)
    before = world.kinds()
    with pytest.raises(Conflict, match=sentence):
        rename(boss)
    assert (world.kinds(), world.do(agents.is_known, world.id, "name")) == (before, False)


@on_one_engine
def test_a_new_name_is_free_and_allowed(world: World, boss: World) -> None:
    """The new name follows the rules, and neither an agent nor a person has it, nor what another has left."""
    for new, error, sentence in (
        ("ann", Conflict, "called 'ann' already"),
        ("boss", Conflict, "the name of a person"),
        ("x y", Invalid, "an agent's name has letters"),
        ("hub", Invalid, "the hub's own name"),
        ("everyone", Invalid, "means all agents"),
        ("node:box", Invalid, "is a machine's"),
    ):
        with pytest.raises(error, match=sentence):
            rename(boss, new=new)
    with pytest.raises(UnknownAgent, match="did you mean typo"):
        rename(boss, "typpo")
    world.do(memory.write, world.id, "gone", "plan", "first this")
    with pytest.raises(Conflict, match="has left a memory here"):
        rename(boss, new="gone")
    for who in (member(world.project, Role.ADMIN), person(world, "eve", Role.MEMBER)):
        with pytest.raises(Forbidden):
            rename(world.acting(who))


def test_a_letter_reaches_the_new_name_or_is_refused(world: World, boss: World) -> None:
    """Nothing that is sent to the old name during the rename stays there."""
    names = ["typo", *(f"name-{round_}" for round_ in range(ROUNDS))]
    arrived = 0
    for old, new in pairwise(names):
        move = partial(agent_renaming.rename, project=world.project, old=old, new=new)
        send = partial(messages.send, project_id=world.id, sender="ann", to=old, body="hello")
        give = partial(tasks.send, project_id=world.id, sender="ann", to=old, text="count the lines")

        outcomes = boss.race(send, give, send, move, give, send)

        refused = [each for each in outcomes if isinstance(each, UnknownAgent)]
        sent = [each for each in outcomes if isinstance(each, Message | Task)]
        assert (len(sent) + len(refused), isinstance(outcomes[3], Renamed)) == (5, True)
        arrived += len(sent)
        assert (len(world.inbox(new)), in_inbox(world, old)) == (arrived, (0, 0))


def test_a_name_is_met_or_given_once(world: World, boss: World) -> None:
    """If somebody comes by the new name at the same moment, they are the renamed agent, or the rename is refused."""
    move = partial(agent_renaming.rename, project=world.project, old="typo", new="name")
    meet = partial(agents.meet, project_id=world.id, name="name")

    moved, met = boss.race(move, meet)

    assert (met, isinstance(moved, Renamed | Conflict)) == (None, True)
    assert world.do(agents.is_known, world.id, "name")
    assert world.do(agents.is_known, world.id, "typo") is isinstance(moved, Conflict)
