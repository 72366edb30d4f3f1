"""DSSE: an envelope around a statement, signed with Ed25519, which other programs open without us."""

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

if TYPE_CHECKING:  # it takes a while to import, and few hubs sign
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

IN_TOTO = "application/vnd.in-toto+json"
ED25519 = "ed25519"


class Signature(BaseModel):
    keyid: str
    sig: str = Field(description="base64")


class Envelope(BaseModel):
    """A signed statement, and the keys that signed it."""

    payload: str = Field(description="base64 of the statement as JSON")
    payloadType: str  # noqa: N815  # as DSSE has it
    signatures: list[Signature]


class PublicKey(BaseModel):
    """The key that verifies the hub's signatures."""

    keyid: str = Field(description="as in-toto names the key: a hash of it")
    public_key: str = Field(description="PEM")


def new_key() -> str:
    """Make a private key, in base64."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return base64.b64encode(Ed25519PrivateKey.generate().private_bytes_raw()).decode()


def public_key(private: str) -> PublicKey:
    """Return the public part of a private key."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    public = _key(private).public_key()
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    return PublicKey(keyid=_keyid(public.public_bytes_raw()), public_key=pem)


def sealed(private: str, statement: Mapping[str, object]) -> Envelope:
    """Sign a statement."""
    key, payload = _key(private), json.dumps(statement, ensure_ascii=False).encode()
    kind = IN_TOTO.encode()
    signature = key.sign(b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload))
    keyid = _keyid(key.public_key().public_bytes_raw())
    return Envelope(
        payload=base64.b64encode(payload).decode(),
        payloadType=IN_TOTO,
        signatures=[Signature(keyid=keyid, sig=base64.b64encode(signature).decode())],
    )


def _key(private: str) -> "Ed25519PrivateKey":
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(base64.b64decode(private))


def _keyid(public: bytes) -> str:
    """Return a key's id as in-toto's library computes it, so that its verifier finds the key by itself."""
    described = {"keytype": ED25519, "keyval": {"public": public.hex()}, "scheme": ED25519}
    return hashlib.sha256(json.dumps(described, separators=(",", ":"), sort_keys=True).encode()).hexdigest()
