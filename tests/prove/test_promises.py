"""`hubbub prove`: its promises are those of the page, and its verdict is what the checks say."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from hubbub.cli.server import prove
from hubbub.prove import promises
from hubbub.prove.histories import Run, Shape
from hubbub.prove.promises import CHECKS, PROMISES, Found, Outcome, Plan, judged

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"


def test_the_promises_are_those_of_the_page() -> None:
    """Each promise that the page makes is checked by something that runs, and each check is on the page."""
    text = PAGE.read_text("utf-8")
    table = text[: text.index("\n## ")]
    assert re.findall(r"^\| ([A-Z][^|]+) \|", table, re.MULTILINE) == [*PROMISES]
    assert {check for checks in PROMISES.values() for check in checks} == {*CHECKS}
    assert not [check for check in CHECKS if f"`{check}`" not in text]


def test_one_check_that_fails_breaks_the_promise() -> None:
    """A promise holds if all that looked say so, is broken if one does not, and is open if nobody looked."""
    looked = [
        Outcome("histories", "held", 1, ""),
        Outcome("simulator", "broken", 1, ""),
        Outcome("power cuts", "not looked at", 1, ""),
    ]
    verdicts = judged(looked)
    assert verdicts["An answered call is stored, once"] == "broken"
    assert verdicts["A machine runs no order twice, and its decisions are in its audit log"] == "held"
    assert verdicts["An answered call survives a power cut (SQLite)"] == "not looked at"


@pytest.mark.parametrize(("findings", "code"), [((), 0), (("lost: x",), 1)])
def test_a_finding_is_told_with_its_seed_and_an_exit_code(
    findings: tuple[str, ...], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`hubbub prove` prints and keeps the verdict, the evidence and the seed; a broken promise is exit code 1."""

    def check(_plan: Plan, seconds: float) -> Found:
        assert seconds == 60
        return "broken" if findings else "held", "9 calls", findings

    monkeypatch.setattr(promises, "CHECKS", {"histories": (5, check)})
    words = ["--minutes", "1", "--seed", "7", "--only", "histories", "--keep", str(tmp_path / "kept")]

    done = CliRunner().invoke(prove.prove, words)

    assert done.exit_code == code
    assert done.output.startswith("seed 7; ")
    assert all(each in done.output for each in findings)
    kept = json.loads((tmp_path / "kept" / "verdict.json").read_text())
    (told,) = kept["checks"]
    assert (kept["seed"], told["evidence"][:7], told["findings"]) == (7, "9 calls", [*findings])
    assert kept["promises"]["A message waits until it is acknowledged"] == ("broken" if code else "held")


def test_the_pace_of_a_history_is_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--pause` says how long nothing goes wrong on average, and `--kills` with how many kills a history ends."""
    shapes: list[Shape] = []

    def played(folder: Path, shape: Shape, *_others: object) -> Run:
        shapes.append(shape)
        folder.mkdir()
        for name in ("history.jsonl.gz", "verdict.json"):
            (folder / name).touch()
        return Run()

    monkeypatch.setattr(promises, "play", played)
    words = ["--only", "histories", "--keep", str(tmp_path / "kept")]

    for more in ([], ["--pause", "0.3", "--kills", "1000"]):
        assert CliRunner().invoke(prove.prove, [*words, *more]).exit_code == 0

    assert [(each.calm, each.kills) for each in shapes] == [(Shape.of(14).calm, None), (0.3, 1000)]


def test_what_needs_a_checkout_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed hubbub looks at what it can, and says of the rest where that is run."""
    monkeypatch.setattr(promises, "checkout", lambda: None)
    (looked,) = Plan(60, 1, tmp_path / "kept", ["simulator"]).outcomes()
    assert (looked.verdict, looked.evidence) == (
        "not looked at",
        "is run from a checkout of hubbub, by: make prove",
    )
