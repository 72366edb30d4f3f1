"""Commands of a shell: asks the hub whether the project lets a command run without a lease.

The project's lease rules decide, such as that `docker compose up` runs under `hubbub with port:5432`.
"""

from __future__ import annotations

import os

from hubbub.clients.hook import event, http_request
from hubbub.clients.hook.event import DENY, Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub.clients.hook.event import Event
    from hubbub.clients.hook.hub_target import Target

OK = 200
LONGEST = 100_000  # characters of a command; the rest is not checked


def before(target: Target, told: Event, *, until: float) -> Reply | None:
    """Allow the command as it is, or deny it with a sentence that says how to run it. None: no rule applies."""
    if told.tool_kind != event.SHELL or not told.command:
        return None
    body: dict[str, object] = {
        "agent": target.agent,
        "command": told.command[:LONGEST],
        "within": os.environ.get("HUBBUB_LEASE_ID"),
    }
    status, answer = http_request.call(target, "POST", "/leases/judge", body, until=until)
    sentence = answer.get("sentence")
    return Reply(DENY, sentence) if status == OK and isinstance(sentence, str) else Reply()
