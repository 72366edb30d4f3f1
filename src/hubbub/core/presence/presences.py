"""Presences: how an agent comes, stays by its heartbeat, and goes; and the effect on the work it holds."""

from dataclasses import fields, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from hubbub.core.agents import agents as names
from hubbub.core.agents import file_claims, last_activity, scopes
from hubbub.core.mail import messages
from hubbub.core.mail.delivery_forecast import WORKER
from hubbub.core.snapshots import patches
from hubbub.core.work import leases, permissions, transfers
from hubbub.model.agents.file_claims import TTL
from hubbub.model.agents.scopes import Scope
from hubbub.model.errors import Conflict, NotPresent
from hubbub.model.ids import new_id
from hubbub.model.log.projection import Patch
from hubbub.model.people.accounts import Token
from hubbub.model.records import Condition, Presence, Profile, Project, Task
from hubbub.model.timestamps import milliseconds
from hubbub.model.visible_text import cut
from hubbub.store.agents import agents
from hubbub.store.limits import accounts
from hubbub.store.mail import wakes
from hubbub.store.people import tokens
from hubbub.store.tx import MustWrite, Tx
from hubbub.store.work import tasks as task_rows

LEFT = "left"
REPLACED = "replaced"
SILENT = "silent"
BACK_SOON = timedelta(minutes=1)
FRESH = 30_000  # milliseconds after a heartbeat in which another brings no news
SHOWN = (
    "progress",
    "runtime",
    "model",
    "hostname",
)  # fields of a profile that are shown, beside the occupation


def report(
    tx: Tx,
    project_id: UUID,
    name: str,
    *,
    instance: str,
    condition: Condition,
    profile: Profile,
    ttl: timedelta,
    secret: str | None = None,
) -> Presence:
    """Take an agent's report, which is also its heartbeat; fields that `profile` leaves out stay as they were.

    A name is one agent, whose doors (`tx.door`) each have an instance that speaks for it: a report by one of them is a
    heartbeat for all, and `ttl` is that of the door that opened the presence. A report from another `instance` at the
    same door replaces the one that spoke there, with the presence if that was the only one. An agent that comes back
    finds the work it had begun in its inbox again.

    Records `agent.checkin`, `agent.changed` or `agent.checkout`; `agent.described` for a change of visible fields other
    than condition and occupation, and nothing for a mere heartbeat. `secret` is the hash of the agent's new secret, if
    it brings one.
    """
    names.meet(tx, project_id, name)
    last = agents.presence(tx, project_id, name, lock=True)
    if profile.output is not None and (last is None or profile.output != last.output):
        last_activity.note(tx, project_id, name, output=profile.output)
    stays = last is not None and last.is_live(tx.now) and _goes_on(last, tx.door, instance)
    held = file_claims.of_presence(tx, last) if last and last.is_live(tx.now) and not stays else []
    if last is not None and not stays and last.ended_at is None:
        last = _end(tx, last, SILENT if last.instance == instance else REPLACED) or last
    if last is not None and stays:
        current = _heard(
            tx, last, instance=instance, condition=condition, profile=profile, ttl=ttl, secret=secret
        )
    else:
        known = last if last is not None and last.instance == instance else Profile()
        current = _open(
            tx,
            project_id,
            name,
            instance=instance,
            condition=condition,
            profile=_merged(known, profile),
            ttl=ttl,
            secret=secret,
            heartbeat_told_at=last.heartbeat_told_at if last is not None else None,
        )
        file_claims.follow(tx, held, current)
        if last is not None and condition is not Condition.OFFLINE:
            transfers.redeliver(tx, project_id, name, begun_before=last.ended_at or tx.now)
    return _end(tx, current, LEFT) or current if condition is Condition.OFFLINE else current


