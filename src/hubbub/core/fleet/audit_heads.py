"""How far the audit logs of the machines had got, minute by minute: what cannot be taken back where the log is.

A log that was cut short or written anew does not hold what is known here of it. Several programs on one machine write
one log and tell of it in turns, so that what comes in may be a little behind; what is further behind, or says something
else of a line, is broken.
"""

import re
from datetime import timedelta

from hubbub.model.errors import Conflict, Invalid
from hubbub.model.fleet.nodes import AuditHead, beside, said_of
from hubbub.model.records import Project
from hubbub.model.timestamps import milliseconds
from hubbub.store.fleet import audit_heads as rows
from hubbub.store.tx import Tx

DAY = timedelta(days=1)
LATE = timedelta(minutes=3)  # what is told each minute may cross on the way
KEEP = timedelta(days=400)
LAST = 2**53
FASTEST = (
    1_000_000  # lines at most by which a log is ahead of what was known of it, and as many for each day since
)
LONGEST = 1_000_000_000  # lines of a log of which nothing was known
MOST_NAMES = 20  # machines of which the programs beside one agent tell in a project
MOST_A_DAY = 10_000  # heads that they tell of one of these
_HASH = re.compile(r"[0-9a-f]{64}")


def keep(tx: Tx, project: Project, node: str, seq: int, digest: str) -> bool:
    """Keep that line `seq`, the last of the machine's log just now, has this hash; False if that cannot be true.

    Then the log was changed: records `audit.broken`, once for each such head, with what was known. Raises `Invalid`.
    """
    if not node.strip() or not 0 < seq <= LAST or not _HASH.fullmatch(digest):
        raise Invalid("a head is a machine's name, the number of a line, and a hash of 64 hex digits")
    _require_possible(tx, rows.farthest(tx, project.id, node, before=tx.now + 1), seq)
    known = [head.hash for head in rows.at(tx, project.id, node, seq) if not head.is_broken]
    if digest in known:
        return True
    before = rows.farthest(tx, project.id, node, before=tx.now - milliseconds(LATE))
    farthest = before.seq if before is not None else 0
    is_broken = bool(known) or seq < farthest
    head = AuditHead(
        project_id=project.id, node=node, seq=seq, hash=digest, is_broken=is_broken, kept_at=tx.now
    )
    if rows.insert(tx, head) and is_broken:
        tx.record(
            "audit.broken",
            project_id=project.id,
            detail={"node": node, "seq": seq, "hash": digest, "known": known, "known_seq": farthest},
        )
    return not is_broken


def keep_beside(tx: Tx, project: Project, who: str, name: str, *, seq: int, digest: str) -> bool:
    """As `keep`, for what a program beside `who` tells of the machine that it is on, which it calls so.

    It is kept apart from what others tell of that name. Raises `Conflict` for more than a program has to tell.
    """
    node = beside(who, name)
    if rows.is_any_before(tx, project.id, node, since=tx.now - milliseconds(DAY), number=MOST_A_DAY):
        raise Conflict(
            f"programs beside {who!r} have told {MOST_A_DAY:,} heads of {name!r} in a day; tell fewer"
        )
    if rows.farthest(tx, project.id, node, before=tx.now + 1) is None:
        own = [each for each in rows.names(tx, project.id) if said_of(who, each) is not None]
        if node not in own and len(own) >= MOST_NAMES:
            raise Conflict(
                f"programs beside {who!r} tell of {MOST_NAMES} machines already; name one of these"
            )
    return keep(tx, project, node, seq, digest)


def heads(tx: Tx, project: Project, *, node: str | None = None, limit: int) -> list[AuditHead]:
    """What is known of the logs of the project's machines: of each, the farthest first.

    Of one, `limit` of what it told itself, and as many of what programs beside each agent told of it.
    """
    if node is None:
        return rows.of_project(tx, project.id, node=None, limit=limit)
    told = [each for each in rows.names(tx, project.id) if each == node or each.endswith(beside("", node))]
    return [head for each in told for head in rows.of_project(tx, project.id, node=each, limit=limit)]


def _require_possible(tx: Tx, known: AuditHead | None, seq: int) -> None:
    """Raise `Invalid` for a log that is farther than any can be by now: it would make all true heads false."""
    if known is None:
        if seq > LONGEST:
            raise Invalid(f"seq: no log has more than {LONGEST:,} lines when it is first told of")
        return
    days = (tx.now - known.kept_at) // milliseconds(DAY)
    if seq > known.seq + FASTEST * (1 + days):
        raise Invalid(
            f"seq: no log grows by more than {FASTEST:,} lines between two heads, and each day between them; "
            f"it was at {known.seq:,}"
        )


def forget(tx: Tx) -> None:
    """Drop what was kept so long ago that the log itself is of little use."""
    rows.forget(tx, tx.now - milliseconds(KEEP))
