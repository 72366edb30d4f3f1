"""Requesters: the callers that need something of the hub for a machine's work, and their rights.

There are three: the machine that a hub runs on, a machine that has joined, and a program beside an agent, with that
agent's token. The first is this process, and is trusted. The others are not: a machine acts only for callers whose
orders it works on, and a token speaks for no machine.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from hubbub.core.fleet import api_keys, audit_heads, dispatches, managed_agents, nodes, own_machine
from hubbub.core.people import access, lent_tokens, projects
from hubbub.core.work import task_search, tasks
from hubbub.model.errors import Forbidden, NotFound
from hubbub.model.fleet import call_chain
from hubbub.model.fleet.call_chain import CallChain
from hubbub.model.fleet.calls import Principal
from hubbub.model.fleet.dispatches import ENDED, Dispatch
from hubbub.model.fleet.managed_agents import NO_AGENTS, ProcessStatus
from hubbub.model.fleet.nodes import Machine, beside, board_name
from hubbub.model.ids import new_id
from hubbub.model.lifecycle import OPEN
from hubbub.model.people.rights import HUB, SYSTEM, Actor
from hubbub.model.records import Project, Task
from hubbub.store.tx import Tx

MOST = 512  # tasks that a machine has begun for one caller
NO_ORDER = "the machine is not at work on such an order"
NO_TASK = "the machine is not at work on such a task"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delegation:
    """The principal for whom something is done, and the names under which it is done."""

    project: Project
    principal: Principal  # as people are told
    sender: str | None  # as the task names it
    node: str  # under which the hub stores it


class Requester(ABC):
    """A requester. The defaults are those of a machine that asks for itself."""

    @property
    def actor(self) -> Actor:
        """The actor whose rights the hub uses."""
        return SYSTEM

    @property
    def link(self) -> UUID | None:
        """Return the machine over whose link this came, if any: its questions end with the link."""
        return None

    @property
    def hub(self) -> str | None:
        """Return the hub, if this is its own machine: its questions end with the hub."""
        return None

    @abstractmethod
    def delegation(self, tx: Tx, claimed: Principal) -> Delegation:
        """Determine for whom something is done, given the claimed principal. Raises `HubError`."""

    def serves(self, tx: Tx, project_id: UUID) -> bool:
        """Tell whether the requester, whose question was answered, still works for that project."""
        return True

    @abstractmethod
    def home(self, tx: Tx) -> Project:
        """Return the requester's project. Raises `HubError`."""

    @abstractmethod
    def itself(self, tx: Tx) -> Machine:
        """Return the machine that asks. Raises `Forbidden` if it is none."""

    @abstractmethod
    def seal(self, tx: Tx, seq: int, digest: str) -> None:
        """Store the head of its audit log."""

    @abstractmethod
    def end_task(self, tx: Tx, ref: str, *, text: str, failed: bool) -> None:
        """End a task that the requester has begun."""

    @abstractmethod
    def lend(self, tx: Tx, claimed: Principal, task_id: str | None, chain: CallChain) -> str:
        """Lend a token to the machine's agent program, for an order or a task in the background.

        `chain` is the claimed chain of callers up to that program.
        """

    def key(self, tx: Tx) -> str | None:
        """Return the API key of its project; None if it may have none or there is none."""
        return api_keys.use(tx, self.home(tx))

    def equip(self, tx: Tx, agent: str) -> str:
        """Issue a key for an agent that was placed on it."""
        return managed_agents.issue_key(tx, self.itself(tx), agent)

    def fare(self, tx: Tx, fares: Sequence[ProcessStatus]) -> None:
        """Store the statuses of the agents that were placed on it."""
        managed_agents.update_status(tx, self.itself(tx), fares)


@dataclass(frozen=True, kw_only=True)
class OwnMachine(Requester):
    """The machine that a hub runs on, of the project with that slug. It serves the projects of the hub's owner."""

    project: str
    node: str
    instance: str  # of the hub; each start has a new one

    @property
    def hub(self) -> str:
        """Return the id of the hub's process."""
        return self.instance

    def delegation(self, tx: Tx, claimed: Principal) -> Delegation:
        sender = None if claimed.is_person else claimed.name
        project = self._served(tx, claimed)
        return Delegation(project=project, principal=claimed, sender=sender, node=self.node)

    def serves(self, tx: Tx, project_id: UUID) -> bool:
        return own_machine.serves(tx, project_id)

    def home(self, tx: Tx) -> Project:
        return projects.find(tx, self.project)

    def itself(self, tx: Tx) -> Machine:
        return nodes.find(tx, self.home(tx), self.node)

    def seal(self, tx: Tx, seq: int, digest: str) -> None:
        audit_heads.keep(tx, self.home(tx), self.node, seq, digest)

    def end_task(self, tx: Tx, ref: str, *, text: str, failed: bool) -> None:
        nodes.end_task(tx, ref, text=text, failed=failed)

    def lend(self, tx: Tx, claimed: Principal, task_id: str | None, chain: CallChain) -> str:
        project = self._served(tx, claimed)
        purpose = _begun(tx, project, task_id, self.node) if task_id is not None else new_id()
        return lent_tokens.lend(tx, project, claimed, node=self.node, purpose=purpose, chain=chain)[1]

    def _served(self, tx: Tx, claimed: Principal) -> Project:
        project = projects.find(tx, claimed.project)
        own_machine.require_served(tx, project)
        return project


