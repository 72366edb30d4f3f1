"""Storage of scopes: comparisons on which both engines must agree."""

import psycopg

COLLATION = """
    SELECT collation_name FROM information_schema.columns
    WHERE table_name = 'scope_entries' AND column_name = 'place'"""


def test_places_are_compared_byte_by_byte(postgres_url: str) -> None:
    """A folder's content is one range of places, in whatever language a PostgreSQL database sorts."""
    with psycopg.connect(postgres_url) as db:
        assert db.execute(COLLATION).fetchall() == [("C",)]
