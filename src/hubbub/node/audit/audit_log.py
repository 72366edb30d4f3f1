"""The audit log: a machine's requests and decisions, in a chain of lines, so that no line can be changed unseen.

The end of the chain is stored beside the log under a key, and at the hub, so that a log that was cut short, or
rewritten from its beginning, shows too. Several processes may write one log. It only grows; nothing rotates it.

A line is on the disk when the call returns. The rest of a line that a power cut left unfinished does not count: the
next writer cuts it off.
"""

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import StrEnum, auto
from errno import ENOSPC
from itertools import islice
from pathlib import Path
from typing import IO

from hubbub.node.audit import hash_chain
from hubbub.node.audit.hash_chain import NOTHING, ChainFault, ChainHead
from hubbub.node.audit.sealed_head import SealedHead
from hubbub.processes import durable_files, file_locks

FILE = "audit.jsonl"
TAIL = 128 * 1024  # bytes at the end of a log: longer than any line
LONGEST = 2_000  # characters of a text in it
PRIVATE = 0o600
RECENT = 1024 * 1024  # bytes at the end of a log that are searched for a caller's last lines
MILLISECOND = 1_000_000  # nanoseconds


class AuditFailed(Exception):
    """The log cannot be written, so nothing may be done."""


class AuditVerdict(StrEnum):
    """The gate's decision on a call, with the answer if a person was asked."""

    ALLOW = auto()
    DENY = auto()
    ASK_ALLOWED = auto()
    ASK_DENIED = auto()
    ASK_TIMEOUT = auto()


