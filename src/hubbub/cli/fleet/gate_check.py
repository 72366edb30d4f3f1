"""`hubbub gate`: the decision of this machine's gate on a call, without doing it."""

import asyncio
import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click
import httpx2

from hubbub import settings
from hubbub.cli import Group
from hubbub.model.errors import Invalid
from hubbub.node.gate import analysis
from hubbub.node.gate.host_facts import HostFacts
from hubbub.node.policy import node_policy as policies
from hubbub.node.policy.node_policy import Policy
from hubbub.terminal import display
from hubbub.terminal.command import command
from hubbub.terminal.wrong_words import OneOf
from shellgate.decide import decide
from shellgate.decision import Effect, Mode
from shellgate.floor import downloads, file_calls, search_omissions
from shellgate.floor.downloads import Unasked, UnknownHost
from shellgate.world import World

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
REDIRECTS = range(300, 400)  # statuses
LEADS = ("location", "redirect", "redirect_to", "to")  # members of a stub with a redirect's target
NOWHERE = "nowhere:"  # the target of a redirect that names none: no download follows it
EXAMPLE = (
    """echo '{"id": "1", "tool": "execute_command", "args": {"command": "rm -rf /"}}' | hubbub gate check"""
)


@click.group("gate", cls=Group, short_help="Check what agents would be allowed to do on this machine.")
def gate() -> None:
    """Check what this machine's gate would decide."""


@command("check", example=EXAMPLE, always_json=True)
@click.option("--home", type=FOLDER, help="Home folder to assume, instead of yours.")
@click.option("--workspace", type=FOLDER, help="Working folder, and only root. [default: this one]")
@click.option(
    "--mode", type=OneOf([mode.value for mode in Mode]), help="Mode to assume, instead of the policy's."
)
@click.option(
    "--policy", "file", type=FILE, help="Policy file. [default: the shipped one, which has no rules]"
)
def check(*, home: Path | None, workspace: Path | None, mode: str | None, file: Path | None) -> None:
    """Decide cases, one JSON object per line of input: id, tool, args; dns, dns_sequence and http for downloads.

    Nothing is executed, and no host name is looked up. Prints one decision per line, as if there were no sandbox and
    somebody to ask.
    """
    around = _surroundings(home, workspace)
    policy = _policy(around, file, mode)
    own = settings.read().config / policies.FILE
    if file is None and own.exists():
        click.echo(f"by the shipped rules; for this machine's: --policy {shlex.quote(str(own))}", err=True)
    is_well = asyncio.run(_answer(around.world(policy), policy))
    if policy.fault is not None:
        raise click.ClickException(f"the policy does not load, so it is strict: {policy.fault}")
    if not is_well:
        raise click.ClickException("some lines are not cases; the lines printed for them say why")


gate.add_command(check)


@dataclass(frozen=True, slots=True)
class GateCase:
    """One call to decide."""

    id: object
    tool: str
    arguments: Mapping[str, object]
    network: "StubNetwork"


class StubNetwork:
    """The network as a case describes it: names and their addresses, pages and their redirects."""

    def __init__(self, dns: Mapping[str, list[list[str]]], http: Mapping[str, str]) -> None:
        self._dns, self._http = dns, http

    async def resolve(self, host: str) -> Sequence[str]:
        """Return the next answer for the name; the last one is repeated."""
        if not self._dns:
            raise Unasked(host)
        answers = self._dns.get(host)
        if not answers:
            raise UnknownHost(host)
        return answers.pop(0) if len(answers) > 1 else answers[0]

    async def location(self, url: str) -> str | None:
        return self._http.get(_same(url))


def _surroundings(home: Path | None, workspace: Path | None) -> HostFacts:
    found = settings.read()
    home = (home or Path(os.environ.get("HOME") or Path.home())).resolve()
    return HostFacts(
        home=home,
        cwd=(workspace or Path.cwd()).resolve(),
        own=(found.data, found.config),
        environment={**os.environ, "HOME": str(home)},
    )


def _policy(around: HostFacts, file: Path | None, mode: str | None) -> Policy:
    policy = Policy(roots=(around.cwd,), home=str(around.home))
    if file is not None:
        policy = policies.load(file.absolute(), around.cwd, home=around.home)
    if mode is not None and policy.fault is None:
        policy = replace(policy, mode=Mode(mode))
    return policy


