"""Heads of the machines' audit logs, minute by minute, stored where a machine cannot take them back.

A log that was cut short or rewritten contradicts the heads known here. Several programs on one machine write one log
and report it in turn, so a report may be a little behind; a log that is further behind, or has another hash for a
line, is broken.
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
LATE = timedelta(minutes=3)  # reports, one a minute, may overtake each other
KEEP = timedelta(days=400)
LAST = 2**53
FASTEST = 1_000_000  # lines that a log may be ahead of its known end, and as many for each day since
LONGEST = 1_000_000_000  # lines of a log that was unknown so far
MOST_NAMES = 20  # machines that the programs beside one agent report in a project
MOST_A_DAY = 10_000  # heads that they report of one machine
_HASH = re.compile(r"[0-9a-f]{64}")


def keep(tx: Tx, project: Project, node: str, seq: int, digest: str) -> bool:
    """Store the head of a machine's log: line `seq` is its last, with this hash; False if that cannot be true.

    In that case the log was changed: records `audit.broken`, once for each such head, with the known one. Raises
    `Invalid`.
    """
    if not node.strip() or not 0 < seq <= LAST or not _HASH.fullmatch(digest):
        raise Invalid("a head needs a machine's name, a line number and a hash of 64 hex digits")
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
    """Store a head like `keep`, reported by a program beside `who` about its machine, which it calls `name`.

    It is stored apart from other reports on that name. Raises `Conflict` for more reports than a program needs.
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
    """List the known heads of the project's machines, the latest line of each first.

    For one machine, up to `limit` of its own, and as many of the programs beside each agent.
    """
    if node is None:
        return rows.of_project(tx, project.id, node=None, limit=limit)
    told = [each for each in rows.names(tx, project.id) if each == node or each.endswith(beside("", node))]
    return [head for each in told for head in rows.of_project(tx, project.id, node=each, limit=limit)]


def _require_possible(tx: Tx, known: AuditHead | None, seq: int) -> None:
    """Raise `Invalid` for a log that is impossibly long by now: it would make all true heads look false."""
    if known is None:
        if seq > LONGEST:
            raise Invalid(f"seq: a log has at most {LONGEST:,} lines when it is first told of")
        return
    days = (tx.now - known.kept_at) // milliseconds(DAY)
    if seq > known.seq + FASTEST * (1 + days):
        raise Invalid(
            f"seq: a log grows by at most {FASTEST:,} lines between two heads, and each day between them; "
            f"it was at {known.seq:,}"
        )


def forget(tx: Tx) -> None:
    """Drop heads so old that the log itself is of little use."""
    rows.forget(tx, tx.now - milliseconds(KEEP))
