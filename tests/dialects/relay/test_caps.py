"""The hub's limits on the content of a run."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal

from hubbub.core.work import artifacts, reviews
from hubbub.settings import Settings
from hubbub.store.tx import Store, Tx
from tests.dialects.every_row import every_row
from tests.dialects.relay.callers import Team, no, yes
from tests.dialects.relay.requirements import requires
from tests.dialects.running_hub import Caller, Json, StillClock, running_hub

CAPS = {
    "send_message": "messages",
    "create_task": "tasks",
    "post_artifact": "artifacts",
    "request_review": "reviews",
}


@pytest.fixture
def capped(store: Store, tmp_path: Path, portal: BlockingPortal) -> Iterator[Team]:
    """A project of a hub, on either engine, whose runs hold two of everything."""
    settings = Settings(data=tmp_path, run_messages=2, run_tasks=2, run_artifacts=2, run_reviews=2)
    with running_hub(store, StillClock(), settings, portal) as hub, Team.fresh(hub) as team:
        yield team


def _call(caller: Caller, tool: str) -> Json:
    """Return arguments of the tool that make one more of its things in the run of the caller."""
    if tool == "request_review":
        posted = caller.post_artifact(name="spec", type="pr", content="c")
        return {"artifact_id": posted["artifact_id"], "reviewer": "qa"}
    arguments: dict[str, Json] = {
        "send_message": {"content": "c"},
        "create_task": {"title": "t", "priority": "low"},
        "post_artifact": {"name": "spec", "type": "pr", "content": "c"},
    }
    return arguments[tool]


@requires("caps.set", "caps.run", "envelope.clean")
def test_a_cap_is_hit(capped: Team) -> None:
    """The setting's number of agents is made; one more is refused and changes nothing, and another run has room."""
    with every_row() as row:
        for tool, noun in CAPS.items():
            full, empty = capped.within(f"full-{tool}"), capped.within(f"empty-{tool}")
            once_more = partial(full.ask, tool, _call(full, tool))
            with row(tool):
                for _ in range(2):
                    yes(once_more()[0])
                with capped.unchanged():
                    assert no(once_more()[0]) == f"this session has reached its limit of 2 {noun}"
                yes(empty.ask(tool, _call(empty, tool))[0])


@requires("caps.set", "creating.key_first")
def test_a_known_key_needs_no_room(capped: Team) -> None:
    """In a full run an idempotency_key that is known still gives its task."""
    known = capped.task(idempotency_key="k")
    capped.task()

    assert capped.task(idempotency_key="k") == known


@requires("caps.none")
def test_there_is_no_cap_by_default(anywhere: Team) -> None:
    """A hub whose settings say nothing takes more reviews of one run than the original did, which was 500."""
    posted = anywhere.artifact()

    def ask(tx: Tx) -> None:
        artifact = artifacts.find(tx, [anywhere.project.id], posted)
        for _ in range(500):
            reviews.request(tx, artifact, by="lead", reviewer="qa", awaited=True)

    anywhere.hub.do(ask)

    yes(anywhere.agent("lead").request_review(artifact_id=posted, reviewer="qa"))
