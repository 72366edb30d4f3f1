"""SQL for agents, their presences, and the machines they describe."""

import json
import random
from collections.abc import Sequence
from dataclasses import fields
from typing import NamedTuple
from uuid import UUID

from hubbub.model.agents.agent_names import JOINERS
from hubbub.model.records import Agent, Condition, Presence, Profile, ReportedNode
from hubbub.store.table import Table
from hubbub.store.tx import Row, Tx

_PROFILE = tuple(field.name for field in fields(Profile))
_AGENTS, _NODES, _TABLE = Table("agents", Agent), Table("nodes", ReportedNode), Table("presences", Presence)
_READ = (
    *_TABLE.columns,
    "claimed",
)  # held files are shown with the declared ones
_COLUMNS = ", ".join(f"p.{name}" for name in _READ)
_INSERT = _TABLE.inserting(["stamp"])
_STAMPS = 2**42  # number of possible stamps; the engines can hold the sum of a million of them


class Version(NamedTuple):
    """The number of presences, and the sum of their stamps."""

    number: int
    stamps: int


def stamp() -> int:
    """Return a random number; every change of a presence's row has to set a new one (`version`)."""
    return random.randrange(_STAMPS)  # noqa: S311  # nothing secret


def _presence(row: Row) -> Presence:
    values = _TABLE.values(row)
    if row["claimed"] is not None:
        values["files"] = tuple(dict.fromkeys((*(values["files"] or ()), *json.loads(row["claimed"]))))
    return Presence(**{**values, "voices": values["voices"] or {}})


def meet(tx: Tx, project_id: UUID, name: str) -> bool:
    """Make the name known to the project; True if it was unknown."""
    return tx.any(
        """INSERT INTO agents (project_id, name, created_at) VALUES (:project_id, :name, :now)
           ON CONFLICT (project_id, name) DO NOTHING RETURNING name""",
        project_id=project_id,
        name=name,
        now=tx.now,
    )


def look_alike(tx: Tx, project_id: UUID, name: str) -> str | None:
    """Return the name of an agent that differs from this one by joiners alone; None if there is none."""
    first, second, third = JOINERS
    found: str | None = tx.value(
        """SELECT name FROM agents
           WHERE project_id = :project_id AND name <> :name
             AND replace(replace(replace(name, :first, ''), :second, ''), :third, '') = :bare
           ORDER BY name LIMIT 1""",
        project_id=project_id,
        name=name,
        bare="".join(each for each in name if each not in JOINERS),
        first=first,
        second=second,
        third=third,
    )
    return found


def forget(tx: Tx, project_id: UUID, name: str) -> None:
    """Forget the name in the project; its presences stay in the past."""
    for table, column in (("agents", "name"), ("evidence", "agent"), ("todo_lists", "agent")):
        tx.run(
            f"DELETE FROM {table} WHERE project_id = :project_id AND {column} = :name",
            project_id=project_id,
            name=name,
        )


def describe(tx: Tx, project_id: UUID, name: str, description: str | None) -> None:
    """Store what the agent is for."""
    tx.run(
        "UPDATE agents SET description = :description WHERE project_id = :project_id AND name = :name",
        project_id=project_id,
        name=name,
        description=description,
    )


def find(tx: Tx, project_id: UUID, name: str) -> Agent | None:
    return _AGENTS.find(tx, project_id=project_id, name=name)


def hostname(tx: Tx, project_id: UUID, name: str) -> tuple[bool, str | None]:
    """Return whether the project knows an agent of that name, and where it is, or was last, if it says so."""
    row = tx.one(
        """SELECT p.hostname FROM agents a LEFT JOIN presences p ON p.id = a.presence_id
           WHERE a.project_id = :project_id AND a.name = :name""",
        project_id=project_id,
        name=name,
    )
    return row is not None, row["hostname"] if row is not None else None


def of_project(tx: Tx, project_id: UUID) -> list[Agent]:
    return _AGENTS.all(tx, "WHERE project_id = :id ORDER BY name", id=project_id)


def lock_names(tx: Tx, project_id: UUID, *names: str | None) -> None:
    """Lock these agents' state until this transaction ends. A transaction that locks names does so first.

    On PostgreSQL the names come before the presence, the tasks and the project: so writers queue up, and never
    deadlock. Unknown names, and None, are ignored.
    """
    if not tx.db.for_update:
        return
    for name in sorted({each for each in names if each is not None}):
        if (project_id, name) not in tx.locked:
            found = tx.one(
                f"SELECT name FROM agents WHERE project_id = :project_id AND name = :name {tx.db.for_update}",
                project_id=project_id,
                name=name,
            )
            tx.locked.update({(project_id, name)} if found else ())


