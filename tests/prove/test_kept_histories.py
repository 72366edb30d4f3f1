"""The histories of long runs, which the repository keeps: anybody can judge them again."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from hubbub.prove import check_history

DOCS = Path(__file__).parents[2] / "docs"
KEPT = DOCS / "histories"


@pytest.mark.parametrize(
    "name",
    [*(pytest.param(each, marks=pytest.mark.system) for each in ("sqlite", "postgres")), "postgres-earlier"],
)
def test_a_kept_history_has_the_verdict_that_is_kept_with_it(name: str) -> None:
    """The checker, run by itself on a kept history, finds what its verdict says; the page tells the same figures."""
    verdict = json.loads((KEPT / f"history-{name}.verdict.json").read_text("utf-8"))
    judged = subprocess.run(
        [sys.executable, "-I", "-S", check_history.__file__, KEPT / f"history-{name}.jsonl.gz"],
        capture_output=True,
        text=True,
        check=False,
    )

    last = judged.stdout.splitlines()[-1]
    assert last.startswith(f"{verdict['calls']} calls (")
    assert last.endswith(f": {len(verdict['findings'])} findings")
    page = (DOCS / "reliability.md").read_text("utf-8")
    told = (
        f"| {verdict['agents']} | {verdict['calls']:,} | {verdict['kills']:,} | {len(verdict['findings'])} |"
    )
    assert told in page
