"""A clock for bounds that a busy machine stretches."""

import os
import time

import pytest

from hubbub.processes.fair_time import FairTime, slowness


def test_time_counts_by_how_many_want_a_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stretch counts in full on an idle machine, and by its share of the processors on a busy one."""
    clock, load = [0.0], [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(os, "getloadavg", lambda: (load[0], 0.0, 0.0))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    fair_time = FairTime()
    clock[0] = 10.0
    assert fair_time.passed() == 10.0
    load[0], clock[0] = 40.0, 110.0
    assert fair_time.passed() == 15.0
    load[0], clock[0] = 1.0, 120.0
    assert fair_time.passed() == 25.0


def test_a_system_that_tells_no_load_is_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system tells nothing of its load, time is what it is."""
    monkeypatch.delattr(os, "getloadavg")
    assert slowness() == 1.0
