"""The text that an approver signs, for a machine that does not trust its hub with approvals.

It holds all that the person was shown, for one machine and one question. If a hub shows other words than the machine
sent, or brings the answer elsewhere, the signature does not match.
"""

import json

from hubbub.model.visible_text import SHOWN_LENGTH, cut, visible

SCHEME = "ed25519:"  # before the base64 of a public key


def statement(
    *,
    machine_id: str,
    approval_id: str,
    digest: str,
    who: str,
    node: str,
    tool: str,
    folder: str,
    shown: str,
) -> bytes:
    """Return the bytes to sign: the texts as people see them."""
    said = {
        "purpose": "hubbub approval 1",
        "machine_id": machine_id,
        "approval_id": approval_id,
        "digest": digest,
        "who": visible(who),
        "node": visible(node),
        "tool": visible(tool),
        "folder": visible(folder),
        "shown": cut(visible(shown), SHOWN_LENGTH),
    }
    return json.dumps(said, sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode()
