"""Several hubs over one PostgreSQL: a machine is linked to one of them, and callers are at any."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hubbub.model.fleet.link_protocol import MessageKind
from tests.serve.fleet.scripted_machine import Field, Json, field_of, quick
from tests.serve.served_hub import Hub, running_hub

EXEC: Json = {"operation": "exec", "hostname": "web1", "command": "true"}
DONE: Json = {"stdout": "", "stderr": "", "exit_code": 0}


@pytest.fixture
def both(tmp_path: Path, postgres_url: str) -> Iterator[tuple[Field, Hub]]:
    """Two hubs; the machines of the field are linked to the first."""
    settings: Json = {"database": postgres_url, "no_node": True}
    with (
        running_hub(tmp_path / "one", quick(), **settings) as one,
        running_hub(tmp_path / "two", quick(), **settings) as two,
        field_of(one) as made,
    ):
        yield made, two


def test_an_order_finds_its_machine_at_another_hub(both: tuple[Field, Hub]) -> None:
    """A call that comes to one hub reaches a machine that is linked to another, and its outcome comes back."""
    field, two = both
    line = field.machine().linked()
    coming = field.agent(hub=two).soon("connect", **EXEC)
    order = line.take()
    line.end(order, DONE)
    line.kept(order)
    assert coming.result() == DONE


def test_who_gives_up_at_another_hub_has_the_machine_told(both: tuple[Field, Hub]) -> None:
    """A caller that leaves one hub has the order called off at the other."""
    field, two = both
    line, agent = field.machine().linked(), field.agent(hub=two)
    with agent.leaving("connect", EXEC):
        order = line.take()
    assert line.the(MessageKind.CANCEL)["order"] == order["order"]


def test_a_machine_moves_from_one_hub_to_another(both: tuple[Field, Hub]) -> None:
    """A machine that comes back to another hub goes on there, and who waits at the first has its outcome."""
    field, two = both
    machine = field.machine()
    line = machine.linked()
    coming = field.agent().soon("connect", **EXEC)
    order = line.take()
    line.cut()
    machine.hub = two
    line = machine.linked(running=[order["order"]])
    line.end(order, DONE)
    line.kept(order)
    assert coming.result() == DONE


def test_the_hub_acts_for_who_called_at_another(both: tuple[Field, Hub]) -> None:
    """A machine's call back is done by the hub that it is linked to, whichever hub the call came by."""
    field, two = both
    line = field.machine().linked()
    field.agent(hub=two).soon("ask_agent", hostname="web1", prompt="p")
    order = line.take()
    who = {"project": "x", "name": "x", "token_id": None, "is_person": False}
    asked = {"who": who, "tool": "issue_create", "arguments": {"title": "bug"}, "chain": []}
    line.ask("act", order, act=asked)
    assert line.granted()["value"]["id"] == "1"


def test_a_machine_that_is_nowhere_is_offline(both: tuple[Field, Hub]) -> None:
    """A machine that no hub has a link to is offline at all of them."""
    field, two = both
    field.machine()
    assert field.agent(hub=two).call("connect", **EXEC)["code"] == "offline"
