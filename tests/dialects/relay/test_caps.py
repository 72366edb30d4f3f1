"""How much a run may hold, where the hub's settings say so."""

from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal

from hubbub.settings import Settings
from hubbub.store.tx import Store
from tests.dialects.hub import Caller, Json, StillClock, running_hub
from tests.dialects.relay.hub import Team, no, yes
from tests.dialects.relay.requirements import requires


def _fill(caller: Caller, tool: str) -> Json:
    """One more of what the tool makes."""
    if tool == "request_review":
        posted = caller.post_artifact(name="spec", type="pr", content="c")
        return caller.request_review(artifact_id=posted["artifact_id"], reviewer="qa")
    arguments: dict[str, Json] = {
        "send_message": {"content": "c"},
        "create_task": {"title": "t", "priority": "low"},
        "post_artifact": {"name": "spec", "type": "pr", "content": "c"},
    }
    return caller.ask(tool, arguments[tool])[0]


CAPS = {
    "send_message": ("run_messages", "messages"),
    "create_task": ("run_tasks", "tasks"),
    "post_artifact": ("run_artifacts", "artifacts"),
    "request_review": ("run_reviews", "reviews"),
}


@requires("caps.set", "caps.run", "envelope.clean")
@pytest.mark.parametrize("tool", CAPS)
def test_a_cap_is_hit(store: Store, tmp_path: Path, portal: BlockingPortal, tool: str) -> None:
    """As many as the setting says are made, one more is refused and changes nothing, and another run has room."""
    setting, noun = CAPS[tool]
    settings = Settings(data=tmp_path, **{setting: 2})  # type: ignore[arg-type]
    with running_hub(store, StillClock(), settings, portal) as hub, Team.fresh(hub) as team:
        full = team.within("full")
        for _ in range(2):
            yes(_fill(full, tool))

        before = team.world()
        assert no(_fill(full, tool)) == f"this session has reached its limit of 2 {noun}"
        if tool != "request_review":  # whose artifact was posted, and may be
            assert team.world() == before

        yes(_fill(team.within("empty"), tool))


@requires("caps.set", "creating.key_first")
def test_a_known_key_needs_no_room(store: Store, tmp_path: Path, portal: BlockingPortal) -> None:
    """In a full run an idempotency_key that is known still gives its task."""
    settings = Settings(data=tmp_path, run_tasks=1)
    with running_hub(store, StillClock(), settings, portal) as hub, Team.fresh(hub) as team:
        task = team.task(idempotency_key="k")

        assert team.task(idempotency_key="k") == task


@requires("caps.none")
def test_there_is_no_cap_by_default(anywhere: Team) -> None:
    """A hub whose settings say nothing takes more reviews of one run than the original did."""
    artifact = anywhere.artifact()
    asked = [{"artifact_id": artifact, "reviewer": "qa", "agent_id": "lead"}] * 501

    answers = anywhere.program().at_once("request_review", asked)

    assert len({yes(answer)["review_id"] for answer in answers}) == 501
