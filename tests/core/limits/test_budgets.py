"""Budgets, on either engine: what clients tell is counted against them, and who has used one up begins nothing more."""

from dataclasses import replace
from datetime import timedelta

import pytest

from hubbub.core import why
from hubbub.core.actions import inbox, next_tool
from hubbub.core.cost import meter
from hubbub.core.limits import budgets
from hubbub.core.limits.budgets import BudgetTerms, Use
from hubbub.core.people import tokens, users
from hubbub.core.snapshots import full_snapshot
from hubbub.model.cost.prices import Prices, usual
from hubbub.model.cost.spending import Measure, Reading, Source
from hubbub.model.errors import BudgetSpent, Invalid, NotFound
from hubbub.model.ids import new_id
from hubbub.model.lifecycle import Status
from hubbub.model.limits.budgets import DAY, Budget, BudgetKind, BudgetLevel, BudgetUnit
from hubbub.model.log.attention import NeedKind, new_needs
from hubbub.model.people.rights import SYSTEM, Actor, Role
from hubbub.store.tx import Tx
from tests.core.conftest import World

PRICES = Prices({}, usual())
DOLLAR = 1_000_000
NANO = 1_000_000


def limit(
    world: World,
    kind: BudgetKind = BudgetKind.AGENT,
    whom: str = "bob",
    *,
    usd: float | None = None,
    tokens: int = 1_000,
    daily: bool = False,
) -> Budget:
    unit, amount = (BudgetUnit.TOKENS, tokens) if usd is None else (BudgetUnit.USD, round(usd * DOLLAR))
    asked = BudgetTerms(kind=kind, whom=whom, daily=daily, unit=unit, amount=amount)
    return world.do(budgets.put, world.project, PRICES, asked)


def use(world: World, tokens: int, *, agent: str = "bob", model: str = "claude-sonnet-5") -> None:
    """The agent's client tells of one request, of so many tokens in; a million of them are worth $2."""
    at = round(world.clock())
    told = Reading(
        conversation=f"of {agent}",
        source=Source.EVENTS,
        mark=f"{at} {len(world.log())} {tokens}",
        at=at * NANO,
        value=1,
        weights={Measure.INPUT: tokens},
        model=model,
        agent=agent,
    )
    world.do(meter.note, world.project, [told], PRICES)


def now(world: World) -> Budget:
    [found] = world.do(budgets.of_project, world.id)
    return found


def denied(world: World, agent: str = "bob") -> str | None:
    return world.do(next_tool.denial, world.project, agent)


def told(world: World) -> list[str]:
    return [each.kind.removeprefix("budget.") for each in world.log() if each.kind.startswith("budget.")]


def mail(world: World, agent: str = "bob") -> list[str]:
    return [each.body for each in world.do(inbox.read, world.id, agent, 9)]


def test_at_four_fifths_the_agent_and_people_are_warned_once(world: World) -> None:
    """At 80 % of a budget its agent gets mail, and people a need; it goes on, and hears of it once."""
    limit(world)
    use(world, 799)
    assert (told(world), mail(world)) == (["put"], [])

    use(world, 1)
    use(world, 50)

    assert (told(world), denied(world)) == (["put", "low"], None)
    [text] = mail(world)
    assert text.startswith("The budget of the agent bob is nearly spent (800 tokens of 1,000 tokens)")
    [low] = [each for each in world.log() if each.kind == "budget.low"]
    assert [each.need.kind for each in new_needs(low)] == [NeedKind.BUDGET]


def test_who_has_used_it_up_uses_no_other_tool_and_begins_nothing(world: World) -> None:
    """At 100 % the agent's next tool is denied with what to do, and it begins no task; others go on."""
    limit(world, usd=0.01)
    task, other = world.send("bob"), world.send("ann")

    use(world, 5_000)

    sentence = denied(world)
    assert sentence is not None
    assert sentence.startswith("hubbub: the budget of the agent bob is spent ($0.01 of $0.01). Finish")
    assert denied(world, "ann") is None
    for begin in (world.accept, world.start):
        with pytest.raises(BudgetSpent, match="the budget of the agent bob is spent"):
            begin(task, "bob")
    assert world.start(other, "ann").status is Status.WORKING
    assert told(world) == ["put", "spent"]
    facts = world.do(why.explain, world.project, "bob").facts
    assert [each.detail["kind"] for each in facts if each.kind == "budget.spent"] == ["agent"]


def test_who_is_given_more_goes_on(world: World) -> None:
    """A budget that is raised, or removed, denies nothing any more, and the need of it is gone."""
    budget = limit(world)
    use(world, 1_000)
    assert denied(world)

    raised = limit(world, tokens=2_000)

    assert (raised.id, raised.used, raised.level) == (budget.id, 1_000, BudgetLevel.ENOUGH)
    assert denied(world) is None
    use(world, 1_000)
    assert denied(world)
    world.do(budgets.remove, world.project, str(budget.id))
    assert denied(world) is None
    assert told(world) == ["put", "spent", "put", "spent", "removed"]
    assert not world.do(lambda tx: dict(dict(full_snapshot.nouns(tx, world.id))["budgets"]))


