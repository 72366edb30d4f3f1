"""Pointers to unread mail, at the moments when a client calls its hooks anyway.

The hub decides whether there is a pointer, and words it itself: a sender's words never come this way.
"""

from __future__ import annotations

import re

from hubbub.clients.hook import event, http_request
from hubbub.clients.hook.event import Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeGuard

    from hubbub.clients.hook.event import Event
    from hubbub.clients.hook.hub_target import Target

OK = 200
# The text of `hubbub/model/mail/wakes.py`; repeated here because a hook imports nothing else.
POINTER = re.compile(
    r"hubbub: [0-9]{1,9} unread \([MT]-[0-9]{1,18}(, [MT]-[0-9]{1,18}){0,9}(, and [0-9]{1,9} more)?\)\. "
    r"Read your hubbub inbox\."
)
_CALLED = {event.START: "start", event.PROMPT: "prompt", event.AFTER: "tool", event.TURN: "turn"}


def glance(target: Target, told: Event, *, until: float) -> Reply:
    """Return the pointer that the agent should read now; none if a hook has made it go on already."""
    moment = _CALLED.get(told.moment)
    if moment is None or told.continued:
        return Reply()
    body = {"instance": told.instance, "client": told.client, "moment": moment}
    status, answer = http_request.call(target, "POST", f"/agents/{target.agent}/glance", body, until=until)
    text = answer.get("text")
    if status != OK or not is_pointer(text):
        return Reply()
    return Reply(text=text, goes_on=told.moment == event.TURN)


def is_pointer(text: object) -> TypeGuard[str]:
    """Tell whether a text is a hub's pointer. Some clients take it for their user's words: nothing else may pass."""
    return isinstance(text, str) and POINTER.fullmatch(text) is not None
