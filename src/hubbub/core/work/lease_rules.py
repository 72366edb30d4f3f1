"""Lease rules: commands that a project allows only under a lease, enforced by clients' hooks.

A command under `hubbub with`, or of an agent that holds the things, goes on; any other is told how to run it.
"""

from collections.abc import Mapping, Sequence

from hubbub.core.people import access
from hubbub.core.work import leases
from hubbub.model.errors import Conflict, NotFound
from hubbub.model.records import Project
from hubbub.model.work import lease_rules
from hubbub.model.work.leases import MOST_RULES, Lease, LeaseRule, wanted
from hubbub.store.tx import Tx
from hubbub.store.work import leases as rows

# These need no rule of their own, so they are the store's functions.
of_project = rows.rules


def put(tx: Tx, project: Project, command: str, things: Sequence[str]) -> LeaseRule:
    """Set a rule: a command may run only while these things are held. Records `lease.rule`. Raises `Invalid`."""
    rule = lease_rules.rule(command, things)
    wanted(rule.things, rows.capacities(tx, project.id))
    known = {each.command for each in rows.rules(tx, project.id)}
    if rule.command not in known and len(known) >= MOST_RULES:
        raise Conflict(f"a project has at most {MOST_RULES} rules for commands; drop one first")
    rows.put_rule(tx, project.id, rule)
    tx.record(
        "lease.rule", project_id=project.id, detail={"command": rule.command, "things": list(rule.things)}
    )
    return rule


def drop(tx: Tx, project: Project, command: str) -> None:
    """Drop the rule for a command. Records `lease.rule`. Raises `NotFound`."""
    if not rows.drop_rule(tx, project.id, " ".join(command.split())):
        raise NotFound("rule", command)
    tx.record("lease.rule", project_id=project.id, detail={"command": command, "things": None})


def refusal(tx: Tx, project: Project, text: str, *, by: str, within: str | None = None) -> str | None:
    """Return one sentence that says why a shell text may not run as it is, and how to run it; None if it may.

    `by` is the name that the caller acts by, `within` the id of the lease under which their program runs.
    """
    rules = rows.rules(tx, project.id)
    capacities = rows.capacities(tx, project.id)
    held = [*_held(tx, project, by)]
    outer = leases.held_under(tx, project, within)
    for found in lease_rules.needing(text, rules):
        wants = wanted(found.rule.things, capacities)
        under = wanted(found.under, capacities) if found.under else {}
        if not _is_met(wants, under, [*held, *([outer] if outer is not None else [])]):
            how = lease_rules.advice(text, found.rule.things)
            return (
                f"hubbub: in this project `{found.rule.command}` runs only while {' and '.join(found.rule.things)} "
                f"is held. Run it so, which waits until that is free: {how}"
            )
    return None


def _held(tx: Tx, project: Project, by: str) -> list[Lease]:
    return [each for each in rows.of_holder(tx, project.id, access.programs_name(tx, by)) if each.by_tool]


def _is_met(wants: Mapping[str, int], under: Mapping[str, int], held: Sequence[Lease]) -> bool:
    """Tell whether the caller holds all of it, or the text itself acquires it."""
    return all(
        under.get(thing, 0) >= count
        or sum(each.wants.get(thing, 0) for each in held if each.is_held) >= count
        for thing, count in wants.items()
    )
