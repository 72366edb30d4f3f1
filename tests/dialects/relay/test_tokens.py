"""Permissions: persons, roles, and tokens that are bound to one agent."""

from dataclasses import replace
from datetime import timedelta
from itertools import product

import pytest

from hubbub.model.people.rights import Role
from tests.dialects.conftest import both_engines
from tests.dialects.every_row import every_row
from tests.dialects.relay.callers import Team, no, yes
from tests.dialects.relay.requirements import requires
from tests.dialects.relay.test_contract import CALLS
from tests.dialects.running_hub import Json, call

READS = {
    "get_server_info", "get_messages", "get_all_tasks", "get_artifact", "read_memory", "list_sessions",
    "get_session_summary", "get_orchestrator_state", "list_agents", "list_pool_agents",
}  # fmt: skip
WRITES = sorted({*CALLS} - READS)


def _prepared(team: Team) -> dict[str, Json]:
    """A call of each tool by `fe` in this project, right in everything."""
    team.agent("fe").start_session(session_id="r")
    artifact = team.artifact("n")
    review = team.agent("lead").request_review(artifact_id=artifact, reviewer="fe")["review_id"]
    team.agent("fe").save_session_summary(session_id="r", summary="s")
    own: dict[str, Json] = {
        "update_task": {"task_id": team.task(), "status": "done"},
        "claim_task": {"task_id": team.task()},
        "request_review": {"artifact_id": artifact},
        "submit_review": {"review_id": review},
    }
    return {tool: {**call, **own.get(tool, {}), "agent_id": "fe"} for tool, call in CALLS.items()}


def _error(answer: tuple[Json, bool]) -> str:
    content, is_error = answer
    assert not is_error
    return no(content)


@requires("tokens.viewer", "envelope.clean")
def test_a_viewer_changes_nothing(team: Team) -> None:
    """Every tool that writes, or speaks, is denied to a viewer, whose call leaves no trace."""
    calls = _prepared(team)
    viewers = {"unbound": team.watcher(), "bound": team.agent("fe", Role.VIEWER)}

    with team.unchanged(), every_row() as row:
        for (kind, viewer), tool in product(viewers.items(), WRITES):
            with row(kind, tool):
                assert _error(viewer.ask(tool, calls[tool])).startswith("permission denied: ")


@requires("tokens.viewer_reads")
def test_a_viewer_reads(team: Team) -> None:
    """Every tool that reads answers a viewer, under any agent_id, and leaves no trace of it either."""
    calls = _prepared(team)
    viewer = team.watcher()

    with team.unchanged(), every_row() as row:
        for tool, name in product(sorted(READS - {"list_pool_agents"}), ("fe", "nobody")):
            with row(tool, name):
                yes(viewer.ask(tool, {**calls[tool], "agent_id": name})[0])


@requires("tokens.bound", "envelope.clean")
def test_a_bound_token_is_one_agent(team: Team) -> None:
    """A token bound to one agent that says another's agent_id, or hub, is denied by every tool, without a trace."""
    calls = _prepared(team)
    others = {role: team.agent("be", role) for role in (Role.MEMBER, Role.VIEWER)}

    with team.unchanged(), every_row() as row:
        for (role, other), tool, name in product(others.items(), CALLS, ("fe", "hub", "newcomer")):
            with row(role, tool, name):
                denied = _error(other.ask(tool, {**calls[tool], "agent_id": name}))
                assert denied.startswith("permission denied")


@requires("tokens.bound")
def test_a_bound_token_may_leave_its_name_out_of_the_projects_memory(team: Team) -> None:
    """A bound token's write to the project's memory is known to come from its agent."""
    yes(team.agent("fe").write_memory(agent_id=None, key="k", content="c"))

    (line,) = [each for each in team.log() if each["kind"] == "memory.updated"]
    assert (line["actor"], line["agent"]) == ("fe", None)


