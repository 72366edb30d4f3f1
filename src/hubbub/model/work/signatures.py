"""Signatures on statements: the bytes that DSSE signs, the names of keys, and the machines that sign."""

import base64
import hashlib
import json
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from hubbub.model.errors import Invalid

IN_TOTO = "application/vnd.in-toto+json"
ED25519 = "ed25519"
PUBLIC_LENGTH = 32  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineKey:
    """A public key by which a machine signs what it saw; `until` if it has another by now, or has left."""

    machine: UUID
    keyid: str
    project_id: UUID
    name: str  # of the machine
    public: str  # base64
    is_own: bool  # of a machine on which a hub runs, which serves all projects
    since: int
    until: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineSignature:
    """A machine's answer to the request for its signature on the statement of a task; no `answered_at`: none yet."""

    task_id: UUID
    machine: UUID
    name: str
    keyid: str
    signature: str | None = None  # base64
    refusal: str | None = None
    answered_at: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A machine's answer to a statement: its signature in base64, or why it does not sign."""

    signature: str | None = None
    refusal: str | None = None


class Witness(Protocol):
    """A machine that signs statements about what it saw."""

    @property
    def public(self) -> str:
        """Return its public key, in base64."""

    def answer(self, payload: str) -> Answer:
        """Compare a statement with what the machine saw, and sign it if it agrees."""


def signed_bytes(payload: str) -> bytes:
    """Return the bytes that are signed: DSSE's encoding of the payload and its kind."""
    kind, text = IN_TOTO.encode(), payload.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(text), text)


def public_bytes(written: str) -> bytes:
    """Decode a public key. Raises `Invalid`."""
    try:
        found = base64.b64decode(written, validate=True)
    except ValueError:
        found = b""
    if len(found) != PUBLIC_LENGTH:
        raise Invalid(f"signing_key: must be the base64 of {PUBLIC_LENGTH} bytes")
    return found


def keyid(public: bytes) -> str:
    """Return a key's id as in-toto's library computes it, so that its verifier finds the key by itself."""
    described = {"keytype": ED25519, "keyval": {"public": public.hex()}, "scheme": ED25519}
    return hashlib.sha256(json.dumps(described, separators=(",", ":"), sort_keys=True).encode()).hexdigest()
