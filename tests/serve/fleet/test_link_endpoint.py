"""Links: the right to one, their end, and the effect of invalid messages."""

from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.exceptions import InvalidStatus

from hubbub.core.fleet import nodes
from hubbub.model.fleet.link_protocol import LARGEST_FRAME, PATH, MessageKind
from hubbub.model.people.rights import Role
from hubbub.serve.fleet.node_reports import NodeReports
from tests.serve.fleet.scripted_machine import Field, Json, field_of, quick
from tests.serve.live.event_streams import following
from tests.serve.served_hub import running_hub
from tests.serve.web_client import Visit, done
from tests.support.waiting import until

EXEC: Json = {"operation": "exec", "hostname": "web1", "command": "true"}


def listed(field: Field) -> list[Json]:
    rows: list[Json] = field.agent().call("connect", operation="list")["result"]
    return rows


def test_only_machines_have_links(field: Field) -> None:
    """A link is opened by a machine's key and by nothing else; without an upgrade the address says so."""
    machine = field.machine()
    for secret in (field.hub.token("ada"), field.hub.owner_secret, field.hub.token(role=Role.ADMIN)):
        machine.key, key = secret, machine.key
        with pytest.raises(InvalidStatus) as refused:
            machine.dial()
        assert refused.value.response.status_code == 403
        machine.key = key
    bearer = {"Authorization": f"Bearer {machine.key}"}
    assert httpx2.get(field.hub.url + PATH, headers=bearer).status_code == 426
    assert httpx2.get(field.hub.url + PATH).status_code == 401


def test_machines_are_listed_as_they_are(field: Field) -> None:
    """`connect list` shows each machine with what it says of itself, and whether it is there."""
    machine = field.machine()
    line = machine.linked()
    (row,) = listed(field)
    assert (row["hostname"], row["online"], row["platform"]) == ("web1", True, "Linux")
    assert (row["labels"], row["runtime"]) == (["gpu"], "claude")
    with following(field.hub.url, field.hub.owner_secret, kind="node.offline") as news:
        line.cut()
        news.next()
    assert [row["online"] for row in listed(field)] == [False]


def test_whoami_and_share_are_of_the_machine_that_is_meant(field: Field) -> None:
    """`whoami` goes to the machine of the header; `share` makes a link to any machine of the project."""
    line, agent = field.machine().linked(), field.agent()
    coming = agent.on("web1").soon("connect", operation="whoami")
    line.end(line.take(), {"hostname": "web1", "machine_id": "id-web1"})
    assert coming.result()["hostname"] == "web1"
    assert agent.call("connect", operation="share", hostname="WEB1")["hostname"] == "web1"


@pytest.mark.parametrize(
    "nonsense",
    [
        "no piece",
        ".not json",
        ".[1]",
        '.{"kind":"welcome"}',
        '.{"kind":"surprise"}',
        '.{"kind":"taken"}',
        '.{"kind":"ended","order":"7"}',
        '.{"kind":"progress","order":"0192f0c1-2b3c-7def-8000-000000000000","text":7}',
        '.{"kind":"request","id":"","need":"key"}',
        '.{"kind":"request","id":"1","need":"everything"}',
        '.{"kind":"fares","fares":[{"agent":1}]}',
        '.{"kind":"load"}',
        '.{"kind":"load","load1":"high","cpus":2}',
        '.{"kind":"load","load1":true,"cpus":2}',
        '.{"kind":"load","load1":1e300,"cpus":2}',
        '.{"kind":"load","load1":1,"cpus":-2}',
        '.{"kind":"load","load1":1,"cpus":2,"memory_used":0.5}',
        '.{"kind":"taken","order":NaN}',
        '.{"kind":"taken","x":' + "[" * 5000 + "]" * 5000 + "}",
        '.{"kind":"taken","x":"\\ud800"}',
        b"bytes",
    ],
)
def test_nonsense_ends_the_link(field: Field, nonsense: str | bytes) -> None:
    """A message that makes no sense ends the link, and nothing else; the machine may come back."""
    machine = field.machine()
    line = machine.linked()
    line.raw(nonsense)
    assert line.bye() == "broken"
    machine.linked().say(MessageKind.FARES, fares=[])