class AuditLog:
    """One log, open for writing."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def decided(
        self,
        *,
        decision: AuditVerdict,
        tool: str,
        target: str,
        source: str,
        rule_id: str,
        reason: str,
        digest: str,
        sandbox: str,
        who: str,
    ) -> int:
        """Write a decision before the act; return the number of the line. Raises `AuditFailed`.

        `digest` is that of the call, as in the question to a person; `who` the project and the name in it, with a slash
        between. The texts have to be free of secrets.
        """
        return self._append(
            {
                "decision": str(decision),
                "tool": tool[:LONGEST],
                "target": target[:LONGEST],
                "source": source,
                "rule_id": rule_id,
                "reason": reason[:LONGEST],
                "digest": digest,
                "sandbox": sandbox,
                "who": who[:LONGEST],
            }
        )

    def ended(self, seq: int, *, result: str, who: str) -> int:
        """Write the result of the call that line `seq` allowed: `ok`, or the code of the refusal."""
        return self._append({"of": seq, "result": result, "who": who[:LONGEST]})

    def head(self) -> ChainHead:
        """Return the present end of the log, by any writer; number 0 for an empty one. Raises `AuditFailed`."""
        with _locked(self._file) as log:
            return _end(log, SealedHead(self._file))

    def recent(self, project: str, most: int) -> list[dict[str, object]]:
        """Return the last decisions on calls from a project, the newest first. Raises `AuditFailed`."""
        with _locked(self._file) as log:
            lines = reversed(_tail(log, RECENT).decode("utf-8", "replace").split("\n"))
        found = (_facts(line) for line in lines)
        decisions = (each for each in found if "decision" in each)
        of_project = (each for each in decisions if str(each.get("who")).startswith(f"{project}/"))
        return list(islice(of_project, most))

    def _append(self, facts: Mapping[str, object]) -> int:
        with _locked(self._file) as log:
            seal = SealedHead(self._file)
            last = _end(log, seal)
            _mend(log, last)
            text, digest = hash_chain.line(last.seq + 1, facts, last.digest, time.time_ns() // MILLISECOND)
            unended = b"" if _tail(log, 1) in (b"", b"\n") else b"\n"
            _add(log, unended + text.encode() + b"\n")
            seal.keep(ChainHead(last.seq + 1, digest))
            return last.seq + 1


def _add(log: IO[bytes], line: bytes) -> None:
    """Add a line durably; if that fails, take it back, as its act will not be done. Raises `OSError`."""
    size = log.seek(0, os.SEEK_END)
    try:
        if log.write(line) != len(line):
            raise OSError(ENOSPC, os.strerror(ENOSPC))
        os.fsync(log.fileno())
    except OSError:
        with suppress(OSError):
            log.truncate(size)
        raise


def verify(file: Path, heads: Iterable[tuple[str, ChainHead]] = ()) -> list[ChainFault]:
    """List the faults of a log, compared with its own seal and with the `heads` that others know; empty if it is sound.

    Each head comes with words for its holder.

    Raises `OSError` if it cannot be read.
    """
    known = [*heads]
    seal = SealedHead(file)
    if not file.exists():
        lines, sealed, broken = [], seal.head(), seal.fault(is_empty=True)
    else:
        with file.open("rb") as log:
            file_locks.wait(log.fileno(), shared=True)
            text = log.read().decode("utf-8", "replace").removesuffix("\n")
            sealed = seal.head()
            lines = _finished(text.split("\n") if text else [], sealed)
            broken = seal.fault(is_empty=not lines)
    if sealed is not None:
        known.append(("its seal", sealed))
    return [*hash_chain.faults(lines, known), *([broken] if broken else [])]


def _finished(lines: list[str], sealed: ChainHead | None) -> list[str]:
    """Return the lines without an unfinished last one, which the seal does not know and nobody acted upon."""
    count = next((number for number in range(len(lines), 0, -1) if hash_chain.link(lines[number - 1])), 0)
    found = hash_chain.link(lines[count - 1]) if count else None
    return lines[:count] if found and sealed and found.seq >= sealed.seq else lines


def _end(log: IO[bytes], seal: SealedHead) -> ChainHead:
    """Return the last line of a log: the sealed one, unless the log went on without its seal.

    A log that was cut short goes on from its seal, so that the gap stays visible.
    """
    sealed = seal.head() or NOTHING
    tail = _tail(log, len(sealed.digest) + len(hash_chain.END) + 1)
    if tail == f"{sealed.digest}{hash_chain.END}\n".encode():
        return sealed
    lines = _tail(log, TAIL).decode("utf-8", "replace").removesuffix("\n").split("\n")
    found = next(filter(None, map(hash_chain.link, reversed(lines))), None)
    return ChainHead(found.seq, found.digest) if found is not None and found.seq > sealed.seq else sealed


def _mend(log: IO[bytes], last: ChainHead) -> None:
    """Cut off text after the last line, if it is the rest of a line that was never confirmed."""
    end = f"{last.digest}{hash_chain.END}\n".encode() if last != NOTHING else b""
    if end and _tail(log, len(end)) == end:
        return  # nothing follows it, as nearly always
    tail = _tail(log, TAIL)
    _before, found, rest = tail.rpartition(end) if end else (b"", b"", tail)
    is_all = not end and len(tail) < TAIL
    if (
        rest
        and (found or is_all)
        and not any(map(hash_chain.link, rest.decode("utf-8", "replace").split("\n")))
    ):
        log.truncate(log.seek(0, os.SEEK_END) - len(rest))


def _tail(log: IO[bytes], most: int) -> bytes:
    """Return the last bytes of a log, so many at most."""
    size = log.seek(0, os.SEEK_END)
    log.seek(max(0, size - most))
    return log.read(most)


def _facts(line: str) -> dict[str, object]:
    try:
        facts = json.loads(line)
    except ValueError:
        return {}
    return facts if isinstance(facts, dict) else {}


@contextmanager
def _locked(file: Path) -> Iterator[IO[bytes]]:
    """Open the log under a lock against other writers, made if it is missing. Raises `AuditFailed`."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        durable_files.make_folder(file.parent, 0o700)
        is_new = not file.exists()
        with os.fdopen(os.open(file, flags, PRIVATE), "a+b", buffering=0) as log:
            if is_new:
                durable_files.sync(file.parent)
            file_locks.wait(log.fileno())
            yield log
    except OSError as error:
        reason = (error.strerror or "no reason given").lower()
        raise AuditFailed(f"the audit log cannot be written: {reason}; so nothing is done") from error
