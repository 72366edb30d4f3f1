"""A hub with tools that fill it: many agents and tasks at once, and so many events as one asks for.

Run with `python -m bench.crowd DATA`: it prints its address, and serves until a signal.
"""

from datetime import timedelta

from bench import serving
from bench.serving import BENCH
from hubbub.core.actions import task_actions
from hubbub.core.agents import agents, scopes
from hubbub.core.people import access
from hubbub.core.presence import presences
from hubbub.core.work import completion, tasks
from hubbub.dialects.dialect import Reply
from hubbub.model.agents.scopes import Scope
from hubbub.model.lifecycle import Event
from hubbub.model.records import Condition, Profile, Project, Task
from hubbub.store.tx import Tx

STAYS = timedelta(days=1)
MACHINES, FILES = (
    8,
    5,
)  # on so many machines they work, each in so many files, some of which are a neighbour's too
RUNTIMES = ("claude-code", "codex", "gemini-cli", "opencode")
AREAS = ("api", "store", "web", "node", "cli", "docs")
CHAIN = 6  # tasks of which each needs the one before


def name_of(number: int) -> str:
    return f"bee-{number:03}"


@BENCH.tool()
def gather(tx: Tx, crowd: int) -> Reply:
    """So many agents come, each with a scope of its own."""
    project = access.enter(tx)
    for area in AREAS:
        scopes.put_area(tx, project, area, name=area, patterns=[f"src/{area}/**"])
    for number in range(crowd):
        name = name_of(number)
        profile = Profile(
            doing="reads the plan",
            hostname=f"rack-{number % MACHINES}",
            runtime=RUNTIMES[number % len(RUNTIMES)],
        )
        agents.meet(tx, project.id, name)
        presence = presences.report(
            tx, project.id, name, instance=name, condition=Condition.IDLE, profile=profile, ttl=STAYS
        )
        area = AREAS[number % len(AREAS)]
        files = [
            f"src/{area}/part_{number * (FILES - 1) // len(AREAS) + place:03}.py" for place in range(FILES)
        ]
        scopes.declare(tx, project, presence, Scope.of(None, files))
    return {}


@BENCH.tool()
def work(tx: Tx, crowd: int, first: int, number: int) -> Reply:
    """Create so many tasks for the crowd, in every state; some depend on others."""
    project, last = access.enter(tx), None
    for place in range(first, first + number):
        last = _live(tx, project, place, crowd, last if place % CHAIN else None)
    return {}


def _live(tx: Tx, project: Project, place: int, crowd: int, needed: Task | None) -> Task:
    """One task; three of ten are done."""
    fate = place % 10
    who = name_of(place % crowd)
    task = tasks.send(
        tx,
        project.id,
        sender="hub",
        to=None if fate < 2 else who,
        text=f"Step {place}: make `part_{place}` ready\n\nLook at the plan first.",
        area=AREAS[place % len(AREAS)],
        needs=[needed] if needed is not None and not needed.is_ended and fate < 2 else [],
    )
    if fate > 2:
        task = task_actions.start(tx, task_actions.accept(tx, task, who), who)
    if fate == 5:
        return tasks.step(tx, task, Event.BLOCK, actor=who, detail={"reason": "waits for a decision"})
    if fate == 6:
        return tasks.step(tx, task, Event.SUBMIT, actor=who)
    if fate > 6:
        return completion.end(tx, task, Event.COMPLETE, by=who, text="Done.", result="All tests pass.")
    return task


@BENCH.tool()
def bustle(tx: Tx, crowd: int, first: int, number: int) -> Reply:
    """So many events, one of an agent each, that change what the dashboard shows."""
    project = access.enter(tx)
    for place in range(first, first + number):
        name = name_of(place % crowd)
        profile = Profile(doing=f"step {place}", progress=place % 100)
        presences.report(
            tx, project.id, name, instance=name, condition=Condition.WORKING, profile=profile, ttl=STAYS
        )
    return {}


if __name__ == "__main__":
    serving.main()
