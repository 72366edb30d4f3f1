"""`hubbub trust`: a person sees the hooks of a project before they run."""

import json
from pathlib import Path

import pytest

from tests.cli.processes import hubbub
from tests.cli.relay_team import pool


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose agent fe has a hook."""
    folder = tmp_path / "project"
    (folder / ".relay").mkdir(parents=True)
    (folder / ".relay" / "agents.pool.yml").write_text(pool(fe={"hooks": {"before_task": "make\x07 lint"}}))
    return folder


def listed(project: Path, data: Path) -> list[dict[str, object]]:
    done = hubbub("trust", str(project), "--list", "--json", data=data)
    assert done.returncode == 0, done.stderr
    rows: list[dict[str, object]] = json.loads(done.stdout)
    return rows


def test_a_person_is_shown_what_would_run(project: Path, tmp_path: Path) -> None:
    """Each hook is shown whole and harmless, and only a yes lets it run; without an answer nothing changes."""
    data = tmp_path / "data"
    for answer in ("", "n\n"):
        done = hubbub("trust", str(project), data=data, given=answer)
        assert done.returncode == 1
        assert "agents.pool.yml: fe: before_task, not trusted yet\n    make\\u0007 lint\n" in done.stdout
    assert [each["trusted"] for each in listed(project, data)] == [False]

    assert hubbub("trust", str(project), data=data, given="y\n").returncode == 0
    assert listed(project, data) == [
        {
            "file": "agents.pool.yml",
            "agent": "fe",
            "hook": "before_task",
            "command": "make\x07 lint",
            "trusted": True,
        }
    ]


def test_the_same_hook_elsewhere_is_another(project: Path, tmp_path: Path) -> None:
    """Hooks trusted in one folder are new in another; hooks of team files count as those of the pool."""
    assert hubbub("trust", str(project), "--yes", data=tmp_path / "data").returncode == 0
    other = tmp_path / "other"
    project.rename(other)
    (other / ".relay" / "session-agents-r1.yml").write_text(pool(be={"hooks": {"after_task": "make test"}}))

    rows = listed(other, tmp_path / "data")
    assert [(each["agent"], each["trusted"]) for each in rows] == [("fe", False), ("be", False)]


def test_a_file_with_a_mistake_is_named(project: Path, tmp_path: Path) -> None:
    """A team file that cannot be read is named, and the exit code is 1; hooks of the others are shown and allowed."""
    (project / ".relay" / "session-agents-r1.yml").write_text("agents: 7")
    (project / ".relay" / "session-agents-r2.yml").write_text("agents: {")
    done = hubbub("trust", str(project), "--yes", data=tmp_path / "data")

    assert done.returncode == 1
    assert "make" in done.stdout
    assert all(f"session-agents-{run}.yml" in done.stderr for run in ("r1", "r2"))
    for broken in (project / ".relay").glob("session-*"):
        broken.unlink()
    assert [each["trusted"] for each in listed(project, tmp_path / "data")] == [True]
