"""Usage limits of the model's maker, as a client reports them: passed to the hub, which pauses the account.

The sentence is parsed here and not at the hub, as a time of day in it may be that of this machine. The parser takes a
while to import; a turn that a limit has ended has time.
"""

from __future__ import annotations

import os
from pathlib import Path

from hubbub.clients import signed_in
from hubbub.clients.hook import http_request
from hubbub.model.limits.usage_limits import LimitKind, UsageLimit, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub.clients.hook.event import Event
    from hubbub.clients.hook.hub_target import Target

OK = 200
PROGRAMS = {"claude-code": "claude"}  # clients that report a limit, and their programs


def tell(target: Target, told: Event, *, until: float) -> None:
    """Report the limit to the hub, by the hub's own clock. Raises `OSError`."""
    program = PROGRAMS[told.client]
    if not told.is_certain and _read(told, program, now=0) is None:
        return
    status, answer = http_request.call(target, "GET", "/limits", query={"agent": target.agent}, until=until)
    now = answer.get("now")
    if status != OK or not isinstance(now, int):
        return
    limit = _read(told, program, now) or UsageLimit(LimitKind.WINDOW, None)  # an unknown sentence
    body = {
        "agent": target.agent,
        "kind": limit.kind,
        "until": limit.until,
        "account": signed_in.account(program, Path.home(), os.environ),
    }
    http_request.call(target, "POST", "/limits", body, until=until)


def _read(told: Event, program: str, now: int) -> UsageLimit | None:
    return read(told.notice or "", now=now, program=program)
