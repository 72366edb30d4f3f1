"""Accounts: a provider's limit pauses all agents of an account at once, and they resume after it.

While an account is paused, its agents begin nothing and their clocks stand still: a presence, the files it
holds and its leases by tools last longer by the length of the pause. At its end each agent resumes at its own
moment. Nothing is lost by a pause, and nothing fails.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from uuid import UUID

from hubbub.core.agents import agents
from hubbub.core.people import access
from hubbub.core.snapshots import cards, patches
from hubbub.model.errors import AccountPaused, Conflict, Invalid, existing
from hubbub.model.limits.accounts import (
    IN_A_ROW,
    LONGEST,
    MOST,
    MOST_AGENTS,
    WITHOUT_END,
    Account,
    goes_on_at,
    named,
)
from hubbub.model.limits.usage_limits import UsageLimit, back_off
from hubbub.model.log.projection import Patch
from hubbub.model.people.rights import HUB
from hubbub.model.records import Project
from hubbub.model.timestamps import milliseconds
from hubbub.store import sequence_numbers
from hubbub.store.agents import agents as agent_rows
from hubbub.store.limits import accounts as rows
from hubbub.store.tx import Tx

# These need no rule of their own, so they are the store's functions.
of_project = rows.of_project
of_agent = rows.of_agent
members = rows.agents


def find(tx: Tx, project: Project, name: str) -> Account:
    """Return the account with that name. Raises `NotFound`."""
    return existing(rows.find(tx, project.id, name), "account", name)


def put(tx: Tx, project: Project, name: str, names: Sequence[str]) -> Account:
    """Set which agents share an account: exactly these. Records `account.changed`. Raises `Invalid`."""
    if len(set(names)) > MOST_AGENTS:
        raise Invalid(f"agents: at most {MOST_AGENTS} share an account")
    for agent in sorted(set(names)):
        agents.meet(tx, project.id, agent)
    _lock(tx, project.id, named(name), *names)
    account = rows.put(tx, replace(_made(tx, project.id, name), is_set=True))
    before = set(rows.agents(tx, project.id, name))
    for agent in sorted(before - {*names}):
        rows.assign(tx, project.id, agent, None)
        _hold(tx, project.id, agent, tx.now)
    for agent in sorted({*names} - before):
        _enter(tx, account, agent)
    _record(tx, "changed", account, {*names, *before})
    return account


def drop(tx: Tx, project: Project, name: str) -> None:
    """Remove an account; its agents go on. Records `account.removed`. Raises `NotFound`."""
    _lock(tx, project.id, name)
    account = find(tx, project, name)
    shared = rows.agents(tx, project.id, name)
    for agent in shared:
        rows.assign(tx, project.id, agent, None)
        _hold(tx, project.id, agent, tx.now)
    rows.delete(tx, project.id, name)
    _record(tx, "removed", account, shared, is_gone=True)


def join(tx: Tx, project: Project, agent: str, name: str) -> Account:
    """Return the account of an agent: the one that its program reports, unless people have set another.

    Records `account.changed` where that is news.
    """
    known = rows.of_agent(tx, project.id, agent)
    if known is not None and (known.is_set or known.name == name):
        return known
    agents.meet(tx, project.id, agent)
    _lock(tx, project.id, named(name), agent)
    account = _made(tx, project.id, name)
    _enter(tx, account, agent)
    _record(tx, "changed", account, [agent])
    return account


def pause(tx: Tx, project: Project, name: str, until: int | None, *, by: str) -> Account:
    """Pause an account until that time, or until it is resumed: nothing begins on it. Records `account.paused`.

    Raises `NotFound`, and `Invalid` for an end that is past or too far away.
    """
    _lock(tx, project.id, name)
    account = find(tx, project, name)
    if until is not None and not tx.now < until <= tx.now + milliseconds(LONGEST):
        raise Invalid(f"until: must be in the future, at most {LONGEST.days} days from now")
    return _pause(tx, replace(account, limit_kind=None, notices=0), until, by=by)


def resume(tx: Tx, project: Project, name: str, *, by: str) -> Account:
    """Let the agents of an account go on now. Records `account.resumed`. Raises `NotFound`, `Conflict`."""
    _lock(tx, project.id, name)
    account = find(tx, project, name)
    if account.paused_at is None:
        raise Conflict(f"the account {name!r} is not paused")
    return _resume(tx, account, by=by)


def reached(tx: Tx, project: Project, agent: str, limit: UsageLimit) -> Account:
    """Pause the account of an agent whose program reported a limit. Records `account.paused`.

    Without a time the pause is a back-off that grows with each such report; a longer pause stays as it is. An
    agent without an account gets its own.
    """
    account = rows.of_agent(tx, project.id, agent) or join(tx, project, agent, _own_name(agent))
    _lock(tx, project.id, account.name, agent)
    account = rows.find(tx, project.id, account.name) or account
    held_until = account.held_until(tx.now)
    if held_until is not None and (limit.until is None or limit.until <= held_until):
        return account
    until, notices = limit.until, 0
    if until is None:
        is_next = account.resumed_at is not None and tx.now - account.resumed_at < milliseconds(IN_A_ROW)
        notices = account.notices + 1 if is_next else 1
        until = tx.now + milliseconds(back_off(limit.kind, notices))
    until = min(max(until, tx.now + 1), tx.now + milliseconds(LONGEST))
    return _pause(tx, replace(account, limit_kind=limit.kind, notices=notices), until, by=agent)


def require_running(tx: Tx, project_id: UUID, agent: str) -> None:
    """Raise `AccountPaused` if the agent may begin nothing now."""
    account = rows.of_agent(tx, project_id, agent)
    if account is not None and account.is_paused(tx.now):
        raise AccountPaused(account.name, account.paused_until)


def goes_on(tx: Tx, project_id: UUID, agent: str) -> int | None:
    """Return the time from which a paused agent may begin something, spread over the agents; None if it may now."""
    account = rows.of_agent(tx, project_id, agent)
    if account is None:
        return None
    until = account.held_until(tx.now) or account.resumed_at
    at = goes_on_at(until, agent) if until is not None and account.limit_kind is not None else until
    return at if at is not None and at > tx.now else None


def settle(tx: Tx, limit: int) -> None:
    """Resume accounts whose pause is over. Records `account.resumed`."""
    for each in rows.over(tx, limit):
        _lock(tx, each.project_id, each.name)
        account = rows.find(tx, each.project_id, each.name)
        if account is not None and account.paused_until is not None and account.paused_until <= tx.now:
            _resume(tx, account, by=HUB)


def _own_name(agent: str) -> str:
    """Derive an account's name from an agent that has none."""
    return (
        "".join(each if each.isascii() and (each.isalnum() or each in "._@+-") else "-" for each in agent)[
            :80
        ].lstrip("._@+-")
        or "account"
    )


