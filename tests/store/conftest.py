"""A database of its own for whoever bends one; all other tests share one, which is empty again after each."""

from collections.abc import Iterator

import pytest

from tests.conftest import postgres_copy


@pytest.fixture
def own_database(postgres_server: str, postgres_template: str) -> Iterator[str]:
    """The URL of a database that is migrated and empty, and nobody else's."""
    with postgres_copy(postgres_server, postgres_template) as url:
        yield url