async def _answer(world: World, policy: Policy) -> bool:
    """Print the decision on each case of standard input; return whether all of them were cases."""
    is_well = True
    for number, line in enumerate(sys.stdin.buffer, 1):
        if not line.strip():
            continue
        try:
            display.show_json(await _decided(_case(line), world, policy))
        except Invalid as error:
            is_well = False
            display.show_json({"id": None, "line": number, "error": str(error)})
    return is_well


async def _decided(case: GateCase, world: World, policy: Policy) -> dict[str, object]:
    reading = await analysis.analyse(case.tool, case.arguments, world, case.network)
    decision = decide(reading, policy, case.tool, sandboxed=False)
    found: dict[str, object] = {
        "id": case.id,
        "decision": decision.effect.word,
        "source": str(decision.source),
        "rule_id": decision.rule_id,
        "reason": decision.reason,
    }
    if case.tool in file_calls.SEARCHES:
        is_done = decision.effect is not Effect.DENY
        found["omits"] = search_omissions.omitted(reading.target, world) if is_done else []
    if case.tool == downloads.TOOL:
        found["address"] = reading.address
    return found


def _case(line: bytes) -> GateCase:
    """Parse the case in a line. Raises `Invalid`."""
    try:
        facts = json.loads(line)
    except (ValueError, RecursionError):
        raise Invalid("the line is not JSON") from None
    if not isinstance(facts, dict):
        raise Invalid("a case is a JSON object with id, tool and args")
    tool, arguments = facts.get("tool"), facts.get("args", {})
    if not isinstance(tool, str) or not isinstance(arguments, dict):
        raise Invalid("a case needs tool, a text, and args, an object")
    dns = {**_answers(facts.get("dns"), "dns"), **_answers(facts.get("dns_sequence"), "dns_sequence")}
    return GateCase(facts.get("id"), tool, arguments, StubNetwork(dns, dict(_pages(facts.get("http")))))


def _answers(stubs: object, name: str) -> dict[str, list[list[str]]]:
    """Return the successive answers for each name."""
    if stubs is None:
        return {}
    if not isinstance(stubs, dict):
        raise Invalid(f"{name} must be an object, of lists of addresses by host name")
    is_sequence = name == "dns_sequence"
    return {_known_as(host): _in_turn(found, is_sequence=is_sequence) for host, found in stubs.items()}


def _known_as(host: str) -> str:
    """Return the name in the form of look-ups."""
    try:
        return httpx2.URL(f"http://{host}").raw_host.decode("ascii").rstrip(".")
    except httpx2.InvalidURL:
        return host


def _in_turn(found: object, *, is_sequence: bool) -> list[list[str]]:
    answers = found if isinstance(found, list) else [found]
    if any(isinstance(each, list) for each in answers):
        return [list(map(str, each)) if isinstance(each, list) else [str(each)] for each in answers]
    return [[str(each)] for each in answers] if is_sequence else [list(map(str, answers))]


def _pages(stubs: object) -> Iterator[tuple[str, str]]:
    """Yield the redirects: an address and its target."""
    if stubs is None:
        return
    if isinstance(stubs, dict):
        pages = list(stubs.items())
    elif isinstance(stubs, list) and all(isinstance(each, dict) and "url" in each for each in stubs):
        pages = [(each["url"], each) for each in stubs]
    else:
        raise Invalid("http must be an object, of status and location by address")
    for url, page in pages:
        if (location := _location(page)) is not None:
            yield _same(str(url)), location


def _location(page: object) -> str | None:
    """Return a page's redirect: a text, the location beside a status, or an object's member."""
    match page:
        case str():
            return page
        case [dict() as first, *_]:
            return _location(first)
        case [int() as status, str() as location] if status in REDIRECTS:
            return location
        case {"status": int() as status} if status not in REDIRECTS:
            return None
        case dict():
            return _told(page) or (NOWHERE if "status" in page else None)
    return None


def _told(page: Mapping[str, object]) -> str | None:
    """Return the redirect in a page's own members, or its headers."""
    headers = page.get("headers")
    if isinstance(headers, list):
        headers = dict(
            each for each in headers if isinstance(each, list) and len(each) == len(("name", "value"))
        )
    told = {**(headers if isinstance(headers, dict) else {}), **page}
    named = {str(name).lower(): value for name, value in told.items()}
    return next((each for each in map(named.get, LEADS) if isinstance(each, str)), None)


def _same(url: str) -> str:
    """Return the address in the one form by which stubs are found."""
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL:
        return url
    return f"{parsed.scheme}://{parsed.netloc.decode('ascii')}{parsed.raw_path.decode('ascii')}"
