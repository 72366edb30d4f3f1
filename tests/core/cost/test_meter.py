"""The meter: what clients tell is counted once, whatever comes late, twice, or from a counter that began anew."""

from dataclasses import replace
from datetime import timedelta

from hubbub.core import expiry
from hubbub.core.actions import task_actions
from hubbub.core.cost import meter, spending
from hubbub.core.cost.spending import Report, SpendingQuery
from hubbub.model.cost.prices import Prices, usual
from hubbub.model.cost.spending import By, Measure, Reading, Source
from hubbub.model.people.rights import Role
from tests.core.conftest import World, member

IN, OUT, READ, TOLD = Measure.INPUT, Measure.OUTPUT, Measure.CACHE_READ, Measure.TOLD
PRICES = Prices({}, usual())
MODEL = "claude-sonnet-5"  # $2 and $10 for a million tokens
NANO = 1_000_000


def reading(world: World, mark: str = "1", *, ago: float = 0, **more: object) -> Reading:
    """A request of 100 tokens in and 10 out, told by bob's client, so many seconds ago."""
    told = Reading(
        conversation="s-1",
        source=Source.EVENTS,
        mark=mark,
        at=round((world.clock() - ago * 1000) * NANO),
        value=1,
        weights={IN: 100, OUT: 10},
        model=MODEL,
        client="claude-code",
        agent="bob",
    )
    return replace(told, **more)  # type: ignore[arg-type]  # the fields of a reading


def total(world: World, value: float, *, since: int, ago: float = 0, **more: object) -> Reading:
    """Make the reading of an input counter that began at `since`, `ago` seconds back."""
    return reading(
        world, "input", ago=ago, source=Source.METRICS, value=value, since=since, weights={IN: 1}, **more
    )


def note(world: World, *readings: Reading) -> meter.Noted:
    return world.do(meter.note, world.project, readings)


def shown(world: World, by: By = By.AGENT, **asked: object) -> Report:
    until = world.clock() + 1
    question = SpendingQuery(**{"by": by, "since": 0, "until": until, **asked})  # type: ignore[arg-type]
    return world.do(spending.report, world.project, PRICES, question)


def used(world: World, by: By = By.AGENT) -> dict[str | None, int]:
    """The tokens by agent, task, …."""
    return {line.name: line.tokens for line in shown(world, by).lines}


def test_what_is_told_twice_counts_once(world: World) -> None:
    """An event that comes again, alone or in another batch, adds nothing."""
    first, second = reading(world, "1"), reading(world, "2")

    assert note(world, first, first).used == {IN: 100, OUT: 10}
    assert note(world, second, first).used == {IN: 100, OUT: 10}
    assert used(world) == {"bob": 220}


def test_what_comes_late_counts_when_it_was_used(world: World) -> None:
    """Use from yesterday that is told today counts for yesterday; use over a week old is not counted."""
    assert note(world, reading(world, "1", ago=86_400), reading(world, "2")).late == 0
    assert note(world, reading(world, "3", ago=8 * 86_400)).late == 1

    days = [line.tokens for line in shown(world, By.DAY).lines]
    assert days == [110, 110]


def test_a_clock_that_is_ahead_counts_now(world: World) -> None:
    """Use that a client dates tomorrow counts for today."""
    note(world, reading(world, ago=-86_400))
    assert used(world) == {"bob": 110}


def test_totals_count_what_they_have_risen_by(world: World) -> None:
    """A counter's totals count by their rise; one that comes again, or after a later one, adds nothing."""
    began = (world.clock() - 60_000) * NANO

    assert note(world, total(world, 100, since=began, ago=30)).used == {IN: 100}
    assert note(world, total(world, 250, since=began, ago=10)).used == {IN: 150}
    assert note(world, total(world, 250, since=began, ago=10)).used == {}
    assert note(world, total(world, 180, since=began, ago=20)).used == {}
    assert used(world) == {"bob": 250}


def test_a_counter_that_begins_anew_goes_on(world: World) -> None:
    """After a restart, told by its beginning or seen by its fall, a counter adds from zero; a late total is its own."""
    began, again = (world.clock() - 60_000) * NANO, (world.clock() - 20_000) * NANO

    note(world, total(world, 100, since=began, ago=40))
    note(world, total(world, 30, since=again, ago=10))
    assert used(world) == {"bob": 130}
    note(world, total(world, 120, since=began, ago=25))  # the last of before
    assert used(world) == {"bob": 150}
    note(world, total(world, 5, since=again, ago=5))
    assert used(world) == {"bob": 155}


def test_a_conversation_is_metered_by_one_way(world: World) -> None:
    """A client that tells the same by events and by metrics is counted by the way that came first."""
    began = (world.clock() - 60_000) * NANO

    note(world, total(world, 100, since=began), reading(world))
    assert used(world) == {"bob": 110}  # events go before metrics that come with them
    note(world, total(world, 300, since=began, ago=-1))
    assert used(world) == {"bob": 110}
    note(world, total(world, 300, since=began, conversation="s-2"))
    assert used(world, By.CONVERSATION) == {"s-1": 110, "s-2": 300}


