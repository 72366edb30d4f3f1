"""Runs, which Relay calls sessions: the run of a call, and the things visible in it."""

import json
import re
from dataclasses import replace
from itertools import product

import pytest

from hubbub.model.people.rights import Role
from tests.dialects.conftest import both_engines
from tests.dialects.every_row import every_row
from tests.dialects.relay.callers import Team, no, yes
from tests.dialects.relay.requirements import requires
from tests.dialects.running_hub import Caller, call

MADE_UP = re.compile(r"\d{4}-\d{2}-\d{2}-\d{6}-[0-9a-f]{4}")


def _run(caller: Caller) -> str:
    """The run in which the caller's calls take place."""
    return str(yes(caller.get_server_info())["sessionId"])


def _titles(caller: Caller) -> list[str]:
    return [row["title"] for row in yes(caller.get_all_tasks())["tasks"]]


def _make(caller: Caller, title: str) -> str:
    return str(yes(caller.create_task(title=title, priority="low"))["task_id"])


@requires("start_session.reply", "start_session.activates", "start_session.told", "run.current")
def test_a_session_is_started(team: Team) -> None:
    """start_session answers the session_id, and from then on calls that name no run take place in it."""
    lead, coder = team.agent("lead"), team.agent("fe")

    assert yes(lead.start_session(session_id="2026-03-14-007")) == {"session_id": "2026-03-14-007"}

    _make(lead, "t")
    assert (_run(lead), _run(coder)) == ("2026-03-14-007", "2026-03-14-007")
    assert {row["session_id"] for row in team.tasks()} == {"2026-03-14-007"}
    lead.start_session(session_id="next")
    assert (_run(coder), team.tasks()) == ("next", [])
    started = [(line["actor"], line["detail"]) for line in team.log() if line["kind"] == "run.started"]
    assert started == [("lead", {"run": "2026-03-14-007"}), ("lead", {"run": "next"})]


@requires("run.made")
@pytest.mark.parametrize("first", ["get_server_info", "get_all_tasks", "send_message", "read_memory"])
def test_a_run_is_made_where_there_is_none(team: Team, first: str) -> None:
    """The first call in a project without a run makes one, called by the date, the time and four more digits."""
    arguments = {"content": "c"} if first == "send_message" else {}
    yes(team.agent("lead").ask(first, arguments)[0])

    made = _run(team.agent("fe"))
    assert MADE_UP.fullmatch(made)
    assert _run(team.agent("lead")) == made
    opened = [line["detail"] for line in team.log() if line["kind"] == "run.opened"]
    assert opened == [{"run": made}]


@requires("run.made.once")
@both_engines
def test_a_run_is_made_once(team: Team) -> None:
    """All of many first calls at once take place in the same new run."""
    answers = team.program().at_once("get_server_info", [{"agent_id": f"fe{n}"} for n in range(20)])

    assert len({answer["sessionId"] for answer in answers}) == 1
    assert len([line for line in team.log() if line["kind"] == "run.opened"]) == 1


@requires("run.made.once")
@both_engines
def test_a_named_run_is_made_once(team: Team) -> None:
    """All of many who start the same session at once start the same one."""
    team.agent("lead").start_session(session_id="first")
    starts = [{"agent_id": f"fe{n}", "session_id": "second"} for n in range(20)]

    answers = team.program().at_once("start_session", starts)

    assert {answer["session_id"] for answer in answers} == {"second"}
    assert len([line for line in team.log() if line["kind"] == "run.opened"]) == 2


@requires("run.header")
def test_a_header_names_the_run(team: Team) -> None:
    """A request with X-Relay-Session takes place in that run, which it makes, and moves nobody else."""
    team.agent("lead").start_session(session_id="current")
    here, there = team.agent("lead"), team.within("other")

    _make(here, "here")
    _make(there, "there")

    assert (_run(here), _run(there)) == ("current", "other")
    assert (_titles(here), _titles(there)) == (["here"], ["there"])


@requires("run.header.bad", "envelope.invalid", "envelope.clean")
def test_a_header_must_be_a_session_id(team: Team) -> None:
    """A call under a header that is no session_id is invalid, and changes nothing."""
    calls = {"send_message": {"content": "c"}, "get_all_tasks": {}, "start_session": {"session_id": "x"}}
    callers = {bad: team.within(bad) for bad in ("a b", "a/b", "../x", "a.b", "r" * 129)}

    with team.unchanged(), every_row() as row:
        for (bad, caller), (tool, arguments) in product(callers.items(), calls.items()):
            with row(bad, tool):
                assert "X-Relay-Session" in caller.wrong(tool, **arguments)["error"]


