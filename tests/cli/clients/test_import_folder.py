"""`hubbub import`."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.processes import RunningHub

FILES = {
    "memory/project.md": "# Shop\n\n## stack\nPython\n\n## style\n\ntabs\n",
    "memory/agents/fe.md": "## notes\n\nuse the grid\n\n---\n_2026-03-14_\n\n## not a rule\nlater\n",
    "memory/agents/代码1号.md": "你好\r\n",
    "sessions/2026-03-14-007/summary.md": "# Done\n\nall of it\n",
    "sessions/2026-03-15-001/summary.md": "less\n",
    "agents.pool.yml": "agents: {}\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A relay folder as a team of Relay's leaves it."""
    for name, text in FILES.items():
        file = tmp_path / ".relay" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    return tmp_path / ".relay"


def parts(hub: RunningHub, whose: str) -> list[tuple[str | None, str]]:
    found = hub.client().get(f"/memory/{whose}")["document"]["parts"]
    return [(part["key"], part["content"]) for part in found]


def outcomes(imported: list[dict[str, Any]]) -> dict[str, str]:
    return {each["name"]: each["outcome"] for each in imported}


def test_a_folder_is_imported(hub: RunningHub, folder: Path) -> None:
    """Memories and summaries of the folder are in the hub, section by section, and the folder is as it was."""
    done = hub.json("import", "relay", str(folder))
    assert outcomes(done) == {name: "added" for name in FILES if name.endswith(".md")}
    assert parts(hub, "project") == [(None, "# Shop"), ("stack", "Python"), ("style", "tabs")]
    assert parts(hub, "agents/fe") == [
        ("notes", "use the grid"),
        (None, "\n---\n_2026-03-14_"),
        ("not a rule", "later"),
    ]
    assert parts(hub, "agents/代码1号") == [(None, "你好")]
    assert hub.client().get("/summaries/2026-03-14-007")["summary"]["text"] == "# Done\n\nall of it\n"
    left = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}
    assert left == {*FILES}
    assert all((folder / name).read_bytes() == text.encode() for name, text in FILES.items())


def test_doing_it_again_changes_nothing(hub: RunningHub, folder: Path) -> None:
    """Imported memories and their clashes are not imported again."""
    hub.client().put("/memory/project", {"text": "## style\n\nspaces\n"})
    hub.client().put("/summaries/2026-03-14-007", {"text": "something else"})
    hub.json("import", "relay", str(folder))
    before = [hub.client().get(path) for path in ("/memory", "/summaries")]
    again = hub.json("import", "relay", str(folder))
    assert {*outcomes(again).values()} == {"unchanged"}
    assert [hub.client().get(path) for path in ("/memory", "/summaries")] == before


def test_what_the_hub_has_stays(hub: RunningHub, folder: Path) -> None:
    """An import merges with the hub and overwrites nothing; a section of both is there twice, and that is said."""
    hub.client().put("/memory/project", {"text": "## style\n\nspaces\n\n## port\n\n8420\n"})
    done = hub.run("import", "relay", str(folder))
    assert done.returncode == 0
    assert "memory/project.md\tmerged\n" in done.stdout
    assert "section 'style' was changed in the hub too" in done.stdout
    merged = dict(parts(hub, "project"))
    assert (merged["style"], merged["port"], merged["stack"], merged[None]) == (
        "spaces",
        "8420",
        "Python",
        "# Shop",
    )
    assert [text for key, text in merged.items() if key and key.startswith("style (")] == ["tabs"]


def test_a_bad_file_stops_no_other(hub: RunningHub, folder: Path, tmp_path: Path) -> None:
    """A file that cannot be read, or is elsewhere, is named in one sentence; the rest is imported, with exit code 1."""
    (folder / "memory" / "project.md").write_bytes(b"\xff\xfe")
    (tmp_path / "secret").write_text("secret")
    (folder / "memory" / "agents" / "fe.md").unlink()
    (folder / "memory" / "agents" / "fe.md").symlink_to(tmp_path / "secret")
    done = hub.run("import", "relay", str(folder), "--json")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "2 of 5 not imported" in done.stderr
    assert "memory/project.md: it is not UTF-8 text" in done.stderr
    assert "memory/agents/fe.md: a link leads out of the relay folder" in done.stderr
    assert str(tmp_path) not in done.stderr
    assert [*outcomes(json.loads(done.stdout)).values()].count("added") == 3
    assert parts(hub, "project") == []


def test_it_is_imported_as_whoever_asks(hub: RunningHub, folder: Path) -> None:
    """A token bound to an agent imports that agent's memory and the project's, and is refused those of others."""
    secret = hub.client().post("/tokens", {"agent": "fe"})["secret"]
    done = hub.run("import", "relay", str(folder), "--token", secret)
    assert done.returncode == 1
    assert "1 of 5 not imported: memory/agents/代码1号.md: this token acts as 'fe' only" in done.stderr
    assert parts(hub, "agents/fe")[0] == ("notes", "use the grid")


def test_where_there_is_nothing(hub: RunningHub, tmp_path: Path) -> None:
    """A folder without memory is no error; one that is not there is wrong usage; a hub that is not there is exit 3."""
    assert "there is no memory" in hub.run("import", "relay", str(tmp_path)).stdout
    assert hub.run("import", "relay", str(tmp_path / "none")).returncode == 2
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "project.md").write_text("text")
    away = hub.run("import", "relay", str(tmp_path), HUBBUB_URL="http://127.0.0.1:9")
    assert (away.returncode, away.stderr.count("\n")) == (3, 1)
