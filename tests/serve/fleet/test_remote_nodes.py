"""Orders over a link: each is done once, whatever breaks meanwhile."""

from dataclasses import replace
from threading import Event

import pytest

from hubbub.core.fleet import dispatches, nodes
from hubbub.model.fleet.dispatches import DispatchStatus
from hubbub.model.fleet.link_protocol import MessageKind
from hubbub.model.ids import new_id, parse_id
from hubbub.store.tx import Tx
from tests.serve.fleet.scripted_machine import Field, Json
from tests.serve.live.event_streams import following
from tests.serve.served_hub import Hub

EXEC: Json = {"operation": "exec", "hostname": "web1", "command": "true"}
DONE: Json = {"stdout": "", "stderr": "", "exit_code": 0}


def status_of(hub: Hub, order: Json) -> DispatchStatus:
    """Return the status of an order at the hub."""
    dispatch_id = parse_id(order["order"])
    assert dispatch_id is not None
    found = hub.do(lambda tx: dispatches.find(tx, dispatch_id))
    return DispatchStatus(found.status)


def test_there_and_back(field: Field) -> None:
    """A command for a machine goes over its link, with who asks, and its outcome comes back and is kept."""
    line = field.machine().linked()
    coming = field.agent().soon("connect", **EXEC)
    order = line.take()
    assert (order["tool"], order["arguments"], order["chain"]) == ("connect", EXEC, [])
    assert (order["who"]["name"], order["who"]["is_person"]) == ("ada", False)
    line.end(order, DONE)
    line.kept(order)
    assert coming.result() == DONE
    assert status_of(field.hub, order) is DispatchStatus.ENDED


def test_how_long_the_caller_waits_for_people_goes_along(field: Field) -> None:
    """A machine is told how long its person has, where the caller says so, also when it is told the order again."""
    machine, agent = field.machine(), field.agent()
    line = machine.linked()
    coming = replace(agent, path="/mcp").soon("ask", machine="web1", command="ls", timeout=7)
    first = line.the(MessageKind.ORDER)
    line.cut()
    line = machine.linked()
    again = line.take()
    assert (first["patience_ms"], again["patience_ms"], again["order"]) == (7_000, 7_000, first["order"])
    line.end(again, DONE)
    line.kept(again)
    assert coming.result() == DONE
    agent.soon("connect", **EXEC)
    assert "patience_ms" not in line.take()


def test_who_waits_does_not_wait_for_the_disk(field: Field) -> None:
    """An order's result reaches its caller before the store has it; its machine keeps it until then."""
    line = field.machine().linked()
    coming = field.agent().soon("connect", **EXEC)
    order = line.take()
    is_writing, may_go_on = Event(), Event()
    field.closing.callback(may_go_on.set)

    def write(_tx: Tx) -> None:
        is_writing.set()
        may_go_on.wait()

    writing = field.pool.submit(field.hub.do, write)
    is_writing.wait()
    line.end(order, DONE)
    assert coming.result() == DONE
    may_go_on.set()
    writing.result()
    line.kept(order)


def test_a_header_makes_all_of_a_call_a_machines(field: Field) -> None:
    """With X-Hubbub-Node the call is that machine's, whatever it is and whatever the name's case."""
    line = field.machine().linked()
    coming = field.agent().on("WEB1").soon("issue_list")
    order = line.take()
    assert order["tool"] == "issue_list"
    line.end(order, [])
    assert coming.result() == {"result": []}


def test_who_is_not_there_is_offline(field: Field) -> None:
    """A machine that is not linked is offline at once, and nothing stays queued for it."""
    machine, agent = field.machine(), field.agent()
    for answer in (agent.call("connect", **EXEC), agent.on("web1").call("shell_tasks")):
        assert answer == {"error": "the machine 'web1' is not connected", "code": "offline"}
    machine.linked().say(MessageKind.FARES, fares=[])
    known = field.hub.do(lambda tx: dispatches.open_of(tx, nodes.find(tx, field.hub.project, "web1").id))
    assert known == []


def test_a_machine_of_another_project_is_none(field: Field) -> None:
    """Nobody reaches a machine of a project that is not theirs."""
    field.machine().linked()
    stranger = field.agent()
    stranger.secret = field.hub.token("eve", project=field.hub.other_project())
    assert stranger.call("connect", **EXEC)["code"] == "offline"


