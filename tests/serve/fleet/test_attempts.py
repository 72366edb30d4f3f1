"""Calls whose attempts are counted: a late one is told what a later one was told, and never done after a refusal."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import UUID

import httpx2
import pytest

from hubbub.core.fleet import dispatches
from tests.serve.fleet.scripted_machine import Agent, Field, Json, Line, field_of, quick
from tests.serve.served_hub import running_hub
from tests.serve.web_client import Visit, Web, done, refusal
from tests.support.waiting import until

EXEC: Json = {"operation": "exec", "hostname": "web1", "command": "true"}
DONE: Json = {"stdout": "", "stderr": "", "exit_code": 0}
DENIED: Json = {"error": "permission_denied", "code": "denied", "reason": "the policy denies it"}


@dataclass
class Place:
    """A hub over one of the two engines, which may be started anew, or have a second beside it."""

    folder: Path
    settings: Json
    closing: ExitStack = field(default_factory=ExitStack)

    def hub(self, name: str = "hub") -> Field:
        hub = self.closing.enter_context(
            running_hub(self.folder / name, quick(), no_node=True, **self.settings)
        )
        return self.closing.enter_context(field_of(hub))

    def restarted(self) -> Field:
        self.closing.close()
        return self.hub()


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    is_postgres = request.param == "postgres"
    settings = {"database": request.getfixturevalue("postgres_url")} if is_postgres else {}
    found = Place(tmp_path, settings)
    with found.closing:
        yield found


def ended(line: Line, outcome: Json) -> None:
    """The machine takes an order, and ends it."""
    order = line.take()
    line.end(order, outcome, is_error="error" in outcome)
    line.kept(order)


def idle(line: Line) -> None:
    """The hub says nothing to the machine that it has not heard yet."""
    line.ask("key")
    line.granted()


def counted(agent: Agent, attempt: int) -> Callable[[], Json]:
    return lambda: agent.call("connect", key="k", attempt=attempt, **EXEC)


def test_a_late_attempt_is_not_done_after_a_refusal(place: Place) -> None:
    """An attempt that comes late is told what a later one was told, word for word; the next one is done, once."""
    here = place.hub()
    machine, agent = here.machine(), here.agent()
    told = counted(agent, 2)()
    assert (told["code"], "nothing was done" in told["error"]) == ("offline", True)

    line = machine.linked()
    assert [counted(agent, attempt)() for attempt in (1, 2)] == [told, told]
    idle(line)

    coming = agent.soon("connect", key="k", attempt=3, **EXEC)
    ended(line, DONE)
    assert coming.result() == DONE
    assert [counted(agent, attempt)() for attempt in (1, 2, 3, 4)] == [DONE] * 4
    idle(line)


def test_a_refusal_outlives_the_hub(place: Place) -> None:
    """A hub that was started anew knows which attempts were refused, and which call was done after that."""
    here = place.hub()
    machine, agent = here.machine(), here.agent()
    told = counted(agent, 2)()

    here = place.restarted()
    line = replace(machine, hub=here.hub, closing=here.closing).linked()
    agent = replace(agent, url=here.hub.url, pool=here.pool)
    assert counted(agent, 1)() == told
    coming = agent.soon("connect", key="k", attempt=3, **EXEC)
    ended(line, DONE)
    assert coming.result() == DONE

    agent = replace(agent, url=place.restarted().hub.url)
    assert counted(agent, 1)() == DONE


def test_a_refusal_counts_at_every_hub(tmp_path: Path, postgres_url: str) -> None:
    """What one hub has refused, another hub of the database refuses too, though the machine is linked to it."""
    place = Place(tmp_path, {"database": postgres_url})
    with place.closing:
        one, two = place.hub("one"), place.hub("two")
        machine, agent = one.machine(), one.agent()
        told = counted(replace(agent, url=two.hub.url), 2)()
        line = machine.linked()
        assert counted(agent, 1)() == told
        idle(line)
        coming = replace(agent, url=two.hub.url).soon("connect", key="k", attempt=3, **EXEC)
        ended(line, DONE)
        assert coming.result() == DONE


def test_what_a_machine_refuses_counts_as_well(place: Place) -> None:
    """A late attempt is told the refusal of the machine, which does not hear of it; a later one reaches the machine."""
    here = place.hub()
    line, agent = here.machine().linked(), here.agent()
    coming = agent.soon("connect", key="k", attempt=2, **EXEC)
    ended(line, DENIED)
    assert coming.result() == DENIED
    assert counted(agent, 1)() == DENIED
    coming = agent.soon("connect", key="k", attempt=3, **EXEC)
    ended(line, DONE)
    assert coming.result() == DONE
    idle(line)


def attempt_of(field: Field, order: Json) -> int | None:
    """The highest number among the calls of an order."""
    found = field.hub.do(lambda tx: dispatches.find(tx, UUID(order["order"])))
    attempt: int | None = found.attempt
    return attempt


def test_all_attempts_at_one_order_are_refused_together(field: Field) -> None:
    """Where several attempts wait for one order and it is refused, none of them is done, even if it comes again."""
    line, agent = field.machine().linked(), field.agent()
    first = agent.soon("connect", key="k", attempt=1, **EXEC)
    order = line.take()
    second = agent.soon("connect", key="k", attempt=2, **EXEC)
    until(lambda: attempt_of(field, order) == 2, "the second attempt")
    line.end(order, DENIED, is_error=True)
    line.kept(order)
    assert (first.result(), second.result()) == (DENIED, DENIED)
    assert [counted(agent, attempt)() for attempt in (1, 2)] == [DENIED, DENIED]


def test_an_order_that_was_refused_is_never_sent(field: Field) -> None:
    """A machine that comes after a refusal gets nothing of the order, on its next link or as a new process."""
    machine, agent = field.machine(), field.agent()
    told = counted(agent, 1)()
    for each in (machine, machine, machine.again()):
        line = each.linked()
        idle(line)
        assert counted(agent, 1)() == told
        line.cut()


def test_a_call_without_a_number_is_the_first(field: Field) -> None:
    """Callers that do not count may try again after a refusal; beside attempts that are counted they are the first."""
    machine, agent = field.machine(), field.agent()
    assert agent.call("connect", key="uncounted", **EXEC)["code"] == "offline"
    told = counted(agent, 2)()
    line = machine.linked()
    assert agent.call("connect", key="k", **EXEC) == told
    coming = agent.soon("connect", key="uncounted", **EXEC)
    ended(line, DONE)
    assert coming.result() == DONE


@pytest.mark.parametrize(
    ("path", "tool", "given"),
    [
        ("/mcp/cmdop", "connect", EXEC),
        ("/mcp/cmdop", "ask_agent", {"hostname": "web1", "prompt": "hi"}),
        ("/mcp/cmdop", "ask_agents", {"hostnames": ["WEB1"], "prompt": "hi"}),
        ("/mcp", "ask", {"machine": "web1", "command": "true"}),
    ],
)
def test_every_tool_for_machines_counts(field: Field, path: str, tool: str, given: Json) -> None:
    """The number may come in `_meta` beside the key, for each tool that gives orders."""
    machine, agent = field.machine(), replace(field.agent(), path=path)

    def call(attempt: int) -> Json:
        return agent.call(tool, meta=meta(attempt), **given)

    told = str(call(2))
    assert "is not connected" in told
    line = machine.linked()
    assert str(call(1)) == told
    idle(line)
    coming = agent.soon(tool, meta=meta(3), **given)
    ended(line, DONE)
    assert "is not connected" not in str(coming.result())


def meta(attempt: int) -> Json:
    return {"hubbub/idempotency-key": "k", "hubbub/idempotency-attempt": attempt}


def test_a_number_belongs_to_the_key_beside_it(field: Field) -> None:
    """The number in a header counts for the key in a header, and not for one in `_meta` or among the arguments."""
    machine, agent = field.machine(), field.agent()
    own = {"hubbub/idempotency-key": "own"}
    asking = replace(agent, path="/mcp")
    agent.call("connect", key="between", attempt=5, meta=own, **EXEC)
    given = {"machine": "web1", "command": "true", "key": "asked"}
    asking.result("ask", given, key="between", attempt=5)
    line = machine.linked()
    coming = agent.soon("connect", key="between", attempt=5, meta=own, **EXEC)
    ended(line, DONE)
    assert coming.result() == DONE
    coming = field.pool.submit(asking.result, "ask", given, key="between", attempt=5)
    ended(line, DONE)
    assert "is not connected" not in str(coming.result())


@pytest.fixture
def person(field: Field, visit: Visit) -> Web:
    return visit(field.hub, field.hub.owner_secret)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/nodes/web1/run", {"command": "true"}),
        ("/agents/coder/start", {"node": "web1", "run": "cat"}),
    ],
)
def test_rest_counts_in_a_header(field: Field, person: Web, path: str, body: Json) -> None:
    """A command and a start of an agent over REST are refused alike when they come late, and leave nothing."""
    machine = field.machine()

    def post(attempt: int) -> httpx2.Response:
        headers = {"Idempotency-Key": "k", "Idempotency-Attempt": str(attempt)}
        return person.post(path, body, **headers)

    refused = post(2)
    line = machine.linked()
    late = post(1)
    for each in (refused, late):
        assert refusal(each) == (409, "offline")
    assert late.text == refused.text
    idle(line)
    assert done(person.get("/placements"))["placements"] == []
    coming = field.pool.submit(post, 3)
    ended(line, {**DONE, "pid": 4711})
    assert done(coming.result())


@pytest.mark.parametrize("number", ["0", "-1", "x", "1.5", "9007199254740992", "9" * 5000])
def test_a_number_that_is_none_is_refused(field: Field, person: Web, number: str) -> None:
    """A number of an attempt is whole and at least 1; with another the call is refused and nothing is begun."""
    line, headers = field.machine().linked(), {"Idempotency-Key": "k", "Idempotency-Attempt": number}
    assert refusal(person.post("/nodes/web1/run", {"command": "true"}, **headers)) == (400, "invalid")
    agent = field.agent()
    for error in (
        replace(agent, headers=headers).error("connect", EXEC),
        agent.error("connect", EXEC, {**meta(1), "hubbub/idempotency-attempt": number}),
    ):
        assert "the number of an attempt is a whole number from 1 to" in error
    idle(line)


def test_a_machines_own_requests_are_not_done_after_a_refusal(field: Field) -> None:
    """A request of an agent on a machine that is repeated, because its reply was lost, is told the same refusal."""
    line, other = field.machine().linked(), field.machine("db1")
    field.agent().soon("ask_agent", hostname="web1", prompt="p")
    order = line.take()
    who = {"project": "x", "name": "x", "token_id": None, "is_person": False}
    arguments = {**EXEC, "hostname": "db1"}
    asked = {"who": who, "tool": "connect", "arguments": arguments, "chain": []}
    line.ask("act", order, act=asked)
    told = line.granted()
    assert "is not connected" in str(told)

    there = other.linked()
    line.ask("act", order, act=asked)
    assert line.granted() == told
    idle(there)
