"""Machines that agents may use: their records, their presence, and their own work.

A machine on which a hub runs reports itself; any other has joined (`core/fleet/enrolment.py`), and is there while a hub
holds its link. Work that a machine does for an agent, awaited or in the background, is a task of the hub: sent by the
agent, and begun at once by `node:` and the machine's name.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from hubbub.core.actions import task_actions
from hubbub.core.agents import agents
from hubbub.core.fleet import dispatches, managed_agents
from hubbub.core.people import access, tokens
from hubbub.core.snapshots import cards, patches
from hubbub.core.work import machine_keys, tasks
from hubbub.model.errors import Conflict, Forbidden, Invalid, NotFound, NotHolder, Unauthorized, existing
from hubbub.model.fleet.calls import NodeInfo
from hubbub.model.fleet.nodes import AT, NODE_PREFIX, Machine, beside, board_name
from hubbub.model.ids import new_id, parse_id
from hubbub.model.log.projection import Patch
from hubbub.model.people.rights import Right, Role
from hubbub.model.records import Project, Task
from hubbub.model.timestamps import milliseconds
from hubbub.model.visible_text import visible
from hubbub.store.fleet import nodes as rows
from hubbub.store.fleet import shares
from hubbub.store.people import projects
from hubbub.store.tx import Tx
from hubbub.store.work import tasks as task_rows

NOUN = "machine"
TTL = timedelta(seconds=90)  # of silence; a machine reports three times as often
MOST_LABELS = 50
LONGEST_FAULT = 1_000  # characters
LINE = 200  # characters of a name, a label and similar

# These need no rule of their own, so they are the store's functions.
note_load = rows.set_load
note_policy_fault = rows.set_policy_fault
of_ended_hubs = rows.of_ended_hubs


def report(
    tx: Tx,
    project: Project,
    about: NodeInfo,
    *,
    runtime: str | None = None,
    labels: Sequence[str] = (),
    ttl: timedelta = TTL,
) -> Machine:
    """Record that a machine on which a hub runs is there, with its properties.

    Names are compared without case. Records `node.joined` the first time, `node.online` if it was away, and
    `node.changed` if its properties have changed. Raises `Invalid`, and `Conflict` while another machine with that name
    is there, or has joined.
    """
    before, machine = claim(tx, project, about, labels)
    if before is not None:
        is_another = before.machine_id != about.machine_id and (before.is_online(tx.now) or before.token_id)
        if is_another or is_linked(before, tx.now):
            raise Conflict(f"another machine is called {before.name!r} in this project; choose another name")
        end_key(tx, before)
    expires_at = tx.now + milliseconds(ttl)
    reported = rows.update(tx, machine.id, about, labels=labels, expires_at=expires_at, runtime=runtime)
    if before is None:
        record(tx, "node.joined", reported)
    else:
        _record_return(tx, before, reported)
    return reported


def claim(
    tx: Tx, project: Project, about: NodeInfo, labels: Sequence[str] = ()
) -> tuple[Machine | None, Machine]:
    """Claim the name for a machine; return its holder so far, locked (None if there was none), and from now on.

    Raises `Invalid` for impossible properties.
    """
    _check(about, labels)
    if AT in about.name:
        raise Invalid(f"a machine's name has no {AT!r}; choose another name than {about.name!r}")
    fresh = Machine(
        id=new_id(),
        project_id=project.id,
        name=about.name,
        machine_id=about.machine_id,
        platform=about.platform,
        labels=tuple(labels),
        version=about.version,
        sandbox=about.sandbox,
        policy_fault=about.policy_fault,
        first_seen_at=tx.now,
        seen_at=tx.now,
        expires_at=tx.now,
    )
    while (before := rows.find(tx, project.id, about.name, lock=True)) is None:
        if rows.insert(tx, fresh):
            return None, fresh
    if before.name != about.name:  # agents are told with it: those placed at this moment, too
        rows.find(tx, project.id, about.name, alone=True)
    return before, before


def leave(tx: Tx, project: Project, name: str) -> None:
    """Record that a machine on which a hub runs leaves. Records `node.offline` if it was there."""
    machine = rows.find(tx, project.id, name, lock=True)
    if machine is not None and machine.token_id is None and machine.is_online(tx.now):
        record(tx, "node.offline", rows.close(tx, machine.id))


def find_by_key(tx: Tx) -> tuple[Project, Machine]:
    """Return the machine of the caller's key, and its project. Raises `Forbidden` without such a key (any more)."""
    actor = tx.actor
    access.require_valid(tx)
    machine = rows.find_by_key(tx, actor.token_id) if actor.role is Role.NODE and actor.token_id else None
    project = projects.find(tx, machine.project_id) if machine is not None else None
    if machine is None or project is None:
        raise Forbidden("only a machine that has joined may do this, with its own key")
    return project, machine


