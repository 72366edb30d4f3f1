"""The summaries of runs."""

import pytest

from hubbub.core.work import summaries
from hubbub.model.errors import Conflict, NotFound
from hubbub.model.work.memory import RunSummary
from tests.core.conftest import RACERS, World, errors_of


def save(world: World, run: str, text: str, **more: int) -> RunSummary:
    return world.do(summaries.save, world.id, run, "ann", text, **more)


def test_a_summary_is_kept_as_it_was_said(world: World) -> None:
    """A summary is found by the name of its run, in the text it was given; what is said later takes its place."""
    text = "# Done\r\n\n## all of it\n\n"
    first = save(world, "2026-03-14-007", text)
    assert world.do(summaries.find, world.id, "2026-03-14-007") == first
    assert (first.text, first.agent, first.version) == (text, "ann", 1)
    second = world.do(summaries.save, world.id, "2026-03-14-007", "bob", "")
    assert (second.text, second.agent, second.version) == ("", "bob", 2)
    assert second.created_at == first.created_at


def test_an_unknown_run_has_no_summary(world: World) -> None:
    """Asking for the summary of a run that has none in this project is refused."""
    save(world, "one", "text")
    for where, run in ((world, "two"), (world.elsewhere("other"), "one")):
        with pytest.raises(NotFound, match=f"summary '{run}' not found"):
            where.do(summaries.find, where.id, run)


def test_runs_are_listed_newest_first(world: World) -> None:
    """The runs with a summary are listed by when they first got one, newest first; a later version moves none."""
    assert world.do(summaries.names, world.id) == []
    for at, run in enumerate(("b", "a", "c", "b")):
        world.at(1_000 + at, summaries.save, world.id, run, "ann", f"text {at}")
    world.at(1_002, summaries.save, world.id, "at the same time", "ann", "text")
    assert world.do(summaries.names, world.id) == ["c", "at the same time", "a", "b"]
    assert world.do(summaries.versions, world.id)[-1] == ("b", 2)


def test_a_summary_is_replaced_if_it_is_the_one_known(world: World) -> None:
    """With a version, a summary is saved only where that is still the one; 0 is that of none."""
    save(world, "one", "first", version=0)
    with pytest.raises(Conflict, match="at version 1, not 0"):
        save(world, "one", "other", version=0)
    assert save(world, "one", "second", version=1).version == 2


def test_of_racing_summaries_one_wins(world: World) -> None:
    """One of those who save the first summary of a run at once does, and the others hear that there is one."""
    outcomes = world.race(
        *[
            lambda tx, number=number: summaries.save(tx, world.id, "run", "ann", str(number), version=0)
            for number in range(RACERS)
        ]
    )
    assert errors_of(outcomes) == [Conflict] * (RACERS - 1)


def test_saving_is_in_the_log(world: World) -> None:
    """Each summary that is saved is recorded, with its run, its version, and who saved it."""
    save(world, "one", "text")
    saved = world.log()[-1]
    assert (saved.kind, saved.actor, saved.detail) == ("summary.saved", "ann", {"run": "one", "version": 1})