def test_the_refusal_of_a_machine_is_passed_on(field: Field) -> None:
    """The caller hears the words of a machine's gate exactly."""
    line = field.machine().linked()
    coming = field.agent().soon("ask_agent", hostname="web1", prompt="hi")
    denied = {"error": "permission_denied", "code": "denied", "source": "floor"}
    line.end(line.take(), denied, is_error=True)
    assert coming.result() == denied


def test_progress_comes_in_order_and_before_the_end(field: Field) -> None:
    """Pieces of text reach a caller who asked for them, in order, and none after the result."""
    line = field.machine().linked()
    coming = field.pool.submit(
        field.agent().heard, "ask_agent_stream", {"hostname": "web1", "prompt": "count"}
    )
    order = line.take()
    for text in ("one ", "two ", "three"):
        line.say(MessageKind.PROGRESS, order=order["order"], text=text)
    line.end(order, {"text": "one two three", "tool_calls": []})
    pieces, answer = coming.result()
    assert ("".join(pieces), answer["text"]) == ("one two three", "one two three")


def test_nothing_is_sent_twice_while_the_machine_holds_it(field: Field) -> None:
    """A machine that comes back with an order at work goes on with it, and its outcome reaches who waits."""
    machine = field.machine()
    line = machine.linked()
    coming = field.agent().soon("connect", **EXEC)
    order = line.take()
    line.cut()
    line = machine.linked(running=[order["order"]])
    line.end(order, DONE)
    line.kept(order)
    assert coming.result() == DONE


def test_what_the_machine_has_not_noted_is_sent_again(field: Field) -> None:
    """An order that was lost on the way goes again over the next link, with the same id."""
    machine = field.machine()
    line = machine.linked()
    coming = field.agent().soon("connect", **EXEC)
    order = line.the(MessageKind.ORDER)
    line.cut()
    line = machine.linked()
    again = line.take()
    assert again == order
    line.end(again, DONE)
    assert coming.result() == DONE


def test_an_outcome_that_was_not_kept_is_told_again(field: Field) -> None:
    """A machine that has not heard that its outcome is safe tells it again, and hears it then."""
    machine = field.machine()
    line = machine.linked()
    coming = field.agent().soon("connect", **EXEC)
    order = line.take()
    line.end(order, DONE)
    assert coming.result() == DONE
    line.cut()
    line = machine.linked(ended=[order["order"]])
    line.end(order, {"stdout": "another"})
    line.kept(order)


def test_what_the_machine_has_forgotten_is_lost(field: Field) -> None:
    """An order that a machine had noted and knows nothing of any more is lost: nobody knows, and nobody tries again."""
    machine = field.machine()
    line = machine.linked()
    coming = field.agent().soon("connect", **EXEC)
    order = line.take()
    line.cut()
    line = machine.again().linked()
    answer = coming.result()
    assert answer["code"] == "failed"
    assert "not known" in answer["error"]
    assert status_of(field.hub, order) is DispatchStatus.LOST
    line.say(MessageKind.FARES, fares=[])


def test_a_lost_order_may_turn_up(field: Field) -> None:
    """The result of an order that was given up as lost is kept when its machine tells it after all."""
    machine = field.machine()
    line = machine.linked()
    agent = field.agent()
    coming = agent.soon("connect", key="k", **EXEC)
    order = line.take()
    line.cut()
    machine.linked()
    assert coming.result()["code"] == "failed"
    line = machine.linked(ended=[order["order"]])
    line.end(order, DONE)
    line.kept(order)
    assert agent.call("connect", key="k", **EXEC) == DONE


def test_who_stays_away_is_offline_and_the_result_is_kept(field: Field) -> None:
    """A caller waits for a machine that went away only so long; the same call with its key gets the result later."""
    machine, agent = field.machine(), field.agent()
    line = machine.linked()
    coming = agent.soon("connect", key="k", **EXEC)
    order = line.take()
    line.cut()
    answer = coming.result()
    assert (answer["code"], answer["order"]) == ("offline", order["order"])
    assert "kept" in answer["error"]
    line = machine.linked(ended=[order["order"]])
    line.end(order, DONE)
    line.kept(order)
    assert agent.call("connect", key="k", **EXEC) == DONE


@pytest.mark.parametrize(
    ("path", "tool", "given"),
    [
        ("/mcp/cmdop", "connect", EXEC),
        ("/mcp/cmdop", "ask_agents", {"hostnames": ["WEB1"], "prompt": "hi"}),
        ("/mcp", "ask", {"machine": "web1", "command": "true"}),
    ],
)
def test_a_repeated_call_is_not_told_that_nothing_was_done(
    field: Field, path: str, tool: str, given: Json
) -> None:
    """While the machine is away, a call that is repeated with its key hears of the order that it had begun."""
    machine, agent = field.machine(), replace(field.agent(), path=path)
    line = machine.linked()
    coming = agent.soon(tool, key="k", **given)
    order = line.take()
    line.cut()
    assert order["order"] in str(coming.result())

    assert order["order"] in str(agent.call(tool, key="k", **given))
    assert "is not connected" in str(agent.call(tool, key="another", **given))


