"""SQL for breakers: the rules of projects, and the agents that are stopped."""

from uuid import UUID

from hubbub.model.limits.breakers import RULES, BreakerRules, LoopKind, Stop
from hubbub.store.table import Table
from hubbub.store.tx import Row, Tx

_STOPS = Table("stops", Stop)
_RULES = ", ".join(RULES)


def rules(tx: Tx, project_id: UUID) -> BreakerRules:
    """Return the rules of a project; the defaults if it has set none."""
    row = tx.one(f"SELECT {_RULES} FROM breaker_rules WHERE project_id = :id", id=project_id)
    return _rules(row) if row else BreakerRules()


def are_set(tx: Tx, project_id: UUID) -> bool:
    """Tell whether the project has set rules of its own."""
    return tx.any("SELECT 1 AS there FROM breaker_rules WHERE project_id = :id", id=project_id)


def all_rules(tx: Tx) -> dict[UUID, BreakerRules]:
    """Return the rules of every project that has set some."""
    rows = tx.all(f"SELECT project_id, {_RULES} FROM breaker_rules")
    return {row["project_id"]: _rules(row) for row in rows}


def put_rules(tx: Tx, project_id: UUID, new: BreakerRules) -> None:
    """Set the rules of a project."""
    values = ", ".join(f":{each}" for each in RULES)
    anew = ", ".join(f"{each} = excluded.{each}" for each in RULES)
    tx.run(
        f"""INSERT INTO breaker_rules (project_id, {_RULES}) VALUES (:project_id, {values})
            ON CONFLICT (project_id) DO UPDATE SET {anew}""",
        project_id=project_id,
        **{each: getattr(new, each) for each in RULES},
    )


put = _STOPS.insert


def of_project(tx: Tx, project_id: UUID) -> list[Stop]:
    """List the stops of a project, oldest first."""
    return _STOPS.all(tx, "WHERE project_id = :id ORDER BY stopped_at, id", id=project_id)


def same(tx: Tx, project_id: UUID, kind: LoopKind, agents: tuple[str, ...], task_id: UUID | None) -> bool:
    """Tell whether these agents are stopped for the same reason already."""
    return any(
        each.kind is kind and each.agents == agents and each.task_id == task_id
        for each in of_project(tx, project_id)
    )


def take(tx: Tx, project_id: UUID, stop_id: UUID) -> Stop | None:
    """Delete a stop and return it; None if there is none."""
    return _STOPS.delete(tx, project_id=project_id, id=stop_id)


def _rules(row: Row) -> BreakerRules:
    return BreakerRules(**{each: int(row[each]) for each in RULES})
