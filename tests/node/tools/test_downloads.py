"""Downloads: from the addresses that were checked and no others, whole or not at all."""

import gzip
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from hubbub.model.fleet.calls import ToolResult
from hubbub.node.tools.downloads import DownloadTool
from hubbub.node.tools.tool_context import ToolContext
from shellgate.decide import decide
from shellgate.decision import Effect, Mode
from shellgate.floor import downloads
from shellgate.rules import parse
from tests.node.tool_contexts import order, place
from tests.node.tools.internet import OTHER, PUBLIC, Internet, moved, page, serving

pytestmark = pytest.mark.anyio

BODY = b"all of it\n" * 1000
CAP = 50_000
HOSTS = {"good.test": PUBLIC, "other.test": OTHER, "inside.test": "10.0.0.7", "here.test": "127.0.0.1"}
PAGES = {
    "/file": page(200, BODY),
    "/away": moved("http://other.test/file"),
    "/beside": moved("file", 307),
    "/here": moved("http://here.test/file"),
    "/literal": moved("http://127.0.0.1/file"),
    "/scheme": moved("file:///etc/passwd"),
    "/inside": moved("http://inside.test/file"),
    "/round": moved("/round"),
    "/nowhere": page(302, b""),
    "/short": page(200, BODY, length=len(BODY) + 1),
    "/large": page(200, b"", length=CAP + 1),
    "/missing": page(404, b"no"),
    "/packed": page(200, gzip.compress(BODY), "Content-Encoding: gzip"),
    "/cookie": page(302, b"", "Location: /file", "Set-Cookie: a=b"),
    "/endless": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2710\r\n" + b"x" * 10_000,
    "/unannounced": b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b"x" * (CAP + 1),
}


@dataclass
class Machine:
    """A machine in a small internet; all of its servers are one, which hears what it is asked."""

    here: ToolContext
    internet: Internet
    heard: list[bytes] = field(default_factory=list)

    async def fetch(self, url: str, dest: str = "got", *, judged: bool = True) -> ToolResult:
        """Return the result of a download that a person has approved."""
        call = order("download_file", url=url, dest=dest)
        here = self.here
        if judged:
            here = replace(here, reading=await downloads.read(call.arguments, here.world, self.internet))
        return await DownloadTool(self.internet, self.internet.transport, cap=CAP).download(here, call)

    @property
    def work(self) -> Path:
        return Path(self.here.world.cwd)

    def files(self) -> list[str]:
        return sorted(each.name for each in self.work.iterdir())


@pytest.fixture
async def machine(tmp_path: Path) -> AsyncIterator[Machine]:
    heard: list[bytes] = []
    async with serving(PAGES, heard) as port:
        names = {host: [[address]] for host, address in HOSTS.items()}
        addresses = dict.fromkeys([*HOSTS.values(), "2606:4700::1111"], port)
        yield Machine(place(tmp_path), Internet(names, addresses), heard)


def refusal(outcome: ToolResult) -> Any:
    assert outcome.is_error, outcome.value
    return outcome.value


async def test_a_file_is_saved_whole(machine: Machine) -> None:
    """The download stands where it should, in folders that are made, and the answer says where and how much."""
    outcome = await machine.fetch("http://good.test/file", "new/deep/got")
    saved = machine.work / "new" / "deep" / "got"
    assert outcome.value == {"path": str(saved), "bytes": len(BODY)}
    assert saved.read_bytes() == BODY
    assert [each.name for each in saved.parent.iterdir()] == ["got"]


async def test_the_server_is_asked_by_name_and_told_nothing_else(machine: Machine) -> None:
    """The connection goes to the address, the request to the name; no cookie, no password, nothing packed."""
    await machine.fetch("http://good.test/cookie")
    assert machine.internet.connected == [PUBLIC, PUBLIC]
    for request in machine.heard:
        assert b"Host: good.test\r\n" in request
        assert b"Accept-Encoding: identity\r\n" in request
        assert b"cookie" not in request.lower().replace(b"/cookie", b"")
        assert b"authorization" not in request.lower()


