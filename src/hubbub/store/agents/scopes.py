"""SQL for areas, and for the scopes that agents declare.

A presence keeps its scope as declared, for as long as presences are stored. While the scope counts, each of its entries
is also in a table of its own, under the place where others look for it.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from uuid import UUID

from hubbub.model.agents.scopes import Area, Declaration, PlaceRange, Scope, place_of
from hubbub.model.records import Presence
from hubbub.store.agents.agents import lock_names, stamp
from hubbub.store.tx import Row, Tx

ROWS = 50  # written by one statement
PLACES = 100  # looked up by one statement
CLAIMED_FROM = (
    1_000_000  # positions of claimed entries (`store/agents/file_claims.py`); declared ones come before
)

_AREA = "slug, name, description, patterns, number"
# Presence is checked on the entries found, so that PostgreSQL does not begin with all present agents.
_DECLARED = """SELECT e.presence_id, p.agent, e.place, e.entry,
                      p.ended_at IS NULL AND p.expires_at > :now AS is_there
               FROM scope_entries e JOIN presences p ON p.id = e.presence_id
               WHERE e.project_id = :project_id"""
_AT_PLACES = f"{_DECLARED} AND e.place IN ({', '.join(f':place_{number}' for number in range(PLACES))})"
_IN_FOLDER = f"{_DECLARED} AND e.place >= :folder AND e.place < :beyond"


def _area(row: Row) -> Area:
    return Area(**{**row, "patterns": tuple(json.loads(row["patterns"]))})


def _scope(row: Row) -> Scope:
    return Scope(row["area"], tuple(json.loads(row["files"] or "[]")))


def _whole(row: Row) -> Scope:
    """Return the declared scope, extended by the claims."""
    declared = _scope(row)
    held = json.loads(row["claimed"] or "[]")
    return Scope(declared.area, tuple(dict.fromkeys((*declared.files, *held))))


def find_area(tx: Tx, project_id: UUID, slug: str) -> Area | None:
    row = tx.one(
        f"SELECT {_AREA} FROM areas WHERE project_id = :project_id AND slug = :slug",
        project_id=project_id,
        slug=slug,
    )
    return _area(row) if row else None


def put_area(tx: Tx, project_id: UUID, area: Area) -> Area:
    """Add the area, or replace the one of that slug, which keeps its number."""
    row = tx.one(
        f"""INSERT INTO areas (project_id, slug, name, description, patterns, number, created_at)
            VALUES (:project_id, :slug, :name, :description, :patterns, :number, :now)
            ON CONFLICT (project_id, slug) DO UPDATE SET
                name = excluded.name, description = excluded.description, patterns = excluded.patterns
            RETURNING {_AREA}""",
        project_id=project_id,
        slug=area.slug,
        name=area.name,
        description=area.description,
        patterns=_to_json(area.patterns),
        number=area.number,
        now=tx.now,
    )
    assert row is not None  # an upsert always returns a row
    return _area(row)


def areas(tx: Tx, project_id: UUID) -> list[Area]:
    """List the areas of the project, by slug."""
    rows = tx.all(f"SELECT {_AREA} FROM areas WHERE project_id = :id ORDER BY slug", id=project_id)
    return [_area(row) for row in rows]


def find(tx: Tx, presence: Presence) -> Scope:
    """Return the last scope that the presence declared, also if the presence has ended."""
    row = tx.one("SELECT area, files FROM presences WHERE id = :id", id=presence.id)
    assert row is not None  # presences are never deleted
    return _scope(row)


def whole(tx: Tx, presence_id: UUID) -> Scope:
    """Return the last declared scope of the presence together with its claims."""
    row = tx.one("SELECT area, files, claimed FROM presences WHERE id = :id", id=presence_id)
    assert row is not None  # presences are never deleted
    return _whole(row)


def declare(tx: Tx, project_id: UUID, presence_id: UUID, scope: Scope) -> None:
    """Replace the presence's declared scope."""
    tx.run(
        "UPDATE presences SET area = :area, files = :files, stamp = :stamp WHERE id = :id",
        id=presence_id,
        stamp=stamp(),
        area=scope.area,
        files=_to_json(scope.files) if scope.files else None,
    )
    tx.run(
        "DELETE FROM scope_entries WHERE presence_id = :id AND position < :claimed",
        id=presence_id,
        claimed=CLAIMED_FROM,
    )
    entries = [(scope.area, scope.area)] if scope.area is not None else []
    entries += [(place_of(file), file) for file in scope.files]
    for first in range(0, len(entries), ROWS):
        _insert(tx, project_id, presence_id, first, entries[first : first + ROWS])


