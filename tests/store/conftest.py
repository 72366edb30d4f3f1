"""The store's own tests bend a database: they get one each."""

from collections.abc import Iterator

import pytest

from tests.conftest import postgres_copy


@pytest.fixture
def postgres_url(postgres_server: str, postgres_template: str) -> Iterator[str]:
    """The URL of a database of its own, migrated and empty."""
    with postgres_copy(postgres_server, postgres_template) as url:
        yield url