async def test_a_proxy_of_the_environment_is_not_used(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy would look the name up by itself."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert not (await machine.fetch("http://good.test/file")).is_error


async def test_the_connection_goes_where_the_gate_has_looked(machine: Machine) -> None:
    """A name is looked up once: an answer that changes between the decision and the connection changes nothing."""
    machine.internet.names = {"good.test": [[PUBLIC], ["127.0.0.1"]]}
    outcome = await machine.fetch("http://good.test/file")
    assert not outcome.is_error
    assert machine.internet.asked == ["good.test"]
    assert machine.internet.connected == [PUBLIC]


async def test_a_name_is_looked_up_again_for_a_redirect_and_checked_again(machine: Machine) -> None:
    """A redirect to the same name is another connection: where it leads now is checked now."""
    machine.internet.names = {"good.test": [[PUBLIC], ["127.0.0.1"]]}
    assert refusal(await machine.fetch("http://good.test/beside"))["rule_id"] == "F7"
    assert machine.internet.connected == [PUBLIC]


@pytest.mark.parametrize(("path", "connected"), [("/away", [PUBLIC, OTHER]), ("/beside", [PUBLIC, PUBLIC])])
async def test_redirects_are_followed(machine: Machine, path: str, connected: list[str]) -> None:
    """To another name, and to another place at the same one."""
    assert not (await machine.fetch(f"http://good.test{path}")).is_error
    assert machine.internet.connected == connected
    assert (machine.work / "got").read_bytes() == BODY


@pytest.mark.parametrize("path", ["/here", "/literal", "/scheme", "/round"])
async def test_a_redirect_is_no_way_around_the_floor(machine: Machine, path: str) -> None:
    """To this machine, to another scheme, or on and on: denied by F7, and nothing is there."""
    refused = refusal(await machine.fetch(f"http://good.test{path}"))
    assert (refused["error"], refused["code"], refused["rule_id"]) == ("permission_denied", "denied", "F7")
    assert set(machine.internet.connected) == {PUBLIC}
    assert len(machine.internet.connected) <= downloads.REDIRECTS + 1
    assert machine.files() == []


async def test_a_redirect_into_a_private_network_needs_a_rule(machine: Machine) -> None:
    """Nobody can be asked in the middle: only a rule for the host, or the mode `bypass`, lets it go on."""
    assert refusal(await machine.fetch("http://good.test/inside"))["code"] == "denied"
    policy = machine.here.policy
    machine.here = replace(
        machine.here, policy=replace(policy, allow=(parse("WebFetch(domain:inside.test)"),))
    )
    assert not (await machine.fetch("http://good.test/inside")).is_error
    machine.here = replace(machine.here, policy=replace(policy, mode=Mode.BYPASS))
    assert not (await machine.fetch("http://good.test/inside")).is_error


async def test_a_forbidden_host_is_forbidden_behind_a_redirect_too(machine: Machine) -> None:
    """Deny rules hold for every host on the way."""
    denying = replace(machine.here.policy, mode=Mode.BYPASS, deny=(parse("WebFetch(domain:other.test)"),))
    machine.here = replace(machine.here, policy=denying)
    refused = refusal(await machine.fetch("http://good.test/away"))
    assert (refused["source"], refused["rule_id"]) == ("rule", "WebFetch(domain:other.test)")


@pytest.mark.parametrize("path", ["/large", "/unannounced"])
async def test_what_is_too_large_is_not_kept(machine: Machine, path: str) -> None:
    """Announced or not, what goes over the cap is given up, and leaves no file; what was there before stays."""
    (machine.work / "got").write_text("before")
    assert refusal(await machine.fetch(f"http://good.test{path}"))["code"] == "too_large"
    assert machine.files() == ["got"]
    assert (machine.work / "got").read_text() == "before"


@pytest.mark.parametrize("path", ["/short", "/endless", "/missing", "/nowhere", "/not-there"])
async def test_what_is_not_whole_is_not_kept(machine: Machine, path: str) -> None:
    """A connection that breaks off, and an answer that is no file, leave nothing."""
    assert refusal(await machine.fetch(f"http://good.test{path}"))["code"] == "failed"
    assert machine.files() == []


async def test_what_is_packed_is_kept_so(machine: Machine) -> None:
    """Nothing is unpacked: what is saved is what was sent."""
    await machine.fetch("http://good.test/packed")
    assert gzip.decompress((machine.work / "got").read_bytes()) == BODY


async def test_another_address_is_tried_where_one_is_closed(machine: Machine) -> None:
    """The first of the checked addresses that lets us in counts."""
    machine.internet.names = {"good.test": [["1.1.1.1", PUBLIC]]}
    assert not (await machine.fetch("http://good.test/file")).is_error
    assert machine.internet.connected == ["1.1.1.1", PUBLIC]
    machine.internet.names = {"good.test": [["1.1.1.1"]]}
    assert refusal(await machine.fetch("http://good.test/file"))["code"] == "failed"


async def test_an_address_of_the_newer_kind_is_as_good(machine: Machine) -> None:
    """A name may lead to an IPv6 address."""
    machine.internet.names = {"good.test": [["2606:4700::1111"]]}
    assert not (await machine.fetch("http://good.test:8080/file")).is_error
    assert b"Host: good.test:8080\r\n" in machine.heard[0]


@pytest.mark.parametrize("url", ["http://here.test/file", "http://127.0.0.1/file", "http://unknown.test/"])
@pytest.mark.parametrize("judged", [True, False])
async def test_the_tool_itself_goes_nowhere_else(machine: Machine, url: str, judged: bool) -> None:
    """Were it called without the gate, it would still not go where the floor forbids."""
    assert refusal(await machine.fetch(url, judged=judged))["rule_id"] == "F7"
    assert machine.internet.connected == []


async def test_a_place_that_is_closed_stays_closed(machine: Machine) -> None:
    """A place that became protected since the decision is not written, and a folder is no file."""
    (machine.work / "folder").mkdir()
    assert refusal(await machine.fetch("http://good.test/file", "folder"))["code"] == "invalid"
    assert refusal(await machine.fetch("http://good.test/file", "folder/"))["code"] == "invalid"
    nowhere = refusal(await machine.fetch("http://good.test/file", ""))
    assert nowhere["error"] == "`.` is a folder; list_dir shows its content"
    assert list((machine.work / "folder").iterdir()) == []


async def decided(
    machine: Machine, url: str, answers: Sequence[str], mode: Mode = Mode.DEFAULT, allow: str | None = None
) -> Effect:
    """Return the gate's decision on a download from a name with these addresses."""
    machine.internet.names = {"name.test": [answers]}
    reading = await downloads.read({"url": url, "dest": "got"}, machine.here.world, machine.internet)
    rules = (parse(allow),) if allow else ()
    policy = replace(machine.here.policy, mode=mode, allow=rules)
    return decide(reading, policy, "download_file", sandboxed=False).effect


@pytest.mark.parametrize("address", ["10.1.2.3", "192.168.0.1", "172.20.0.1", "fd12::1", "::ffff:10.0.0.1"])
async def test_a_private_network_is_asked_about(machine: Machine, address: str) -> None:
    """Private addresses are a matter of policy: a rule that names the host allows them, one for the place does not."""
    url = "http://name.test/x"
    assert await decided(machine, url, [PUBLIC, address]) is Effect.ASK
    assert await decided(machine, url, [address], allow="download_file(got)") is Effect.ASK
    assert await decided(machine, url, [address], allow="WebFetch(domain:name.test)") is Effect.ALLOW
    assert await decided(machine, url, [address], Mode.BYPASS) is Effect.ALLOW
    assert await decided(machine, url, [address], Mode.STRICT) is Effect.DENY


@pytest.mark.parametrize(
    "address",
    [
        *(
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "169.254.169.254",
            "100.100.100.200",
            "100.64.0.1",
            "224.0.0.1",
        ),
        *("::1", "::", "fe80::1", "fd00:ec2::254", "::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1"),
        *("2002:7f00:1::1", "64:ff9b:1::7f00:1", "2001:0:1::1", "168.63.129.16", "192.0.2.1", "240.0.0.1"),
    ],
)
async def test_one_address_too_many_is_denied(machine: Machine, address: str) -> None:
    """A name that leads to this machine, its link or its provider is denied in every mode."""
    allow = "WebFetch(domain:name.test)"
    for mode in Mode:
        assert await decided(machine, "http://name.test/x", [PUBLIC, address], mode, allow) is Effect.DENY


@pytest.mark.parametrize(
    "url",
    [
        *(
            "http://localhost/",
            "http://LocalHost./",
            "http://a.localhost/",
            "http://localhost.localdomain:80/",
        ),
        *(
            "http://127.1/",
            "http://0x7f.1/",
            "http://2130706433/",
            "http://017700000001/",
            "http://0x7f000001/",
        ),
        *("http://127.0.0.1./", "http://127\u30020\u30020\u30021/", "http://\u2460\u2461\u2466.0.0.1/"),
        *(
            "http://[::1]/",
            "http://[::ffff:7f00:1]/",
            "http://[::ffff:127.0.0.1]:80/",
            "http://[fe80::1%25lo]/",
        ),
        *(
            "http://metadata.google.internal/",
            "http://metadata/",
            "http://0/",
            "http://1.2.3.4.5/",
            "http://256.1.1.1/",
        ),
        *(
            "ftp://name.test/",
            "file:///etc/passwd",
            "name.test/x",
            "//name.test/x",
            "http:name.test",
            "",
            "http://",
        ),
        *(
            "http://ada@name.test/",
            "http://ada:pw@name.test/",
            "http://name.test@127.0.0.1/",
            "http://@name.test/",
        ),
        *(
            "http://name.test\\@127.0.0.1/",
            "http://name.test/\n",
            " http://name.test/",
            "http://name.test/\u202e",
        ),
        *(
            "http://na%6de.test/",
            "http://name.test:99999/",
            "http://name.test:0/",
            "http://[::1",
            "http://-a.test/",
        ),
        *(
            "gopher://name.test/",
            "javascript:alert(1)",
            "data:text/plain,x",
            "http://" + "a" * 9000 + ".test/",
        ),
    ],
)
async def test_an_address_that_is_not_what_it_seems_is_denied(machine: Machine, url: str) -> None:
    """Odd spellings of this machine, other schemes, names of users, blanks: denied, and nothing is looked up."""
    assert await decided(machine, url, [PUBLIC], Mode.BYPASS) is Effect.DENY
    assert machine.internet.asked == []


@pytest.mark.parametrize(
    "url",
    [
        "https://name.test/a?b=c#d",
        "HTTP://NAME.test./x",
        "http://name.test:8080/",
        "http://8.8.8.8/",
        "http://134744072/",
    ],
)
async def test_public_addresses_are_as_good_as_the_rules(machine: Machine, url: str) -> None:
    """A public address is asked about by default, and allowed in `bypass`."""
    assert await decided(machine, url, [PUBLIC]) is Effect.ASK
    assert await decided(machine, url, [PUBLIC], Mode.BYPASS) is Effect.ALLOW


@pytest.mark.parametrize(
    "dest", [".env", ".git/config", "/etc/cron.d/x", "~/.ssh/authorized_keys", "~/.bashrc"]
)
async def test_where_it_is_saved_is_decided_like_writing(machine: Machine, dest: str) -> None:
    """A protected place is no place for a download."""
    machine.internet.names = {"name.test": [[PUBLIC]]}
    call = {"url": "http://name.test/", "dest": dest}
    reading = await downloads.read(call, machine.here.world, machine.internet)
    policy = replace(machine.here.policy, mode=Mode.BYPASS)
    assert decide(reading, policy, "download_file", sandboxed=False).effect is Effect.DENY