@requires("run.connection", "run.others")
def test_a_connection_stays_in_the_run_that_it_has_started(team: Team) -> None:
    """A run started later by another connection moves the project's current run, but nobody who started their own."""
    first, second = team.connection("lead"), team.connection("fe")
    newcomer = team.connection("be")

    first.start_session(session_id="one")
    second.start_session(session_id="two")

    assert (_run(first), _run(second), _run(newcomer)) == ("one", "two", "two")
    assert _run(team.connection("lead")) == "two"
    first.start_session(session_id="three")
    assert (_run(first), _run(second), _run(newcomer)) == ("three", "two", "three")


@requires("run.wins")
def test_a_header_goes_before_what_was_started(team: Team) -> None:
    """A request with a header takes place in that run, also after its connection has started another."""
    caller = replace(team.connection("lead"), headers={"X-Relay-Session": "named"})

    assert yes(caller.start_session(session_id="started")) == {"session_id": "started"}

    assert _run(caller) == "named"
    assert _run(team.agent("fe")) == "started"


@requires("run.belongs", "run.project", "save_orchestrator_state.scoped")
def test_what_belongs_to_a_run_is_seen_in_it_only(team: Team) -> None:
    """Tasks, messages, artifacts, reviews and orchestrator state are another run's, memory and summaries everyone's."""
    one, two = team.within("one"), team.within("two")
    task = _make(one, "t")
    one.send_message(content="m")
    artifact = yes(one.post_artifact(name="spec", type="pr", content="c"))["artifact_id"]
    review = yes(one.request_review(artifact_id=artifact, reviewer="lead"))["review_id"]
    one.save_orchestrator_state(state="{}")
    one.write_memory(key="k", content="v")
    one.save_session_summary(session_id="one", summary="s")

    assert _titles(two) == []
    assert yes(two.get_messages())["messages"] == []
    assert two.get_artifact(name="spec")["artifact"] is None
    assert yes(two.get_orchestrator_state()) == {"state": None}
    assert no(two.update_task(task_id=task, status="done")) == "task not found"
    assert yes(two.claim_task(task_id=task))["claimed"] is False
    assert no(two.request_review(artifact_id=artifact, reviewer="fe")) == "artifact not found"
    assert no(two.submit_review(review_id=review, status="approved")) == "review not found"
    needing = two.create_task(title="t", priority="low", depends_on=[task])
    assert no(needing) == f"depends_on contains unknown task IDs: {task}"
    assert no(two.create_task(title="t", priority="low", parent_task_id=task)) == "parent task not found"

    assert "v" in yes(two.read_memory())["content"]
    assert yes(two.list_sessions()) == {"sessions": ["one"]}
    assert yes(two.get_session_summary(session_id="one")) == {"summary": "s"}


@requires("run.old", "get_orchestrator_state.reply")
@both_engines
def test_an_old_run_shows_its_rows_again(team: Team) -> None:
    """A run that is started again shows its tasks, messages, artifacts and state as they were."""
    lead = team.agent("lead")
    lead.start_session(session_id="old")
    _make(lead, "t")
    lead.send_message(content="m", to="fe")
    lead.post_artifact(name="spec", type="pr", content="c")
    lead.save_orchestrator_state(state="{1}")
    lead.start_session(session_id="new")
    assert (_titles(lead), team.mail("fe")) == ([], [])

    lead.start_session(session_id="old")

    assert _titles(lead) == ["t"]
    assert [row["content"] for row in team.mail("fe")] == ["m"]
    assert yes(lead.get_artifact(name="spec"))["artifact"]["content"] == "c"
    assert yes(lead.get_orchestrator_state()) == {"state": "{1}"}


@requires("run.projects")
def test_runs_of_two_projects_are_two(team: Team, elsewhere: Team) -> None:
    """A session of the same name in another project is another, and so is the current one."""
    for each in (team, elsewhere):
        each.agent("lead").start_session(session_id="same")
    _make(team.agent("lead"), "ours")
    elsewhere.agent("lead").start_session(session_id="theirs")

    assert _titles(elsewhere.within("same")) == []
    assert _run(team.agent("fe")) == "same"


