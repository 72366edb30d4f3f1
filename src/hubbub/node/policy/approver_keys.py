"""Approvers of a machine that does not trust its hub with approvals: people whose keys its policy names.

A person keeps the key, and signs the text that they were shown; the hub only carries the signature.
"""

import base64
from pathlib import Path
from typing import TYPE_CHECKING

from hubbub.model.errors import Invalid
from hubbub.model.fleet.approval_signatures import SCHEME, statement
from hubbub.model.fleet.calls import Answered, Question
from hubbub.processes import durable_files

if TYPE_CHECKING:  # it takes a while to import, and few machines need it
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KEY_FILE = "approver.key"  # in the configuration folder
PUBLIC_LENGTH = 32  # bytes
UNSIGNED = "the yes is not signed with a key that this machine's policy names"


def public_key(written: str) -> bytes:
    """Parse the key in a policy. Raises `Invalid`."""
    try:
        found = base64.b64decode(written.removeprefix(SCHEME), validate=True)
    except ValueError:
        found = b""
    if not written.startswith(SCHEME) or len(found) != PUBLIC_LENGTH:
        raise Invalid(f"approvers: a key is {SCHEME!r} and the base64 of its {PUBLIC_LENGTH} bytes")
    return found


def is_signed(approvers: tuple[bytes, ...], machine_id: str, question: Question, answered: Answered) -> bool:
    """Tell whether one of the approvers has signed this very question; always True if none are named."""
    if not approvers:
        return True
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        signature = base64.b64decode(answered.signature or "", validate=True)
    except ValueError:
        return False
    said = statement(
        machine_id=machine_id,
        approval_id=answered.approval_id,
        digest=question.digest,
        who=question.who.name,
        node=question.node,
        tool=question.tool,
        folder=question.folder,
        shown=question.shown,
    )
    for each in approvers:
        try:
            Ed25519PublicKey.from_public_bytes(each).verify(signature, said)
        except InvalidSignature:
            continue
        return True
    return False


def make_key(file: Path) -> str:
    """Write a new private key; return its public part, for a policy. Raises `FileExistsError`."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    made = Ed25519PrivateKey.generate()
    durable_files.make_folder(file.parent, 0o700)
    durable_files.write_new(file, base64.b64encode(made.private_bytes_raw()) + b"\n")
    return _written(made.public_key().public_bytes_raw())


def sign(file: Path, said: bytes) -> str:
    """Sign a statement with the key in the file. Raises `Invalid` if there is none in it, and `OSError`."""
    return base64.b64encode(_private(file).sign(said)).decode()


def public_part(file: Path) -> str:
    """Return the public part of the key in the file, for a policy. Raises like `sign`."""
    return _written(_private(file).public_key().public_bytes_raw())


def _private(file: Path) -> "Ed25519PrivateKey":
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    try:
        return Ed25519PrivateKey.from_private_bytes(
            base64.b64decode(file.read_bytes().strip(), validate=True)
        )
    except ValueError:
        raise Invalid(f"{file.name} holds no key; hubbub node approver makes one") from None


def _written(public: bytes) -> str:
    return SCHEME + base64.b64encode(public).decode()
