"""The live view at one hub, of what is said at another on the same database."""

from pathlib import Path

from tests.serve.dialect_apis.watchers import Team, watching
from tests.serve.served_hub import running_hub

LONGEST = 65_536


def test_thoughts_of_another_hub_are_told(tmp_path: Path, postgres_url: str) -> None:
    """A watcher hears thoughts of any hub, in order and whole, however long and in any script."""
    thoughts = ["short", "长" * LONGEST, "last"]
    with (
        running_hub(tmp_path / "one", database=postgres_url, no_node=True) as one,
        running_hub(tmp_path / "two", database=postgres_url, no_node=True) as two,
    ):
        team = Team(one, one.token())
        team.do("start_session", "lead", session_id="first")
        with watching(two, team.secret) as watch:
            watch.next()
            for thought in thoughts:
                team.do("broadcast_thinking", "lead", content=thought)
            told = [watch.the("agent:thinking") for _ in thoughts]

    assert [each["chunk"] for each in told] == thoughts
