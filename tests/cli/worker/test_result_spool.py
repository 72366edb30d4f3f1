"""Results on disk until the hub has them."""

import stat
from pathlib import Path

from hubbub.worker.result_spool import ResultSpool, SpooledResult


def result(ref: str, text: str = "t") -> SpooledResult:
    return SpooledResult(ref=ref, epoch=2, sender="s", verb="complete", text=text, instance="i")


def test_what_is_kept_is_there_for_the_next(tmp_path: Path) -> None:
    """Output kept by one worker is found whole by another of the same agent, oldest first; dropped output is gone."""
    first, second = result("1", "你好\n"), result("2")
    spool = ResultSpool.of(tmp_path, "hub", "project", "ada")
    spool.keep(first)
    spool.keep(second)
    again = ResultSpool.of(tmp_path, "hub", "project", "ada")
    assert again.kept() == [first, second]
    again.drop(first)
    assert spool.kept() == [second]


def test_what_the_disk_does_not_take_is_held(tmp_path: Path) -> None:
    """A result that cannot be on disk is handed in all the same by the worker that has it, and by no other."""
    spool = ResultSpool(tmp_path)
    spool.keep(result("1"))
    spool.hold(result("2"))
    assert spool.kept() == [result("1"), result("2")]
    assert ResultSpool(tmp_path).kept() == [result("1")]
    spool.drop(result("2"))
    assert spool.kept() == [result("1")]


def test_agents_do_not_share(tmp_path: Path) -> None:
    """Each agent of each project of each hub has a spool of its own, which only its user may read."""
    places = [
        ("h1", "p", "ada"),
        ("h1", "p", "bob"),
        ("h1", "q", "ada"),
        ("h2", "p", "ada"),
        ("h1", "p", "../ada"),
    ]
    folders = {ResultSpool.of(tmp_path, *place).folder for place in places}
    assert len(folders) == len(places)
    assert {folder.parent for folder in folders} == {tmp_path / "work"}
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in folders} == {0o700}


def test_counts_how_often_a_broadcast_was_begun(tmp_path: Path) -> None:
    """A broadcast that is begun again after a crash is known to be, until its result is handed in."""
    spool = ResultSpool(tmp_path)
    assert [spool.begin("b"), spool.begin("b"), spool.begin("c")] == [1, 2, 1]
    spool.drop(SpooledResult(ref="b", epoch=None, sender="s", verb="complete", text="t", instance="i"))
    assert spool.begin("b") == 1
