"""Answer links: addresses by which a person answers one question from a telephone, without signing in.

Each is signed with the secret of the webhook that brought it, for one question as it was shown. Nothing is stored:
a question is answered once, and a removed webhook has no secret any more.
"""

import hashlib
import hmac
import re
from uuid import UUID

from hubbub.model.log.webhooks import Webhook

PATH = "/answer"
VERBS = {"yes": True, "no": False}
_SIGNED = 32  # characters of the signature, each of which an attacker would have to guess
_TOKEN = re.compile(
    rf"(?P<webhook>[0-9a-f]{{32}})(?P<question>[0-9a-f]{{32}})(?P<signed>[0-9a-f]{{{_SIGNED}}})"
)


def token(webhook: Webhook, approval_id: UUID, digest: str) -> str:
    """Return the signed part of the link to one question."""
    return f"{webhook.id.hex}{approval_id.hex}{_signature(webhook, approval_id, digest)}"


def ids_of(given: str) -> tuple[UUID, UUID] | None:
    """Return the webhook and the question of a link, which is not verified yet; None if it is no link."""
    found = _TOKEN.fullmatch(given)
    return (UUID(found["webhook"]), UUID(found["question"])) if found else None


def is_genuine(given: str, webhook: Webhook, approval_id: UUID, digest: str) -> bool:
    """Tell whether the link was signed for that question."""
    return bool(webhook.secret) and hmac.compare_digest(given, token(webhook, approval_id, digest))


def _signature(webhook: Webhook, approval_id: UUID, digest: str) -> str:
    signed = f"answer.{approval_id.hex}.{digest}".encode()
    return hmac.new(webhook.secret.encode(), signed, hashlib.sha256).hexdigest()[:_SIGNED]
