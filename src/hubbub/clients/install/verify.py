"""Verification of an install: connects like the client, with the present content of its files.

The entry is read back from the client's file and the token is found as the client would find it; then its tools are
listed over MCP. The mere existence of a file proves nothing.
"""

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from hubbub import __version__
from hubbub.client import Hub, HubRefused, HubUnreachable
from hubbub.clients.install.client_installer import PROJECT, USER, VARIABLE, own_variable
from hubbub.clients.install.known_clients import CLIENTS
from hubbub.clients.install_record import Install
from hubbub.model.programs.proxy_trust import authorities, trusts_environment
from spliceconf import EDITORS, MISSING, Unreadable, find

PATIENCE = 15.0  # seconds
REVISION = "2025-06-18"  # of MCP: one that every client of the table speaks
ACCEPTED = "application/json, text/event-stream"
OFF = {"disabled": True, "enabled": False}  # the clients' ways to disable an entry
HEADER = re.compile(r"Bearer ([!-~]+)")


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """The result of the check, in a sentence, and the remedy if it failed."""

    well: bool
    found: str
    do: str | None = None


class _Failed(Exception):
    """The check failed: its finding, and the remedy if that is not a new install."""

    def __init__(self, found: str, do: str | None = None) -> None:
        super().__init__(found)
        self.found, self.do = found, do


def verify(
    install: Install, environment: Mapping[str, str] = os.environ, others: Sequence[Install] = ()
) -> VerifyResult:
    """Connect like the client that is started with `environment`. Takes up to `PATIENCE` seconds.

    In a project the client also reads the files of its install for the user, if that is among `others`.
    """
    for other in others:
        if install.scope == PROJECT and (other.client, other.scope) == (install.client, USER):
            environment = {
                **environment,
                **{name: value for name, value in _variables(other).items() if value},
            }
    again = install.again
    try:
        entry, address = _entry(install, again)
        _require_on(entry)
        tools = (
            _started(entry, again)
            if "command" in entry and _starts_a_program(install)
            else _connected(entry, address, install, environment, again)
        )
    except _Failed as failed:
        return VerifyResult(False, failed.found, failed.do or f"install it again: {again}")
    return VerifyResult(True, f"{install.agent} reaches {install.url}, which has {tools} tools for it")


def _entry(install: Install, again: str) -> tuple[dict[str, Any], str]:
    """Return the present entry in the client's file, and the key of the address in it."""
    for facts in install.changes:
        if facts["do"] == "entry" and _is_server(facts["same"], facts["keys"]):
            found = _present(facts)
            if isinstance(found, dict):
                return found, facts["same"][0] if facts["same"] else ""
            raise _Failed(
                f"{facts['file']} has no {'.'.join(facts['keys'])} any more", f"bring it back: {again}"
            )
    return {"url": f"{install.url}/mcp", "bearer_token_env_var": VARIABLE}, "url"


def _require_on(entry: Mapping[str, Any]) -> None:
    for key, off in OFF.items():
        if entry.get(key) is off:
            raise _Failed(f"its entry is switched off: {key} is {json.dumps(off)}", "switch it on there")


def _is_server(same: object, keys: Sequence[str]) -> bool:
    return bool(same) or keys[0] == "mcpServers"


def _present(facts: Mapping[str, Any]) -> Any:
    try:
        text = Path(facts["file"]).read_bytes().decode()
        return find(EDITORS[facts["language"]].load(text), tuple(facts["keys"]))
    except (OSError, ValueError, Unreadable):
        return MISSING


def _connected(
    entry: Mapping[str, Any], address: str, install: Install, environment: Mapping[str, str], again: str
) -> int:
    url = entry.get(address)
    if not isinstance(url, str):
        raise _Failed(f"its entry has no address any more: {address or 'url'}", f"bring it back: {again}")
    # A project's file comes from others, who must not get a token.
    if _origin(url) != _origin(install.url):
        raise _Failed(f"its entry leads to {url}, and not to {install.url}", f"bring it back: {again}")
    authorization = _authorization(entry, install, environment)
    headers = {"Authorization": authorization, "Accept": ACCEPTED}
    try:
        with httpx2.Client(
            headers=headers, timeout=PATIENCE, verify=authorities(url), trust_env=trusts_environment(url)
        ) as http:
            greeted = _asked(http, url, "initialize", _greeting(), {})
            kept = {"MCP-Protocol-Version": greeted[0]["protocolVersion"]}
            if greeted[1]:
                kept["Mcp-Session-Id"] = greeted[1]
            tools: list[Any] = _asked(http, url, "tools/list", {}, kept)[0]["tools"]
            if greeted[1]:
                http.delete(url, headers=kept)
    except (httpx2.TransportError, httpx2.InvalidURL):
        here = "start the hub with: hubbub up"
        there = "check the address, and that the hub there runs"
        raise _Failed(f"nothing answers at {url}", there if trusts_environment(url) else here) from None
    except (ValueError, KeyError, TypeError, StopIteration):
        raise _Failed(f"what answers at {url} does not speak MCP", f"correct the address: {again}") from None
    _require_itself(authorization, install, again)
    return len(tools)