def test_a_key_is_for_one_call(field: Field) -> None:
    """The same call with the same key is one order, also while it is under way; another call with it is refused."""
    line, agent = field.machine().linked(), field.agent()
    first = agent.soon("connect", key="k", **EXEC)
    order = line.take()
    second = agent.soon("connect", key="k", **EXEC)
    other = agent.call("connect", key="k", **{**EXEC, "command": "false"})
    assert (other["code"], "'k'" in other["error"]) == ("failed", True)
    line.end(order, DONE)
    line.kept(order)
    assert (first.result(), second.result()) == (DONE, DONE)


def test_where_nothing_was_done_a_key_is_free_again(field: Field) -> None:
    """A call that a machine has denied may be made again with its key."""
    line, agent = field.machine().linked(), field.agent()
    for outcome in ({"error": "permission_denied", "code": "denied"}, DONE):
        coming = agent.soon("connect", key="k", **EXEC)
        order = line.take()
        line.end(order, outcome, is_error="error" in outcome)
        line.kept(order)
        assert coming.result() == outcome


def test_a_caller_that_gives_up_has_the_machine_told(field: Field) -> None:
    """When the last who waits for an order leaves, its machine is told that nobody wants it any more."""
    line, agent = field.machine().linked(), field.agent()
    with agent.leaving("connect", EXEC):
        order = line.take()
    assert line.the(MessageKind.CANCEL)["order"] == order["order"]
    line.end(order, {"error": "stopped", "code": "failed"}, is_error=True)
    line.kept(order)


def test_what_was_given_up_while_the_machine_was_away_is_not_begun(field: Field) -> None:
    """An order whose caller left while its machine was away is not sent; if it is at work there, it is cancelled."""
    machine, agent = field.machine(), field.agent()
    line = machine.linked()
    with following(field.hub.url, field.hub.owner_secret, kind="dispatch.ended") as ends:
        with agent.leaving("connect", EXEC):
            order = line.the(MessageKind.ORDER)
            line.cut()
        assert ends.next().data["detail"]["dispatch_id"] == order["order"]
    line = machine.linked(running=[order["order"]])
    assert line.the(MessageKind.CANCEL)["order"] == order["order"]


def test_a_machine_that_was_just_lost_is_waited_for(field: Field) -> None:
    """A call that comes a moment after a link was lost goes over the next one, if that comes at once."""
    machine, agent = field.machine(), field.agent()
    machine.linked().cut()
    coming = agent.soon("connect", **EXEC)
    line = machine.linked()
    line.end(line.take(), DONE)
    assert coming.result() == DONE


def test_an_old_order_is_not_begun(field: Field) -> None:
    """An order that was queued so long ago that nobody waits for it is not sent when its machine comes."""
    machine = field.machine()
    line = machine.linked()
    coming = field.agent().soon("connect", **EXEC)
    order = line.the(MessageKind.ORDER)
    line.cut()
    assert coming.result()["code"] == "offline"
    line = machine.linked()
    line.ask("key")
    assert line.granted() == {"key": None}
    assert status_of(field.hub, order) is DispatchStatus.ENDED


def test_what_is_ended_for_another_machine_counts_for_nothing(field: Field) -> None:
    """A machine ends its own orders only; of others it hears what it hears of any."""
    one, other = field.machine().linked(), field.machine("db1").linked()
    coming = field.agent().soon("connect", **EXEC)
    order = one.take()
    other.end(order, {"stdout": "forged"})
    other.kept(order)
    unknown: Json = {"order": str(new_id())}
    other.end(unknown, {"stdout": "invented"})
    other.kept(unknown)
    one.end(order, DONE)
    assert coming.result() == DONE


def test_an_outcome_that_makes_no_sense_is_a_failure(field: Field) -> None:
    """An order whose outcome cannot be read has failed; the link goes on."""
    line = field.machine().linked()
    coming = field.agent().soon("connect", **EXEC)
    order = line.take()
    line.say(MessageKind.ENDED, order=order["order"], outcome={"value": 7})
    line.kept(order)
    assert coming.result()["code"] == "failed"
