"""Durability of answers: a hub that is stopped and started again on its store shows everything as it was."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal

from hubbub.settings import Settings
from hubbub.store.engine.postgres import Postgres
from hubbub.store.engine.sqlite import SQLite
from hubbub.store.tx import Store
from tests.dialects.relay.callers import Team, yes
from tests.dialects.relay.requirements import requires
from tests.dialects.running_hub import Json, StillClock, running_hub
from tests.support.migrated_database import migrated


@pytest.fixture(params=["sqlite", "postgres"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Store]]:
    """Opens the same store, in which only this test writes, whenever it is called."""
    clock = StillClock()
    if request.param == "sqlite":
        yield lambda: SQLite.open(migrated(tmp_path / "data"), clock=clock)
    else:
        url = request.getfixturevalue("postgres_url")
        yield lambda: Postgres.open(url, clock=clock)


def _seen(team: Team) -> Json:
    """Return everything that an agent can read."""
    fe = team.agent("fe")
    return {
        "tasks": yes(fe.get_all_tasks(include_description=True)),
        "messages": yes(fe.get_messages()),
        "artifact": yes(fe.get_artifact(name="spec")),
        "memory": [yes(fe.read_memory()), yes(fe.read_memory(agent_id=None))],
        "sessions": yes(fe.list_sessions()),
        "summary": yes(fe.get_session_summary(session_id="r")),
        "state": yes(fe.get_orchestrator_state()),
        "run": yes(fe.get_server_info())["sessionId"],
    }


@requires("run.restart")
def test_all_is_there_after_a_restart(
    reopen: Callable[[], Store], tmp_path: Path, portal: BlockingPortal
) -> None:
    """Tasks, messages, artifacts, reviews, memory, summaries, state and the current run survive a restart."""
    store, settings = reopen(), Settings(data=tmp_path)
    with running_hub(store, StillClock(), settings, portal) as hub, Team.fresh(hub) as team:
        lead = team.agent("lead")
        lead.start_session(session_id="r")
        first = team.task("first", assignee="fe", description="how")
        team.task("second", depends_on=[first], idempotency_key="k")
        yes(team.agent("fe").claim_task(task_id=first))
        lead.send_message(content="m", to="fe", metadata={"k": "v"})
        review = lead.request_review(artifact_id=team.artifact(), reviewer="qa")
        team.agent("fe").write_memory(key="k", content="mine")
        lead.write_memory(agent_id=None, key="k", content="ours")
        lead.save_session_summary(session_id="r", summary="s")
        lead.save_orchestrator_state(state="{}")
        before = _seen(team)
    store.close()

    store = reopen()
    with running_hub(store, StillClock(), settings, portal) as hub, Team.again(hub, team.project) as team:
        assert _seen(team) == before
        assert team.row(first)["status"] == "in_progress"
        assert team.task("again", idempotency_key="k") == before["tasks"]["tasks"][1]["id"]
        submitted = team.agent("qa").submit_review(review_id=review["review_id"], status="approved")
        assert yes(submitted)["review"]["status"] == "approved"
    store.close()
