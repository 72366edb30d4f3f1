"""Sending the same write twice: the second time gets the answer of the first, and nothing happens again."""

import json
from collections.abc import Mapping
from datetime import timedelta

from hubbub.model.errors import Conflict, Invalid
from hubbub.store import idempotency
from hubbub.store.tx import Operation, Tx

KEEP = timedelta(days=1)
KEY_LENGTH = 256

Reply = Mapping[str, object]


def once(
    key: str | None, digest: str, operation: Operation[Reply], *, told_once: str | None = None
) -> Operation[Reply]:
    """`operation`, done at most once for each `key` of one token.

    `digest` stands for what is asked: the same key with another digest is a `Conflict`. A refusal is not kept, so
    that the call may be tried again. `told_once` is the field of the reply that holds a secret: it is not kept
    either, so a repetition is a `Conflict`. Without a key the operation is returned as it is.
    """
    if key is None:
        return operation
    if not 0 < len(key) <= KEY_LENGTH:
        raise Invalid(f"an idempotency key has 1 to {KEY_LENGTH} characters")

    def keyed(tx: Tx) -> Reply:
        owner = str(tx.actor.token_id)
        claimed = idempotency.claim(tx, owner, key, digest)  # first, so that of two at once one waits
        if claimed["digest"] != digest:
            raise Conflict(f"the idempotency key {key!r} was used for another call")
        if claimed["reply"] and told_once is not None:
            raise Conflict(
                f"an earlier call with the same key has done this; its {told_once} is told only once"
            )
        if claimed["reply"]:
            known: Reply = json.loads(claimed["reply"])
            return known
        reply = operation(tx)
        kept = {name: value for name, value in reply.items() if name != told_once}
        idempotency.keep(tx, owner, key, json.dumps(kept, ensure_ascii=False))
        return reply

    return keyed
