"""The load of this machine."""

import os
from pathlib import Path

import pytest

from hubbub.node.system import load

KIB = 1024


def test_it_is_what_the_system_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that could be had without taking it from somebody is not used."""
    told = tmp_path / "meminfo"
    told.write_text(
        "MemTotal:    8000 kB\nMemFree:    1000 kB\nMemAvailable:    6000 kB\nHugePages_Total:    0\n"
    )
    monkeypatch.setattr(load, "MEMORY", told)
    monkeypatch.setattr(os, "getloadavg", lambda: (1.234, 9.0, 9.0))

    found = load.measure()

    assert found is not None
    assert (found.load1, found.cpus) == (1.23, os.cpu_count())
    assert (found.memory_used, found.memory_total) == (2000 * KIB, 8000 * KIB)


@pytest.mark.parametrize(
    "told", [None, "", "MemTotal: 8000 kB\n", "MemTotal: many kB\nMemAvailable: 1 kB\n", "\xff"]
)
def test_what_the_system_does_not_tell_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str | None
) -> None:
    """Other systems tell of memory in other ways: then only the processors are known."""
    if told is not None:
        (tmp_path / "meminfo").write_text(told, encoding="latin-1")
    monkeypatch.setattr(load, "MEMORY", tmp_path / "meminfo")

    found = load.measure()

    assert found is not None
    assert (found.memory_used, found.memory_total) == (None, None)


def test_some_systems_tell_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no load at all, a machine does not make one up."""

    def refuse() -> tuple[float, float, float]:
        raise OSError

    monkeypatch.setattr(os, "getloadavg", refuse)
    assert load.measure() is None
    monkeypatch.delattr(os, "getloadavg")
    assert load.measure() is None