def test_a_version_is_agreed_on(field: Field) -> None:
    """The hub goes on in a version that the machine speaks, the first if it names none; else it says its own."""
    machine = field.machine()
    for versions, agreed in ((None, 1), ([1], 1), ([7, 1], 1), ([7, 1, 2], 2)):
        line = machine.dial()
        named = {} if versions is None else {"versions": versions}
        line.say(MessageKind.HELLO, **machine.hello(**named))
        assert line.the(MessageKind.WELCOME)["version"] == agreed
        line.cut()
    line = machine.dial()
    line.say(MessageKind.HELLO, versions=[8, 9])  # of which it need not understand more
    farewell = line.the(MessageKind.BYE)
    assert (farewell["why"], farewell["versions"]) == ("version", [1, 2, 3, 4, 5])
    for nonsense in ([], ["1"], [True], 1):
        line = machine.dial()
        line.say(MessageKind.HELLO, **machine.hello(versions=nonsense))
        assert line.bye() == "broken"


def test_a_machine_tells_how_busy_it_is(field: Field, visit: Visit) -> None:
    """Its row has what it told last, for as long as it is there; of that nothing is in the log."""
    line, web = field.machine().linked(), visit(field.hub, field.hub.owner_secret)

    def shown() -> Any:
        return done(web.get("/nodes/web1"))["node"]["load"]

    def is_shown(load: Json) -> bool:
        return bool(shown() == load)

    assert shown() is None
    for load in (
        {"load1": 0.5, "cpus": 4, "memory_used": None, "memory_total": None},
        {"load1": 3.25, "cpus": 4, "memory_used": 2**30, "memory_total": 2**33},
    ):
        line.say(MessageKind.LOAD, **load)
        # The hub keeps it a moment later, and of that there is no event.
        until(partial(is_shown, load), "the load that it told", seen=shown)
    with following(field.hub.url, field.hub.owner_secret, kind="node.offline") as news:
        line.cut()
        news.next()
    assert shown() is None
    kinds = [each["kind"] for each in done(web.get("/activity"))["activity"]]
    assert kinds.count("node.changed") == 0


def test_a_machine_tells_that_its_policy_does_not_load(field: Field, visit: Visit) -> None:
    """The hub shows why until the machine says that it loads again; one of an older version says nothing of it."""
    machine, web = field.machine(), visit(field.hub, field.hub.owner_secret)
    load = {"load1": 0.5, "cpus": 4, "memory_used": None, "memory_total": None}

    def shown() -> Any:
        return done(web.get("/nodes/web1"))["node"]

    hello = machine.hello()
    line = machine.linked(about={**hello["about"], "policy_fault": "node.toml: mode must be strict"})
    assert shown()["policy_fault"] == "node.toml: mode must be strict"
    line.say(MessageKind.LOAD, **load)
    until(lambda: shown()["load"] == load, "its load")
    assert shown()["policy_fault"] == "node.toml: mode must be strict"
    line.say(MessageKind.LOAD, **load, policy_fault=None)
    until(lambda: shown()["policy_fault"] is None, "a policy that loads")