def _require_itself(authorization: str, install: Install, again: str) -> None:
    """Check that the token is the client's own: a valid one may belong to another agent."""
    with closing(Hub(install.url, authorization.removeprefix("Bearer "), project=install.project)) as hub:
        try:
            agent = hub.get("/me")["agent"]
        except (HubRefused, HubUnreachable) as error:
            raise _Failed(str(error), "see what the hub's log says") from None
    if agent != install.agent:
        raise _Failed(
            f"its token is not that of {install.agent}, but of {agent or 'nobody in particular'}",
            _remedy(install, again),
        )


def _remedy(install: Install, again: str) -> str:
    """Return how the client gets its own token; older installs for projects share the variable of the user's."""
    if install.scope == PROJECT:
        return f"install it again in {install.folder}, and start the client with the line that it prints: {again}"
    return f"start the client with the token in {install.token_file}"


def _starts_a_program(install: Install) -> bool:
    """Tell whether we made the client start a program; programs of other entries are not run here."""
    return install.client in CLIENTS and CLIENTS[install.client].is_bridged


def _origin(url: str) -> tuple[str, str, int | None]:
    try:
        address = httpx2.URL(url)
    except httpx2.InvalidURL:
        return ("", url, None)
    return address.scheme, address.host, address.port


def _authorization(entry: Mapping[str, Any], install: Install, environment: Mapping[str, str]) -> str:
    """Return the value of the header, with the words of the client's language replaced."""
    if (name := entry.get("bearer_token_env_var")) is not None:
        written = f"Bearer {_variable(str(name), install, environment)}"
    else:
        client = CLIENTS.get(install.client)
        written = _given(entry)
        if client is not None and client.words is not None:
            written = re.sub(
                client.words, lambda word: _value(word.groupdict(), install, environment), written
            )
    if not HEADER.fullmatch(written):
        raise _Failed("the header Authorization of its entry has no token after Bearer")
    return written


def _given(entry: Mapping[str, Any]) -> str:
    """Return the header in the entry; names of headers are the same in any case."""
    headers = entry.get("headers")
    given = {str(name).lower(): value for name, value in headers.items()} if isinstance(headers, dict) else {}
    found = given.get("authorization")
    if not isinstance(found, str):
        raise _Failed("its entry has no header Authorization any more")
    return found


def _value(word: Mapping[str, str | None], install: Install, environment: Mapping[str, str]) -> str:
    """Return the client's value of a word. A secret that it stores itself counts as the one it was given."""
    if file := word.get("file"):
        return _text(Path(file))
    if name := word.get("variable"):
        return _variable(name, install, environment)
    return _own(install)


def _variable(name: str, install: Install, environment: Mapping[str, str]) -> str:
    """Return a variable as the client finds it. One that a person is to export counts as exported."""
    kept = _variables(install)
    if value := kept.get(name) or environment.get(name):
        return value
    if name not in {VARIABLE, own_variable(install.agent)} or name in kept:
        raise _Failed(f"its token is in the variable {name}, which is not set")
    return _own(install)


def _own(install: Install) -> str:
    token = install.token()
    if token is None:
        raise _Failed(f"there is no token in {install.token_file} any more")
    return token


def _variables(install: Install) -> dict[str, str | None]:
    """Return the variables that the client reads from files of its own: None for missing ones."""
    ours = [each for each in install.changes if each["do"] == "entry" and each["keys"][-1] == VARIABLE]
    found = {each["keys"][-1]: _present(each) for each in ours}
    return {name: value if isinstance(value, str) else None for name, value in found.items()}


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8").strip()
    except (OSError, ValueError):
        return ""


def _greeting() -> dict[str, Any]:
    return {
        "protocolVersion": REVISION,
        "capabilities": {},
        "clientInfo": {"name": "hubbub-install", "version": __version__},
    }


def _asked(
    http: httpx2.Client,
    url: str,
    method: str,
    params: Mapping[str, Any],
    headers: Mapping[str, str],
) -> tuple[dict[str, Any], str | None]:
    """Return the result of a call, and the server's name for the connection."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    reply = http.post(url, json=message, headers=headers)
    if reply.status_code in {401, 403}:
        raise _Failed(f"the hub at {url} does not take its token")
    if reply.is_error:
        raise _Failed(f"{url} answers with status {reply.status_code}", "see what the hub's log says")
    body = reply.text
    if reply.headers.get("content-type", "").startswith("text/event-stream"):
        body = next(line.removeprefix("data:") for line in body.splitlines() if line.startswith("data:"))
    result: dict[str, Any] = json.loads(body)["result"]
    return result, reply.headers.get("mcp-session-id")


def _started(entry: Mapping[str, Any], again: str) -> int:
    """Start the program on standard input and output, and count its tools."""
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _greeting()},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}},
    ]
    try:
        with subprocess.Popen(
            [entry["command"], *entry.get("args", ())],
            env={**os.environ, **entry.get("env", {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as program:
            assert program.stdin is not None
            assert program.stdout is not None
            for line in lines:
                program.stdin.write(json.dumps(line) + "\n")
            program.stdin.flush()
            replies = (json.loads(line) for line in program.stdout)
            tools = next(each["result"]["tools"] for each in replies if each.get("id") == len(lines) - 1)
            program.stdin.close()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, StopIteration):
        raise _Failed("the program that it starts does not answer", f"install it again: {again}") from None
    return len(tools)