def take(
    tx: Tx,
    project_id: UUID,
    name: str,
    *,
    instance: str,
    profile: Profile,
    ttl: timedelta,
    instead_of: str | None = None,
) -> Presence:
    """Become `name`, unless another instance is that agent now.

    Raises `Conflict`, which says who and for how long at least, if the name is live under another instance, by
    any door; `instead_of` names an instance that the caller knows to be dead.
    """
    names.meet(tx, project_id, name)  # first, so that of two callers who take a new name one finds it taken
    last = agents.presence(tx, project_id, name, lock=True)
    holder = _voice(last, tx.door) or last.instance if last is not None else None
    if last is not None and last.is_live(tx.now) and holder not in (instance, instead_of):
        seconds = max(1, (last.expires_at - tx.now) // 1000)
        where = f" on {last.hostname}" if last.hostname else ""
        raise Conflict(f"{name!r} is live as {holder}{where}; free in {seconds} s if it stays silent")
    return report(tx, project_id, name, instance=instance, condition=Condition.IDLE, profile=profile, ttl=ttl)


def attend(
    tx: Tx,
    project_id: UUID,
    name: str,
    *,
    instance: str,
    condition: Condition | None,
    profile: Profile,
    ttl: timedelta = TTL,
) -> Presence:
    """Note a sign of life from an agent's client, with its condition; return the agent's present presence.

    A presence under another instance that speaks for the agent itself keeps its data; so does any without a
    `condition`. It lasts for at least another `ttl`. Records like `report`. In a read, raises `MustWrite` if there is
    news.
    """
    last = agents.presence(tx, project_id, name)
    is_fresh = last is not None and last.is_live(tx.now) and tx.now - last.seen_at < FRESH
    if (
        last is not None
        and is_fresh
        and (_speaks(last, tx.door, instance) or _is_known(last, condition, ttl))
    ):
        return last
    if tx.is_read:
        raise MustWrite
    last = agents.presence(tx, project_id, name, lock=True)
    is_live = last is not None and last.is_live(tx.now)
    if last is not None and is_live and _speaks(last, tx.door, instance):
        return keep(tx, last)
    known, lasts = (last.condition, last.ttl) if last is not None and is_live else (Condition.IDLE, 0)
    ttl = max(ttl, timedelta(milliseconds=lasts))
    return report(
        tx, project_id, name, instance=instance, condition=condition or known, profile=profile, ttl=ttl
    )


def _speaks(last: Presence, door: str, instance: str) -> bool:
    """Tell whether the agent speaks for itself, by another instance or by other doors."""
    return last.instance != instance or not last.voices.keys() <= {door}


def _is_known(last: Presence, condition: Condition | None, ttl: timedelta) -> bool:
    """Tell whether a heartbeat of the same instance brings no news."""
    return condition in (None, last.condition) and last.ttl >= milliseconds(ttl)


def beat(
    tx: Tx,
    project_id: UUID,
    name: str,
    *,
    instance: str,
    condition: Condition,
    profile: Profile,
) -> Presence:
    """Take a heartbeat of a present instance. Raises `NotPresent`."""
    last = agents.presence(tx, project_id, name, lock=True)
    if last is None or _voice(last, tx.door) != instance or not last.is_live(tx.now):
        raise NotPresent(instance)
    ttl = timedelta(milliseconds=last.ttl)
    return report(tx, project_id, name, instance=instance, condition=condition, profile=profile, ttl=ttl)


def rest(tx: Tx, project_id: UUID, name: str) -> None:
    """Mark an agent as idle, and end what an absent one was doing. Records `agent.changed`.

    An agent that said goodbye at this door, and is heard of again before its time is over, is back (`report`).
    """
    last = agents.presence(tx, project_id, name, lock=True)
    if last is None:
        return
    if (
        last.end_reason == LEFT
        and tx.door in last.voices
        and tx.now < last.lasts_until(last.seen_at, last.ttl)
    ):
        ttl = timedelta(milliseconds=last.ttl)
        instance = last.voices[tx.door]
        last = report(
            tx, project_id, name, instance=instance, condition=Condition.IDLE, profile=Profile(), ttl=ttl
        )
    resting = replace(last, doing=None, progress=0)
    if last.is_live(tx.now) and last.condition is not Condition.IDLE:
        resting = replace(resting, condition=Condition.IDLE, since=tx.now)
    _record_change(tx, last, agents.update_presence(tx, resting))


def progress(
    tx: Tx, task: Task, by: str, *, output: str | None = None, progress: float | None = None
) -> None:
    """Note an agent's progress with its task, in percent, so that the task does not count as late.

    Records `task.progress`.
    """
    last = agents.presence(tx, task.project_id, by, lock=True)
    if last is not None and last.is_live(tx.now):
        told = _merged(last, Profile(output=output, progress=progress))
        agents.update_presence(tx, replace(last, **_told(told)))
    if output is not None:
        last_activity.note(tx, task.project_id, by, output=output)
    touched = task_rows.touch(tx, task.id)
    tx.record(
        "task.progress",
        project_id=task.project_id,
        actor=by,
        agent=by,
        task_id=task.id,
        detail={"number": task.number, "progress": progress},
        patch=patches.progress(tx, touched, by),
    )


def leave(tx: Tx, project_id: UUID, name: str, *, instance: str) -> Presence | None:
    """End the presence of an instance, for all doors; None if it is not there (any more).

    If the agent spoke for itself by our other doors alone, this is the goodbye of its client, which it goes with: it is
    gone in a minute, unless it is heard of again, or another instance of its client is there.
    """
    last = agents.presence(tx, project_id, name, lock=True)
    if last is None or not last.is_live(tx.now):
        return None
    if _voice(last, tx.door) == instance:
        return _end(tx, last, LEFT)
    if _voice(last, tx.door) is None and last.voices.keys() <= names.OWN_DOORS:
        there = [each for each in wakes.wakers(tx, project_id, name) if each.is_there(tx.now)]
        if all(each.instance == instance for each in there):
            _fade(tx, last)
    return None


def end_of_token(tx: Tx, token: Token) -> None:
    """End the presence of an agent whose last token this was: its client cannot speak for it any more.

    A worker goes on: it may have a token that is not bound to its name.
    """
    if token.agent is None or token.project_id is None:
        return
    last = agents.presence(tx, token.project_id, token.agent, lock=True)
    if last is None or not last.is_live(tx.now) or last.runtime == WORKER:
        return
    if not tokens.speaks_for(tx, token.project_id, token.agent):
        _end(tx, last, LEFT)


def release_scope(tx: Tx, project: Project, agent: str, *, by: str, reason: str) -> Scope:
    """Release an agent's scope and claims; the agent is told by whom, and why.

    Returns the scope. Records `agent.scope_change`. Raises `UnknownAgent`, and `Conflict` if it has none.
    """
    names.require_known(tx, project.id, agent)
    presence = names.presence(tx, project.id, agent, lock=True)
    declared = Scope(presence.area, presence.files or ()) if presence is not None else Scope()
    if presence is None or not presence.is_live(tx.now) or not declared:
        raise Conflict(f"{agent!r} is not there, or has declared nothing that could be released")
    file_claims.release(tx, project, presence, why=f"released by {permissions.label(tx, by)}")
    scopes.declare(tx, project, presence, Scope(), by=permissions.label(tx, by))
    what = ", ".join(declared.files) or f"the area {declared.area}"
    text = (
        f"{permissions.label(tx, by)} released what you had declared to work on ({cut(what, 500)}): {reason}"
    )
    messages.send(tx, project.id, sender=by, to=agent, body=text)
    return declared


def keep(tx: Tx, presence: Presence) -> Presence:
    """Take a bare heartbeat: a presence that was found with a lock lasts as long again."""
    return agents.update_presence(
        tx, replace(presence, seen_at=tx.now, expires_at=presence.lasts_until(tx.now, presence.ttl))
    )


def end(tx: Tx, presence: Presence) -> Presence | None:
    """End a presence that leaves; None if it has ended."""
    return _end(tx, presence, LEFT)


def hang_up(tx: Tx, project_id: UUID, name: str) -> None:
    """Take an agent's goodbye at a door: unless it speaks by other doors, too, it is gone in a minute.

    Until then it may come back by another connection: many programs make one for each call.
    """
    last = agents.presence(tx, project_id, name, lock=True)
    if last is not None and last.is_live(tx.now) and last.voices.keys() == {tx.door}:
        _fade(tx, last)


def _fade(tx: Tx, last: Presence) -> None:
    """Let a presence end in a minute."""
    soon = last.lasts_until(tx.now, milliseconds(BACK_SOON))
    agents.update_presence(tx, replace(last, expires_at=min(last.expires_at, soon)))


def lapse(tx: Tx, presence: Presence) -> None:
    """End the presence of an agent that was silent for too long, unless it was heard of just now."""
    last = agents.presence(tx, presence.project_id, presence.agent, lock=True)
    if last is None or last.id != presence.id or not last.is_live(tx.now):
        _end(tx, presence, SILENT)


def _open(
    tx: Tx,
    project_id: UUID,
    name: str,
    *,
    instance: str,
    condition: Condition,
    profile: Profile,
    ttl: timedelta,
    secret: str | None,
    heartbeat_told_at: int | None,
) -> Presence:
    lasts = milliseconds(ttl)
    account = accounts.of_agent(tx, project_id, name)
    held_until = account.held_until(tx.now) if account is not None else None
    opened = agents.open_presence(
        tx,
        Presence(
            id=new_id(),
            project_id=project_id,
            agent=name,
            instance=instance,
            condition=condition,
            ttl=lasts,
            opened_at=tx.now,
            seen_at=tx.now,
            expires_at=max(tx.now, held_until or 0) + lasts,
            ended_at=None,
            end_reason=None,
            token_id=tx.actor.token_id,
            secret=secret,
            since=tx.now,
            voices={tx.door: instance},
            heartbeat_told_at=heartbeat_told_at,
            paused_until=held_until,
            **_told(profile),
        ),
    )
    if condition is not Condition.OFFLINE:
        _record(tx, "agent.checkin", opened)
    return opened


def _voice(presence: Presence, door: str) -> str | None:
    """Return the instance that speaks for the agent at a door; without notes, the one that opened the presence."""
    return presence.voices.get(door) if presence.voices else presence.instance


def _goes_on(last: Presence, door: str, instance: str) -> bool:
    """Tell whether the presence continues when `instance` speaks at a door: not if only another one spoke there."""
    return _voice(last, door) in (None, instance) or len(last.voices) > 1


def _heard(
    tx: Tx,
    last: Presence,
    *,
    instance: str,
    condition: Condition,
    profile: Profile,
    ttl: timedelta,
    secret: str | None,
) -> Presence:
    """Take a report into a continuing presence; a replaced instance at the door has lost its work there."""
    before = _voice(last, tx.door)
    is_opener = before == last.instance
    lasts = milliseconds(ttl) if is_opener else last.ttl
    heard = replace(
        last,
        instance=instance if is_opener else last.instance,
        voices={**last.voices, tx.door: instance},
        secret=secret or last.secret,
        condition=condition,
        ttl=lasts,
        seen_at=tx.now,
        expires_at=last.lasts_until(tx.now, lasts),
        since=last.since if condition is last.condition else tx.now,
        **_told(_merged(last, profile)),
    )
    agents.update_presence(tx, heard)
    if before not in (None, instance):
        _replace_voice(tx, heard)
    if secret is not None:
        _record(tx, "agent.checkin", heard)
    elif condition is not Condition.OFFLINE:
        _record_change(tx, last, heard)
    return heard


def _replace_voice(tx: Tx, heard: Presence) -> None:
    """Release the work of a replaced instance at its door, while the agent stays present by other doors."""
    reason = f"{heard.agent} is there anew ({REPLACED})"
    transfers.release(tx, heard.project_id, heard.agent, reason=reason, door=tx.door)
    if heard.condition is not Condition.OFFLINE:
        transfers.redeliver(tx, heard.project_id, heard.agent, begun_before=tx.now, door=tx.door)


def _end(tx: Tx, presence: Presence, reason: str) -> Presence | None:
    ended = agents.end_presence(tx, presence.id, reason)
    if ended is not None:
        kind = "agent.timeout" if reason == SILENT else "agent.checkout"
        _record(tx, kind, ended, reason, further=scopes.release(tx, ended))
        transfers.release(tx, ended.project_id, ended.agent, reason=f"{ended.agent} is gone ({reason})")
        if reason != REPLACED:
            leases.end_of_presence(tx, ended.project_id, ended.agent)
    return ended


def _record_change(tx: Tx, before: Presence, now: Presence) -> None:
    """Record the changes in an agent's report, if they are visible."""
    if (now.condition, now.doing) != (before.condition, before.doing):
        _record(tx, "agent.changed", now)
    elif any(getattr(now, name) != getattr(before, name) for name in SHOWN):
        _record(tx, "agent.described", now)


def _record(
    tx: Tx, kind: str, presence: Presence, reason: str | None = None, *, further: Patch | None = None
) -> None:
    told = patches.agent if kind == "agent.described" else patches.at_work
    tx.record(
        kind,
        project_id=presence.project_id,
        actor=presence.agent,
        agent=presence.agent,
        detail={"condition": presence.condition, "doing": presence.doing, "reason": reason},
        patch={**told(tx, presence.project_id, presence.agent), **(further or {})},
    )


def _told(profile: Profile) -> dict[str, Any]:
    return {field.name: getattr(profile, field.name) for field in fields(Profile)}


def _merged(known: Profile, told: Profile) -> Profile:
    """Complete `told` by the known values."""
    values = {name: value for name, value in _told(told).items() if value is not None}
    return Profile(**{**_told(known), **values})
