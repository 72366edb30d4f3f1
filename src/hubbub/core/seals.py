"""How far the audit logs of the machines had got, minute by minute: what cannot be taken back where the log is.

A log that was cut short or written anew does not hold what is known here of it. Several programs on one machine write
one log and tell of it in turns, so that what comes in may be a little behind; what is further behind, or says something
else of a line, is broken.
"""

import re
from datetime import timedelta

from hubbub.model.errors import Invalid
from hubbub.model.machines import Head
from hubbub.model.moments import milliseconds
from hubbub.model.records import Project
from hubbub.store import seals as rows
from hubbub.store.tx import Tx

LATE = timedelta(minutes=3)  # what is told each minute may cross on the way
KEEP = timedelta(days=400)
LAST = 2**53
FASTEST = 1_000_000  # lines at most by which a log is ahead of what was known of it
_HASH = re.compile(r"[0-9a-f]{64}")


def keep(tx: Tx, project: Project, node: str, seq: int, digest: str) -> bool:
    """Keep that line `seq`, the last of the machine's log just now, has this hash; False if that cannot be true.

    Then the log was changed: records `audit.broken`, once for each such head, with what was known. Raises `Invalid`.
    """
    if not node.strip() or not 0 < seq <= LAST or not _HASH.fullmatch(digest):
        raise Invalid("a head is a machine's name, the number of a line, and a hash of 64 hex digits")
    reached = rows.farthest(tx, project.id, node, before=tx.now + 1)
    if seq > reached + FASTEST:
        raise Invalid(
            f"seq: no log grows by more than {FASTEST} lines between two heads; it was at {reached}"
        )
    known = [head.hash for head in rows.at(tx, project.id, node, seq) if not head.is_broken]
    if digest in known:
        return True
    farthest = rows.farthest(tx, project.id, node, before=tx.now - milliseconds(LATE))
    is_broken = bool(known) or seq < farthest
    head = Head(project_id=project.id, node=node, seq=seq, hash=digest, is_broken=is_broken, kept_at=tx.now)
    if rows.insert(tx, head) and is_broken:
        tx.record(
            "audit.broken",
            project_id=project.id,
            detail={"node": node, "seq": seq, "hash": digest, "known": known, "known_seq": farthest},
        )
    return not is_broken


def heads(tx: Tx, project: Project, *, node: str | None = None, limit: int) -> list[Head]:
    """What is known of the logs of the project's machines, or of one: of each, the farthest first."""
    return rows.of_project(tx, project.id, node=node, limit=limit)


def forget(tx: Tx) -> None:
    """Drop what was kept so long ago that the log itself is of little use."""
    rows.forget(tx, tx.now - milliseconds(KEEP))
