"""Machines' signatures on statements: each machine that saw the work of a completed task is asked to sign.

The log tells every hub that a task is completed; the hub that holds the machine's link asks it, or the hub that runs on
it. A machine that is away is asked when it comes back.
"""

import asyncio
from collections.abc import Iterable
from uuid import UUID

from hubbub.core.fleet import nodes
from hubbub.core.people import projects
from hubbub.core.work import machine_keys
from hubbub.model.fleet.link_protocol import MessageKind, message
from hubbub.model.fleet.protocol_versions import SIGNS
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Activity
from hubbub.model.work.signatures import Answer, Witness
from hubbub.serve.fleet.linked_nodes import LinkedNodes
from hubbub.serve.fleet.node_link import NodeLink
from hubbub.serve.fleet.signature_check import is_signed
from hubbub.store.tx import Tx

COMPLETED = "task.completed"


class ProofSigning:
    """Asks the machines of one hub for their signatures; `own` is the machine that the hub runs on, if it has a key."""

    def __init__(self, fleet: LinkedNodes, own: Witness | None) -> None:
        self._fleet, self._own = fleet, own
        self._own_id: UUID | None = None

    async def begin(self, slug: str, name: str) -> None:
        """Introduce the hub's own machine, which is present under that name, and have it sign what it missed."""
        own = self._own
        if own is None:
            return

        def introduce(tx: Tx) -> UUID:
            machine = nodes.find(tx, projects.find(tx, slug), name)
            machine_keys.introduce(tx, machine, own.public, is_own=True)
            return machine.id

        self._own_id = await self._fleet.transactions.write(SYSTEM, introduce)
        await self._sign_here()

    def hear(self, activities: Iterable[Activity]) -> None:
        """Take the activities; does not block."""
        projects_of = {each.project_id for each in activities if each.kind == COMPLETED}
        if not projects_of:
            return
        if self._own_id is not None:
            self._fleet.soon(self._sign_here())
        for link in self._fleet.links():
            if link.project.id in projects_of:
                self.ask(link)

    def ask(self, link: NodeLink) -> None:
        """Ask a linked machine for the signatures that it owes."""
        if link.version >= SIGNS:
            self._fleet.soon(self._ask(link))

    async def _ask(self, link: NodeLink) -> None:
        owed = await self._owed(link.machine.id)
        for task_id, payload in owed:
            link.say(message(MessageKind.SIGN, task_id=str(task_id), payload=payload))

    async def _sign_here(self) -> None:
        own, own_id = self._own, self._own_id
        if own is None or own_id is None:
            return
        for task_id, payload in await self._owed(own_id):
            answer = await asyncio.to_thread(own.answer, payload)

            def keep(tx: Tx, task_id: UUID = task_id, answer: Answer = answer) -> None:
                machine_keys.take_answer(tx, own_id, task_id, answer, is_signed)

            await self._fleet.transactions.write(SYSTEM, keep)

    async def _owed(self, machine_id: UUID) -> list[tuple[UUID, str]]:
        return await self._fleet.transactions.read(
            SYSTEM, lambda tx: machine_keys.open_requests(tx, machine_id)
        )
