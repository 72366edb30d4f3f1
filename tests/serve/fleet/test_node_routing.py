"""The machine of a call: the hub's own, one elsewhere, or several at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.dialects.cmdop.workshop import write_policy
from tests.serve.fleet.scripted_machine import Field, Json, field_of, quick
from tests.serve.served_hub import running_hub


@contextmanager
def own_machine(tmp_path: Path, rules: str) -> Iterator[Field]:
    """A hub with a machine of its own, whose agent is a program that says hello."""
    config, root = tmp_path / "config", tmp_path / "root"
    config.mkdir()
    root.mkdir()
    write_policy(
        config, root, "", f'[rules]\n{rules}\n[runtime]\nkind = "command"\ncommand = ["echo", "hello"]'
    )
    with running_hub(tmp_path / "hub", quick(), config=config) as hub, field_of(hub) as made:
        yield made


@pytest.fixture
def staffed(tmp_path: Path) -> Iterator[Field]:
    """The hub's machine lets its agent be asked."""
    rules = 'allow = ["ask_agents", "ask_agent", "connect", "execute_command(echo *)"]'
    with own_machine(tmp_path, rules) as made:
        yield made


@pytest.fixture
def asking(tmp_path: Path) -> Iterator[Field]:
    """The hub's machine asks a person before its agent is asked."""
    with own_machine(tmp_path, 'ask = ["ask_agents"]') as made:
        yield made


def said(text: str, host: str) -> Json:
    return {"by_host": {host: {"text": text, "tool_calls": []}}, "timed_out": []}


def test_several_are_asked_at_once(field: Field) -> None:
    """Each machine gets an order of its own, for itself; what they say is put together as they were named."""
    one, other = field.machine().linked(), field.machine("db1").linked()
    hosts = ["WEB1", "db1", "nobody", "web1"]
    coming = field.agent().soon("ask_agents", hostnames=hosts, prompt="p", per_host_timeout_ms=9000)
    for line, host in ((other, "db1"), (one, "web1")):
        order = line.take()
        assert (order["tool"], order["arguments"]["hostnames"]) == ("ask_agents", [host])
        assert (order["arguments"]["prompt"], order["arguments"]["per_host_timeout_ms"]) == ("p", 9000)
        line.end(order, said(f"I am {host}", host))
    answer = coming.result()
    assert list(answer["by_host"]) == ["WEB1", "db1", "nobody"]
    assert answer["by_host"]["WEB1"] == {"text": "I am web1", "tool_calls": []}
    assert answer["by_host"]["db1"] == {"text": "I am db1", "tool_calls": []}
    assert answer["by_host"]["nobody"] == {
        "error": "the machine 'nobody' is not connected",
        "code": "offline",
    }
    assert answer["timed_out"] == []


def test_a_slow_machine_keeps_nobody_waiting(field: Field) -> None:
    """A machine that has not answered in time has timed out, and is told that nobody waits any more."""
    one, other = field.machine().linked(), field.machine("db1").linked()
    coming = field.agent().soon("ask_agents", hostnames=["web1", "db1"], prompt="p", total_timeout_ms=1000)
    slow = one.take()
    other.end(other.take(), said("quick", "db1"))
    answer = coming.result()
    assert answer["timed_out"] == ["web1"]
    assert answer["by_host"]["web1"]["code"] == "timeout"
    assert answer["by_host"]["db1"]["text"] == "quick"
    cancelled = one.hear()
    assert (cancelled["kind"], cancelled["order"]) == ("cancel", slow["order"])


@pytest.mark.parametrize(
    ("value", "is_error", "entry"),
    [
        (
            {"error": "permission_denied", "code": "denied", "tool": "x"},
            True,
            {"error": "permission_denied", "code": "denied"},
        ),
        (
            {"by_host": {"web1": {"error": "late", "code": "timeout"}}},
            False,
            {"error": "late", "code": "timeout"},
        ),
        ({"by_host": {}}, False, {"error": "the machine's answer makes no sense", "code": "failed"}),
        ([], False, {"error": "the machine's answer makes no sense", "code": "failed"}),
    ],
)
def test_what_one_machine_refuses_is_its_entry(
    field: Field, value: object, is_error: bool, entry: Json
) -> None:
    """A machine that says no, or nonsense, has an entry that says so, and harms no other."""
    line = field.machine().linked()
    coming = field.agent().soon("ask_agents", hostnames=["web1", "gone"], prompt="p")
    line.end(line.take(), value, is_error=is_error)
    answer = coming.result()
    assert answer["by_host"]["web1"] == entry
    assert answer["timed_out"] == (["web1"] if entry["code"] == "timeout" else [])


