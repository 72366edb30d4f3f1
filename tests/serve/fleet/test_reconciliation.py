"""A hub that is started anew knows what it has ordered; a machine that floods or takes nothing harms only itself."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from hubbub.core.fleet import dispatches
from hubbub.model.fleet.dispatches import DispatchStatus
from hubbub.model.fleet.link_protocol import MessageKind
from hubbub.model.ids import new_id, parse_id
from hubbub.serve.fleet.node_requests import MOST
from hubbub.serve.fleet.timings import Timings
from tests.serve.fleet.questions import asking, owner
from tests.serve.fleet.scripted_machine import Field, Json, field_of, quick
from tests.serve.fleet.test_node_requests import act
from tests.serve.live.event_streams import following
from tests.serve.served_hub import running_hub

EXEC: Json = {"operation": "exec", "hostname": "web1", "command": "true"}
DONE: Json = {"stdout": "", "stderr": "", "exit_code": 0}


@dataclass
class Restarting:
    """A hub that can be started anew on its data."""

    data: Path
    running: ExitStack = field(default_factory=ExitStack)

    def start(self, pace: Timings | None = None) -> Field:
        self.running.close()
        hub = self.running.enter_context(running_hub(self.data, pace or quick(), no_node=True))
        return self.running.enter_context(field_of(hub))


@pytest.fixture
def restarting(tmp_path: Path) -> Iterator[Restarting]:
    made = Restarting(tmp_path / "hub")
    with made.running:
        yield made


def test_an_order_outlives_the_hub(restarting: Restarting) -> None:
    """A machine that worked while the hub was started anew tells its outcome, and the same call with its key has it."""
    before = restarting.start()
    machine, agent = before.machine(), before.agent()
    line = machine.linked()
    before.pool.submit(agent.call, "connect", key="k", **EXEC)
    order = line.take()
    line.cut()

    after = restarting.start()
    line = replace(machine, hub=after.hub, closing=after.closing).linked(running=[order["order"]])
    line.end(order, DONE)
    line.kept(order)
    again = replace(agent, url=after.hub.url, pool=after.pool)
    assert again.call("connect", key="k", **EXEC) == DONE


def test_what_was_asked_and_acted_outlives_the_hub(restarting: Restarting) -> None:
    """A question is the same after the hub was started anew, and what was done for an order is not done again."""
    before = restarting.start()
    machine, approval_id = before.machine(), str(uuid4())
    line = machine.linked()
    before.pool.submit(before.agent().call, "ask_agent", hostname="web1", prompt="p")
    order = line.take()
    line.ask("put", order, **asking(approval_id))
    line.granted()
    line.ask("act", order, "r2", act=act("issue_create", {"title": "once"}))
    assert line.granted("r2")["value"]["id"] == "1"
    line.cut()

    after = restarting.start()
    line = replace(machine, hub=after.hub, closing=after.closing).linked(running=[order["order"]])
    line.ask("ask", order, "r3", **asking(approval_id))
    line.ask("act", order, "r2", act=act("issue_create", {"title": "once"}))
    assert line.granted("r2")["value"]["id"] == "1"
    owner(after).post(f"/approvals/{approval_id}/approve")
    assert line.granted("r3")["ruling"] == "approved"


def test_an_order_that_nobody_waits_for_is_not_begun(restarting: Restarting) -> None:
    """An order that had not reached its machine when the hub was started anew is not begun long after."""
    before = restarting.start()
    machine = before.machine()
    line = machine.linked()
    before.pool.submit(before.agent().call, "connect", **EXEC)
    order = line.the(MessageKind.ORDER)
    line.cut()

    after = restarting.start(quick(back=timedelta()))
    line = replace(machine, hub=after.hub, closing=after.closing).linked()
    line.ask("key")
    assert line.granted() == {"key": None}
    dispatch_id = parse_id(order["order"])
    assert dispatch_id is not None
    found = after.hub.do(lambda tx: dispatches.find(tx, dispatch_id))
    assert (found.status, found.outcome.code) == (DispatchStatus.ENDED, "offline")


def test_a_flood_is_taken_in_order(restarting: Restarting) -> None:
    """A machine that says very much is heard as fast as it is understood, and others are served meanwhile."""
    field = restarting.start()
    line, other = field.machine().linked(), field.machine("db1").linked()
    for _ in range(2000):
        line.end({"order": str(new_id())}, DONE)
    coming = field.agent().soon("connect", **{**EXEC, "hostname": "db1"})
    other.end(other.take(), DONE)
    assert coming.result() == DONE
    for _ in range(2000):
        line.the(MessageKind.KEPT)


def test_a_machine_has_so_many_requests(restarting: Restarting) -> None:
    """A machine's request beyond the hub's limit at a time is refused, and its earlier ones are done."""
    field = restarting.start()
    line = field.machine().linked()
    field.agent().soon("ask_agent", hostname="web1", prompt="p")
    order, approval_id = line.take(), str(uuid4())
    for number in range(MOST + 1):
        line.ask("ask", order, f"r{number}", **asking(approval_id))
    assert line.refusal(f"r{MOST}") == ("conflict", "too much is asked for at once; ask again later")
    owner(field).post(f"/approvals/{approval_id}/deny")
    replies = [line.the(MessageKind.REPLY) for _ in range(MOST)]
    assert {reply["id"] for reply in replies} == {f"r{number}" for number in range(MOST)}
    assert {reply["value"]["ruling"] for reply in replies} == {"denied"}
    line.cut()


@pytest.mark.system
def test_a_machine_that_takes_nothing_loses_its_link(restarting: Restarting) -> None:
    """A link that takes nothing for too long is given up, and its machine may come back."""
    field = restarting.start(quick(stall=timedelta(milliseconds=100), moment=timedelta()))
    machine, agent = field.machine(), field.agent()
    with following(field.hub.url, field.hub.owner_secret, kind="node.offline") as news:
        line = machine.linked()
        for number in range(3):
            agent.on("web1").soon("write_file", path=f"f{number}", content="x" * 9_000_000)
        news.next()
        line.cut()
    machine.linked().cut()
