"""The official clients of every age against a fresh hub: each connects, lists tools, calls one, and reads a resource.

They run as programs of their own, since two ages of one library do not fit into one process.
"""

import json
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hubbub.app import OWNER_TOKEN, Hub
from hubbub.serve.monitoring import logging_setup
from hubbub.settings import Settings
from tests.support import javascript
from tests.support.served_hub import serving

HERE = Path(__file__).parent
INSPECTOR = javascript.MODULES / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
PYTHON_1 = "mcp==1.30.0"


def main() -> int:
    """Print a line for each client; 1 if one of them failed."""
    logging_setup.configure(form="json", level="error")
    with tempfile.TemporaryDirectory() as folder:
        hub = Hub(Settings(data=Path(folder) / "data", port=0))
        with serving(hub):
            secret = (hub.settings.data / OWNER_TOKEN).read_text().strip()
            expected = {"tools": len(hub.dialects["commhub"].tools), "ok": True, "agents": 0}
            return max([_report(*each, expected) for each in _walks(f"{hub.url}/mcp/commhub", secret)])


def _walks(url: str, secret: str) -> Iterator[tuple[str, object]]:
    """Return what each client saw, by its name."""
    python = sys.executable
    for mode in ("legacy", "auto"):
        yield f"Python 2, {mode}", _printed([python, str(HERE / "walk_python_2.py"), mode, url, secret])
    yield "Python 1", _printed([_python_1(), str(HERE / "walk_python_1.py"), url, secret])
    if not javascript.is_fetched():
        sys.stdout.write("clients: npm is not installed, so those in JavaScript are not run\n")
        return
    for age, mode in (("1", "legacy"), ("2", "legacy"), ("2", "auto")):
        command = [str(javascript.NODE), str(HERE / "walk_typescript.mjs"), age, mode, url, secret]
        yield f"TypeScript {age}, {mode}", _printed(command)
    yield "Inspector", _inspected(url, secret)


def _python_1() -> str:
    """A Python that has version 1 of the library, in an environment that is made when it is first needed."""
    environment = HERE / ".venv"
    python, stamp = str(environment / "bin" / "python"), environment / javascript.STAMP
    wanted = f"{PYTHON_1} for {sys.version} of {sys.base_prefix}"
    if not stamp.exists() or stamp.read_text() != wanted:
        venv.create(environment, clear=True)
        command = [sys.executable, "-m", "pip", "--python", python, "install", "-qq", "--no-compile"]
        subprocess.run([*command, "--disable-pip-version-check", PYTHON_1], check=True)
        stamp.write_text(wanted)
    return python


def _inspected(url: str, secret: str) -> object:
    """Return what the Inspector sees; it does one thing a run."""

    def ask(*what: str) -> Any:
        where = ["--cli", url, "--transport", "http", "--header", f"Authorization: Bearer {secret}"]
        return _printed([str(javascript.NODE), str(INSPECTOR), *where, "--method", *what])

    listed, called = ask("tools/list"), ask("tools/call", "--tool-name", "get_all_status")
    read = ask("resources/read", "--uri", "hubbub://agents")
    agents = json.loads(read["contents"][0]["text"])
    return {"tools": len(listed["tools"]), "ok": called["structuredContent"]["ok"], "agents": len(agents)}


def _printed(command: list[str]) -> Any:
    """The JSON that a program prints; what it complained of, if it does not."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return done.stdout + done.stderr


def _report(client: str, seen: object, expected: object) -> int:
    verdict = "connects" if seen == expected else f"FAILED: {seen}"
    sys.stdout.write(f"clients: {client} {verdict}\n")
    sys.stdout.flush()
    return 0 if seen == expected else 1


if __name__ == "__main__":
    sys.exit(main())