def test_a_hub_that_stumbles_is_not_deaf(field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug over what a machine says ends that link: nobody waits for what is not heard, and the machine comes back."""
    machine = field.machine()
    line = machine.linked()
    with monkeypatch.context() as stumbling:
        stumbling.setattr(NodeReports, "fare", lambda *_: 1 / 0)
        line.say(MessageKind.FARES, fares=[])
        assert line.bye() == "broken"
    machine.linked()


def test_a_frame_that_is_too_long_ends_the_link(field: Field) -> None:
    """A frame longer than a piece may be is not even read."""
    machine = field.machine()
    line = machine.linked()
    line.raw("." + "x" * LARGEST_FRAME)
    assert line.code() == 1009
    machine.linked()


@pytest.mark.parametrize("first", ['.{"kind":"taken"}', ".7", '.{"kind":"hello"}'])
def test_a_machine_says_first_who_it_is(field: Field, first: str) -> None:
    """A machine that begins with anything else is sent away."""
    line = field.machine().dial()
    line.raw(first)
    assert line.bye() == "broken"


def test_who_says_nothing_is_sent_away(tmp_path: Path) -> None:
    """A client that has connected has a while to say who it is, and is then sent away."""
    hasty = quick(hello=timedelta(milliseconds=50))
    with running_hub(tmp_path / "hub", pace=hasty, no_node=True) as hub, field_of(hub) as field:
        assert field.machine().dial().bye() == "broken"


def test_what_a_machine_says_of_itself_is_checked(field: Field) -> None:
    """A machine that calls itself what cannot be shown gets no link."""
    machine = field.machine()
    line = machine.dial()
    hello = machine.hello()
    hello["about"]["platform"] = "Linux\u202e"
    line.say(MessageKind.HELLO, **hello)
    assert line.bye() == "broken"


def test_the_name_is_the_one_that_it_joined_by(field: Field) -> None:
    """A machine that calls itself something else keeps its name."""
    machine = field.machine()
    machine.name = "db1"
    machine.linked()
    assert [row["hostname"] for row in listed(field)] == ["web1"]


def test_a_key_that_is_revoked_ends_the_link(field: Field) -> None:
    """Revoking the key of a machine ends its link at once, and it is told not to come back."""
    machine = field.machine()
    line = machine.linked()
    field.hub.revoke(machine.key)
    assert line.bye() == "revoked"
    with pytest.raises(InvalidStatus):
        machine.dial()


def test_a_machine_that_is_removed_loses_its_link(field: Field) -> None:
    """Removing a machine ends its key, its link, and what it was ordered."""
    line = field.machine().linked()
    coming = field.agent().soon("connect", **EXEC)
    line.take()
    field.hub.do(lambda tx: nodes.remove(tx, field.hub.project, "web1"), field.hub.owner)
    assert line.bye() == "revoked"
    assert coming.result()["code"] in ("failed", "offline")
    assert listed(field) == []


def test_a_hub_that_stops_says_so(own_field: Field) -> None:
    """Machines are told that the hub closes, so that they come back."""
    line = own_field.machine().linked()
    own_field.hub.served.stop()
    assert line.bye() == "closing"


def test_another_process_by_the_same_key_is_refused(field: Field) -> None:
    """While a machine is linked, another process with its key is refused, in the end for good; the first goes on."""
    machine = field.machine()
    line, copied = machine.linked(), machine.again()
    reasons: list[str] = []
    while reasons[-1:] != ["name_taken"]:
        second = copied.dial()
        second.say(MessageKind.HELLO, **copied.hello())
        reasons.append(second.bye())
    assert set(reasons[:-1]) <= {"closing"}
    coming = field.agent().soon("connect", **EXEC)
    line.end(line.take(), {"stdout": "", "stderr": "", "exit_code": 0})
    assert coming.result()["exit_code"] == 0


def test_the_same_process_replaces_its_link(field: Field) -> None:
    """A machine that comes back before the hub has noticed that it was gone is let in at once."""
    machine = field.machine()
    first = machine.linked()
    second = machine.linked()
    assert first.bye() == "closing"
    coming = field.agent().soon("connect", **EXEC)
    second.end(second.take(), {"stdout": "", "stderr": "", "exit_code": 0})
    assert coming.result()["exit_code"] == 0


def test_links_and_orders_are_counted(own_field: Field) -> None:
    """/metrics tells how many machines are linked, and what became of orders."""
    line = own_field.machine().linked()
    coming = own_field.agent().soon("connect", **EXEC)
    line.end(line.take(), {"error": "no", "code": "denied"}, is_error=True)
    coming.result()
    bearer = {"Authorization": f"Bearer {own_field.hub.owner_secret}"}
    told = httpx2.get(f"{own_field.hub.url}/metrics", headers=bearer).text
    assert "hubbub_links 1.0" in told
    assert 'hubbub_orders_total{outcome="denied"} 1.0' in told


def test_a_long_result_comes_in_pieces(field: Field) -> None:
    """A result of many megabytes passes, cut into pieces."""
    line = field.machine().linked()
    coming = field.agent().soon("connect", **EXEC)
    text = "ü" * 3_000_000
    line.end(line.take(), {"stdout": text, "stderr": "", "exit_code": 0})
    assert coming.result()["stdout"] == text


def test_a_key_of_a_machine_opens_nothing_else(field: Field) -> None:
    """The key of a machine is good for its link alone."""
    bearer = {"Authorization": f"Bearer {field.machine().key}"}
    for path in ("/mcp/cmdop", "/api/v1/tasks", "/events", "/ws", "/api/v1/nodes/join"):
        assert httpx2.get(field.hub.url + path, headers=bearer).status_code == 403
