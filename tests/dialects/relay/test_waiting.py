"""get_messages with wait_seconds: sleeping until something for the agent happens."""

import time
from pathlib import Path
from uuid import uuid4

import pytest
from anyio.from_thread import BlockingPortal

from hubbub.core.mail import messages
from hubbub.core.people import access, tokens
from hubbub.settings import Settings
from hubbub.store.tx import Store, Tx
from tests.dialects.conftest import both_engines
from tests.dialects.relay.callers import Team, no, yes
from tests.dialects.relay.requirements import requires
from tests.dialects.running_hub import StillClock, running_hub

LONG = 45  # seconds: longer than any test waits


@requires("messages.wait")
@both_engines
@pytest.mark.parametrize("to", ["fe", None])
def test_a_message_wakes(team: Team, to: str | None) -> None:
    """A waiting agent gets a message to it, or to everyone, as soon as it is sent, and nothing else."""
    waiting = team.agent("fe").soon("get_messages", wait_seconds=LONG)
    team.hub.followers.wait_for(1, team.project)

    sent = yes(team.agent("lead").send_message(to=to, content="wake up"))

    assert yes(waiting()) == {"messages": [sent["message"]]}


@requires("messages.wait", "messages.after_seq")
@both_engines
def test_only_what_is_new_wakes(team: Team) -> None:
    """With after_seq what came before it does not count, nor what is another's, in another run, or one's own."""
    fe, lead = team.agent("fe"), team.agent("lead")
    lead.start_session(session_id="r")
    old = yes(lead.send_message(to="fe", content="old"))["message"]
    waiting = fe.soon("get_messages", after_seq=old["seq"], wait_seconds=LONG)
    team.hub.followers.wait_for(1, team.project)

    lead.send_message(to="be", content="not yours")
    fe.send_message(content="my own")
    new = yes(lead.send_message(to="fe", content="new"))["message"]

    assert yes(waiting()) == {"messages": [new]}


@requires("messages.wait.task", "messages.wait")
@both_engines
@pytest.mark.parametrize("how", ["created", "free", "given", "ready", "commhub"])
def test_a_task_wakes(team: Team, how: str) -> None:
    """A task for the agent, or for anyone, wakes it with no message: created, given, freed of its needs, or sent."""
    lead = team.agent("lead")
    needed = team.task("needed", assignee="lead")
    team.task("held", assignee="fe", depends_on=[needed])
    waiting = team.agent("fe").soon("get_messages", wait_seconds=LONG)
    team.hub.followers.wait_for(1, team.project)

    if how in {"created", "free"}:
        team.task(assignee="fe" if how == "created" else None)
    elif how == "given":
        yes(lead.update_task(task_id=needed, assignee="fe"))
    elif how == "ready":
        yes(lead.update_task(task_id=needed, status="done"))
    else:
        assert team.fleet.program().send_task(alias="fe", task="t")["ok"]

    assert yes(waiting()) == {"messages": []}


@requires("messages.wait.task")
def test_nobody_sleeps_over_what_has_happened(team: Team) -> None:
    """With the last event that was seen with the tasks, a task that came since then keeps the agent from sleeping."""
    agent = team.agent("fe")
    looked = yes(agent.get_all_tasks(include_last_event=True))["last_event"]

    team.task()

    assert yes(agent.get_messages(wait_seconds=LONG, after_event=looked)) == {"messages": []}


@requires("messages.wait")
@both_engines
def test_many_wait_at_once(team: Team) -> None:
    """Fifty who wait are all woken by one broadcast."""
    waiting = [team.member(f"fe{n}").soon("get_messages", wait_seconds=LONG) for n in range(50)]
    team.hub.followers.wait_for(50, team.project)

    sent = yes(team.agent("lead").send_message(content="all hands"))["message"]

    assert all(yes(each()) == {"messages": [sent]} for each in waiting)


@requires("messages.wait.at_once")
@both_engines
def test_what_is_there_is_given_at_once(team: Team) -> None:
    """Where there is something to read a call with wait_seconds answers without waiting, and follows nothing."""
    sent = yes(team.agent("lead").send_message(content="there"))["message"]

    assert yes(team.agent("fe").get_messages(wait_seconds=LONG)) == {"messages": [sent]}
    team.hub.followers.wait_for(0, team.project)


@requires("messages.wait.time")
@both_engines
def test_the_time_runs_out(team: Team) -> None:
    """When nothing happens for as long as was asked the answer is no messages, and no sooner."""
    began = time.monotonic()

    assert yes(team.agent("fe").get_messages(wait_seconds=0.05)) == {"messages": []}

    assert time.monotonic() - began >= 0.05
    team.hub.followers.wait_for(0, team.project)


@requires("messages.wait.stop")
def test_a_hub_that_stops_lets_go_who_waits(store: Store, tmp_path: Path, portal: BlockingPortal) -> None:
    """A waiting agent gets an answer when the hub is stopped, and the hub does not wait for it."""
    with running_hub(store, StillClock(), Settings(data=tmp_path), portal) as hub, Team.fresh(hub) as team:
        assert team.mail("fe") == []
        waiting = team.agent("fe").soon("get_messages", wait_seconds=LONG)
        hub.followers.wait_for(1, team.project)

        hub.stop()

        assert yes(waiting()) == {"messages": []}


@requires("messages.wait.token", "tokens.revoked")
@both_engines
def test_a_revoked_token_waits_no_longer(team: Team) -> None:
    """A waiter whose token is revoked meanwhile is let go, and is given nothing that came after."""
    fe = team.agent("fe")
    assert team.mail("fe") == []
    waiting = fe.soon("get_messages", wait_seconds=LONG)
    team.hub.followers.wait_for(1, team.project)

    def revoke_and_send(tx: Tx) -> None:
        tokens.revoke(tx, access.authenticate(tx, fe.secret).token_id or uuid4())
        messages.send(tx, team.project.id, sender="lead", to="fe", body="too late", awaited=True)

    team.hub.do(revoke_and_send)

    assert no(waiting()).startswith("a valid token is needed")
