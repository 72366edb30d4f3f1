"""Overlaps of agents' scopes, stored pair by pair, so that a picture of the project need not compute them."""

from collections.abc import Iterable
from dataclasses import replace
from uuid import UUID

from hubbub.core.snapshots import cards
from hubbub.model.agents.scopes import AgentConflict, Overlap
from hubbub.model.log.projection import Card, pair_key
from hubbub.store.log import scope_conflicts
from hubbub.store.log.scope_conflicts import ConflictPair
from hubbub.store.tx import Tx


def renew(tx: Tx, project_id: UUID, agent: str, conflicts: Iterable[AgentConflict]) -> dict[str, Card | None]:
    """Store the conflicts of one agent; return the cards of the changed pairs."""
    known = {_key(each): each for each in scope_conflicts.of_agent(tx, project_id, agent)}
    return _change(tx, project_id, known, _pairs(agent, conflicts, tx.now))


def renew_all(
    tx: Tx, project_id: UUID, standing: Iterable[tuple[str, Iterable[AgentConflict]]]
) -> dict[str, Card | None]:
    """Store the conflicts of all agents; return the cards of the changed pairs."""
    known = {_key(each): each for each in scope_conflicts.of_project(tx, project_id)}
    found: dict[str, ConflictPair] = {}
    for agent, conflicts in standing:
        found |= _pairs(agent, conflicts, tx.now)
    return _change(tx, project_id, known, found)


def by_agent(tx: Tx, project_id: UUID) -> dict[str, list[tuple[str, Overlap]]]:
    """Return the conflicts of each agent, by name: the other agent, and the overlap."""
    found: dict[str, list[tuple[str, Overlap]]] = {}
    for each in scope_conflicts.of_project(tx, project_id):
        found.setdefault(each.one, []).append((each.other, each.common))
        found.setdefault(each.other, []).append((each.one, each.common))
    return {agent: sorted(met, key=lambda pair: pair[0]) for agent, met in found.items()}


def of_project(tx: Tx, project_id: UUID) -> dict[str, Card]:
    """Return the cards of all pairs."""
    return {_key(each): _card(each) for each in scope_conflicts.of_project(tx, project_id)}


def _pairs(agent: str, conflicts: Iterable[AgentConflict], since: int) -> dict[str, ConflictPair]:
    pairs = (
        ConflictPair(min(agent, each.agent), max(agent, each.agent), each.overlap, since)
        for each in conflicts
        if each.agent != agent
    )
    return {_key(each): each for each in pairs}


def _change(
    tx: Tx, project_id: UUID, known: dict[str, ConflictPair], found: dict[str, ConflictPair]
) -> dict[str, Card | None]:
    changed: dict[str, Card | None] = {}
    for key in sorted(known.keys() - found.keys()):
        scope_conflicts.delete(tx, project_id, known[key])
        changed[key] = None
    for key in sorted(found):
        before = known.get(key)
        if before is None or found[key].common != before.common:
            now = found[key] if before is None else replace(found[key], since=before.since)
            scope_conflicts.put(tx, project_id, now)
            changed[key] = _card(now)
    return changed


def _key(of: ConflictPair) -> str:
    return pair_key(of.one, of.other)


def _card(of: ConflictPair) -> Card:
    return cards.overlap((of.one, of.other), of.common.files, of.common.areas, of.since)