@requires("run.first", "run.work")
@both_engines
@pytest.mark.parametrize("by", ["header", "start_session", "nobody"])
def test_earlier_work_belongs_to_the_first_run(team: Team, by: str) -> None:
    """CommHub's messages from before any run are in the first one that is made, however that comes about."""
    team.fleet.online("coder-1")
    team.fleet.program().send_task(alias="coder-1", task="early")
    team.fleet.program().send_message(alias="coder-1", message="hello")
    if by == "start_session":
        team.agent("lead").start_session(session_id="first")
    caller = team.within("first") if by == "header" else team.agent("lead")

    assert _titles(caller) == ["early"]
    messages = yes(replace(team.member("coder-1"), headers=caller.headers).get_messages())["messages"]
    assert [(row["content"], row["session_id"]) for row in messages] == [("hello", _run(caller))]


@requires("run.work")
def test_later_work_belongs_to_the_current_run(team: Team) -> None:
    """CommHub's messages go to the run that was started last, and to no other."""
    team.fleet.online("coder-1")
    lead = team.agent("lead")
    for run in ("one", "two"):
        lead.start_session(session_id=run)
        team.fleet.program().send_task(alias="coder-1", task=f"for {run}")
    team.within("three").get_all_tasks()
    team.fleet.program().send_task(alias="coder-1", task="also for two")

    found = {run: _titles(team.within(run)) for run in ("one", "two", "three")}
    assert found == {"one": ["for one"], "two": ["for two", "also for two"], "three": []}


@requires("envelope.bare", "run.header", "envelope.unauthorized")
@both_engines
def test_a_bare_call_works(team: Team) -> None:
    """A tools/call that is posted without initialize is answered, in the run of its header; without a token by 401."""
    made = call("create_task", agent_id="lead", title="t", priority="low")

    answer = team.post(made, **{"X-Relay-Session": "bare"})

    assert answer.status_code == 200
    (content,) = answer.json()["result"]["content"]
    assert yes(json.loads(content["text"])).keys() == {"task_id"}
    assert _titles(team.within("bare")) == ["t"]
    with team.unchanged():
        assert team.post(made, "ntok_" + "0" * 32).status_code == 401


@requires("envelope.too_large", "envelope.clean")
def test_a_body_has_a_limit(anywhere: Team) -> None:
    """A body over 10 MiB is refused before anything is done."""
    secret = anywhere.program().secret

    with anywhere.unchanged():
        assert anywhere.post(b" " * (10 * 1024 * 1024 + 1), secret).status_code == 413


@requires("envelope.repeated")
def test_a_repeated_call_happens_once(team: Team) -> None:
    """A write that is sent again under the same Idempotency-Key gets the first answer, and is done once."""
    made = call("send_message", agent_id="lead", content="c")

    answers = [team.post(made, **{"Idempotency-Key": "k"}).json()["result"] for _ in range(3)]

    assert answers[0] == answers[1] == answers[2]
    assert len(team.mail("fe")) == 1


@requires("run.made", "tokens.viewer_reads")
def test_a_viewer_makes_no_run(team: Team) -> None:
    """A viewer of a project without a run sees nothing yet, and leaves no trace."""
    viewer = team.agent("lead", Role.VIEWER)

    with team.unchanged():
        assert yes(viewer.get_server_info())["sessionId"] is None
        assert yes(viewer.get_all_tasks()) == {"tasks": []}
        unmade = replace(viewer, headers={"X-Relay-Session": "unmade"})
        assert _run(unmade) == "unmade"


@requires("tokens.viewer_reads", "run.belongs")
def test_a_viewer_sees_nothing_in_a_run_that_is_not_there(team: Team) -> None:
    """Under the name of a run that nobody has made a viewer sees no rows of another."""
    team.task()
    team.agent("lead").send_message(content="m")

    viewer = replace(team.agent("qa", Role.VIEWER), headers={"X-Relay-Session": "unmade"})

    with team.unchanged():
        assert (_titles(viewer), yes(viewer.get_messages())) == ([], {"messages": []})
        assert yes(viewer.get_orchestrator_state()) == {"state": None}