def test_a_daily_budget_begins_anew_with_the_day(world: World) -> None:
    """On the next day, in UTC, nothing of a daily budget is used, and who was stopped goes on by that."""
    limit(world, daily=True)
    use(world, 1_000)
    assert denied(world)

    world.pass_time(timedelta(days=1))

    assert (denied(world), now(world).used) == (None, 0)
    use(world, 10)
    assert (now(world).used, told(world)) == (10, ["put", "spent", "renewed"])
    use(world, 990)
    assert denied(world)


def test_a_task_a_token_and_a_project_have_budgets_too(world: World) -> None:
    """A task's stops whoever is at it, from all that it has used; a project's stops everybody."""
    task = world.start(world.send("bob"), "bob")
    use(world, 600)
    limit(world, BudgetKind.TASK, str(task.id))
    assert now(world).used == 600
    use(world, 400)

    assert denied(world) is not None
    assert denied(world, "ann") is None
    assert mail(world)[-1].startswith(f"The budget of the task T-{task.number} is spent")
    world.do(budgets.remove, world.project, str(now(world).id))

    limit(world, BudgetKind.PROJECT, "")
    use(world, 1_000, agent="ann")
    assert denied(world)
    assert denied(world, "ann")
    with pytest.raises(NotFound):
        limit(world, BudgetKind.TOKEN, str(task.id))


def test_a_persons_token_counts_for_all_that_was_made_with_it(world: World) -> None:
    """A person's budget counts what their programs use by any token of theirs, and stops these; others' go on."""

    def charged(tx: Tx, of: Actor) -> str | None:
        tx.actor = of
        budgets.charge(
            tx, world.project, PRICES, [Use(at=tx.now, agent="bob", task_id=None, model="m", used=used)]
        )
        return next_tool.denial(tx, world.project, "bob")

    used = {Measure.INPUT: 600}
    hub = world.acting(SYSTEM)
    eve, _secret = hub.do(users.create, "eve", project=world.project)
    own, _secret = hub.do(tokens.for_person, eve.id)
    other, _secret = hub.do(users.create, "max", project=world.project)
    of_eve = Actor(token_id=new_id(), user_id=eve.id, project_id=world.id, role=Role.MEMBER)
    lent = replace(of_eve, token_id=new_id(), user_id=None, lent_from=own.id)
    stranger = replace(of_eve, user_id=other.id)
    limit(world, BudgetKind.TOKEN, str(own.id))

    assert [world.do(charged, of) for of in (stranger, of_eve, stranger)] == [None] * 3
    assert now(world).used == 600
    denial = world.do(charged, lent)
    assert denial is not None
    assert f"the budget of the token {str(own.id)[-8:]} is spent (1,200 tokens of 1,000 tokens)" in denial
    assert world.do(charged, stranger) is None


def test_what_is_not_metered_is_not_nothing(world: World) -> None:
    """A budget of which nobody tells says that it is unmetered; tokens without a price are told beside the money."""
    budget = limit(world, usd=1)
    assert (budget.is_metered, budget.used) == (False, 0)

    use(world, 500, model="nobody-knows")

    assert (now(world).is_metered, now(world).used, now(world).unpriced) == (True, 0, 500)
    assert denied(world) is None


def test_a_new_budget_of_a_day_knows_what_was_used_on_it(world: World) -> None:
    """Use on the day before a daily budget was set counts; nothing, or too much, is no budget."""
    use(world, 900)
    budget = limit(world, daily=True)

    assert (budget.used, budget.level, budget.ends_at) == (
        900,
        BudgetLevel.LOW,
        (budget.level_at // DAY + 1) * DAY,
    )
    with pytest.raises(Invalid):
        limit(world, tokens=0)


def test_what_is_told_at_once_is_counted_whole(world: World) -> None:
    """Each of many clients that report at the same moment is counted, and the budget is spent once."""
    limit(world, BudgetKind.PROJECT, "", tokens=4_000)
    at = round(world.clock())
    readings = [
        Reading(
            conversation=f"c{n}", source=Source.EVENTS, mark="1", at=at * NANO, value=1,
            weights={Measure.INPUT: 500}, model="", agent="bob",
        )
        for n in range(8)
    ]  # fmt: skip
    world.race(*(lambda tx, each=each: meter.note(tx, world.project, [each], PRICES) for each in readings))

    assert (now(world).used, now(world).level) == (4_000, BudgetLevel.SPENT)
    assert told(world).count("spent") == 1
