"""The key of a machine that signs what it saw."""

import base64
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from hubbub.model.work.signatures import keyid
from hubbub.node.audit.witness import FOLDER, KEY, KEYID, PUBLIC, open_witness


def public_of(data: Path) -> str:
    """The public key of the private one that is stored there."""
    private = Ed25519PrivateKey.from_private_bytes(base64.b64decode((data / FOLDER / KEY).read_bytes()))
    return base64.b64encode(private.public_key().public_bytes_raw()).decode()


def test_key_is_made_once(tmp_path: Path) -> None:
    """A machine makes its key at its first start, keeps it, and tells hooks its name."""
    first, again = open_witness(tmp_path), open_witness(tmp_path)
    assert first.public == again.public == public_of(tmp_path)
    assert (tmp_path / FOLDER / KEYID).read_text() == first.keyid
    assert first.keyid == keyid(base64.b64decode(first.public))
    Ed25519PublicKey.from_public_bytes(base64.b64decode(first.public))


def test_files_are_for_its_user_alone(tmp_path: Path) -> None:
    """Only the machine's user may read the key, and what is derived from it."""
    open_witness(tmp_path)
    for name in (KEY, PUBLIC):
        assert (tmp_path / FOLDER / name).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("left", [None, "", "nonsense", "a b", "a b c", "ü"])
def test_public_key_that_is_not_of_the_key(tmp_path: Path, left: str | None) -> None:
    """A public key that is missing, damaged, or of another private key is derived anew, and so is its name."""
    open_witness(tmp_path)
    other = base64.b64encode(Ed25519PrivateKey.generate().private_bytes_raw())
    (tmp_path / FOLDER / KEY).write_bytes(other)
    if left is not None:
        (tmp_path / FOLDER / PUBLIC).write_text(left, "utf-8")
    witness = open_witness(tmp_path)
    assert witness.public == public_of(tmp_path)
    assert (tmp_path / FOLDER / KEYID).read_text() == witness.keyid
    assert open_witness(tmp_path).public == witness.public


def test_later_starts_load_no_cryptography(tmp_path: Path) -> None:
    """A machine that has its key loads the library that signs only when there is something to sign."""
    open_witness(tmp_path)
    code = (
        "import sys\nfrom pathlib import Path\nfrom hubbub.node.audit.witness import open_witness\n"
        f"open_witness(Path({str(tmp_path)!r}))\nprint('cryptography' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
