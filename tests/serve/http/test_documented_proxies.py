"""The web servers of the page about a team: started with the configuration that the page shows."""

import json
import os
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from websockets.sync.client import connect

from tests.serve.served_hub import Hub, running_hub
from tests.support.tools import needed
from tests.support.waiting import patience, until

pytestmark = [pytest.mark.anyio, pytest.mark.system]

PAGE = Path(__file__).parents[3] / "docs/how-to/a-team-on-one-hub.md"
NAME = "hub.example.org"
PLACES = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
LARGE = 9 * 1024 * 1024


@dataclass
class Door:
    """The hub as it is reached from outside: by its name, over TLS, through a web server."""

    hub: Hub
    port: int
    trust: ssl.SSLContext

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    @property
    def headers(self) -> dict[str, str]:
        return {"Host": NAME, "Authorization": f"Bearer {self.hub.owner_secret}"}

    def client(self) -> httpx2.Client:
        def name(request: httpx2.Request) -> None:
            request.extensions["sni_hostname"] = NAME

        hooks = {"request": [name]}
        return httpx2.Client(
            base_url=self.url, headers=self.headers, verify=self.trust, event_hooks=hooks, timeout=patience()
        )

    def async_client(self) -> httpx2.AsyncClient:
        async def name(request: httpx2.Request) -> None:
            request.extensions["sni_hostname"] = NAME

        hooks = {"request": [name]}
        return httpx2.AsyncClient(
            headers=self.headers, verify=self.trust, event_hooks=hooks, timeout=patience()
        )

    def answers(self) -> bool:
        with suppress(httpx2.TransportError), self.client() as http:
            return http.get("/ready").is_success
        return False


def shown(language: str) -> str:
    """The configuration on the page, for the name of the test's hub."""
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return str(block).replace("hub.example.com", NAME)


def nginx(folder: Path, port: int, hub: int) -> list[str]:
    program = needed(shutil.which("nginx", path=PLACES), "nginx")
    live = f"/etc/letsencrypt/live/{NAME}"
    text = shown("nginx").replace("listen 443", f"listen 127.0.0.1:{port}").replace("8420", str(hub))
    (folder / "hubbub.conf").write_text(
        text.replace(f"{live}/fullchain.pem", f"{folder}/cert.pem").replace(
            f"{live}/privkey.pem", f"{folder}/key.pem"
        )
    )
    places = "".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;" if os.geteuid() == 0 else ""
    main = (
        f"{user} daemon off; pid {folder}/pid; error_log stderr; events {{}} http {{ access_log off; {places}"
    )
    (folder / "nginx.conf").write_text(f"{main} include {folder}/hubbub.conf; }}")
    return [program, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", "stderr"]


def caddy(folder: Path, port: int, hub: int) -> list[str]:
    program = needed(shutil.which("caddy", path=PLACES), "caddy")
    site = f"https://{NAME}:{port} {{\n    tls {folder}/cert.pem {folder}/key.pem"
    text = shown("caddy").replace(f"{NAME} {{", site).replace("8420", str(hub))
    own = "{\n    admin off\n    auto_https disable_redirects\n}\n"
    (folder / "Caddyfile").write_text(own + text)
    return [program, "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]


@contextmanager
def door(folder: Path, configured: Callable[[Path, int, int], list[str]]) -> Iterator[Door]:
    """A hub behind a web server, until the context ends."""
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-keyout", folder / "key.pem", "-out", folder / "cert.pem", "-days", "2", "-subj", f"/CN={NAME}",
            "-addext", f"subjectAltName=DNS:{NAME}",
        ],
        check=True, capture_output=True,
    )  # fmt: skip
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    with running_hub(folder / "hub", public_url=f"https://{NAME}") as hub:
        command = configured(folder, port, int(hub.url.rpartition(":")[2]))
        environment = {**os.environ, "HOME": str(folder)}
        with (
            (folder / "said").open("wb") as said,
            subprocess.Popen(command, stdout=said, stderr=said, env=environment) as server,
        ):
            try:
                made = Door(hub, port, ssl.create_default_context(cafile=str(folder / "cert.pem")))
                until(made.answers, command[0], seen=(folder / "said").read_text)
                yield made
            finally:
                server.kill()


@pytest.fixture(params=[nginx, caddy])
def by_name(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Door]:
    with door(tmp_path, request.param) as made:
        yield made


async def test_a_web_server_as_on_the_page_passes_everything(by_name: Door) -> None:
    """Calls, events while they happen, both ages of MCP, WebSockets and large bodies pass nginx and Caddy."""
    with by_name.client() as http, http.stream("GET", "/events?project=default") as events:
        lines = events.iter_lines()
        assert http.post("/api/v1/tasks?project=default", json={"text": "seen at once"}).is_success
        sent = next(json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: "))
        assert sent["kind"] == "task.sent"

        large = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": {"x": "a" * LARGE}}}
        assert http.post("/mcp/relay", json=large).json()["result"] == {}

        link = http.post("/api/v1/logins/links", json={}).json()["url"]
        assert link.startswith(f"https://{NAME}/login/")

    for mode in ("legacy", "auto"):
        async with (
            by_name.async_client() as http_,
            Client(streamable_http_client(f"{by_name.url}/mcp", http_client=http_), mode=mode) as client,
        ):
            for _ in range(10):  # some settings cut one answer in fifty short
                assert (await client.call_tool("board", {})).structured_content

    with (
        socket.create_connection(("127.0.0.1", by_name.port)) as plain,
        connect(
            f"wss://{NAME}:{by_name.port}/ws?project=default", sock=plain, ssl=by_name.trust,
            additional_headers={"Authorization": by_name.headers["Authorization"]},
        ) as socket_,
    ):  # fmt: skip
        assert json.loads(socket_.recv(patience()))
