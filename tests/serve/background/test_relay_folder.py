"""The hub's own relay folder, through a real hub."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from hubbub.core.transaction import Transactions
from hubbub.serve.background import relay_folder
from hubbub.serve.background.relay_folder import mirror_project
from hubbub.serve.live.log_tail import LogTail
from hubbub.store.engine.sqlite import SQLite
from hubbub.workspace.locations import Workspace
from tests.cli.processes import RunningHub
from tests.cli.relay_team import Team, edit, until


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Team]:
    """A hub that was started for a relay folder; nobody works there over stdio."""
    monkeypatch.setenv("RELAY_DIR", str(tmp_path / "work" / ".relay"))
    hub = RunningHub(tmp_path / "data")
    hub.start()
    with Team.at(hub, tmp_path / "work") as team:
        yield team
    hub.close()


def test_files_beside_the_hub(beside: Team) -> None:
    """Memory and summaries of the project are files in the relay folder of the hub, and edits of those reach it."""
    beside.over_http("fe", "write_memory", key="stack", content="python")
    beside.over_http("fe", "save_session_summary", session_id="r1", summary="all went well")
    file = beside.relay_folder / "memory" / "agents" / "fe.md"
    assert until(file, bool) == "## stack\n\npython\n"
    summary = beside.relay_folder / "sessions" / "r1" / "summary.md"
    until(summary, "all went well".__eq__)
    edit(file, "## stack\n\nrust\n")
    beside.hub.until("memory.updated", times=2)
    assert beside.over_http("fe", "read_memory")["content"] == "## stack\n\nrust\n"
    edit(summary, "all went very well")
    beside.hub.until("summary.saved", times=2)
    saved = beside.over_http("fe", "get_session_summary", session_id="r1")
    assert saved["summary"] == "all went very well"


@pytest.mark.anyio
async def test_project_that_is_not_there(
    sqlite_store: SQLite, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A hub that was started for a project which it does not have says so, and leaves the folder alone."""
    with caplog.at_level(logging.WARNING):
        parts = Transactions(sqlite_store), LogTail(sqlite_store)
        await mirror_project(*parts, Workspace(tmp_path, tmp_path / ".relay"), "nowhere")
    said = [each.message for each in caplog.records if each.name == relay_folder.__name__]
    assert said == ["the relay folder is not kept in step: project 'nowhere' not found"]
    assert not (tmp_path / ".relay").exists()