def is_linked(machine: Machine, now: int) -> bool:
    """Tell whether a hub holds a link to the machine."""
    return machine.hub is not None and machine.is_online(now)


def link(
    tx: Tx,
    machine: Machine,
    *,
    hub: str,
    about: NodeInfo,
    runtime: str | None = None,
    labels: Sequence[str] = (),
    ttl: timedelta = TTL,
) -> Machine:
    """Record that `hub` now holds the machine's link, instead of any other, and update the machine's properties.

    It keeps the name and id by which it joined. Records like `report`. Raises `Invalid`, and
    `Unauthorized` if its key has ended since it was found.
    """
    known = replace(about, name=machine.name, machine_id=machine.machine_id)
    _check(known, [*labels, *([runtime] if runtime is not None else [])])
    before = rows.find_by_id(tx, machine.id, lock=True)
    if before is None or before.token_id is None or before.token_id != machine.token_id:
        raise Unauthorized
    linked = rows.update(
        tx,
        machine.id,
        known,
        labels=labels,
        expires_at=tx.now + milliseconds(ttl),
        token_id=machine.token_id,
        runtime=runtime,
        hub=hub,
    )
    _record_return(tx, before, linked)
    return linked


def beat(tx: Tx, machine_ids: Iterable[UUID], ttl: timedelta = TTL) -> None:
    """Record that the linked machines are still there, for another `ttl`.

    Records `node.online` for those recorded as gone.
    """
    for machine_id in sorted(machine_ids):
        before = rows.beat(tx, machine_id, tx.now + milliseconds(ttl))
        if before is not None and not before.online:
            record(tx, "node.online", replace(before, online=True))


def lapse(tx: Tx, machine: Machine) -> None:
    """End the presence of a silent machine: the holder of its link is gone, too. Records `node.offline`."""
    rows.note_silence(tx, machine.id)
    record(tx, "node.offline", replace(machine, online=False))


def unlink(tx: Tx, machine_id: UUID, hub: str) -> None:
    """Record that the link to a machine is lost, unless another hub holds one by now. Records `node.offline`."""
    machine = rows.unlink(tx, machine_id, hub)
    if machine is not None:
        record(tx, "node.offline", machine)


def remove(tx: Tx, project: Project, name: str) -> Machine:
    """Remove a machine: its key, its link, its share links, and its open orders end.

    Only people who may write in the project may do this. Records `node.removed`. Raises `Forbidden`, `NotFound`, and
    `Conflict` for a machine on which a hub runs just now.
    """
    access.require_person(tx, "remove a machine")
    access.enter(tx, str(project.id), Right.WRITE)
    machine = existing(rows.find(tx, project.id, name, alone=True), NOUN, name)
    if machine.token_id is None and machine.is_online(tx.now):
        raise Conflict(f"a hub runs on {machine.name!r}, so it stays as long as that hub runs")
    dispatches.abandon(tx, machine.id)
    homeless = managed_agents.forget_machine(tx, machine.id)
    shares.forget_machine(tx, machine.id)
    machine_keys.leave(tx, machine.id)
    rows.delete(tx, machine.id)
    if machine.token_id is not None:
        tokens.end(tx, machine.token_id)
    patch = {"machines": {machine.name: None}, **patches.agents(tx, project.id, homeless)}
    record(tx, "node.removed", machine, patch=patch)
    return machine


def end_key(tx: Tx, machine: Machine) -> None:
    """End the machine's key, if it has one: it gets another, or needs none any more."""
    if machine.token_id is not None:
        tokens.end(tx, machine.token_id)


def find(tx: Tx, project: Project, name: str) -> Machine:
    """Return the machine with that name, in any case. Raises `NotFound`."""
    return existing(rows.find(tx, project.id, name), NOUN, name)


def require_no_machine(tx: Tx, project: Project, name: str) -> None:
    """Raise `Forbidden` for the name of a machine that has joined or runs a hub: only it speaks for itself."""
    if rows.find(tx, project.id, name) is not None or rows.is_of_hub(tx, name):
        raise Forbidden(
            f"{name!r} is a machine of the project: only the machine itself may report on it, by its link"
        )


