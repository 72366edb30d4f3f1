"""Calls of tools as the official client puts them on the line, without its work, which is more than the hub's."""

import http.client
import itertools
import json
import select
import socket
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from mcp.client.client import ConnectMode
from mcp.shared.inbound import encode_header_value
from mcp.types import CallToolResult

from tests.support.waiting import patience

Json = dict[str, Any]
NEWEST: ConnectMode = "2026-07-28"  # the revision of the protocol that needs no handshake
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": NEWEST,
    "io.modelcontextprotocol/clientInfo": {"name": "mcp", "version": "0.1.0"},
    "io.modelcontextprotocol/clientCapabilities": {},
}

_ids = itertools.count(1)


class PlainLine:
    """What a caller with a token calls at an address; calls at the same time have a connection each."""

    def __init__(self, url: str, secret: str, headers: Mapping[str, str]) -> None:
        parts = urlsplit(url)
        self._place, self._path = parts.netloc, parts._replace(scheme="", netloc="").geturl()
        self._headers = {
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {secret}",
            "Content-Type": "application/json",
            "MCP-Protocol-Version": NEWEST,
            "Mcp-Method": "tools/call",
            **headers,
        }
        self._idle: list[http.client.HTTPConnection] = []
        self._is_over = False

    def call(self, tool: str, arguments: Json, meta: Json) -> Json:
        """Return the result of a call, which the official client's types can read."""
        params = {"name": tool, "arguments": arguments, "_meta": {**meta, **ENVELOPE}}
        message = {"jsonrpc": "2.0", "id": next(_ids), "method": "tools/call", "params": params}
        body = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        connection = self._free()
        connection.request("POST", self._path, body, {**self._headers, "Mcp-Name": encode_header_value(tool)})
        answer = connection.getresponse()
        said: Json = json.loads(answer.read())
        self._leave(connection)
        assert (answer.status, said["id"], "result" in said) == (200, message["id"], True), said
        CallToolResult.model_validate(said["result"])
        return said["result"]  # type: ignore[no-any-return]

    def _free(self) -> http.client.HTTPConnection:
        """Return a connection that nobody uses and the hub has not closed meanwhile."""
        while self._idle:
            connection = self._idle.pop()
            if connection.sock is not None and not _is_closed(connection.sock):
                return connection
            connection.close()
        return http.client.HTTPConnection(self._place, timeout=patience())

    def _leave(self, connection: http.client.HTTPConnection) -> None:
        self._idle.append(connection)
        if self._is_over:
            self.close()

    def close(self) -> None:
        """Close all connections; one that still waits for an answer is closed with it."""
        self._is_over = True
        while self._idle:
            self._idle.pop().close()


def _is_closed(line: socket.socket) -> bool:
    """Tell whether a line on which no answer is awaited has something to read: only its end can that be."""
    return bool(select.select([line], [], [], 0)[0])
