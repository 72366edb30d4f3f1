"""A connection: a transport session of MCP, of clients of the revisions that have them."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Connection:
    """One connection, which any hub of the store serves."""

    id: str
    token_id: UUID | None
    dialect: str
    revision: str
    asks: bool  # whether whoever sits at the client can be asked
