"""Hostile calls at a hub of their own, for a moment."""

from pathlib import Path

import pytest

from hubbub.prove.hostile_calls import attack


@pytest.mark.system
def test_hostile_calls_break_nothing(tmp_path: Path) -> None:
    """Calls from all schemas of all doors, by good and bad tokens, are refused or done: no 5xx, no trace, no leak."""
    found = attack(tmp_path / "run", seed=1, seconds=0.5)

    assert found.findings == []
    assert found.answers["refused"] > found.answers["done"] > 0