def presence(tx: Tx, project_id: UUID, name: str, *, lock: bool = False) -> Presence | None:
    """Return the agent's present presence, or else its last one; `lock` it against other writers.

    The name is locked first, so this also holds when there is no presence yet, or it is about to be replaced.
    """
    if lock:
        lock_names(tx, project_id, name)
    row = tx.one(
        f"""SELECT {_COLUMNS} FROM agents a JOIN presences p ON p.id = a.presence_id
            WHERE a.project_id = :project_id AND a.name = :name {tx.db.for_update if lock else ""}""",
        project_id=project_id,
        name=name,
    )
    return _presence(row) if row else None


def projects_with(tx: Tx, name: str, instance: str) -> list[UUID]:
    """List the projects whose agent of that name has, or last had, a presence of that instance."""
    return tx.column(
        """SELECT a.project_id FROM agents a JOIN presences p ON p.id = a.presence_id
           WHERE a.name = :name AND p.instance = :instance""",
        name=name,
        instance=instance,
    )


def presence_by_secret(tx: Tx, secret: str, *, lock: bool = False) -> Presence | None:
    """Return the presence opened with this hash; `lock` it against other writers, its agent's name first."""
    if lock:
        tx.run(
            f"""SELECT name FROM agents WHERE (project_id, name) IN (
                    SELECT project_id, agent FROM presences WHERE secret = :secret) {tx.db.for_update}""",
            secret=secret,
        )
    row = tx.one(
        f"SELECT {_COLUMNS} FROM presences p WHERE p.secret = :secret {tx.db.for_update if lock else ''}",
        secret=secret,
    )
    return _presence(row) if row else None


def opened_by(tx: Tx, project_id: UUID, token_id: UUID, *, lock: bool = False) -> list[Presence]:
    """List the present presences that this token opened, each with a secret; `lock` them."""
    rows = tx.all(
        f"""SELECT {_COLUMNS} FROM agents a JOIN presences p ON p.id = a.presence_id
            WHERE a.project_id = :project_id AND p.token_id = :token_id AND p.secret IS NOT NULL
              AND p.ended_at IS NULL AND p.expires_at > :now
            ORDER BY p.id {tx.db.for_update if lock else ""}""",
        project_id=project_id,
        token_id=token_id,
        now=tx.now,
    )
    return [_presence(row) for row in rows]


def history(
    tx: Tx, project_id: UUID, *, end_reasons: Sequence[str | None] = (), limit: int, offset: int = 0
) -> tuple[list[Presence], int]:
    """Return the project's presences, newest first, and the number of all.

    `end_reasons` narrows both; None among them stands for presences that have not ended.
    """
    wanted = {f"reason{number}": reason for number, reason in enumerate(end_reasons)}
    listed = ", ".join(f":{name}" for name in wanted)
    where = "p.project_id = :project_id"
    if end_reasons:
        where += f" AND COALESCE(p.end_reason, '') IN ({listed})"
    values = {name: reason or "" for name, reason in wanted.items()}
    total = tx.count(f"FROM presences p WHERE {where}", project_id=project_id, **values)
    rows = tx.all(
        f"""SELECT {_COLUMNS} FROM presences p WHERE {where}
            ORDER BY p.opened_at DESC, p.id DESC LIMIT :limit OFFSET :offset""",
        project_id=project_id,
        limit=limit,
        offset=offset,
        **values,
    )
    return [_presence(row) for row in rows], total


def close(tx: Tx, presence: Presence) -> None:
    """Store an agent's report on its stay as it leaves."""
    tx.run(
        """UPDATE presences SET outcome = :outcome, summary = :summary, touched = :touched, stamp = :stamp
           WHERE id = :id""",
        stamp=stamp(),
        id=presence.id,
        outcome=presence.outcome,
        summary=presence.summary,
        touched=_TABLE.row(presence)["touched"],
    )


def condition(tx: Tx, project_id: UUID, name: str) -> Condition | None:
    """Return the condition that the agent reported; None unless it is present."""
    row = tx.one(
        """SELECT p.condition FROM agents a JOIN presences p ON p.id = a.presence_id
           WHERE a.project_id = :project_id AND a.name = :name AND p.ended_at IS NULL AND p.expires_at > :now""",
        project_id=project_id,
        name=name,
        now=tx.now,
    )
    return Condition(row["condition"]) if row else None


