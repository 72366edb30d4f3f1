"""Whether an installed client will reach the hub: by doing what it will do, with what is in its files now.

The entry is read back from the client's file and the token is found as the client would find it; then its tools are
listed over MCP. That a file exists says nothing.
"""

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from hubbub import __version__
from hubbub.clients.install.client import VARIABLE
from hubbub.clients.install.editors.editor import MISSING, Unreadable, find
from hubbub.clients.install.editors.languages import EDITORS
from hubbub.clients.install.record import Install
from hubbub.clients.install.registry import CLIENTS
from hubbub.model.ways import authorities, trusts_environment

PATIENCE = 15.0  # seconds
REVISION = "2025-06-18"  # of MCP: one that every client of the table speaks
ACCEPTED = "application/json, text/event-stream"
ADDRESSES = ("url", "serverUrl", "uri")
WORD = re.compile(r"\$\{(?:env:)?(\w+)\}|\{env:(\w+)\}|\$(\w+)|\$\{input:[\w-]+\}|\{file:([^}]+)\}")


@dataclass(frozen=True, slots=True)
class Verdict:
    """How the try went, in a sentence, and what to do if it did not go well."""

    well: bool
    found: str
    do: str | None = None


class _Failed(Exception):
    """The try came to nothing; what was found, and what to do if it is not to install again."""

    def __init__(self, found: str, do: str | None = None) -> None:
        super().__init__(found)
        self.found, self.do = found, do


def verify(install: Install, environment: Mapping[str, str] = os.environ) -> Verdict:
    """Connect as the client would. Takes up to `PATIENCE` seconds."""
    again = f"hubbub install {install.client} --scope {install.scope} --as {install.agent}"
    try:
        entry = _entry(install, again)
        tools = (
            _started(entry, again)
            if "command" in entry and _starts_a_program(install)
            else _connected(entry, install, environment, again)
        )
    except _Failed as failed:
        return Verdict(False, failed.found, failed.do or f"install it again: {again}")
    return Verdict(True, f"{install.agent} reaches {install.url}, which has {tools} tools for it")


def _entry(install: Install, again: str) -> dict[str, Any]:
    """What the client's file says about the hub now."""
    for facts in install.changes:
        if facts["do"] == "entry" and _is_server(facts["same"], facts["keys"]):
            found = _present(facts)
            if isinstance(found, dict):
                return found
            raise _Failed(
                f"{facts['file']} has no {'.'.join(facts['keys'])} any more", f"bring it back: {again}"
            )
    return {"url": f"{install.url}/mcp", "bearer_token_env_var": VARIABLE}


def _is_server(same: object, keys: Sequence[str]) -> bool:
    return bool(same) or keys[0] == "mcpServers"


def _present(facts: Mapping[str, Any]) -> Any:
    try:
        text = Path(facts["file"]).read_bytes().decode()
        return find(EDITORS[facts["language"]].load(text), tuple(facts["keys"]))
    except (OSError, ValueError, Unreadable):
        return MISSING


def _connected(entry: Mapping[str, Any], install: Install, environment: Mapping[str, str], again: str) -> int:
    url = next((entry[each] for each in ADDRESSES if each in entry), None)
    if not isinstance(url, str):
        raise _Failed("its entry has no address any more", f"bring it back: {again}")
    # A project's file comes from others, and a token is not for everybody.
    if _origin(url) != _origin(install.url):
        raise _Failed(f"its entry leads to {url}, and not to {install.url}", f"bring it back: {again}")
    headers = {"Authorization": _authorization(entry, install, environment), "Accept": ACCEPTED}
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
        raise _Failed(f"nothing answers at {url}", "start the hub with: hubbub up") from None
    except (ValueError, KeyError, TypeError):
        raise _Failed(f"what answers at {url} does not speak MCP", f"correct the address: {again}") from None
    return len(tools)


def _starts_a_program(install: Install) -> bool:
    """Whether the client is one that we made start a program; no other entry says what is run here."""
    return install.client in CLIENTS and CLIENTS[install.client].is_bridged


def _origin(url: str) -> tuple[str, str, int | None]:
    try:
        address = httpx2.URL(url)
    except httpx2.InvalidURL:
        return ("", url, None)
    return address.scheme, address.host, address.port


def _authorization(entry: Mapping[str, Any], install: Install, environment: Mapping[str, str]) -> str:
    """The value of the header, with the words of the client's language replaced as it does it."""
    given = (
        entry.get("headers", {}).get("Authorization") or f"Bearer ${{{entry.get('bearer_token_env_var')}}}"
    )
    values = {**environment, **_variables(install)}

    def value(word: re.Match[str]) -> str:
        name = word[1] or word[2] or word[3]
        if word[4]:
            return _text(Path(word[4]))
        return (values.get(name) if name else None) or install.token() or ""

    return WORD.sub(value, str(given))


def _variables(install: Install) -> dict[str, str]:
    """The variables that the client reads from files of its own."""
    ours = [each for each in install.changes if each["do"] == "entry" and each["keys"][-1] == VARIABLE]
    found = {each["keys"][-1]: _present(each) for each in ours}
    return {name: value for name, value in found.items() if isinstance(value, str)}


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
    """The result of a call, and the name that the server gave to the connection."""
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
    """How many tools the program on standard input and output has."""
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
    except (OSError, ValueError, KeyError, StopIteration):
        raise _Failed("the program that it starts does not answer", f"install it again: {again}") from None
    return len(tools)
