"""Keys of orders for a machine, where the store is slow and the machine just leaves."""

import asyncio
import threading

import pytest

from hubbub.core.fleet import dispatches, enrolment, nodes
from hubbub.core.people import access, projects, users
from hubbub.core.transaction import Transactions
from hubbub.model.fleet.calls import NodeCall, NodeInfo, Principal
from hubbub.model.fleet.dispatches import Dispatch, DispatchStatus
from hubbub.model.fleet.nodes import Machine
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Project
from hubbub.serve.fleet.linked_nodes import LinkedNodes
from hubbub.serve.fleet.remote_nodes import RemoteNodes
from hubbub.store.tx import Store, Tx
from tests.support.waiting import patience

pytestmark = pytest.mark.anyio

ABOUT = NodeInfo(name="web1", machine_id="m", platform="Linux", version="1", sandbox="none")


def _world(tx: Tx) -> tuple[Project, Machine, NodeCall]:
    """A project with a machine, and an order for it with a key."""
    secret = users.first_start(tx)
    assert secret is not None
    tx.actor = access.authenticate(tx, secret)
    project = projects.create(tx, "lab")
    enrolment.join(tx, project, ABOUT)
    who = Principal(project="lab", name="ada", token_id=str(tx.actor.token_id), is_person=True)
    order = NodeCall(who=who, tool="connect", arguments={"command": "true"}, key="k")
    return project, nodes.find(tx, project, ABOUT.name), order


async def test_a_key_that_is_just_being_used_is_waited_for(store: Store) -> None:
    """Of two calls with one key, the one that finds the machine gone waits for the other, whose order is on its way
    into the store: where it says that nothing was done, that order is never sent.
    """
    project, machine, order = store.write_now(SYSTEM, _world)
    has_begun, may_commit = threading.Event(), threading.Event()

    def first(tx: Tx) -> Dispatch:
        begun, _ = dispatches.begin(tx, project, machine, order, sent=False)
        has_begun.set()
        assert may_commit.wait(patience())
        return begun

    begun = asyncio.create_task(asyncio.to_thread(store.write_now, SYSTEM, first))
    assert await asyncio.to_thread(has_begun.wait, patience())
    try:
        node = await RemoteNodes(LinkedNodes(Transactions(store), "hub")).find("lab", "web1", order)
        assert node is not None
        second = asyncio.create_task(node.perform(order))
    finally:
        may_commit.set()
    dispatch, told = await begun, await second

    assert (told.code, "nothing was done" in (told.why or "")) == ("offline", True)
    kept = store.read_now(SYSTEM, lambda tx: dispatches.find(tx, dispatch.id))
    assert kept is not None
    assert kept.status is DispatchStatus.WITHDRAWN
    assert store.write_now(SYSTEM, lambda tx: dispatches.send(tx, dispatch.id)) is None
