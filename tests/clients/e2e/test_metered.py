"""Real clients report their use to the hub: to the token, as much as the model gave out."""

import os
import subprocess
from pathlib import Path

from tests.clients.e2e import messages_api, responses_api
from tests.clients.e2e.desk import Desk
from tests.clients.e2e.programs import program
from tests.clients.e2e.test_claude_code import KEY, QUIET
from tests.clients.e2e.test_codex import CONFIGURATION
from tests.support.waiting import until


def tokens(desk: Desk, agent: str = "ember") -> int | None:
    """Return the tokens of an agent, as the hub counts them."""
    lines = desk.hub.client().get("/cost", by="agent")["lines"]
    return next((line["tokens"] for line in lines if line["name"] == agent), None)


def run(desk: Desk, *command: str | Path, **more: str) -> None:
    done = subprocess.run(
        command,
        cwd=desk.work,
        env={**desk.environment, **more},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_claude_code_uses(desk: Desk) -> None:
    """Claude Code, as `hubbub install` leaves it, exports each request: what was read, written and kept apart."""
    claude = program("@anthropic-ai/claude-code", "2.1.330", "claude")
    desk.hubbub("install", "claude-code", "--as", "ember")
    with messages_api.serving(lambda _turn: [messages_api.say("Done.")]) as model:
        address = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": KEY}
        run(desk, claude, "-p", "count to three", **address, **QUIET)
        until(lambda: tokens(desk) == sum(messages_api.USED.values()) * model.answered, "all tokens")
    used = messages_api.USED
    [line] = desk.hub.client().get("/cost", by="agent")["lines"]
    kinds = "input", "cache_written", "cache_read", "output"
    assert [line[each] for each in kinds] == [each * model.answered for each in used.values()]


def test_what_codex_uses(desk: Desk) -> None:
    """Codex, as `hubbub install` leaves it, exports each response."""
    codex = program("@openai/codex", "0.169.0", "codex")
    file = desk.home / ".codex" / "config.toml"
    file.parent.mkdir()
    with responses_api.serving(lambda _asked: responses_api.say("Done.")) as model:
        file.write_text(CONFIGURATION.format(url=model.url, folder=desk.work), "utf-8")
        desk.hubbub("install", "codex", "--as", "ember")
        path = f"{codex.parent}{os.pathsep}{desk.environment['PATH']}"
        run(desk, codex, "exec", "--skip-git-repo-check", "count to three", PATH=path)
        until(lambda: tokens(desk) == 2 * len(model.asked), "all tokens")
    assert model.asked
