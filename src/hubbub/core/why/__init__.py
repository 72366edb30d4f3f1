"""Explanations: the hub's knowledge of a task, an agent, a machine or a file, in one paragraph.

They are made from the log, presences, claims, dependencies, leases, questions to people, machines and orders, all as
they are in one transaction. Nothing is guessed.
"""

from collections.abc import Iterable

from hubbub.core.agents import agents as names
from hubbub.core.why import agents, files, leases, presence, tasks
from hubbub.core.why.explanation import Explanation, Fact, SubjectKind
from hubbub.core.work import tasks as work
from hubbub.model.errors import NotFound, NothingSoCalled
from hubbub.model.records import Project
from hubbub.store.fleet import nodes
from hubbub.store.tx import Tx

__all__ = ["Explanation", "Fact", "SubjectKind", "explain"]

OF_FILES = frozenset("/.*")  # a text with one of these may be a file


def explain(tx: Tx, project: Project, ref: str, kind: SubjectKind | None = None) -> Explanation:
    """Explain a task (by number or id), an agent, a machine or a thing (by name), or a file (by path).

    Without a `kind` it is the first of these that exists; a name with a slash or a dot may always be a file. Raises
    `NotFound`, with near names of agents `NothingSoCalled`, or `UnknownAgent` if only an agent can be meant; `Invalid`
    for a wrong path.
    """
    found = {
        SubjectKind.TASK: _task,
        SubjectKind.AGENT: _agent,
        SubjectKind.MACHINE: _machine,
        SubjectKind.FILE: _file if kind is SubjectKind.FILE else _what_may_be_a_file,
        SubjectKind.THING: _thing if kind is SubjectKind.THING else _what_may_be_a_thing,
    }
    if kind is SubjectKind.AGENT:
        names.require_known(tx, project.id, ref)
    for each in SubjectKind if kind is None else (kind,):
        account = found[each](tx, project, ref)
        if account is not None:
            return account
    unknown = names.unknown(tx, project.id, ref)
    if names.name_now(tx, project.id, ref) is not None:
        raise unknown
    raise NothingSoCalled(ref, unknown.near) if kind is None else NotFound(str(kind), ref)


def _task(tx: Tx, project: Project, ref: str) -> Explanation | None:
    try:
        task = work.find(tx, [project.id], ref)
    except NotFound:
        return None
    return _account(SubjectKind.TASK, str(task.number), tasks.account(tx, task))


def _agent(tx: Tx, project: Project, ref: str) -> Explanation | None:
    if not names.is_known(tx, project.id, ref):
        return None
    return _account(SubjectKind.AGENT, ref, agents.account(tx, project.id, ref))


def _machine(tx: Tx, project: Project, ref: str) -> Explanation | None:
    machine = nodes.find(tx, project.id, ref)
    if machine is None:
        return None
    facts = [presence.of_machine(tx, machine), *agents.of_machine(tx, machine)]
    return _account(SubjectKind.MACHINE, machine.name, facts)


def _file(tx: Tx, project: Project, ref: str) -> Explanation | None:
    return _account(SubjectKind.FILE, ref, files.account(tx, project, ref))


def _what_may_be_a_file(tx: Tx, project: Project, ref: str) -> Explanation | None:
    is_one = not OF_FILES.isdisjoint(ref) or files.is_declared(tx, project, ref)
    return _file(tx, project, ref) if is_one else None


def _thing(tx: Tx, project: Project, ref: str) -> Explanation | None:
    return _account(SubjectKind.THING, ref, leases.of_thing(tx, project, ref))


def _what_may_be_a_thing(tx: Tx, project: Project, ref: str) -> Explanation | None:
    return _thing(tx, project, ref) if leases.is_known(tx, project, ref) else None


def _account(kind: SubjectKind, name: str, facts: Iterable[Fact]) -> Explanation:
    """Make an explanation that says nothing twice."""
    return Explanation(kind, name, list({fact.sentence: fact for fact in facts}.values()))
