"""broadcast_thinking: what is said to those who watch, and kept nowhere."""

from queue import SimpleQueue

from tests.dialects.conftest import both_engines
from tests.dialects.relay.callers import Team, yes
from tests.dialects.relay.requirements import requires
from tests.support.waiting import patience


@requires("broadcast_thinking.live", "broadcast_thinking.not_kept", "broadcast_thinking.reply")
@both_engines
def test_a_thought_is_heard_and_not_kept(team: Team) -> None:
    """A watcher of the project hears the thought, with its agent and run; no row of it is written."""
    heard: SimpleQueue[object] = SimpleQueue()
    fe = team.agent("fe")
    fe.start_session(session_id="r")

    with team.hub.whispers.heard(team.project.id, heard.put), team.unchanged():
        assert yes(fe.broadcast_thinking(content="读代码 🦊\n## now")) == {}

    thought = {"type": "thought", "run": "r", "agent": "fe", "text": "读代码 🦊\n## now"}
    assert heard.get(timeout=patience()) == thought
    assert heard.empty()


@requires("broadcast_thinking.live")
def test_a_thought_stays_in_its_project(team: Team, elsewhere: Team) -> None:
    """A watcher of another project hears nothing of it, and nobody hears of a refused call."""
    heard: SimpleQueue[object] = SimpleQueue()
    fe = team.agent("fe")

    with elsewhere.hub.whispers.heard(elsewhere.project.id, heard.put):
        yes(fe.broadcast_thinking(content="ours"))
        yes(elsewhere.agent("fe").broadcast_thinking(content="theirs"))
        elsewhere.agent("fe").broadcast_thinking(agent_id="be", content="not mine")

    assert "theirs" in str(heard.get(timeout=patience()))
    assert heard.empty()
