"""Cost of a hook for a client: the whole process from start to end, as an edit waits for it.

The hub runs in this process, so that what it takes is counted as well. Each form is called in turn, and each number is
of `CALLS` calls. CPU is that of the hook's processes alone. Run with `python -m bench.hook`.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median, quantiles

from hubbub.clients.install.hook_command import program
from tests.clients.hook.hook_workbench import Workbench, repository
from tests.serve.served_hub import running_hub

CALLS = 60
AIM = 80  # milliseconds


def main() -> None:
    """Print how long hooks take, and what they cost."""
    with tempfile.TemporaryDirectory() as folder, running_hub(Path(folder) / "hub", log_level="error") as hub:
        bench = Workbench(hub, Path(folder))
        shop = repository(Path(folder) / "shop")
        environment = bench.environment("ada")
        away = {**environment, "HUBBUB_URL": "http://127.0.0.1:1"}
        script = [str(Path(sys.executable).parent / "hubbub-hook")]
        bare = [sys.executable, "-I", "-S", "-c", "pass"]
        print(f"{'':44} p50 ms  p95 ms  CPU ms   (aim: {AIM} ms)")
        for name, command, around, told in (
            ("python -I -S, which does nothing", bare, environment, b""),
            ("before an edit", [*program(), "claude-code", "PreToolUse"], environment, _edit(shop)),
            (
                "before an edit, by the console script",
                [*script, "claude-code", "PreToolUse"],
                environment,
                _edit(shop),
            ),
            ("before an edit, the hub is away", [*program(), "claude-code", "PreToolUse"], away, _edit(shop)),
            ("after an edit", [*program(), "claude-code", "PostToolUse"], environment, _edit(shop)),
            ("after another tool", [*program(), "claude-code", "PostToolUse"], environment, _shell(shop)),
        ):
            if Path(command[0]).exists():
                _measure(name, command, around, told)


def _edit(shop: Path) -> bytes:
    given = {"tool_name": "Edit", "tool_input": {"file_path": str(shop / "a.txt")}}
    return json.dumps({"session_id": "run-1", "cwd": str(shop), **given}).encode()


def _shell(shop: Path) -> bytes:
    given = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    return json.dumps({"session_id": "run-1", "cwd": str(shop), **given}).encode()


def _measure(name: str, command: list[str], environment: Mapping[str, str], told: bytes) -> None:
    times = []
    before = _spent()
    for _ in range(CALLS):
        began = time.perf_counter()
        subprocess.run(
            command, input=told, env={**os.environ, **environment}, check=True, capture_output=True
        )
        times.append((time.perf_counter() - began) * 1000)
    spent = (_spent() - before) / CALLS * 1000
    print(f"{name:44} {median(times):6.0f}  {quantiles(times, n=20)[-1]:6.0f}  {spent:6.0f}")


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
