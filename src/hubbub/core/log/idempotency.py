"""Idempotency: a repeated write gets the answer of the first, and does nothing again.

A caller may count its attempts at a call. Once the hub has told that nothing of an order was done, an attempt up to
that number is told the same, however late it comes, and only a later one begins anew.

A key belongs to its token; if several agents share a token, and nothing else in the call tells them apart, it
belongs to the agent as well: `speaker`.
"""

import json
from collections.abc import Callable, Mapping
from datetime import timedelta

from hubbub.model.errors import Conflict, Invalid
from hubbub.model.fleet.calls import ToolResult
from hubbub.store.log import idempotency
from hubbub.store.tx import Operation, Tx

KEEP = timedelta(days=1)
KEY_LENGTH = 256
FIRST_ATTEMPT = 1  # also of a call without a number
LAST_ATTEMPT = 2**53 - 1  # what a number in JSON holds
_BEGUN = "null"  # stored in the place of the answer until there is one

Reply = Mapping[str, object]


def once(
    key: str | None,
    digest: str,
    operation: Operation[Reply],
    *,
    told_once: str | None = None,
    speaker: Callable[[Tx], str | None] = lambda _tx: None,
) -> Operation[Reply]:
    """Wrap `operation` so that it is done at most once for each `key` of one token, and of one `speaker`.

    `digest` identifies the request: the same key with another digest is a `Conflict`. A refusal is not kept, so that
    the call may be tried again. `told_once` is the field of the reply that holds a secret: it is not kept either, so a
    repetition is a `Conflict`. Without a key the operation is returned as it is.
    """
    if key is None:
        return operation
    require_key(key)

    def keyed(tx: Tx) -> Reply:
        owner = _owner(tx, speaker(tx))
        claimed = idempotency.claim(tx, owner, key, digest)  # first: one of two racing calls waits
        if claimed["digest"] != digest:
            raise Conflict(f"the idempotency key {key!r} was used for another call")
        if claimed["reply"]:
            return _known(claimed["reply"], told_once)
        reply = operation(tx)
        kept = {name: None if name == told_once else value for name, value in reply.items()}
        idempotency.keep(tx, owner, key, json.dumps(kept, ensure_ascii=False))
        return reply

    return keyed


def _known(kept: str, told_once: str | None) -> Reply:
    known: Reply = json.loads(kept)
    if told_once in known:
        raise Conflict(f"an earlier call with the same key has done this; its {told_once} is told only once")
    return known


def begin(
    tx: Tx, key: str, digest: str, speaker: str | None = None, *, attempt: int | None = None
) -> ToolResult | None:
    """Return the outcome of the earlier call with the key; None makes this the first, until it is ended or refused.

    For calls that are not done in one transaction. Raises `Conflict` if the earlier one was another call, or has not
    ended: it may be under way, or its process is gone, and nobody knows how far it came.
    """
    require_key(key)
    owner = _owner(tx, speaker)
    claimed = idempotency.claim(tx, owner, key, digest)
    if claimed["digest"] != digest:
        raise Conflict(f"the idempotency key {key!r} was used for another call")
    if claimed["reply"] == _BEGUN:
        raise Conflict(f"an earlier call with the key {key!r} was begun, and it is not known how it ended")
    is_anew = claimed["refused"] is not None and (attempt or FIRST_ATTEMPT) > claimed["refused"]
    if claimed["reply"] and not is_anew:
        known = json.loads(claimed["reply"])
        texts = tuple(known["texts"]) if known.get("texts") is not None else None
        return ToolResult(known["content"], is_error=known["is_error"], texts=texts)
    idempotency.keep(tx, owner, key, _BEGUN)
    return None


def end(tx: Tx, key: str, outcome: ToolResult, speaker: str | None = None) -> None:
    """Store the outcome of a call that was begun."""
    idempotency.keep(tx, _owner(tx, speaker), key, _encoded(outcome))


def refuse(
    tx: Tx, key: str, outcome: ToolResult, speaker: str | None = None, *, attempt: int | None = None
) -> None:
    """End a call of which nothing was done, so that it may be tried again; after an attempt, by a later one."""
    if attempt is None:
        give_back(tx, key, speaker)
        return
    idempotency.keep(tx, _owner(tx, speaker), key, _encoded(outcome), refused=attempt)


def give_back(tx: Tx, key: str, speaker: str | None = None) -> None:
    """End a call without an outcome: whoever makes it again begins it."""
    idempotency.keep(tx, _owner(tx, speaker), key, "")


def _encoded(outcome: ToolResult) -> str:
    told = {"content": outcome.content, "is_error": outcome.is_error, "texts": outcome.shown}
    return json.dumps(told, ensure_ascii=False)


def _owner(tx: Tx, speaker: str | None) -> str:
    """Return the owner of a key."""
    return str(tx.actor.token_id) if speaker is None else f"{tx.actor.token_id} {speaker}"


def require_key(key: str) -> None:
    """Raise `Invalid` for a text that cannot be a key."""
    if not 0 < len(key) <= KEY_LENGTH:
        raise Invalid(f"an idempotency key has 1 to {KEY_LENGTH} characters")


def require_attempt(number: object) -> int:
    """Return the number of an attempt. Raises `Invalid`."""
    if type(number) is not int or not FIRST_ATTEMPT <= number <= LAST_ATTEMPT:
        raise Invalid(f"the number of an attempt is a whole number from {FIRST_ATTEMPT} to {LAST_ATTEMPT}")
    return number
