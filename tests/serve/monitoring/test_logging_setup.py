"""The form of a line of the log, and the contents that are never in it."""

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from hubbub.processes.log import structlog
from hubbub.serve.monitoring import logging_setup as logs
from hubbub.serve.monitoring import loop_watch


@pytest.fixture
def stream(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """The destination of a test's log; afterwards logging is as it was."""
    # Hubs of other tests may run in this process, and on a busy machine tell that they are late.
    monkeypatch.setattr(logging.getLogger(loop_watch.__name__), "propagate", False)
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    levels = {name: logging.getLogger(name).level for name in logs.CHATTY}
    yield io.StringIO()
    for added in set(root.handlers) - set(handlers):
        added.close()
    root.handlers[:], root.level = handlers, level
    for name, before in levels.items():
        logging.getLogger(name).setLevel(before)
    structlog.reset_defaults()


def test_a_line_is_json(stream: io.StringIO) -> None:
    """Each event is a line of JSON with its time, level and facts, whoever logged it, in any script."""
    logs.configure(form="json", level="info", stream=stream)
    structlog.get_logger("hub").info("ready", name="代码1号")
    logging.getLogger("library").warning("a %s", "warning")
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert first.items() >= {"event": "ready", "level": "info", "name": "代码1号"}.items()
    assert second.items() >= {"event": "a warning", "level": "warning"}.items()
    assert first["timestamp"].endswith("Z")
    assert "代码1号" in stream.getvalue()


def test_what_is_not_on_a_terminal_is_not_pretty(stream: io.StringIO) -> None:
    """Programs get JSON by default."""
    logs.configure(form="auto", level="info", stream=stream)
    structlog.get_logger("hub").info("ready")
    assert json.loads(stream.getvalue())["event"] == "ready"


def test_people_get_pretty_lines(stream: io.StringIO) -> None:
    """Pretty lines are not JSON, and without a terminal have no colours."""
    logs.configure(form="pretty", level="info", stream=stream)
    structlog.get_logger("hub").info("ready", port=1)
    assert "ready" in stream.getvalue()
    assert "port=1" in stream.getvalue()
    assert "\x1b" not in stream.getvalue()


@pytest.mark.parametrize("level", ["debug", "info", "warning", "error"])
def test_the_level_is_kept_to(stream: io.StringIO, level: str) -> None:
    """Entries below the level are not logged."""
    logs.configure(form="json", level=level, stream=stream)
    for each in ("debug", "info", "warning", "error"):
        getattr(structlog.get_logger("hub"), each)(each)
    logged = [json.loads(line)["event"] for line in stream.getvalue().splitlines()]
    assert (
        logged == ["debug", "info", "warning", "error"][["debug", "info", "warning", "error"].index(level) :]
    )


@pytest.mark.parametrize("form", ["json", "pretty"])
def test_a_trace_shows_no_values(stream: io.StringIO, form: str) -> None:
    """The trace of a bug says where it was, but not what was in the variables there: tokens, texts."""
    logs.configure(form=form, level="info", stream=stream)

    def stumble(token: str) -> None:
        raise RuntimeError(f"a bug with {len(token)} characters")

    try:
        stumble("ntok_" + "5" * 32)
    except RuntimeError:
        structlog.get_logger("hub").exception("failed")
    assert "a bug with 37 characters" in stream.getvalue()
    assert "stumble" in stream.getvalue()
    assert "5" * 32 not in stream.getvalue()


def test_a_log_is_kept_in_files_without_secrets(
    stream: io.StringIO, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside the stream, lines of JSON go to a file, and neither has secrets; when it is full another is begun."""
    monkeypatch.setattr(logs, "FILE_BYTES", 1_000)
    file = tmp_path / "logs" / "daemon.jsonl"
    logs.configure(form="pretty", level="info", stream=stream)
    logs.keep_file(file, lambda text: text.replace("hidden-word", "[redacted]"))
    for number in range(100):
        structlog.get_logger("hub").info("said", what="hidden-word", number=number)
    logging.getLogger("library").warning("a hidden-word")

    kept = sorted(each.name for each in file.parent.iterdir())
    assert kept == ["daemon.jsonl", *(f"daemon.jsonl.{number}" for number in range(1, logs.FILES + 1))]
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert lines[-1].items() >= {"event": "a [redacted]", "level": "warning"}.items()
    assert all("hidden-word" not in each.read_text("utf-8") for each in file.parent.iterdir())
    assert "a [redacted]" in stream.getvalue()
    assert "hidden-word" not in stream.getvalue()
    assert all(each.stat().st_size <= 1_000 for each in file.parent.iterdir())
