"""SQL for the use that clients report: its sums, and the marks of counted readings."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from hubbub.model.cost.spending import By, Source, Spending
from hubbub.model.lifecycle import UNDER_WAY
from hubbub.store.table import Table
from hubbub.store.tx import Row, Tx

_TABLE = Table("spending", Spending)
_MEASURES = ("input", "output", "cache_read", "cache_written")
_ADDED = ", ".join(f"{each} = spending.{each} + excluded.{each}" for each in _MEASURES)
_ADD = f"""{_TABLE.insertion} ON CONFLICT (id) DO UPDATE SET {_ADDED},
    told = CASE WHEN excluded.told IS NULL THEN spending.told
                ELSE COALESCE(spending.told, 0) + excluded.told END"""
_SUMS = ", ".join(f"CAST(SUM({each}) AS BIGINT) AS {each}" for each in (*_MEASURES, "told"))
DAY = 86_400_000

COLUMNS: Mapping[By, str] = {
    By.AGENT: "agent",
    By.TASK: "task_id",
    By.RUN: "run_id",
    By.DAY: f"at / {DAY}",
    By.MODEL: "model",
    By.MACHINE: "machine",
    By.CLIENT: "client",
    By.CONVERSATION: "conversation",
}


class CountedSpending(NamedTuple):
    """The last total of a counter, and its time."""

    at: int
    total: float


def hear(tx: Tx, project_id: UUID, conversation: str, source: Source, *, silent: int) -> Source:
    """Record that a source reports on a client's conversation; return the source that counts.

    That is the first one, until it has been silent since `silent`; a final report never replaces another source. The
    row is locked, so that no other transaction counts the same conversation meanwhile.
    """
    takes_over = "metered.heard_at < :silent AND excluded.source <> :report"
    row = tx.one(
        f"""INSERT INTO metered (project_id, conversation, source, heard_at)
            VALUES (:project_id, :conversation, :source, :now)
            ON CONFLICT (project_id, conversation) DO UPDATE SET
                source = CASE WHEN {takes_over} THEN excluded.source ELSE metered.source END,
                heard_at = CASE WHEN metered.source = excluded.source OR {takes_over} THEN excluded.heard_at
                                ELSE metered.heard_at END
            RETURNING source""",
        project_id=project_id,
        conversation=conversation,
        source=int(source),
        now=tx.now,
        silent=silent,
        report=int(Source.REPORT),
    )
    assert row is not None  # an upsert always returns a row
    return Source(row["source"])


def counted(tx: Tx, mark: UUID) -> CountedSpending | None:
    """Return the last count under the mark."""
    row = tx.one("SELECT at, total FROM counted WHERE mark = :mark", mark=mark)
    return CountedSpending(row["at"], row["total"]) if row else None


def count_first(tx: Tx, mark: UUID, now: CountedSpending, forget_at: int) -> bool:
    """Note the count under the mark; False if there is one already, which stays."""
    return tx.any(
        """INSERT INTO counted (mark, at, total, forget_at) VALUES (:mark, :at, :total, :forget_at)
           ON CONFLICT (mark) DO NOTHING RETURNING at""",
        mark=mark,
        at=now.at,
        total=now.total,
        forget_at=forget_at,
    )


def count(tx: Tx, mark: UUID, now: CountedSpending, forget_at: int) -> None:
    """Store the count under the mark."""
    tx.run(
        """INSERT INTO counted (mark, at, total, forget_at) VALUES (:mark, :at, :total, :forget_at)
           ON CONFLICT (mark) DO UPDATE
           SET at = excluded.at, total = excluded.total, forget_at = excluded.forget_at""",
        mark=mark,
        at=now.at,
        total=now.total,
        forget_at=forget_at,
    )


def add(tx: Tx, spending: Spending) -> None:
    """Add to the same use in the same five minutes."""
    tx.run(_ADD, **_TABLE.row(spending))


def task_at(tx: Tx, project_id: UUID, agent: str, at: int) -> Row | None:
    """Return the id and run of the agent's task at that moment: the one that it began last.

    Ended tasks are searched among the agent's newest.
    """
    then = "started_at <= :at AND (ended_at IS NULL OR ended_at >= :at) ORDER BY started_at DESC LIMIT 1"
    whose = "project_id = :project_id AND assignee = :agent"
    under_way = ", ".join(f"'{each}'" for each in sorted(UNDER_WAY))
    among = (
        f"SELECT id, run_id, started_at, ended_at FROM tasks WHERE {whose} AND status IN ({under_way})",
        f"SELECT id, run_id, started_at, ended_at FROM tasks WHERE {whose} ORDER BY number DESC LIMIT 100",
    )
    for tasks in among:
        sql = f"SELECT id, run_id FROM ({tasks}) AS own WHERE {then}"
        if (row := tx.one(sql, project_id=project_id, agent=agent, at=at)) is not None:
            return row
    return None


def sums(
    tx: Tx,
    project_id: UUID,
    by: By,
    *,
    since: int,
    until: int,
    step: int | None = None,
    only: Mapping[By, object],
) -> Sequence[Row]:
    """Sum the use by `by`, by model, by day, and by whether the client reported a price.

    With a `step`, in milliseconds, each such interval is summed separately. `only` narrows it.
    """
    named = {f"only_{each}": value for each, value in only.items()}
    narrowed = "".join(f" AND {COLUMNS[each]} = :only_{each}" for each in only)
    moment = f"at / {step} * {step}" if step is not None else "0"
    return tx.all(
        f"""SELECT {COLUMNS[by]} AS name, {moment} AS moment, model, at / {DAY} AS day,
                   CASE WHEN told IS NULL THEN 0 ELSE 1 END AS is_told, {_SUMS}
            FROM spending
            WHERE project_id = :project_id AND at >= :since AND at < :until{narrowed}
            GROUP BY 1, 2, 3, 4, 5""",
        project_id=project_id,
        since=since,
        until=until,
        **named,
    )


def agents_there(tx: Tx, project_id: UUID, *, since: int, until: int) -> list[str]:
    """List the agents that the project knew by `until`, and that were active after `since`."""
    return tx.column(
        """SELECT a.name FROM agents a JOIN presences p ON p.id = a.presence_id
           WHERE a.project_id = :project_id AND a.created_at < :until AND p.seen_at >= :since ORDER BY a.name""",
        project_id=project_id,
        since=since,
        until=until,
    )


def tasks_begun(tx: Tx, project_id: UUID, *, since: int, until: int, among: int) -> list[UUID]:
    """List those of the newest tasks that were under way in between."""
    return tx.column(
        """SELECT id FROM (SELECT id, number, started_at FROM tasks WHERE project_id = :project_id
                           ORDER BY number DESC LIMIT :among) AS newest
           WHERE started_at >= :since AND started_at < :until ORDER BY number DESC""",
        project_id=project_id,
        since=since,
        until=until,
        among=among,
    )


def titles(tx: Tx, task_ids: Sequence[UUID]) -> dict[UUID, tuple[int, str]]:
    """Return the numbers and titles of tasks, by id."""
    found = {}
    for task_id in task_ids:
        row = tx.one("SELECT number, title FROM tasks WHERE id = :id", id=task_id)
        if row is not None:
            found[task_id] = (int(row["number"]), str(row["title"]))
    return found


def forget(tx: Tx, heard_before: int) -> None:
    """Drop the marks of readings that cannot come again."""
    tx.run("DELETE FROM counted WHERE forget_at < :now", now=tx.now)
    tx.run("DELETE FROM metered WHERE heard_at < :before", before=heard_before)
