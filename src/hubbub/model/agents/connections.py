"""Connections: transport sessions of MCP, for clients of those protocol revisions that have them."""

from dataclasses import dataclass
from uuid import UUID

# Sent with the end of a connection by a client that has called beside it, as the bridge does, which costs the hub less.
SPOKE_HEADER = "x-hubbub-spoke"


@dataclass(frozen=True, slots=True)
class Connection:
    """One connection, served by any hub of the store."""

    id: str
    token_id: UUID | None
    dialect: str
    revision: str
    asks: bool  # whether the person at the client can be asked
