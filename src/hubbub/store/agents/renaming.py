"""SQL for the other name of an agent: what it has now gets the new name, and its past keeps the old one."""

from uuid import UUID

from hubbub.model.records import Task
from hubbub.store.agents.agents import stamp
from hubbub.store.tx import Tx
from hubbub.store.work import tasks

_OWN = ("evidence", "todo_lists", "memories", "memory_parts", "coordinators")  # with the name in `agent`
_LEFT = {  # things that stay when an agent is removed, and would be mixed with those of another
    "a memory": "memories WHERE project_id = :project_id AND agent = :name",
    "the role of a coordinator": "coordinators WHERE project_id = :project_id AND agent = :name",
    "a budget": "budgets WHERE project_id = :project_id AND kind = 'agent' AND whom = :name",
    "a place on a machine": "placements WHERE project_id = :project_id AND agent = :name",
    "a lease": "leases WHERE project_id = :project_id AND holder = :name",
    "an open task": "tasks WHERE project_id = :project_id AND assignee = :name AND ended_at IS NULL",
}
_PENDING = "acked_at IS NULL AND withdrawn_at IS NULL"


def lock_all(tx: Tx) -> None:
    """Wait until no other transaction knows of any agent, and let none look for one until this one ends.

    A sender looks whether the receiver is known, and delivers afterwards, without a lock. A name that changes between
    the two would keep the letter for ever, so this excludes even those who only look, for the moment of a rename.
    """
    if tx.db.for_update:
        tx.all("LOCK TABLE agents IN ACCESS EXCLUSIVE MODE")


def left_by(tx: Tx, project_id: UUID, name: str) -> str | None:
    """Return what an agent of that name has left behind; None for nothing."""
    for noun, where in _LEFT.items():
        if tx.one(f"SELECT 1 AS one FROM {where} LIMIT 1", project_id=project_id, name=name) is not None:
            return noun
    return None


def has_orders(tx: Tx, project_id: UUID, name: str) -> bool:
    """Tell whether a machine works on an order of the agent."""
    return tx.any(
        "SELECT 1 AS one FROM dispatches WHERE project_id = :project_id AND who = :name AND ended_at IS NULL LIMIT 1",
        project_id=project_id,
        name=name,
    )


def sent_by(tx: Tx, project_id: UUID, name: str) -> list[Task]:
    """List the open tasks that an agent sent, oldest first."""
    rows = tx.all(
        "SELECT id FROM tasks WHERE project_id = :project_id AND sender = :name AND ended_at IS NULL ORDER BY number",
        project_id=project_id,
        name=name,
    )
    return [task for row in rows if (task := tasks.find(tx, row["id"], lock=True)) is not None]


def number_of_letters(tx: Tx, project_id: UUID, name: str) -> int:
    """Count the rows that wait in an inbox."""
    return tx.count(
        f"FROM deliveries WHERE project_id = :project_id AND recipient = :name AND {_PENDING}",
        project_id=project_id,
        name=name,
    )


def rename(tx: Tx, project_id: UUID, old: str, new: str) -> None:
    """Give an agent's row, last presence, tokens and belongings the new name."""
    names = {"project_id": project_id, "old": old, "new": new}
    tx.run("UPDATE agents SET name = :new WHERE project_id = :project_id AND name = :old", **names)
    tx.run(
        """UPDATE presences SET agent = :new, stamp = :stamp
           WHERE id = (SELECT presence_id FROM agents WHERE project_id = :project_id AND name = :new)""",
        project_id=project_id,
        new=new,
        stamp=stamp(),
    )
    for table in _OWN:
        tx.run(f"UPDATE {table} SET agent = :new WHERE project_id = :project_id AND agent = :old", **names)
    tx.run(
        "UPDATE tokens SET agent = :new WHERE project_id = :project_id AND agent = :old AND revoked_at IS NULL",
        **names,
    )
    for side in ("requester", "reviewer"):
        tx.run(
            f"UPDATE reviews SET {side} = :new WHERE project_id = :project_id AND {side} = :old AND verdict IS NULL",
            **names,
        )
    tx.run(
        "DELETE FROM wakers WHERE project_id = :project_id AND agent = :old", project_id=project_id, old=old
    )


def give_mail(tx: Tx, project_id: UUID, old: str, new: str) -> None:
    """Move the rows that wait in one inbox into another, as if nobody had been told of them."""
    names = {"project_id": project_id, "old": old, "new": new}
    moved = tx.all(
        f"""UPDATE deliveries SET recipient = :new, wake_id = NULL
            WHERE project_id = :project_id AND recipient = :old AND {_PENDING} RETURNING message_id, seen_at""",
        **names,
    )
    unread = sum(row["seen_at"] is None for row in moved)
    for name, sign in ((old, -1), (new, 1)):
        tx.tally.pending[project_id, name] += sign * len(moved)
        tx.tally.unread[project_id, name] += sign * unread
    for row in moved:
        tx.run(
            "UPDATE messages SET recipient = :new WHERE id = :id AND recipient = :old",
            id=row["message_id"],
            old=old,
            new=new,
        )
    tx.run(
        "DELETE FROM wakes WHERE project_id = :project_id AND agent = :old AND ended_at IS NULL",
        project_id=project_id,
        old=old,
    )


def give_sent(tx: Tx, task: Task, new: str) -> Task:
    """Give an open task another sender."""
    tx.run("UPDATE tasks SET sender = :new WHERE id = :id", id=task.id, new=new)
    found = tasks.find(tx, task.id)
    assert found is not None  # tasks are never removed
    return found


def give_sightings(tx: Tx, project_id: UUID, old: str, new: str, *, since: int) -> None:
    """Move what hooks have seen of an agent since then, which proves the tasks that it has begun."""
    tx.run(
        "UPDATE sightings SET agent = :new WHERE project_id = :project_id AND agent = :old AND at >= :since",
        project_id=project_id,
        old=old,
        new=new,
        since=since,
    )
