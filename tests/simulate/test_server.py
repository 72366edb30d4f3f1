"""The same stories on PostgreSQL."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing

import pytest

from simulate.play import play, story_of
from simulate.server import Server


@pytest.fixture
def server(postgres_url: str) -> Iterator[Server]:
    with closing(Server(postgres_url)) as opened:
        yield opened


@pytest.mark.system
def test_promises_hold_on_a_server(server: Server) -> None:
    """The same promises hold on PostgreSQL."""
    failures = [play(story_of(seed, 40), server) for seed in range(3)]
    assert [each for each in failures if each is not None] == []


@pytest.mark.system
def test_new_seeds_hold_on_a_server(postgres_url: str) -> None:
    """A share of the new seeds is played on PostgreSQL, others each time; the command tells how many held."""
    words = ("--postgres", postgres_url, "--seconds", "15")
    done = subprocess.run(
        [sys.executable, "-m", "simulate.run", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "every promise held" in done.stdout
    assert "\n0 seeds" not in done.stdout