def listed(tx: Tx, project: Project) -> list[Machine]:
    """List the project's machines, by name."""
    return rows.of_project(tx, project.id)


def begin_task(
    tx: Tx, project: Project, *, sender: str | None, title: str, description: str, node: str
) -> Task:
    """Create a machine's work for an agent as a task: sent by `sender`, and begun by `node:` and the machine's name.

    It never lapses: a machine's tasks have no heartbeat. Raises the errors of `access.speak`.
    """
    holder = board_name(node)
    agents.meet(tx, project.id, holder, is_machine=True)
    task = tasks.send(
        tx,
        project.id,
        sender=access.speak(tx, project.id, sender),
        to=holder,
        text=description,
        title=title,
    )
    return task_actions.start(tx, task, holder, leased=False, is_read=False)


def end_task_beside(
    tx: Tx, project: Project, ref: str, *, sender: str | None, name: str, text: str, failed: bool
) -> Task:
    """End a task like `end_task`, begun by a program beside the caller, which calls its machine `name`."""
    found = tasks.find(tx, [project.id], ref, by_number=False)
    node = beside(access.programs_name(tx, found.sender), name)
    return end_task(tx, ref, text=text, failed=failed, project=project, sender=sender, node=node)


def end_task(
    tx: Tx,
    ref: str,
    *,
    text: str,
    failed: bool,
    project: Project | None = None,
    sender: str | None = None,
    node: str | None = None,
) -> Task:
    """End a task of `begin_task`, with its result or the reason of its failure; its sender is told.

    A task that has ended meanwhile, for instance cancelled, stays as it is. The hub's own machine may end any; other
    callers name the project, the sender and the machine. Raises `NotFound` for a task of another project, and
    `NotHolder` for another's task, or one that is not a machine's.
    """
    task_id = parse_id(ref)
    task = task_rows.find(tx, task_id, lock=True) if task_id else None
    if task is None or (project is not None and task.project_id != project.id):
        raise NotFound("task", ref)
    holder = task.assignee or ""
    is_theirs = sender in (None, task.sender) and (node is None or board_name(node) == holder)
    if not holder.startswith(NODE_PREFIX) or not is_theirs:
        raise NotHolder(task.assignee)
    if task.is_ended:
        return task
    if failed:
        return task_actions.fail(tx, task, by=holder, reason=text)
    return task_actions.complete(tx, task, by=holder, result=text)


def record(
    tx: Tx, kind: str, machine: Machine, *, actor: str | None = None, patch: Patch | None = None
) -> None:
    """Record that a machine has come, has changed, or is gone."""
    tx.record(
        kind,
        project_id=machine.project_id,
        actor=actor,
        detail={"node": machine.name, "platform": machine.platform, "sandbox": machine.sandbox},
        patch=patch or patches.machine(machine),
    )


def succeeding(tx: Tx, before: Machine | None, now: Machine) -> Patch:
    """Return the patch for a machine in its state `now`; its name may be spelled differently from `before`."""
    if before is None or before.name == now.name:
        return patches.machine(now)
    placed = [each.agent for each in managed_agents.of_machine(tx, now.id)]
    return {
        "machines": {before.name: None, **patches.machine(now)["machines"]},
        **patches.agents(tx, now.project_id, placed),
    }


def _record_return(tx: Tx, before: Machine, now: Machine) -> None:
    patch = succeeding(tx, before, now)
    if not before.is_online(tx.now):
        record(tx, "node.online", now, patch=patch)
    elif cards.machine(before) != cards.machine(now):
        record(tx, "node.changed", now, patch=patch)


def _check(about: NodeInfo, labels: Sequence[str]) -> None:
    if len(labels) > MOST_LABELS:
        raise Invalid(f"a machine has at most {MOST_LABELS} labels")
    for line in (about.name, about.machine_id, about.platform, about.version, about.sandbox, *labels):
        if not line.strip() or line != line.strip() or len(line) > LINE or visible(line) != line:
            raise Invalid(f"a machine describes itself in lines of 1 to {LINE} visible characters")
    if about.policy_fault is not None and len(about.policy_fault) > LONGEST_FAULT:
        raise Invalid(f"a machine says in up to {LONGEST_FAULT} characters why its policy does not load")
    if about.name in agents.STEPS:
        raise Invalid(f"an address cannot contain a machine's name like {about.name!r}; choose another name")