def test_another_way_goes_on_after_a_silence(world: World) -> None:
    """A conversation that is told of otherwise after ten minutes goes on from there; a report never takes over."""
    began = world.clock() * NANO
    note(world, reading(world, "1"), total(world, 100, since=began))
    world.clock.advance(timedelta(minutes=11))

    note(world, reading(world, "2", source=Source.REPORT))
    assert used(world) == {"bob": 110}
    note(world, total(world, 130, since=began))
    assert used(world) == {"bob": 140}
    note(world, reading(world, "3"))
    assert used(world) == {"bob": 140}


def test_what_is_used_is_put_down_to_the_task(world: World) -> None:
    """Use while an agent is at a task belongs to the task and its run, even if it is told after the end."""
    first, second = world.send(text="first"), world.send(text="second")
    world.start(world.accept(first))
    world.clock.advance(timedelta(seconds=60))
    before = reading(world, "1")
    world.clock.advance(timedelta(seconds=60))
    world.on(first, task_actions.complete, by="bob", result="done")
    world.clock.advance(timedelta(seconds=1))
    world.start(world.accept(second))
    world.clock.advance(timedelta(seconds=1))

    note(world, before, reading(world, "2"), reading(world, "3", task=str(first.number)))

    assert used(world, By.TASK) == {str(first.id): 220, str(second.id): 110}
    assert used(world, By.RUN) == {str(first.run_id): 330}
    labels = {line.label for line in shown(world, By.TASK).lines}
    assert labels == {f"T-{first.number} first", f"T-{second.number} second"}


def test_a_bound_token_tells_of_its_own_agent(world: World) -> None:
    """A client is no other agent than its token says; without one, a name that nobody knows is nobody's."""
    ann = world.acting(member(world.project, Role.MEMBER, "ann"))

    note(ann, reading(world, "1", agent="bob"))
    note(world, reading(world, "2", conversation="s-2", agent="who?"))

    assert used(world) == {"ann": 110, None: 110}


def test_the_machine_is_that_of_the_agent(world: World) -> None:
    """The machine comes from the agent where the client does not name one."""
    world.report("bob", hostname="atlas")

    note(world, reading(world, "1"), reading(world, "2", machine="orion"))

    assert used(world, By.MACHINE) == {"atlas": 110, "orion": 110}


def test_what_nobody_tells_is_unmetered(world: World) -> None:
    """Agents who were there and tasks that were begun, of which nobody tells, are named, and have no number."""
    world.report("ann")
    world.report("bob")
    task = world.send("ann")
    world.start(world.accept(task, "ann"), "ann")
    note(world, reading(world))

    agents, tasks = shown(world), shown(world, By.TASK)
    assert [(line.name, line.is_metered) for line in agents.unmetered] == [("ann", False)]
    assert [line.label for line in tasks.unmetered] == [f"T-{task.number} count the lines"]
    assert not shown(world, until=1).total.is_metered


def test_money_is_an_estimate_by_the_price_of_the_day(world: World) -> None:
    """Tokens are worth the model's price, or what the client says; without either they are counted as unpriced."""
    note(
        world,
        reading(world, "1", weights={IN: 1_000_000, OUT: 100_000}),
        reading(world, "2", weights={IN: 1_000_000, TOLD: 2_500_000}, conversation="s-2"),
        reading(world, "3", model="unheard-of", conversation="s-3"),
    )

    found = shown(world, By.CONVERSATION)
    assert {line.name: (line.cost, line.unpriced) for line in found.lines} == {
        "s-1": (3.0, 0),
        "s-2": (2.5, 0),
        "s-3": (None, 110),
    }
    assert (found.total.cost, found.total.unpriced, found.total.tokens) == (5.5, 110, 2_100_110)


def test_what_was_spent_by_a_moment_stays_known(world: World) -> None:
    """A query about the past is answered as of then, and in steps for a plot."""
    note(world, reading(world, "1"))
    world.clock.advance(timedelta(hours=2))
    moment = world.clock()
    note(world, reading(world, "2", model="claude-opus-5-5"))

    assert shown(world, until=moment - 3_600_000).total.tokens == 110
    hours = shown(world, By.MODEL, since=moment - 86_400_000, step=3_600_000).lines
    assert [(line.name, line.tokens) for line in hours] == [(MODEL, 110), ("claude-opus-5-5", 110)]
    assert [(line.at or 0) % 3_600_000 for line in hours] == [0, 0]


def test_at_several_hubs_each_counts_once(world: World) -> None:
    """A batch that reaches several hubs at the same moment is counted by one of them."""
    told = [reading(world, "1"), reading(world, "2")]
    world.race(*(lambda tx: meter.note(tx, world.project, told) for _ in range(4)))
    assert used(world) == {"bob": 220}


def test_what_cannot_come_again_is_forgotten(world: World) -> None:
    """Marks of counted readings are kept as long as the readings may come again, then dropped; the use stays."""
    told = reading(world)
    note(world, told)
    world.clock.advance(timedelta(days=7))
    world.do(expiry.forget)
    assert note(world, told).used == {}
    world.clock.advance(timedelta(days=40))
    world.do(expiry.forget)
    assert world.do(lambda tx: tx.all("SELECT * FROM counted") or tx.all("SELECT * FROM metered")) == []
    assert used(world) == {"bob": 110}


def test_another_project_sees_nothing(world: World) -> None:
    """The same conversation's name in another project is another conversation, and its spending is that project's."""
    other = world.elsewhere("other")
    note(world, reading(world))
    note(other, reading(world))
    assert used(world) == used(other) == {"bob": 110}
