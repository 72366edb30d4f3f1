"""Machines that agents may use: who they are, whether they are there, and what they do themselves.

What a machine does for an agent while that waits, or in the background, is a task of the hub: sent by the agent, and
begun at once by `node:` and the machine's name.
"""

from collections.abc import Sequence
from datetime import timedelta

from hubbub.core import access, agents, completions, endings, tasks
from hubbub.model.approvals import visible
from hubbub.model.errors import Conflict, Invalid, NotFound, NotHolder
from hubbub.model.ids import new_id, parse_id
from hubbub.model.lifecycle import Event
from hubbub.model.machines import NODE_PREFIX, Machine, board_name
from hubbub.model.records import Project, Task
from hubbub.store import nodes as rows
from hubbub.store import tasks as task_rows
from hubbub.store.tx import Tx

NOUN = "machine"
TTL = timedelta(seconds=90)  # of silence; a machine reports three times as often
MOST_LABELS = 50
LINE = 200  # characters of a name, a label and the like


def report(
    tx: Tx,
    project: Project,
    *,
    name: str,
    machine_id: str,
    platform: str,
    version: str,
    sandbox: str,
    labels: Sequence[str] = (),
    ttl: timedelta = TTL,
) -> Machine:
    """A machine says that it is there, and what it is like.

    Names are the same whatever their case. Records `node.joined` the first time, and `node.online` if it was away.
    Raises `Invalid`, and `Conflict` while another machine of that name is there.
    """
    _check(name, machine_id, platform, version, sandbox, *labels)
    if len(labels) > MOST_LABELS:
        raise Invalid(f"a machine has at most {MOST_LABELS} labels")
    before = rows.find(tx, project.id, name, lock=True)
    if before and before.machine_id != machine_id and before.is_online(tx.now):
        raise Conflict(f"another machine is called {before.name!r} in this project; choose another name")
    machine = rows.put(
        tx,
        Machine(
            id=new_id(),
            project_id=project.id,
            name=name,
            machine_id=machine_id,
            platform=platform,
            labels=tuple(labels),
            version=version,
            sandbox=sandbox,
            first_seen_at=tx.now,
            seen_at=tx.now,
            expires_at=tx.now + ttl // timedelta(milliseconds=1),
        ),
    )
    if before is None or not before.is_online(tx.now):
        _record(tx, "node.online" if before else "node.joined", machine)
    return machine


def leave(tx: Tx, project: Project, name: str) -> None:
    """A machine goes. Records `node.offline`, if it was there."""
    machine = rows.find(tx, project.id, name, lock=True)
    if machine is not None and machine.is_online(tx.now):
        rows.close(tx, machine.id)
        _record(tx, "node.offline", machine)


def find(tx: Tx, project: Project, name: str) -> Machine:
    """The machine of that name, whatever its case. Raises `NotFound`."""
    machine = rows.find(tx, project.id, name)
    if machine is None:
        raise NotFound(NOUN, name)
    return machine


def listed(tx: Tx, project: Project) -> list[Machine]:
    """The project's machines, by name."""
    return rows.of_project(tx, project.id)


def begin_task(
    tx: Tx, project: Project, *, sender: str | None, title: str, description: str, node: str
) -> Task:
    """Put what a machine sets about for an agent on the board: a task of `sender`, begun by `node:` and its name.

    Nothing of this lapses by time: a machine's tasks have no heartbeat. Raises what `access.speak` does.
    """
    holder = board_name(node)
    agents.meet(tx, project.id, holder)
    task = tasks.send(
        tx,
        project.id,
        sender=access.speak(tx, project.id, sender),
        to=holder,
        text=description,
        title=title,
    )
    return tasks.start(tx, task, holder, leased=False)


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
    """End what `begin_task` put on the board, with its result or why there is none; its sender hears of it.

    One that has ended meanwhile, as somebody cancelled it, stays as it is. The hub's own machine may end any; else it
    is said of which project, for whom and by whom. Raises `NotFound` for what is of another project, and `NotHolder`
    for what is another's, or not a machine's.
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
        kept = text[: completions.RESULT_LENGTH]
        return endings.finish(tx, task, Event.FAIL, by=holder, text=text, result=kept)
    done = completions.report(tx, task.project_id, holder, task=str(task.id), result=text)
    return done.task or task


def _check(*lines: str) -> None:
    for line in lines:
        if not line.strip() or line != line.strip() or len(line) > LINE or visible(line) != line:
            raise Invalid(f"what a machine says of itself are lines of 1 to {LINE} visible characters")


def _record(tx: Tx, kind: str, machine: Machine) -> None:
    tx.record(
        kind,
        project_id=machine.project_id,
        detail={"node": machine.name, "platform": machine.platform, "sandbox": machine.sandbox},
    )
