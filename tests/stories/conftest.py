"""What stories need: a hub that may be killed, or one whose clock can be moved, and an end to waiting."""

from tests.cli.conftest import limit, own_hub
from tests.dialects.conftest import hub, portal, postgres_hub, quiet, sqlite_hub

__all__ = ["hub", "limit", "own_hub", "portal", "postgres_hub", "quiet", "sqlite_hub"]