@requires("tokens.unbound", "words.agents", "world.known")
def test_an_unbound_token_is_any_agent(team: Team) -> None:
    """A member's unbound token creates, claims, finishes and reads as whoever it says, and makes them known."""
    task = yes(team.member("a").create_task(title="t", priority="low", assignee="代码1号"))["task_id"]
    yes(team.member("代码1号").claim_task(task_id=task))
    yes(team.member("代码1号").update_task(task_id=task, status="done"))

    assert len(yes(team.member("a").get_messages())["messages"]) == 1
    known = {row["alias"] for row in team.fleet.program().get_all_status()["sessions"]}
    assert not known & {"a", "代码1号"}  # they are known, and have no presence
    assert team.fleet.program().send_message(alias="代码1号", message="m")["ok"] is True


@requires("tokens.person", "tokens.person.which", "tokens.foreign")
def test_a_person_says_which_project(team: Team, elsewhere: Team) -> None:
    """A person of several projects names one by X-Hubbub-Project, or is told which there are; of one they need not."""
    one = team.person((team.project, Role.MEMBER))
    two = team.person((team.project, Role.MEMBER), (elsewhere.project, Role.OWNER))
    made = {"agent_id": "lead", "title": "t", "priority": "low"}

    with team.unchanged(), elsewhere.unchanged():
        for tool, arguments in (("create_task", made), ("get_all_tasks", {"agent_id": "lead"})):
            error = _error(two.ask(tool, arguments))
            slugs = f"{team.project.slug}, {elsewhere.project.slug}"
            assert error == f"name the project: one of {slugs}, by the header X-Hubbub-Project"
    with elsewhere.unchanged():
        yes(one.create_task(**made))
    for place in (team, elsewhere):
        for name in (place.project.slug, str(place.project.id)):
            yes(replace(two, headers={"X-Hubbub-Project": name}).create_task(**made))
    assert (len(team.tasks()), len(elsewhere.tasks())) == (3, 2)


@requires("tokens.foreign", "envelope.clean")
def test_a_foreign_project_is_refused(team: Team, elsewhere: Team) -> None:
    """A token that names a project not its own, be it there or not, is refused by every tool, without a trace."""
    owners = {"program": elsewhere.program(), "person": elsewhere.person((elsewhere.project, Role.OWNER))}
    named = [team.project.slug, "no-such-project"]
    callers = {
        (kind, name): replace(caller, headers={"X-Hubbub-Project": name})
        for (kind, caller), name in product(owners.items(), named)
    }

    with team.unchanged(), elsewhere.unchanged(), every_row() as row:
        for (called, caller), tool in product(callers.items(), CALLS):
            with row(*called, tool):
                assert "is not one of yours" in _error(caller.ask(tool, CALLS[tool]))


@requires("tokens.viewer", "tokens.person")
def test_a_persons_role_is_that_of_the_project(team: Team, elsewhere: Team) -> None:
    """A viewer here who is a member there may write there only, and read in both."""
    person = team.person((team.project, Role.VIEWER), (elsewhere.project, Role.MEMBER))
    here, there = (
        replace(person, headers={"X-Hubbub-Project": each.project.slug}, says={"agent_id": "lead"})
        for each in (team, elsewhere)
    )

    with team.unchanged():
        assert no(here.send_message(content="c")).startswith("permission denied: ")
        assert yes(here.get_messages()) == {"messages": []}
    yes(there.send_message(content="c"))


@requires("tokens.revoked", "envelope.unauthorized")
@both_engines
@pytest.mark.parametrize("how", ["revoked", "expired"])
def test_a_token_ends_at_once(team: Team, how: str) -> None:
    """The first call after a token was revoked, or ran out, is answered by 401 and does nothing."""
    secret = team.token("fe", ttl=timedelta(minutes=5) if how == "expired" else None)
    send = call("send_message", agent_id="fe", content="m")
    assert team.post(send, secret).status_code == 200

    if how == "revoked":
        team.revoke(secret)
    else:
        team.later(minutes=5)

    with team.unchanged():
        assert team.post(send, secret).status_code == 401
