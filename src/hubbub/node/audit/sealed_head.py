"""The seal of an audit log: its end, stored beside it under a key, so that a cut shows at once, even without the hub.

A reader of the key can make another seal; that one is exposed by the heads that the hub keeps.
"""

import hashlib
import hmac
import json
import os
import secrets
from pathlib import Path

from hubbub.node.audit.hash_chain import ChainFault, ChainHead, FaultKind
from hubbub.processes import durable_files

KEY_BYTES = 32
LENGTH = 250  # of a seal, which is shorter


class SealedHead:
    """The seal of one log. Use it while the log is locked."""

    def __init__(self, log: Path) -> None:
        self._head, self._key = log.with_suffix(".head"), log.with_suffix(".key")

    def keep(self, head: ChainHead) -> None:
        """Store the end of the log. Raises `OSError`."""
        facts = {"seq": head.seq, "hash": head.digest, "mac": self._mac(head, self._made_key())}
        text = json.dumps(facts, separators=(",", ":")).ljust(LENGTH) + "\n"
        try:
            descriptor = os.open(self._head, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            durable_files.write(self._head, text)
            return
        try:
            # In place and of fixed length: within one sector of a disk, which is written whole or not at all.
            os.pwrite(descriptor, text.encode(), 0)
        finally:
            os.close(descriptor)

    def head(self) -> ChainHead | None:
        """Return the stored end of the log; None if there is none, or it was changed. Raises `OSError`."""
        try:
            facts = json.loads(self._head.read_text("utf-8"))
            head, mac = ChainHead(int(facts["seq"]), str(facts["hash"])), str(facts["mac"])
            key = bytes.fromhex(self._key.read_text("ascii"))
        except (FileNotFoundError, ValueError, TypeError, KeyError):
            return None
        return head if hmac.compare_digest(mac, self._mac(head, key)) else None

    def fault(self, *, is_empty: bool) -> ChainFault | None:
        """Return the fault of the seal itself; an empty log needs none. Raises `OSError`."""
        if self.head() is not None or (is_empty and not self._head.exists()):
            return None
        said = "was changed" if self._head.exists() else "is missing"
        sentence = f"{self._head.name} {said}, so that lines may be missing at the log's end"
        return ChainFault(FaultKind.TRUNCATED, None, sentence)

    def _made_key(self) -> bytes:
        """Return the key, made when it is first needed."""
        try:
            return bytes.fromhex(self._key.read_text("ascii"))
        except (FileNotFoundError, ValueError):
            key = secrets.token_bytes(KEY_BYTES)
        durable_files.write(self._key, key.hex())
        return key

    def _mac(self, head: ChainHead, key: bytes) -> str:
        return hmac.new(key, f"{head.seq} {head.digest}".encode(), hashlib.sha256).hexdigest()
