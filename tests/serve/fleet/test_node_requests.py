"""Requests of machines to their hub: done for the agent that gave the order, with its rights, and once."""

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from hubbub.client import Hub as Rest
from hubbub.client import HubRefused
from hubbub.core.fleet import api_keys, audit_heads, managed_agents, nodes
from hubbub.core.work import task_search, tasks
from hubbub.model.fleet import call_chain
from hubbub.model.fleet.link_protocol import MessageKind
from hubbub.model.fleet.managed_agents import ManagedAgent
from hubbub.model.people.rights import Role
from hubbub.store.tx import Tx
from tests.serve.fleet.questions import DIGEST, asking, owner
from tests.serve.fleet.scripted_machine import Field, Json, Line
from tests.serve.live.event_streams import following


def ordered(field: Field, line: Line, tool: str = "ask_agent", name: str = "ada") -> Json:
    """An order that the machine has taken."""
    field.agent(name).soon(tool, hostname="web1", prompt="do it")
    return line.take()


def acting(field: Field, secret: str) -> Rest:
    """Return REST with that token."""
    rest = Rest(field.hub.url, secret)
    field.closing.callback(rest.close)
    return rest


def in_the_background(field: Field, line: Line, order: Json) -> tuple[str, Rest]:
    """Start a task that goes on after the order, and its program, which acts by the token that is lent for it."""
    line.ask("begin_task", order, title="t", description="d")
    task_id = line.granted()["task_id"]
    line.ask("lend", order, "r2", task_id=task_id)
    return task_id, acting(field, line.granted("r2")["token"])


def act(tool: str, arguments: Json, chain: tuple[str, ...] = ()) -> Json:
    who = {"project": "elsewhere", "name": "root", "token_id": str(uuid4()), "is_person": True}
    return {"who": who, "tool": tool, "arguments": arguments, "chain": chain}


def test_a_question_is_put_in_the_name_of_the_caller(field: Field) -> None:
    """The caller and the machine are those the hub knows, whatever the machine says; its id is the machine's."""
    line, approval_id = field.machine().linked(), str(uuid4())
    order = ordered(field, line)
    with following(field.hub.url, field.hub.owner_secret, kind="approval.asked") as questions:
        line.ask("ask", order, **asking(approval_id))
        told = questions.next().data
    assert (told["agent"], told["detail"]["node"]) == ("ada", "web1")
    assert told["detail"]["approval_id"] == approval_id
    owner(field).post(f"/approvals/{approval_id}/approve")
    answered = line.granted()
    assert (answered["ruling"], answered["approval_id"]) == ("approved", approval_id)
    assert (answered["by"], answered["digest"]) == ("owner", DIGEST)


def test_a_no_is_told(field: Field) -> None:
    """A call that a person denies is denied."""
    line, approval_id = field.machine().linked(), str(uuid4())
    line.ask("put", ordered(field, line), **asking(approval_id))
    assert line.granted() == {}
    owner(field).post(f"/approvals/{approval_id}/deny")
    line.ask("ask", {"order": None}, "r2", **asking(approval_id))
    assert line.refusal("r2")[0] == "invalid"


def test_a_question_outlives_its_link(field: Field) -> None:
    """A question that waits is the same after a loss of the link, and one that was answered is told again."""
    machine, approval_id = field.machine(), str(uuid4())
    line = machine.linked()
    order = ordered(field, line)
    line.ask("put", order, **asking(approval_id))
    assert line.granted() == {}
    line.ask("ask", order, "r2", **asking(approval_id))
    line.cut()
    owner(field).post(f"/approvals/{approval_id}/approve")
    for request in ("r2", "r3"):  # the same request, and one of a machine that has not heard the reply
        line = machine.linked(running=[order["order"]])
        line.ask("ask", order, request, **asking(approval_id))
        assert line.reply(request)["value"]["ruling"] == "approved"
        line.cut()


def test_a_machine_says_what_it_still_asks(field: Field) -> None:
    """The questions of a killed process keep nobody waiting: they end as the next one is linked."""
    machine, forgotten, other = field.machine(), str(uuid4()), str(uuid4())
    line, people = machine.linked(asked=[]), owner(field)
    order = ordered(field, line)
    for number, approval_id in enumerate((forgotten, other)):
        line.ask("put", order, f"r{number}", **asking(approval_id))
        assert line.granted(f"r{number}") == {}
    line.cut()
    machine.linked(running=[order["order"]]).cut()  # an older one does not say
    with following(field.hub.url, field.hub.owner_secret, kind="approval.withdrawn") as told:
        machine.again().linked(asked=[other])
        assert told.next().data["detail"]["approval_id"] == forgotten
    with pytest.raises(HubRefused, match="its machine was restarted"):
        people.post(f"/approvals/{forgotten}/approve")
    assert people.post(f"/approvals/{other}/approve")["approval"]["status"] == "approved"


