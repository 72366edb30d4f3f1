"""Histories of real processes, short ones: that they are recorded, and that what is planted in them is found."""

import gzip
import json
from pathlib import Path

import pytest

from hubbub.prove.check_history import findings, read
from hubbub.prove.doors import Reply
from hubbub.prove.histories import Shape, play
from hubbub.prove.history import History
from hubbub.prove.worker import Agent, SharedState

SHORT = Shape(programs=1, agents=7, machine=False, pause=0.02, calm=0.5, kills=2)


@pytest.mark.long
@pytest.mark.system
def test_a_hub_that_is_killed_keeps_its_word(tmp_path: Path) -> None:
    """Agents at every door work while hub, links and agents die: nothing is lost, doubled, stale, or in disorder."""
    run = play(tmp_path / "run", SHORT, seed=5, seconds=600)

    assert run.findings == []
    assert run.faults["hub killed"] >= 1
    assert run.faults["hub killed"] + run.faults["worker killed"] == 3  # as many as wanted, and the last one
    assert run.answers["send yes"] >= 1
    with gzip.open(tmp_path / "run" / "history.jsonl.gz", "rt", encoding="utf-8") as packed:
        lines = packed.readlines()
    kept = [line for line in lines if '"kept"' in line]
    forgotten = json.loads(kept[0])["kept"].pop()
    assert [*findings(*read(line.replace(forgotten, "another") if line in kept else line for line in lines))]


@pytest.mark.parametrize(("error", "broken"), [("invalid", 1), ("invalid_transition", 0), ("not_found", 0)])
def test_a_refusal_speaks_against_nobody(tmp_path: Path, error: str, broken: int) -> None:
    """A refusal is an answer, such as that a task is over; only a call that is no call spoils the history."""
    facts = {"program": 0, "door": "rest", "token": "t"}
    plan = {"agents": {"ann": facts}, "urls": ["http://127.0.0.1:1"], "nowhere": str(tmp_path)}
    agent = Agent(plan, "ann", History(tmp_path / "history.jsonl"), SharedState(0.1, drains=False), "seed")

    agent._tell("call-1", Reply(is_yes=False, said={"error": error}))

    _, rest = read((tmp_path / "history.jsonl").read_text().splitlines())
    assert len(rest["broken"]) == broken
