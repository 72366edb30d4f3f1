"""Two hubs over one PostgreSQL, of which one is killed: the work of its machines is the other's from then on."""

import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import pytest

from hubbub.serve.fleet.timings import Timings
from tests.cli.processes import RunningHub
from tests.conftest import address_of
from tests.serve.fleet.questions import asking, owner
from tests.serve.fleet.scripted_machine import Field, Json, Line, Machine, field_of, quick
from tests.serve.served_hub import running_hub

pytestmark = pytest.mark.system

EXEC: Json = {"operation": "exec", "hostname": "web1", "command": "true"}
DONE: Json = {"stdout": "", "stderr": "", "exit_code": 0}


class Both(NamedTuple):
    """The hub that stays, with its callers; the one that will be killed, and a machine that is linked to that."""

    field: Field
    doomed: RunningHub
    machine: Machine
    line: Line

    def kill(self) -> None:
        """Kill the hub as by `kill -9`."""
        self.doomed.stop(signal.SIGKILL)

    def moved(self, **holds: object) -> Line:
        """The machine's link to the hub that stays."""
        return replace(self.machine, hub=self.field.hub).linked(**holds)


@contextmanager
def _both(folder: Path, postgres_url: str, pace: Timings) -> Iterator[Both]:
    """Run two hubs, one with this pace that stays, and one to be killed."""
    with (
        running_hub(folder / "stays", pace, database=postgres_url, no_node=True) as stays,
        field_of(stays) as field,
    ):
        database = address_of(postgres_url)
        doomed = RunningHub(
            folder / "doomed",
            settings={"HUBBUB_DATABASE": database, "HUBBUB_NO_NODE": "1"},
        )
        field.closing.callback(doomed.close)
        doomed.start()
        machine = replace(field.machine(), hub=doomed)
        yield Both(field, doomed, machine, machine.linked())


@pytest.fixture
def both(tmp_path: Path, postgres_url: str) -> Iterator[Both]:
    """Two hubs with the usual patience for the machine, however long it takes to come back."""
    with _both(tmp_path, postgres_url, quick(back=Timings().back)) as made:
        yield made


@pytest.fixture
def hasty(tmp_path: Path, postgres_url: str) -> Iterator[Both]:
    """Two hubs with little patience for the machine."""
    with _both(tmp_path, postgres_url, quick()) as made:
        yield made


def test_who_waits_at_the_other_hub_has_the_outcome(both: Both) -> None:
    """The machine goes on at the hub that is left, with the order that it has at work."""
    coming = both.field.agent().soon("connect", **EXEC)
    order = both.line.take()
    both.kill()
    line = both.moved(running=[order["order"]])
    line.end(order, DONE)
    line.kept(order)
    assert coming.result() == DONE


def test_what_the_machine_has_not_noted_goes_by_the_other_hub(both: Both) -> None:
    """An order that went down with its hub is sent by the one that is left, with the same id."""
    coming = both.field.agent().soon("connect", **EXEC)
    order = both.line.hear()
    both.kill()
    line = both.moved()
    again = line.take()
    assert again["order"] == order["order"]
    line.end(again, DONE)
    assert coming.result() == DONE


def test_a_machine_that_went_down_with_its_hub_is_offline(hasty: Both) -> None:
    """Nobody waits for ever: the caller hears of which order, and has its result by the same key later."""
    agent = hasty.field.agent()
    coming = agent.soon("connect", key="k", **EXEC)
    order = hasty.line.take()
    hasty.kill()
    told = coming.result()
    assert told["code"] == "offline"
    assert order["order"] in told["error"]

    line = hasty.moved(ended=[order["order"]])
    line.end(order, DONE)
    line.kept(order)
    assert agent.call("connect", key="k", **EXEC) == DONE


def test_a_hub_that_is_killed_is_missed(both: Both) -> None:
    """Its machines are away once the database has let go of what it held, long before its last word is over."""
    people = owner(both.field)
    (before,) = people.get("/nodes")["nodes"]
    assert before["online"]

    both.kill()
    with closing(people.follow(after="0")) as frames:
        away = next(frame.data for frame in frames if frame.data["kind"] == "node.offline")

    assert away["detail"]["node"] == both.machine.name
    assert not people.get("/nodes")["nodes"][0]["online"]


def test_what_waits_for_a_hub_that_is_gone_is_taken_back(hasty: Both) -> None:
    """An order that no hub has sent is offline after a moment, and is not sent when the machine comes."""
    hasty.kill()
    agent = hasty.field.agent()
    assert agent.call("connect", **EXEC)["code"] == "offline"

    line = hasty.moved()
    coming = agent.soon("connect", operation="exec", hostname="web1", command="echo new")
    order = line.take()
    assert order["arguments"]["command"] == "echo new"
    line.end(order, DONE)
    assert coming.result() == DONE


def test_a_question_goes_on_at_the_other_hub(both: Both) -> None:
    """It is put again where the machine is linked next, under its id, and was not two questions."""
    coming = both.field.agent().soon("connect", **EXEC)
    order = both.line.take()
    asked = asking(str(uuid4()))
    both.line.ask("put", order, **asked)
    both.line.granted()
    both.kill()

    line = both.moved(running=[order["order"]])
    line.ask("ask", order, "r2", **asked)
    people = owner(both.field)
    (waiting,) = people.get("/approvals", status="pending")["approvals"]
    assert waiting["id"] == asked["approval_id"]
    people.post(f"/approvals/{waiting['id']}/approve")
    assert line.granted("r2")["ruling"] == "approved"
    line.end(order, DONE)
    assert coming.result() == DONE
