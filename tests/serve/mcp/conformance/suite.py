"""The official conformance suite against a fresh hub: every scenario that needs no tool made for the suite.

A program of the suite runs all scenarios of a revision, as starting it takes longer than most of them. What needs its
own tools and prompts fails, which is not looked at: those named here have to pass.
"""

import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hubbub.serve.monitoring import logging_setup
from hubbub.settings import Settings
from tests.serve.mcp.conformance.open_hub import OpenHub
from tests.support import javascript
from tests.support.served_hub import serving

PROGRAM = javascript.MODULES / "@modelcontextprotocol/conformance/dist/index.js"
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
VERDICT = re.compile(
    r"^(?P<mark>[✓✗]) (?P<scenario>\S+): (?P<passed>\d+) passed, (?P<failed>\d+) failed$", re.MULTILINE
)


def main() -> int:
    """Run the suite for each revision, and print a line for each scenario; return 1 if one of ours failed."""
    if not javascript.is_fetched():
        sys.stdout.write("conformance: npm is not installed, so the official suite is not run\n")
        return 0
    logging_setup.configure(form="json", level="error")
    with tempfile.TemporaryDirectory() as folder:
        hub = OpenHub(Settings(data=Path(folder) / "data", port=0))

        def run(revision: str) -> str:
            where = ["--url", f"{hub.url}/mcp", "--output-dir", folder]
            which = ["--suite", "all", "--spec-version", revision]
            command = [str(javascript.NODE), str(PROGRAM), "server", *where, *which]
            return subprocess.run(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
            ).stdout

        with serving(hub), ThreadPoolExecutor() as pool:
            told = dict(zip(SCENARIOS, pool.map(run, SCENARIOS), strict=True))
    return max([_report(revision, said) for revision, said in told.items()])


def _report(revision: str, said: str) -> int:
    """Print the results of our scenarios, and all output of the suite if one failed, or proved nothing."""
    passed = {
        verdict["scenario"]
        for verdict in VERDICT.finditer(said)
        if verdict["mark"] == "✓" and int(verdict["passed"]) > 0
    }
    for scenario in SCENARIOS[revision]:
        mark = "passed" if scenario in passed else "FAILED"
        sys.stdout.write(f"conformance: {mark}  {revision}  {scenario}\n")
    failed = not passed.issuperset(SCENARIOS[revision])
    if failed:
        sys.stdout.write(said + "\n")
    sys.stdout.flush()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
