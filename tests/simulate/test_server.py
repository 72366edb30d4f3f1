"""The same stories on PostgreSQL."""

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
    """A share of the seeds is played on PostgreSQL, where the same promises hold."""
    failures = [play(story_of(seed, 40), server) for seed in range(3)]
    assert [each for each in failures if each is not None] == []
