"""SQL for orders on their way to machines."""

import json
from datetime import timedelta
from typing import cast
from uuid import UUID

from hubbub.model.fleet.calls import NodeCall, Principal, RefusalCode, ToolResult
from hubbub.model.fleet.dispatches import ENDED, STEPS, Dispatch, DispatchStatus, DispatchStep
from hubbub.model.fleet.link_protocol import result_json, result_of
from hubbub.model.timestamps import milliseconds
from hubbub.store.tx import Row, Tx

_COLUMNS = """id, project_id, (SELECT slug FROM projects WHERE projects.id = dispatches.project_id) AS project, machine,
    node, token_id, who, is_person, tool, arguments, chain, digest, status, outcome, code, created_at, ended_at,
    patience, attempt"""
_NOTHING = "{}"


def _dispatch(row: Row) -> Dispatch:
    who = Principal(
        project=row["project"],
        name=row["who"],
        token_id=str(row["token_id"]) if row["token_id"] else None,
        is_person=bool(row["is_person"]),
    )
    order = NodeCall(
        who=who,
        tool=row["tool"],
        arguments=json.loads(row["arguments"]),
        chain=tuple(json.loads(row["chain"])),
        patience=timedelta(milliseconds=row["patience"]) if row["patience"] is not None else None,
    )
    return Dispatch(
        id=row["id"],
        project_id=row["project_id"],
        machine=row["machine"],
        node=row["node"],
        order=order,
        digest=row["digest"],
        status=DispatchStatus(row["status"]),
        outcome=result_of(json.loads(row["outcome"])) if row["outcome"] else None,
        code=RefusalCode(row["code"]) if row["code"] else None,
        created_at=row["created_at"],
        ended_at=row["ended_at"],
        attempt=row["attempt"],
    )


def claim(tx: Tx, dispatch: Dispatch, *, token_id: UUID | None, key: str | None) -> Dispatch:
    """Store a dispatch, unless the token has one by that key: then return that one.

    A claim of a key that another transaction is just using waits for its commit.
    """
    row = tx.one(
        f"""INSERT INTO dispatches (id, project_id, machine, node, token_id, who, is_person, tool, arguments, chain,
                                    key, digest, status, created_at, patience, attempt)
            VALUES (:id, :project_id, :machine, :node, :token_id, :who, :is_person, :tool, :arguments, :chain, :key,
                    :digest, :status, :created_at, :patience, :attempt)
            ON CONFLICT (token_id, key) WHERE key IS NOT NULL DO UPDATE SET key = excluded.key
            RETURNING {_COLUMNS}""",
        id=dispatch.id,
        project_id=dispatch.project_id,
        machine=dispatch.machine,
        node=dispatch.node,
        token_id=token_id,
        who=dispatch.order.who.name,
        is_person=int(dispatch.order.who.is_person),
        tool=dispatch.order.tool,
        arguments=json.dumps(dispatch.order.arguments),
        chain=json.dumps(dispatch.order.chain),
        key=key,
        digest=dispatch.digest,
        status=dispatch.status,
        created_at=dispatch.created_at,
        patience=milliseconds(patience) if (patience := dispatch.order.patience) is not None else None,
        attempt=dispatch.attempt,
    )
    return _dispatch(cast(Row, row))  # an upsert always returns a row


def count(tx: Tx, dispatch_id: UUID, attempt: int) -> None:
    """Note that this attempt is one of the calls with the dispatch's key."""
    tx.run(
        "UPDATE dispatches SET attempt = :attempt WHERE id = :id AND COALESCE(attempt, 0) < :attempt",
        id=dispatch_id,
        attempt=attempt,
    )


def free_key(tx: Tx, dispatch_id: UUID) -> None:
    """Let the client of a dispatch make the same call anew."""
    tx.run("UPDATE dispatches SET key = NULL WHERE id = :id", id=dispatch_id)


def find(tx: Tx, dispatch_id: UUID) -> Dispatch | None:
    row = tx.one(f"SELECT {_COLUMNS} FROM dispatches WHERE id = :id", id=dispatch_id)
    return _dispatch(row) if row else None


def open_of(tx: Tx, machine: UUID) -> list[Dispatch]:
    """List the machine's open orders, oldest first."""
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM dispatches WHERE machine = :machine AND ended_at IS NULL ORDER BY id",
        machine=machine,
    )
    return [_dispatch(row) for row in rows]


def of_machine(tx: Tx, machine: UUID, limit: int) -> list[Dispatch]:
    """List the machine's recent orders, newest first."""
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM dispatches WHERE machine = :machine ORDER BY id DESC LIMIT :limit",
        machine=machine,
        limit=limit,
    )
    return [_dispatch(row) for row in rows]


def left_over(tx: Tx, step: DispatchStep, *, before: int, limit: int) -> list[Dispatch]:
    """List the open dispatches made before `before` that allow `step`, oldest first."""
    rows = tx.all(
        f"""SELECT {_COLUMNS} FROM dispatches
            WHERE ended_at IS NULL AND created_at < :before AND status IN ({_among(STEPS[step][0])})
            ORDER BY created_at LIMIT :limit""",
        before=before,
        limit=limit,
    )
    return [_dispatch(row) for row in rows]


def move(
    tx: Tx,
    dispatch_id: UUID,
    step: DispatchStep,
    *,
    outcome: ToolResult | None = None,
    code: RefusalCode | None = None,
    frees_key: bool = False,
) -> Dispatch | None:
    """Apply `step` if the status allows it now, else return None.

    An ended dispatch loses its arguments; `frees_key` lets its client make the same call anew, unless it counts its
    attempts: then only a later one may.
    """
    allowed_from, to = STEPS[step]
    kept = {} if to not in ENDED else {"arguments": _NOTHING, "ended_at": tx.now, "code": code}
    if outcome is not None:
        kept["outcome"] = json.dumps(result_json(outcome))
    freed = ", key = CASE WHEN attempt IS NULL THEN NULL ELSE key END" if frees_key else ""
    row = tx.one(
        f"""UPDATE dispatches SET {", ".join(f"{name} = :{name}" for name in ("status", *kept))}{freed}
            WHERE id = :id AND status IN ({_among(allowed_from)})
            RETURNING {_COLUMNS}""",
        id=dispatch_id,
        status=to,
        **kept,
    )
    return _dispatch(row) if row else None


def _among(statuses: frozenset[DispatchStatus]) -> str:
    return ", ".join(f"'{status}'" for status in sorted(statuses))


def forget(tx: Tx, before: int) -> None:
    """Drop dispatches that ended before `before`."""
    tx.run("DELETE FROM dispatches WHERE ended_at < :before", before=before)


def forget_outcomes(tx: Tx, before: int) -> None:
    """Delete the outcomes of those that ended before `before` without a key, which nobody can ask for."""
    tx.run(
        "UPDATE dispatches SET outcome = NULL WHERE ended_at < :before AND key IS NULL AND outcome IS NOT NULL",
        before=before,
    )
