"""Agents that are started and stopped on machines over REST, by calls that are repeated with their key."""

from concurrent.futures import Future
from typing import Any

import httpx2
import pytest

from tests.serve.fleet.scripted_machine import Field, Json, Line
from tests.serve.web_client import Visit, Web, done, refusal

STARTED = {"pid": 4711}


@pytest.fixture
def person(field: Field, visit: Visit) -> Web:
    return visit(field.hub, field.hub.owner_secret)


def soon(field: Field, person: Web, deed: str, key: str = "k") -> "Future[httpx2.Response]":
    """Begin to start or stop the agent `coder`, with a key."""
    body = {"node": "web1", "run": "cat"} if deed == "start" else {}
    headers: Any = {"Idempotency-Key": key}
    return field.pool.submit(person.post, f"/agents/coder/{deed}", body, **headers)


def end(line: Line, order: Json) -> None:
    line.end(order, STARTED)
    line.kept(order)


def test_calls_with_one_key_start_an_agent_once(field: Field, person: Web) -> None:
    """Of calls with the same key, side by side or later, one places the agent; the machine starts it once for all."""
    line = field.machine().linked()
    coming = [soon(field, person, "start") for _ in range(4)]
    end(line, line.take())

    for each in (*coming, soon(field, person, "start")):
        placed = done(each.result())["placement"]
        assert (placed["agent"], placed["status"], placed["pid"]) == ("coder", "running", 4711)
    assert refusal(soon(field, person, "start", key="another").result()) == (409, "conflict")


@pytest.mark.parametrize("deed", ["start", "stop"])
def test_a_repeated_call_hears_of_the_order_that_it_had_begun(field: Field, person: Web, deed: str) -> None:
    """While the machine is away, a start or stop that is repeated with its key is not told that nothing was done."""
    line = field.machine().linked()
    if deed == "stop":
        starting = soon(field, person, "start", key="before")
        end(line, line.take())
        done(starting.result())
    coming = soon(field, person, deed)
    order = line.take()
    line.cut()

    for each in (coming.result(), soon(field, person, deed).result()):
        assert refusal(each) == (409, "offline")
        assert order["order"] in each.text
        assert "nothing was done" not in each.text


def test_a_start_on_an_absent_machine_leaves_nothing(field: Field, person: Web) -> None:
    """A start with a key on a machine that is not there places nothing, and the key is free for another try."""
    machine = field.machine()
    refused = soon(field, person, "start").result()
    assert (refusal(refused), "nothing was done" in refused.text) == ((409, "offline"), True)
    assert done(person.get("/placements"))["placements"] == []

    line = machine.linked()
    coming = soon(field, person, "start")
    end(line, line.take())
    assert done(coming.result())["placement"]["status"] == "running"
