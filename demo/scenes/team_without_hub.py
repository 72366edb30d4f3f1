"""The hub is killed under the Relay team."""

from demo.cast import CAL
from demo.planner import NAME
from demo.scenes.team import RUN
from demo.stage import Stage


def play(stage: Stage) -> None:
    """The hub is killed under the team, and started again; for the team it was a pause."""
    planner = stage.planner
    planner.call("save_orchestrator_state", state="waiting for the middle of the plan")
    stage.kill_hub()
    planner.give(
        "create_task", title="count lines in demo/scenes", description="", priority="low", assignee=CAL
    )
    for halt in stage.at_work:
        halt.let_go()
        halt.wait_until_gone()
    stage.note(
        f"both finish while there is no hub, and {NAME} calls create_task, which takes until it is back"
    )
    stage.reopen_hub()
    planner.promise()
    kept = planner.call("get_orchestrator_state")["state"]
    stage.note(f"{NAME} finds what it had noted: {kept!r}")
    for task in planner.promised:
        planner.result(task)
    tasks = {row["id"]: row for row in planner.call("get_all_tasks")["tasks"]}
    bound = tasks[planner.promised[3]]["assignee"]
    stage.note(
        f"all that {NAME} planned is done; the last part fell to {bound}, who was the first to claim it"
    )
    planner.call("save_session_summary", session_id=RUN, summary=f"{len(planner.promised)} tasks, all done")