def counts(tx: Tx, project_id: UUID) -> dict[Condition, int]:
    """Count the agents of the project by condition; an absent one counts as offline, whatever its last report."""
    rows = tx.all(
        """SELECT CASE WHEN p.ended_at IS NULL AND p.expires_at > :now THEN p.condition ELSE :offline END AS said,
                  count(*) AS agents
           FROM agents a LEFT JOIN presences p ON p.id = a.presence_id WHERE a.project_id = :id GROUP BY said""",
        id=project_id,
        now=tx.now,
        offline=Condition.OFFLINE,
    )
    return {Condition(row["said"]): int(row["agents"]) for row in rows}


def presences(tx: Tx, project_id: UUID) -> list[Presence]:
    """List the current or last presence of every agent of the project, oldest first."""
    rows = tx.all(
        f"""SELECT {_COLUMNS} FROM agents a JOIN presences p ON p.id = a.presence_id
            WHERE a.project_id = :id ORDER BY p.opened_at, p.id""",
        id=project_id,
    )
    return [_presence(row) for row in rows]


def by_token(tx: Tx, project_id: UUID, token_id: UUID | None) -> list[Presence]:
    """List the presences that a token has opened, otherwise like `presences`."""
    rows = tx.all(
        f"""SELECT {_COLUMNS} FROM agents a JOIN presences p ON p.id = a.presence_id
            WHERE a.project_id = :id AND p.token_id = :token_id ORDER BY p.opened_at, p.id""",
        id=project_id,
        token_id=token_id,
    )
    return [_presence(row) for row in rows]


def version(tx: Tx, project_id: UUID) -> Version:
    """Return the version of the project's presences: while it is unchanged, so is the result of `presences`.

    A counter of the project would be one row that all its agents wait for on PostgreSQL.
    """
    row = tx.one(
        """SELECT count(*) AS number, CAST(sum(p.stamp) AS BIGINT) AS stamps
           FROM agents a JOIN presences p ON p.id = a.presence_id WHERE a.project_id = :id""",
        id=project_id,
    )
    assert row is not None  # an aggregate has a row
    return Version(row["number"], row["stamps"] or 0)


def open_presence(tx: Tx, new: Presence) -> Presence:
    """Begin a presence and make it the agent's."""
    tx.run(_INSERT, **_TABLE.row(new), stamp=stamp())
    tx.run(
        "UPDATE agents SET presence_id = :id WHERE project_id = :project_id AND name = :name",
        id=new.id,
        project_id=new.project_id,
        name=new.agent,
    )
    return new


def update_presence(tx: Tx, presence: Presence) -> Presence:
    """Store the changes that a heartbeat brings."""
    changing = (
        "instance", "condition", *_PROFILE, "ttl", "seen_at", "expires_at", "ended_at", "end_reason", "since",
        "secret", "voices", "heartbeat_told_at", "paused_until",
    )  # fmt: skip
    row = _TABLE.row(presence)
    tx.run(
        f"""UPDATE presences SET {", ".join(f"{name} = :{name}" for name in changing)}, stamp = :stamp
            WHERE id = :id""",
        id=presence.id,
        stamp=stamp(),
        **{name: row[name] for name in changing},
    )
    return presence


def end_presence(tx: Tx, presence_id: UUID, reason: str) -> Presence | None:
    """End a presence; None if it has ended already."""
    row = tx.one(
        f"""UPDATE presences SET ended_at = :now, end_reason = :reason, condition = :offline, since = :now,
                stamp = :stamp
            WHERE id = :id AND ended_at IS NULL RETURNING {", ".join(_READ)}""",
        id=presence_id,
        now=tx.now,
        reason=reason,
        offline=Condition.OFFLINE,
        stamp=stamp(),
    )
    return _presence(row) if row else None


def lapsed(tx: Tx, limit: int) -> list[Presence]:
    """List presences silent for too long, longest first; not locked, since names are locked first."""
    rows = tx.all(
        f"""SELECT {_COLUMNS} FROM presences p WHERE p.ended_at IS NULL AND p.expires_at <= :now
            ORDER BY p.expires_at LIMIT :limit""",
        now=tx.now,
        limit=limit,
    )
    return [_presence(row) for row in rows]


def put_node(tx: Tx, node: ReportedNode) -> None:
    """Store the facts about a machine; fields that are None stay as they were."""
    tx.run(
        f"""{_NODES.insertion} ON CONFLICT (project_id, key) DO UPDATE SET
                name = COALESCE(excluded.name, nodes.name), model = COALESCE(excluded.model, nodes.model),
                runtime = COALESCE(excluded.runtime, nodes.runtime), seen_at = excluded.seen_at""",
        **_NODES.row(node),
    )


def nodes(tx: Tx, project_id: UUID) -> list[ReportedNode]:
    return _NODES.all(tx, "WHERE project_id = :id ORDER BY key", id=project_id)