def withdraw(tx: Tx, presence_id: UUID) -> None:
    """Withdraw the scope and the claims of the presence, so that they no longer count."""
    tx.run("DELETE FROM scope_entries WHERE presence_id = :id", id=presence_id)


def candidates(tx: Tx, project_id: UUID, reach: PlaceRange) -> list[Declaration]:
    """Return the entries of present agents within reach, by agent."""
    found = [row for places in _chunks(reach.places) for row in _at_places(tx, project_id, places)]
    for folder in reach.folders:
        found += tx.all(
            _IN_FOLDER,
            project_id=project_id,
            now=tx.now,
            folder=folder,
            beyond=folder[:-1] + chr(ord("/") + 1),  # comes right after everything below the folder
        )
    return _declarations(row for row in found if row["is_there"])


def live(tx: Tx, project_id: UUID) -> list[Declaration]:
    """List the whole scopes and claims of present agents, by agent. Agents with neither are left out."""
    rows = tx.all(
        """SELECT a.name, p.id, p.area, p.files, p.claimed FROM agents a JOIN presences p ON p.id = a.presence_id
           WHERE a.project_id = :id AND p.ended_at IS NULL AND p.expires_at > :now
             AND (p.area IS NOT NULL OR p.files IS NOT NULL OR p.claimed IS NOT NULL)
           ORDER BY a.name""",
        id=project_id,
        now=tx.now,
    )
    return [Declaration(row["name"], row["id"], _whole(row)) for row in rows]


def lock(tx: Tx, project_id: UUID, *agents: str) -> None:
    """Lock the project's declarations until the transaction ends; `agents` are locked first."""
    lock_names(tx, project_id, *agents)
    tx.run(f"SELECT id FROM projects WHERE id = :id {tx.db.for_update}", id=project_id)


def _insert(
    tx: Tx, project_id: UUID, presence_id: UUID, first: int, entries: Sequence[tuple[str, str]]
) -> None:
    """Insert entries with their places, counted from `first`, in one statement: each is a round trip on PostgreSQL."""
    values: dict[str, object] = {}
    for number, (place, entry) in enumerate(entries):
        values |= {f"position_{number}": first + number, f"place_{number}": place, f"entry_{number}": entry}
    rows = (
        f"(:presence_id, :position_{number}, :project_id, :place_{number}, :entry_{number})"
        for number in range(len(entries))
    )
    tx.run(
        f"""INSERT INTO scope_entries (presence_id, position, project_id, place, entry)
            VALUES {", ".join(rows)}""",
        presence_id=presence_id,
        project_id=project_id,
        **values,
    )


def _chunks(places: Iterable[str]) -> Iterator[dict[str, str]]:
    """Yield the places as values for statements with a fixed text: the last place is repeated."""
    listed = sorted(places)
    for first in range(0, len(listed), PLACES):
        chunk = listed[first : first + PLACES]
        chunk += [chunk[-1]] * (PLACES - len(chunk))
        yield {f"place_{number}": place for number, place in enumerate(chunk)}


def _at_places(tx: Tx, project_id: UUID, places: Mapping[str, str]) -> Sequence[Row]:
    return tx.all(_AT_PLACES, project_id=project_id, now=tx.now, **places)


def _declarations(rows: Iterable[Row]) -> list[Declaration]:
    """Combine rows, one for each entry and some perhaps double, into the declarations of presences."""
    areas: dict[tuple[str, UUID], str] = {}
    files: dict[tuple[str, UUID], dict[str, None]] = {}
    for row in rows:
        whose = (row["agent"], row["presence_id"])
        of_this = files.setdefault(whose, {})
        if row["place"].startswith("/"):
            of_this[row["entry"]] = None
        else:
            areas[whose] = row["entry"]
    return [
        Declaration(agent, presence_id, Scope(areas.get((agent, presence_id)), tuple(found)))
        for (agent, presence_id), found in sorted(files.items())
    ]


def _to_json(values: Sequence[str]) -> str:
    return json.dumps(values, ensure_ascii=False)
