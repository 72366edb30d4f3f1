"""The check of a machine's signature, before it is stored."""

import base64

from hubbub.model.work.signatures import public_bytes, signed_bytes


def is_signed(public: str, payload: str, signature: str) -> bool:
    """Tell whether a signature in base64 on a statement is by that public key."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        given = base64.b64decode(signature, validate=True)
        Ed25519PublicKey.from_public_bytes(public_bytes(public)).verify(given, signed_bytes(payload))
    except (InvalidSignature, ValueError):
        return False
    return True