@dataclass(frozen=True, kw_only=True)
class LinkedMachine(Requester):
    """A joined machine, by its link. `order` is the one it works on; without one it asks for itself."""

    project: Project
    machine: Machine
    order: Dispatch | None = None

    @property
    def link(self) -> UUID:
        """Return the machine's own link: it has no user, and the link is its proof."""
        return self.machine.id

    def delegation(self, tx: Tx, claimed: Principal) -> Delegation:
        who = self._at_work().order.who
        sender = None if who.is_person else who.name
        return Delegation(project=self.project, principal=who, sender=sender, node=self.machine.name)

    def home(self, tx: Tx) -> Project:
        return self.project

    def itself(self, tx: Tx) -> Machine:
        return self.machine

    def seal(self, tx: Tx, seq: int, digest: str) -> None:
        audit_heads.keep(tx, self.project, self.machine.name, seq, digest)

    def end_task(self, tx: Tx, ref: str, *, text: str, failed: bool) -> None:
        nodes.end_task(tx, ref, text=text, failed=failed, project=self.project, node=self.machine.name)

    def lend(self, tx: Tx, claimed: Principal, task_id: str | None, chain: CallChain) -> str:
        order, node = self._at_work(), self.machine.name
        who, purpose = order.order.who, order.id
        if task_id is not None:
            purpose = _begun(tx, self.project, task_id, node, sender=_sender(who))
        chain = call_chain.at_least(chain, call_chain.longer(order.order.chain, who.name, node))
        return lent_tokens.lend(tx, self.project, who, node=node, purpose=purpose, chain=chain)[1]

    def _at_work(self) -> Dispatch:
        if self.order is None:
            raise Forbidden(NO_ORDER)
        return self.order


@dataclass(frozen=True, kw_only=True)
class Program(Requester):
    """A program beside an agent, with a token of theirs; `node` is the name that it claims for its machine."""

    caller: Actor
    project: str | None  # its slug or id, for a token that opens several
    node: str

    @property
    def actor(self) -> Actor:
        """Return the holder of the token."""
        return self.caller

    def delegation(self, tx: Tx, claimed: Principal) -> Delegation:
        project = self.home(tx)
        named = None if claimed.is_person or claimed.name in ("", HUB) else claimed.name
        spoken = access.speak(tx, project.id, named)
        name, token_id = access.programs_name(tx, spoken), str(self.caller.token_id)
        who = Principal(project=project.slug, name=name, token_id=token_id, is_person=self.caller.is_person)
        return Delegation(project=project, principal=who, sender=spoken, node=beside(name, self.node))

    def home(self, tx: Tx) -> Project:
        return access.enter(tx, self.project)

    def itself(self, tx: Tx) -> Machine:
        raise Forbidden(NO_AGENTS)

    def end_task(self, tx: Tx, ref: str, *, text: str, failed: bool) -> None:
        project, sender = self.home(tx), self.caller.agent
        nodes.end_task_beside(tx, project, ref, sender=sender, name=self.node, text=text, failed=failed)

    def lend(self, tx: Tx, claimed: Principal, task_id: str | None, chain: CallChain) -> str:
        delegation = self.delegation(tx, claimed)
        project, purpose = delegation.project, new_id()
        if task_id is not None:
            purpose = _begun(tx, project, task_id, delegation.node, sender=delegation.sender)
        who = replace(delegation.principal, name=delegation.sender or HUB)
        return lent_tokens.lend_from(
            tx, project, self.caller, who, node=self.node, purpose=purpose, chain=chain
        )[1]

    def seal(self, tx: Tx, seq: int, digest: str) -> None:
        project = self.home(tx)
        nodes.require_no_machine(tx, project, self.node)
        who = access.programs_name(tx, access.speak(tx, project.id))
        audit_heads.keep_beside(tx, project, who, self.node, seq=seq, digest=digest)

    def key(self, tx: Tx) -> None:
        """Return None: a token never gets a project's key."""


def held_by(tx: Tx, machine: Machine, wanted: UUID) -> Dispatch:
    """Return the machine's order of that id, open or with an open task for its caller. Raises `Forbidden`."""
    found = dispatches.find(tx, wanted)
    if found is None or found.machine != machine.id:
        raise Forbidden(NO_ORDER)
    if found.status in ENDED and not begun_for(tx, machine, found):
        raise Forbidden(NO_ORDER)
    return found


def begun_for(tx: Tx, machine: Machine, order: Dispatch) -> list[Task]:
    """List the machine's open tasks for the caller of the order."""
    begun = task_search.search(
        tx, [order.project_id], status=OPEN, assignee=board_name(machine.name), limit=MOST
    )
    return [task for task in begun if task.sender == _sender(order.order.who)]


def _begun(tx: Tx, project: Project, ref: str, node: str, *, sender: str | None = None) -> UUID:
    """Return the id of a task that runs at a machine in the background, locked, so that it cannot end meanwhile.

    With a `sender`, only that sender's. Raises `Forbidden` for any other.
    """
    try:
        task = tasks.find(tx, [project.id], ref, lock=True, by_number=False)
    except NotFound:
        raise Forbidden(NO_TASK) from None
    if task.is_ended or task.assignee != board_name(node) or sender not in (None, task.sender):
        raise Forbidden(NO_TASK)
    return task.id


def _sender(who: Principal) -> str:
    """Return the sender's name on the board."""
    return HUB if who.is_person else who.name