def test_the_hubs_own_machine_is_one_of_them(staffed: Field) -> None:
    """The hub's machine is asked behind its own gate, beside the others."""
    own = "localhost"
    line = staffed.machine().linked()
    coming = staffed.agent().soon("ask_agents", hostnames=[own, "web1"], prompt="p")
    line.end(line.take(), said("far", "web1"))
    by_host = coming.result()["by_host"]
    assert (by_host[own]["text"].strip(), by_host["web1"]["text"]) == ("hello", "far")


def test_a_silent_person_is_told_from_a_late_agent(field: Field) -> None:
    """A person beside a machine has less time than the caller of ask_agents waits; `needs_approval` says so."""
    line = field.machine().linked()
    coming = field.agent().soon("ask_agents", hostnames=["web1"], prompt="p", per_host_timeout_ms=9000)
    order = line.take()
    assert order["patience_ms"] == 8000
    sentence = "this needs a person's approval, and no person answered within 8 s; nothing was done"
    line.end(order, {"error": sentence, "code": "needs_approval", "approval_id": "x"}, is_error=True)
    assert coming.result() == {
        "by_host": {"web1": {"error": sentence, "code": "needs_approval"}},
        "timed_out": [],
    }


def test_the_hubs_own_machine_tells_of_a_silent_person(asking: Field) -> None:
    """Among several, the hub's own machine does not let its question outlast the caller either."""
    answer = asking.agent().call(
        "ask_agents", hostnames=["localhost", "gone"], prompt="p", per_host_timeout_ms=1000
    )
    assert answer["timed_out"] == []
    assert answer["by_host"]["localhost"]["code"] == "needs_approval"
    assert "no person answered" in answer["by_host"]["localhost"]["error"]


def test_an_order_for_another_machine_does_not_ask_the_hubs_own(staffed: Field) -> None:
    """The gate of the hub's machine has nothing to say about another machine."""
    line = staffed.machine().linked()
    coming = staffed.agent().soon("connect", operation="exec", hostname="web1", command="rm -rf /")
    order = line.take()
    line.end(order, {"error": "permission_denied", "code": "denied"}, is_error=True)
    assert coming.result()["code"] == "denied"
    here = staffed.agent().call("connect", operation="exec", hostname="localhost", command="rm -rf /")
    assert (here["code"], here["source"]) == ("denied", "floor")


def test_a_command_on_the_hubs_own_machine_is_done_once_for_a_key(staffed: Field) -> None:
    """`connect exec` on the hub's machine, made again with the same key, is not run again."""
    agent = staffed.agent()
    arguments: Json = {
        "operation": "exec",
        "hostname": "localhost",
        "command": "echo $RANDOM $RANDOM $RANDOM",
    }
    assert agent.call("connect", key="k", **arguments) == agent.call("connect", key="k", **arguments)


def test_a_hub_without_a_machine_does_what_needs_none(field: Field) -> None:
    """Without a machine of its own a hub has the board; what only machines do is offline."""
    agent = field.agent()
    assert agent.call("issue_list") == {"result": []}
    assert agent.call("execute_command", command="id")["code"] == "offline"
    assert agent.call("connect", operation="whoami")["code"] == "offline"
    assert agent.call("ask_agent", hostname="localhost", prompt="p")["code"] == "offline"


def test_a_chain_that_is_none_is_refused(field: Field) -> None:
    """A client's chain of earlier callers has to be a list of names."""
    field.machine().linked()
    for chain in ("ada", [1], ["x"] * 100, [""]):
        answer = field.agent().call("ask_agent", meta={"hubbub/chain": chain}, hostname="web1", prompt="p")
        assert answer["code"] == "invalid"
