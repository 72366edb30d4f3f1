"""A Relay team comes. Its plan is a graph, and one of the tasks in it is for an agent that never heard of Relay."""

from demo.cast import ADA, BEN, CRITIC, REVIEWED, SURVEYOR, TEAM
from demo.gate import HALFWAY
from demo.stage import Stage

PLACE = "src/hubbub/dialects"
RUN = "tour-of-the-dialects"


def play(stage: Stage) -> None:
    """A Relay team comes with a plan, in which it needs the surveyor; what depends on other work waits for it."""
    stage.start_planner(RUN)
    planner = stage.planner
    found = planner.call("get_all_tasks")["tasks"]
    stage.note(f"in it are the {len(found)} tasks of the others, too: they named no run")
    for name in TEAM:
        stage.start_teammate(name, RUN)
    stage.note(f"{', '.join(TEAM)} each start theirs; they sleep until there is something for them")
    planner.call("write_memory", agent_id=None, key="manners", content="Reports are signed.")

    first = planner.task(f"list open comments in {PLACE}", to=ADA, hint=REVIEWED)
    middle = {
        name: planner.task(f"{job} {PLACE}", to=name, needs=(first,), hint=HALFWAY)
        for name, job in ((BEN, "rank functions in"), (SURVEYOR, "count lines in"))
    }
    last = planner.task("bind reports on functions and lines", needs=tuple(middle.values()))
    one, *others, end = (f"T-{stage.number(task)}" for task in (first, *middle.values(), last))
    stage.note(f"the plan: {one} first, then {' and '.join(others)}, and of both {end}, by whoever takes it")

    planner.result(first)
    stage.note(f"{CRITIC} wanted {one} signed, and got it so")
    stage.at_work = [stage.gate.arrival(task) for task in middle.values()]
    stage.note(f"{BEN} and {SURVEYOR} may begin now, and both are halfway")
