"""Orders for a machine while the store is slow, and the caller or the machine just leaves."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

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
from hubbub.serve.fleet.node_link import NodeLink
from hubbub.serve.fleet.node_socket import NodeSocket
from hubbub.serve.fleet.remote_nodes import RemoteNode, RemoteNodes
from hubbub.serve.live.subscribers import Subscriber
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


class _Line:
    """The machine's end of a link."""

    def __init__(self) -> None:
        self.heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def say(self, text: str) -> None:
        self.heard.put_nowait(json.loads(text))


@asynccontextmanager
async def _busy(store: Store) -> AsyncIterator[None]:
    """Let the store do nothing else until the context ends."""
    is_busy, may_end = threading.Event(), threading.Event()

    def work(_tx: Tx) -> None:
        is_busy.set()
        assert may_end.wait(patience())

    working = asyncio.create_task(asyncio.to_thread(store.write_now, SYSTEM, work))
    assert await asyncio.to_thread(is_busy.wait, patience())
    try:
        yield
    finally:
        may_end.set()
        await working


async def test_an_order_whose_caller_left_while_it_was_stored_is_called_off(sqlite_store: Store) -> None:
    """The machine gets it with word that nobody wants it: a newer link may have it already, so only the machine can say
    that it is not done.
    """
    project, machine, order = sqlite_store.write_now(SYSTEM, _world)
    fleet, line, follower = LinkedNodes(Transactions(sqlite_store), "hub"), _Line(), Subscriber(SYSTEM)
    link = NodeLink(
        cast(NodeSocket, line), follower, project, machine, instance="one", url="http://hub", version=1
    )
    assert await fleet.admit(link) is None
    writing = asyncio.create_task(link.write(welcome=json.dumps({"kind": "welcome"})))

    async with _busy(sqlite_store):
        left = asyncio.create_task(RemoteNode(fleet, project, machine).perform(order))
        await asyncio.sleep(0)
        left.cancel()
        await asyncio.sleep(0)

    async with asyncio.timeout(patience()):
        said = [(await line.heard.get())["kind"] for _ in range(3)]
    assert said == ["welcome", "order", "cancel"]
    follower.end()
    await writing
    assert left.cancelled()
