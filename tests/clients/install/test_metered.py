"""Clients that tell the hub what they use: set up by the install, and left alone where they tell somebody else."""

import json
import tomllib
from pathlib import Path

import pytest

from hubbub.clients.install.adapters import claude_code, codex
from hubbub.clients.install.client_installer import PROJECT, USER, ClientInstaller
from hubbub.clients.install.install_plan import InstallPlan
from tests.clients.install.conftest import SECRET, Place

LOGS = "http://127.0.0.1:8420/v1/logs"
NOTE = "exports its use elsewhere already, and goes on with that; the hub says unmetered"


def written(place: Place, name: str, text: str) -> Path:
    file = place.home / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_claude_code_is_told_by_its_environment(place: Place) -> None:
    """Claude Code exports its events as JSON, with the agent's token; none of its prompts is asked for."""
    place.install(claude_code.CLIENT, USER)
    told = json.loads((place.home / ".claude" / "settings.json").read_text())["env"]
    assert told["OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"] == LOGS
    assert told["OTEL_EXPORTER_OTLP_HEADERS"] == f"Authorization=Bearer {SECRET}"
    assert {name for name in told if name.startswith("OTEL_LOG_")} == set()


def test_codex_is_told_by_a_table(place: Place) -> None:
    """Codex exports its events as JSON; its file has a token in it, and is for its owner alone."""
    place.install(codex.CLIENT, USER)
    file = place.home / ".codex" / "config.toml"
    exporter = tomllib.loads(file.read_text())["otel"]["exporter"]["otlp-http"]
    assert exporter == {
        "endpoint": LOGS,
        "protocol": "json",
        "headers": {"Authorization": f"Bearer {SECRET}"},
    }
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("client", "name", "text"),
    [
        (claude_code.CLIENT, ".claude/settings.json", '{"env": {"OTEL_METRICS_EXPORTER": "otlp"}}\n'),
        (claude_code.CLIENT, ".claude/settings.json", '{"env": {"OTEL_LOGS_EXPORTER": "console"}}\n'),
        (codex.CLIENT, ".codex/config.toml", '[otel]\nexporter = "none"\n'),
        (codex.CLIENT, ".codex/config.toml", '[otel.exporter."otlp-grpc"]\nendpoint = "https://a"\n'),
    ],
)
def test_who_tells_somebody_else_goes_on_with_that(
    place: Place, client: ClientInstaller, name: str, text: str
) -> None:
    """A client that exports elsewhere keeps that: the rest is installed, a note says so, and the removal is exact."""
    file = written(place, name, text)
    plan = InstallPlan()
    plan.add(client.changes(place.request(USER)))
    assert any(NOTE in each for each in plan.notes)
    assert not plan.conflicts

    done = place.install(client, USER)
    assert LOGS not in file.read_text()
    place.uninstall(done)
    assert file.read_text() == text


@pytest.mark.parametrize("client", [claude_code.CLIENT, codex.CLIENT])
def test_a_project_holds_no_token_for_it(place: Place, client: ClientInstaller) -> None:
    """An export needs a token in the client's file, which no project's file may hold: there is none."""
    place.install(client, PROJECT)
    assert not any(LOGS.encode() in held for _, held in place.tree().values() if isinstance(held, bytes))
