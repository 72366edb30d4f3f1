"""The kinds of what happens."""

import re
from pathlib import Path

import pytest

from hubbub.model.errors import Invalid
from hubbub.model.log.event_types import GROUPS, KINDS, require_group, require_kind

ROOT = Path(__file__).parents[3]


def test_the_kinds_are_those_of_the_reference() -> None:
    """The kinds to ask for are those that the reference of events lists, and no others."""
    told = (ROOT / "docs" / "reference" / "events.md").read_text("utf-8")
    table = told.partition("## The kinds of the log")[2].partition("\n## ")[0]
    cells = " ".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `"))
    assert set(re.findall(r"`([a-z]+\.[a-z_]+)`", cells)) == KINDS


def test_what_the_core_writes_down_is_a_kind() -> None:
    """Everything that the core records by its name is of a kind that may be asked for."""
    core = "\n".join(
        each.read_text("utf-8")
        for each in (ROOT / "src" / "hubbub" / "core").rglob("*.py")
        if "why" not in each.parts
    )
    written = set(re.findall(r'\brecord\(\s*(?:tx, )?"([a-z_.]+)"', core))
    assert "agent.scope_change" in written
    assert written <= KINDS


def test_a_kind_that_is_none_is_told_what_there_is() -> None:
    """A kind, or a group, that there is not is refused with what may have been meant, and shown cut."""
    assert require_kind("task.sent") == "task.sent"
    assert require_group("task") == "task"
    with pytest.raises(
        Invalid, match=r"^there is no kind 'run\.zz': of run there are run\.noted, run\.opened, run\.started$"
    ):
        require_kind("run.zz")
    with pytest.raises(
        Invalid, match=rf"there is no group 'zz': a kind is of one of the groups {', '.join(GROUPS)}, as "
    ):
        require_group("zz")
    for kind in ("", "zz", "task", "task.*", "Task.sent", "task.sent ", "z" * 3_000):
        with pytest.raises(Invalid) as refused:
            require_kind(kind)
        assert len(str(refused.value)) < 600
