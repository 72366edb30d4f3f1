"""The official conformance suite against a fresh hub: every scenario that needs no tool made for the suite."""

import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hubbub.serve import log
from hubbub.settings import Settings
from tests import javascript
from tests.conformance.open_hub import OpenHub
from tests.serving import serving

HERE = Path(__file__).parent
PROGRAM = HERE / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
SCENARIOS = {
    "2025-11-25": (
        "server-initialize",
        "server-session-lifecycle",
        "ping",
        "tools-list",
        "resources-list",
        "resources-subscribe",
        "resources-unsubscribe",
        "prompts-list",
        "dns-rebinding-protection",
        "server-sse-multiple-streams",
        "server-sse-polling",
    ),
    "2026-07-28": (
        "dns-rebinding-protection",
        "http-header-validation",
        "caching",
        "tools-list",
        "resources-list",
        "prompts-list",
        "sep-2164-resource-not-found",
        "server-sse-multiple-streams",
        "input-required-result-ignore-extra-params",
        "input-required-result-missing-input-response",
        "input-required-result-unsupported-methods",
        "input-required-result-validate-input",
    ),
}
AT_ONCE = 2


def main() -> int:
    """Run all scenarios and print a line for each; 1 if one of them failed."""
    runtime = javascript.fetched(HERE)
    if runtime is None:
        sys.stdout.write("conformance: npm is not installed, so the official suite is not run\n")
        return 0
    todo = [(revision, scenario) for revision, scenarios in SCENARIOS.items() for scenario in scenarios]
    log.configure(form="json", level="error")
    with tempfile.TemporaryDirectory() as folder:
        hub = OpenHub(Settings(data=Path(folder) / "data", port=0))

        def run(what: tuple[str, str]) -> subprocess.CompletedProcess[str]:
            revision, scenario = what
            where = ["--url", f"{hub.url}/mcp", "--output-dir", folder]
            command = [
                str(runtime),
                str(PROGRAM),
                "server",
                *where,
                "--scenario",
                scenario,
                "--spec-version",
                revision,
            ]
            return subprocess.run(command, capture_output=True, text=True, check=False)

        with serving(hub), ThreadPoolExecutor(AT_ONCE) as pool:
            return max([_report(*each) for each in zip(todo, pool.map(run, todo), strict=True)])


def _report(what: tuple[str, str], done: subprocess.CompletedProcess[str]) -> int:
    passed = done.returncode == 0
    lines = [f"conformance: {'passed' if passed else 'FAILED'}  {'  '.join(what)}"]
    if not passed:
        lines += [done.stdout, done.stderr]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
