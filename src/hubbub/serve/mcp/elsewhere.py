"""Transport sessions that another hub began: their ids say so, and are of use to their token in their dialect alone.

A balancer may bring any request to any hub. What a session is good for is nearly all in the request itself: the token
says who calls, the revision is in a header. So a hub serves a session that it did not begin call by call, as those of
clients that never began one. An id opens nothing that its token does not, so it is no secret, only not to be mixed up.
"""

import hashlib
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from mcp.server import Server
from mcp.server.auth.middleware.bearer_auth import AuthorizationContext
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

HUB, CHECK = 8, 24  # characters of an id that name the hub, and that tell whose it is


@dataclass(frozen=True)
class Names:
    """The ids of the sessions of one dialect at one hub; one that is `alone` on its database knows of no other."""

    dialect: str
    alone: bool = False
    hub: str = field(default_factory=lambda: uuid4().hex[:HUB])

    def given(self, unique: str, owner: str) -> str:
        """The id of a session that begins here."""
        return self._named(f"{unique}{self.hub}", owner)

    def is_of_another_hub(self, name: str, owner: str) -> bool:
        """Whether another hub gave this id to the same owner, in the same dialect."""
        begun = name[:-CHECK]
        if self.alone:
            return False  # so a client hears, after a restart, that it has to begin anew and follow again
        return begun[-HUB:] != self.hub and len(begun) > HUB and name == self._named(begun, owner)

    def _named(self, begun: str, owner: str) -> str:
        whose = hashlib.sha256(f"{self.dialect} {owner} {begun}".encode()).hexdigest()
        return f"{begun}{whose[:CHECK]}"


class Sessions(StreamableHTTPSessionManager):
    """The SDK's sessions, with ids that other hubs understand."""

    def __init__(self, app: Server[Any], names: Names, **how: Any) -> None:
        super().__init__(app, **how)
        self._names = names

    def _admit_session(self, requestor: AuthorizationContext | None) -> StreamableHTTPServerTransport | None:
        """The SDK has no other place where it asks for an id."""
        admitted = super()._admit_session(requestor)
        if admitted is None or admitted.mcp_session_id is None or requestor is None:
            return admitted
        old, new = admitted.mcp_session_id, self._names.given(admitted.mcp_session_id, requestor["client_id"])
        admitted.mcp_session_id = new
        self._server_instances[new] = self._server_instances.pop(old)
        self._session_owners[new] = self._session_owners.pop(old)
        return admitted
