"""Several hubs over one store: an order may wait at one hub for a machine that is linked to another.

The log, which every hub follows, tells them: that an order waits, for the hub with the link; that it has ended, for the
hub whose caller waits for it.
"""

from collections.abc import Iterable
from uuid import UUID

from hubbub.core.fleet import dispatches
from hubbub.model.fleet.dispatches import ENDED
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Activity
from hubbub.serve.fleet.linked_nodes import LinkedNodes
from hubbub.serve.fleet.node_link import NodeLink

QUEUED, OVER = "dispatch.queued", "dispatch.ended"  # kinds of activities


class OtherHubs:
    """Follows orders that this hub has not sent, and ends that did not come over its own links."""

    def __init__(self, fleet: LinkedNodes) -> None:
        self._fleet = fleet

    def hear(self, activities: Iterable[Activity]) -> None:
        """Take the activities; does not block."""
        for each in activities:
            if each.kind == QUEUED and each.project_id is not None:
                link = self._fleet.named(each.project_id, str(each.detail["node"]))
                if link is not None:
                    self._fleet.soon(self._send(link, UUID(str(each.detail["dispatch_id"]))))
            elif each.kind == OVER:
                self._ended(UUID(str(each.detail["dispatch_id"])))

    def _ended(self, dispatch_id: UUID) -> None:
        held = self._fleet.held.pop(dispatch_id, None)
        link = self._fleet.link_of(held.machine) if held is not None else None
        if link is not None:
            link.cancel(dispatch_id)  # another has ended it
        if dispatch_id in self._fleet.waiters:
            self._fleet.soon(self._fetch(dispatch_id))

    async def _send(self, link: NodeLink, dispatch_id: UUID) -> None:
        sent = await self._fleet.transactions.write(SYSTEM, lambda tx: dispatches.send(tx, dispatch_id))
        if sent is not None and sent.machine == link.machine.id:
            self._fleet.hand_over(sent)

    async def _fetch(self, dispatch_id: UUID) -> None:
        found = await self._fleet.transactions.read(SYSTEM, lambda tx: dispatches.find(tx, dispatch_id))
        if found is not None and found.status in ENDED:
            self._fleet.settle(found)
