"""DSSE: an envelope around a statement, signed with Ed25519, which other programs open without us."""

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from hubbub.model.work.signatures import IN_TOTO, keyid, signed_bytes
from hubbub.serve.rest.base.shapes import Model

if TYPE_CHECKING:  # it takes a while to import, and few hubs sign
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


class Signature(Model):
    keyid: str
    sig: str = Field(description="base64")


class Envelope(Model):
    """A signed statement, and the keys that signed it."""

    payload: str = Field(description="base64 of the statement as JSON")
    payloadType: str  # noqa: N815  # as DSSE has it
    signatures: list[Signature]


class PublicKey(Model):
    """A key that verifies signatures."""

    keyid: str = Field(description="as in-toto names the key: a hash of it")
    public_key: str = Field(description="PEM")


def new_key() -> str:
    """Make a private key, in base64."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return base64.b64encode(Ed25519PrivateKey.generate().private_bytes_raw()).decode()


def public_key(private: str) -> PublicKey:
    """Return the public part of a private key."""
    return known_key(_key(private).public_key().public_bytes_raw())


def known_key(public: bytes) -> PublicKey:
    """Return a public key in the form that verifiers take."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    key = Ed25519PublicKey.from_public_bytes(public)
    pem = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    return PublicKey(keyid=keyid(public), public_key=pem)


def sealed(private: str, payload: str, before: Sequence[Signature] = ()) -> Envelope:
    """Sign a statement, after the machines that have signed it `before`."""
    key = _key(private)
    name = keyid(key.public_key().public_bytes_raw())
    own = Signature(keyid=name, sig=base64.b64encode(key.sign(signed_bytes(payload))).decode())
    return Envelope(
        payload=base64.b64encode(payload.encode()).decode(), payloadType=IN_TOTO, signatures=[*before, own]
    )


def _key(private: str) -> "Ed25519PrivateKey":
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(base64.b64decode(private))