def test_a_question_of_a_machine_that_is_gone(field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person who answers hears that the machine is gone; when it is back and asks by the same request, it goes on."""
    monkeypatch.setattr("hubbub.core.fleet.approvals.BACK", timedelta(0))
    machine, approval_id, people = field.machine(), str(uuid4()), owner(field)
    line = machine.linked()
    order = ordered(field, line)
    line.ask("put", order, **asking(approval_id))
    assert line.granted() == {}
    line.ask("ask", order, "r2", **asking(approval_id))
    with following(field.hub.url, field.hub.owner_secret, kind="approval.expired") as told:
        line.cut()
        told.next()
    with pytest.raises(HubRefused, match="its machine is gone"):
        people.post(f"/approvals/{approval_id}/approve")
    with following(field.hub.url, field.hub.owner_secret, kind="approval.asked") as told:
        line = machine.linked(running=[order["order"]])
        line.ask("ask", order, "r2", **asking(approval_id))
        assert told.next().data["detail"]["approval_id"] == approval_id
    people.post(f"/approvals/{approval_id}/approve")
    assert line.granted("r2")["ruling"] == "approved"


def test_an_id_is_for_one_question(field: Field) -> None:
    """Another machine, or another call, does not get the answer to a question by its id."""
    line, other, approval_id = field.machine().linked(), field.machine("db1").linked(), str(uuid4())
    order = ordered(field, line)
    line.ask("put", order, **asking(approval_id))
    line.granted()
    line.ask("put", order, "r2", **asking(approval_id, digest="b" * 64))
    assert line.refusal("r2") == ("conflict", "another question has that id")
    other.ask("ask", order, **asking(approval_id))
    assert other.refusal()[0] == "forbidden"


@pytest.mark.parametrize("need", ["ask", "put", "act", "begin_task"])
def test_nothing_is_done_for_an_order_that_is_not_held(field: Field, need: str) -> None:
    """A request for an order that the machine does not have, or that has ended, is refused."""
    line, other = field.machine().linked(), field.machine("db1").linked()
    order = ordered(field, line)
    content = {**asking(str(uuid4())), "act": act("issue_list", {}), "title": "t", "description": "d"}
    for strange in (order, {"order": str(uuid4())}):
        other.ask(need, strange, **content)
        assert other.refusal()[0] == "forbidden"
    line.end(order)
    line.kept(order)
    line.ask(need, order, **content)
    assert line.refusal()[0] == "forbidden"


def test_the_hub_acts_as_the_caller(field: Field) -> None:
    """A machine's call back is done in the name and with the rights of the agent that gave the order."""
    line = field.machine().linked()
    order = ordered(field, line)
    line.ask("act", order, act=act("issue_create", {"title": "found a bug"}))
    outcome = line.granted()
    assert outcome["is_error"] is False
    (made,) = field.hub.do(lambda tx: task_search.search(tx, [field.hub.project.id], limit=9))
    assert (made.sender, made.title) == ("ada", "found a bug")


def test_an_act_is_done_once(field: Field) -> None:
    """A request that is made again after a loss of the link, or of its reply, is not done again."""
    machine = field.machine()
    line = machine.linked()
    order = ordered(field, line)
    for _ in range(3):
        line.ask("act", order, act=act("issue_create", {"title": "once"}))
        assert line.granted()["value"]["id"] == "1"
        line.cut()
        line = machine.linked(running=[order["order"]])
    assert len(field.hub.do(lambda tx: task_search.search(tx, [field.hub.project.id], limit=9))) == 1


def test_who_may_not_any_more_does_nothing(field: Field) -> None:
    """When the caller's token is revoked while a machine works for it, the hub does nothing more on its behalf."""
    line, agent = field.machine().linked(), field.agent("eve")
    agent.soon("ask_agent", hostname="web1", prompt="wait")
    order = line.take()
    field.hub.revoke(agent.secret)
    line.ask("act", order, act=act("issue_create", {"title": "too late"}))
    assert line.refusal()[0] == "unauthorized"
    line.ask("begin_task", order, "r2", title="t", description="d")
    assert line.refusal("r2")[0] == "unauthorized"


def test_a_call_goes_on_to_a_third_machine(field: Field) -> None:
    """A machine's agent reaches another machine by the hub, as who asked first, and the chain goes along."""
    one, other = field.machine().linked(), field.machine("db1").linked()
    order = ordered(field, one)
    asked = act("connect", {"operation": "exec", "hostname": "DB1", "command": "uptime"}, ("ada", "web1"))
    one.ask("act", order, act=asked)
    onward = other.take()
    assert (onward["who"]["name"], onward["who"]["is_person"]) == ("ada", False)
    assert onward["chain"] == ["ada", "web1"]
    other.end(onward, {"stdout": "up", "stderr": "", "exit_code": 0})
    assert one.granted()["value"]["stdout"] == "up"


def test_a_chain_is_not_made_shorter(field: Field) -> None:
    """A machine that leaves out who asked before is not believed."""
    one, other = field.machine().linked(), field.machine("db1").linked()
    agent = field.agent()
    meta: Json = {"hubbub/chain": ["ada", "mail1"]}
    agent.soon("ask_agent", meta=meta, hostname="web1", prompt="p")
    order = one.take()
    assert order["chain"] == ["ada", "mail1"]
    one.ask("act", order, act=act("ask_agent", {"hostname": "db1", "prompt": "p"}))
    assert other.take()["chain"] == ["ada", "mail1"]


def test_who_asked_first_is_not_the_machines_to_say(field: Field) -> None:
    """A chain that begins with somebody else than the caller is no chain."""
    one, other = field.machine().linked(), field.machine("db1").linked()
    order = ordered(field, one)
    assert order["chain"] == []
    asked = act("ask_agent", {"hostname": "db1", "prompt": "p"}, ("root", "web1"))
    one.ask("act", order, act=asked)
    onward = other.take()
    assert (onward["who"]["name"], onward["chain"]) == ("ada", [])


def test_what_is_a_machines_to_do_is_not_the_hubs(field: Field) -> None:
    """A machine cannot have the hub do what only machines do."""
    line = field.machine().linked()
    order = ordered(field, line)
    for tool in ("execute_command", "no_such_tool"):
        line.ask("act", order, tool, act=act(tool, {"command": "id"}))
        assert line.refusal(tool)[0] == "invalid"


def test_the_acts_of_an_order_end_with_it(field: Field) -> None:
    """When an order ends, what was under way for it at a third machine is called off."""
    one, other = field.machine().linked(), field.machine("db1").linked()
    order = ordered(field, one)
    one.ask("act", order, act=act("ask_agent", {"hostname": "db1", "prompt": "p"}))
    onward = other.take()
    one.end(order)
    assert other.the(MessageKind.CANCEL)["order"] == onward["order"]


def test_a_task_goes_on_after_its_order(field: Field) -> None:
    """A machine's undertaking in the background is the caller's task, for which it may act until that ends."""
    machine = field.machine()
    line = machine.linked()
    order = ordered(field, line, "ask_agent")
    line.ask("begin_task", order, title="count", description="count the lines")
    task_id = line.granted()["task_id"]
    line.ask("begin_task", order, title="count", description="count the lines")
    assert line.granted()["task_id"] == task_id
    line.end(order)
    line.kept(order)
    line.ask("act", order, act=act("todo_write", {"items": [{"text": "one", "done": False}]}))
    assert line.granted()["is_error"] is False
    line.ask("end_task", None, "r2", task_id=task_id, text="three", failed=False)
    assert line.granted("r2") == {}
    ended = field.hub.do(lambda tx: tasks.find(tx, [field.hub.project.id], task_id))
    assert (ended.sender, ended.assignee, ended.result) == ("ada", "node:web1", "three")
    line.ask("act", order, "r3", act=act("issue_list", {}))
    assert line.refusal("r3")[0] == "forbidden"


def test_nobody_ends_the_task_of_another_machine(field: Field) -> None:
    """A machine ends its own tasks only."""
    line, other = field.machine().linked(), field.machine("db1").linked()
    line.ask("begin_task", ordered(field, line), title="t", description="d")
    task_id = line.granted()["task_id"]
    other.ask("end_task", task_id=task_id, text="forged", failed=False)
    assert other.refusal()[0] == "not_holder"


def test_a_machine_seals_its_own_log(field: Field) -> None:
    """The head of an audit log is kept under the name by which the machine has joined."""
    line = field.machine().linked()
    line.ask("seal", seq=3, digest=DIGEST)
    assert line.granted() == {}
    (head,) = field.hub.do(lambda tx: audit_heads.heads(tx, field.hub.project, limit=9))
    assert (head.node, head.seq) == ("web1", 3)


def test_a_machine_gets_the_key_of_its_project(field: Field) -> None:
    """The project's API key is there for the agents of its machines."""
    line = field.machine().linked()
    field.hub.do(lambda tx: api_keys.put(tx, field.hub.project, "sk-123456789"), field.hub.owner)
    line.ask("key")
    assert line.granted() == {"key": "sk-123456789"}


def test_credentials_are_for_agents_that_are_placed_there(field: Field) -> None:
    """A machine gets a key for an agent that people placed on it, and for no other."""
    line = field.machine().linked()
    line.ask("credentials", agent="worker")
    assert line.refusal()[0] == "forbidden"
    hub = field.hub

    def place(tx: Tx) -> ManagedAgent:
        machine = nodes.find(tx, hub.project, "web1")
        return managed_agents.order(tx, hub.project, agent="worker", machine=machine, command="true")

    hub.do(place, hub.owner)
    line.ask("credentials", agent="worker")
    value = line.granted()
    assert value["url"] == "https://hub.example.org"
    assert value["token"].startswith("ntok_")


def test_a_token_is_lent_for_an_order(field: Field) -> None:
    """Its agent's program acts as the caller until the order has ended, whatever the machine says of its caller."""
    line = field.machine().linked()
    order = ordered(field, line)
    line.ask("lend", order, task_id=None)
    value = line.granted()
    program, rest = replace(field.agent(), secret=value["token"]), acting(field, value["token"])
    assert value["url"] == "https://hub.example.org"

    made = program.call("issue_create", title="by a program")
    with following(field.hub.url, field.hub.owner_secret, kind="token.revoked") as ends:
        line.end(order)
        line.kept(order)
        assert ends.next().data["agent"] == "ada"
    assert owner(field).task(made["id"])["sender"] == "ada"
    with pytest.raises(HubRefused, match="a valid token is needed"):
        rest.get("/me")
    line.ask("lend", order, "r2", task_id=None)
    assert line.refusal("r2")[0] == "forbidden"


def test_a_token_is_lent_for_a_task_in_the_background(field: Field) -> None:
    """It ends with the task, and not with the order that began it; for no task that is another's."""
    line = field.machine().linked()
    order = ordered(field, line)
    task_id, program = in_the_background(field, line, order)
    other = owner(field).post("/tasks", {"text": "mine", "to": "ada"})["task"]["id"]
    line.ask("lend", order, "r3", task_id=other)
    assert line.refusal("r3")[0] == "forbidden"

    line.end(order)
    line.kept(order)
    assert program.get("/me")["agent"] == "ada"
    line.ask("end_task", request="r4", task_id=task_id, text="done", failed=False)
    assert line.granted("r4") == {}
    with pytest.raises(HubRefused, match="a valid token is needed"):
        program.get("/me")


def test_who_cancels_a_task_takes_away_what_was_lent_for_it(field: Field) -> None:
    """From then on its program is nobody at the hub, though it goes on, and its machine gets nothing more for it."""
    line = field.machine().linked()
    order = ordered(field, line)
    task_id, program = in_the_background(field, line, order)
    assert program.get("/me")["agent"] == "ada"

    owner(field).post(f"/tasks/{task_id}/cancel", {"reason": "not any more"})

    with pytest.raises(HubRefused, match="a valid token is needed"):
        program.get("/me")
    line.ask("lend", order, "r3", task_id=task_id)
    assert line.refusal("r3")[0] == "forbidden"


def test_a_program_cannot_leave_out_for_whom_it_works(field: Field) -> None:
    """Its calls have the chain of its token, and no other, whatever they say; the log tells it over all hops."""
    line, db1 = field.machine().linked(), field.machine("db1").linked()
    order = ordered(field, line)
    line.ask("lend", order, task_id=None, chain=["ada", "web1"])
    program = replace(field.agent(), secret=line.granted()["token"])
    assert acting(field, program.secret).get("/me")["chain"] == ["ada", "web1"]

    known = ["ada", "web1"]
    for said, shown in ([], known), (["eve", "x"], known), ([*known, "mail1"], [*known, "mail1"]):
        with following(field.hub.url, field.hub.owner_secret, kind="dispatch.sent") as sent:
            program.soon("ask_agent", meta={call_chain.META: said}, hostname="db1", prompt="and you?")
            onward = db1.take()
            assert (onward["who"]["name"], onward["chain"]) == ("ada", shown)
            assert sent.next().data["detail"]["chain"] == shown
    db1.ask("lend", onward, task_id=None, chain=["ada", "db1"])  # it says that it was asked by ada alone
    inner = acting(field, db1.granted()["token"])
    assert inner.get("/me")["chain"] == [*known, "mail1", "db1"]


def test_a_viewer_reaches_no_machine(field: Field) -> None:
    """A viewer gives no orders, by whatever way."""
    field.machine().linked()
    viewer = field.agent()
    viewer.secret = field.hub.token(role=Role.VIEWER)
    for call in (viewer, viewer.on("web1")):
        assert call.call("connect", operation="exec", hostname="web1", command="id")["code"] == "denied"
