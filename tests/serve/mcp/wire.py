"""MCP as it looks on the wire, for tests that care about exactly that: messages, headers, event frames."""

import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
from mcp.shared.inbound import encode_header_value

from hubbub.model.programs.proxy_trust import authorities
from tests.serve.served_hub import Hub

Json = dict[str, Any]

PATH = "/mcp/tiny"
LEGACY = "2025-11-25"
MODERN = "2026-07-28"
BOTH = {"Accept": "application/json, text/event-stream"}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}


_ids = itertools.count(1)


def message(method: str, params: Json | None = None) -> Json:
    return {"jsonrpc": "2.0", "id": next(_ids), "method": method, "params": params or {}}


def call(tool: str, **arguments: object) -> Json:
    return message("tools/call", {"name": tool, "arguments": arguments})


def post(hub: Hub, token: str, body: object, *, path: str = PATH, **headers: str) -> httpx2.Response:
    """Post a message, or raw bytes, with nothing but a token."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    default = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    return httpx2.post(hub.url + path, content=content, headers={**default, **headers})


class Peer:
    """A client of one of the two revisions; `ask` for a result or an error."""

    def __init__(self, hub: Hub, token: str, revision: str, path: str = PATH) -> None:
        self.url, self.revision = hub.url + path, revision
        self.http = httpx2.Client(
            headers={"Authorization": f"Bearer {token}", "MCP-Protocol-Version": revision, **BOTH},
            verify=authorities(hub.url),
        )
        if revision == LEGACY:
            hello = {
                "protocolVersion": LEGACY,
                "capabilities": {},
                "clientInfo": {"name": "peer", "version": "1"},
            }
            begun = self.http.post(self.url, json=message("initialize", hello))
            self.http.headers["Mcp-Session-Id"] = begun.headers["mcp-session-id"]
            self.http.post(self.url, json={"jsonrpc": "2.0", "method": "notifications/initialized"})

    def request(self, method: str, **params: Any) -> Json:
        return self.http.post(self.url, **self._prepared(method, params)).json()  # type: ignore[no-any-return]

    def ask(self, method: str, **params: Any) -> Json:
        """The result of a request that succeeds."""
        answer: Json = self.request(method, **params)
        return answer["result"]  # type: ignore[no-any-return]

    @contextmanager
    def following(self, *uris: str) -> Iterator[Iterator[Json]]:
        """The notifications of the resources, as they come, until the stream ends."""
        if self.revision == LEGACY:
            for uri in uris:
                self.ask("resources/subscribe", uri=uri)
            stream = self.http.stream("GET", self.url)
        else:
            wanted = {"notifications": {"resourceSubscriptions": list(uris)}}
            stream = self.http.stream("POST", self.url, **self._prepared("subscriptions/listen", wanted))
        with stream as response:
            assert response.status_code == 200
            heard = frames(response)
            if self.revision == MODERN:
                assert next(heard)["method"] == "notifications/subscriptions/acknowledged"
            yield heard

    def _prepared(self, method: str, params: Json) -> Json:
        """Return the arguments of an HTTP post, as the revision wants them."""
        if self.revision == LEGACY:
            return {"json": message(method, params)}
        name = params.get("name") or params.get("uri")
        headers = {"Mcp-Method": method, **({"Mcp-Name": encode_header_value(name)} if name else {})}
        return {
            "json": message(method, {**params, "_meta": {**ENVELOPE, **params.get("_meta", {})}}),
            "headers": headers,
        }


Connect = Callable[[str, str], Peer]  # of a token's secret and a revision


def frames(response: httpx2.Response) -> Iterator[Json]:
    """The messages of a stream of events, as they come."""
    for line in response.iter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))