def _lock(tx: Tx, project_id: UUID, name: str, *more: str) -> None:
    """Lock the account until the transaction ends: its agents first, as everywhere, then the project's accounts.

    Its members change only under the lock of the accounts, so members added meanwhile are known then, and locked too.
    """
    agent_rows.lock_names(tx, project_id, *more, *rows.agents(tx, project_id, name))
    rows.lock(tx, project_id)
    agent_rows.lock_names(tx, project_id, *rows.agents(tx, project_id, name))


def _made(tx: Tx, project_id: UUID, name: str) -> Account:
    found = rows.find(tx, project_id, name)
    if found is not None:
        return found
    if len(rows.of_project(tx, project_id)) >= MOST:
        raise Conflict(f"a project has at most {MOST} accounts; drop one first")
    return rows.put(tx, Account(project_id=project_id, name=name))


def _enter(tx: Tx, account: Account, agent: str) -> None:
    """Let an agent share the account, and its pause if it is paused."""
    rows.assign(tx, account.project_id, agent, account.name)
    _hold(tx, account.project_id, agent, account.held_until(tx.now) or tx.now)


def _pause(tx: Tx, account: Account, until: int | None, *, by: str) -> Account:
    shared = rows.agents(tx, account.project_id, account.name)
    since = account.paused_at if account.is_paused(tx.now) else tx.now
    paused = rows.put(
        tx, replace(account, paused_at=since, paused_until=until, paused_by=access.programs_name(tx, by))
    )
    for agent in shared:
        _hold(tx, account.project_id, agent, WITHOUT_END if until is None else until)
    _record(tx, "paused", paused, shared, by=by)
    return paused


def _resume(tx: Tx, account: Account, *, by: str) -> Account:
    shared = rows.agents(tx, account.project_id, account.name)
    over_at = min(tx.now, account.paused_until or tx.now)
    kind = account.limit_kind if by == HUB else None  # a person resumes them all at once
    resumed = replace(
        account,
        paused_at=None,
        paused_until=None,
        paused_by=None,
        limit_kind=kind,
        resumed_at=over_at,
        all_paused_at=None,
    )
    rows.put(tx, resumed)
    for agent in shared:
        _hold(tx, account.project_id, agent, over_at)
    _record(tx, "resumed", resumed, shared, by=by)
    return resumed


def _hold(tx: Tx, project_id: UUID, agent: str, until: int) -> None:
    """Stop an agent's clocks until that time, replacing any earlier end; now resumes them."""
    presence = agents.presence(tx, project_id, agent, lock=True)
    if presence is None or presence.ended_at is not None:
        return
    before = max(tx.now, presence.paused_until or 0)
    by = max(tx.now, until) - before
    if by:
        held = replace(presence, expires_at=presence.expires_at + by, paused_until=until)
        agent_rows.update_presence(tx, held)
        rows.shift(tx, project_id, agent, by)


def _record(
    tx: Tx,
    what: str,
    account: Account,
    names: Collection[str],
    *,
    by: str | None = None,
    is_gone: bool = False,
) -> None:
    if by != HUB:  # which ends a pause when it was said to end
        sequence_numbers.lock(tx, account.project_id, sequence_numbers.TASKS)
    known = rows.of_project(tx, account.project_id)
    told = _noted(tx, account, known, is_pause=what == "paused")
    gone = {account.name: None} if is_gone else {}
    patch: Patch = {"accounts": {**gone, **{each.name: cards.account(each) for each in told}}}
    ends = [each.paused_until for each in known if each.paused_until is not None]
    for agent in sorted(names):
        for noun, found in patches.paused(tx, account.project_id, agent).items():
            patch = {**patch, noun: {**patch.get(noun, {}), **found}}
    tx.record(
        f"account.{what}",
        project_id=account.project_id,
        actor=by or tx.actor.label,
        detail={
            "account": account.name,
            "until": account.paused_until,
            "limit": account.limit_kind,
            "agents": len(names),
            "first_until": min(ends, default=None),
        },
        patch=patch,
    )


def _noted(tx: Tx, changed: Account, known: Sequence[Account], *, is_pause: bool) -> list[Account]:
    """Note whether nobody goes on any more, by this pause; return the accounts whose cards may have changed."""
    goes_on = rows.goes_on(tx, changed.project_id)
    is_last = is_pause and not goes_on and all(each.all_paused_at is None for each in known)
    told = []
    for each in known:
        at = None if goes_on else tx.now if is_last and each.name == changed.name else each.all_paused_at
        if at != each.all_paused_at:
            told.append(rows.put(tx, replace(each, all_paused_at=at)))
        elif each.name == changed.name:
            told.append(each)
    return told
