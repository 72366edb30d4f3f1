"""A PostgreSQL of our own, whose primary is killed for good."""

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from hubbub.prove.postgres import Cluster, NoPostgres, programs
from tests.support.tools import missing


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    try:
        programs()
    except NoPostgres as error:
        missing(str(error))
    with closing(Cluster()) as made:
        yield made


@pytest.mark.long
@pytest.mark.system
def test_what_a_primary_committed_is_at_the_one_that_takes_over(cluster: Cluster) -> None:
    """Killed with all its processes, the primary is followed by its standby: one address leads to both, by turns."""
    for fault in (cluster.primary_killed_and_failed_over, cluster.primary_killed_and_restarted):
        with psycopg.connect(cluster.url) as db:
            db.execute("CREATE TABLE IF NOT EXISTS kept AS SELECT 1 AS number")
            db.execute("INSERT INTO kept VALUES (2)")
        before = cluster.primary
        fault()
        with psycopg.connect(cluster.url) as db:
            assert db.execute("SELECT DISTINCT number FROM kept ORDER BY 1").fetchall() == [(1,), (2,)]
        assert (cluster.primary is before) == (fault == cluster.primary_killed_and_restarted)
