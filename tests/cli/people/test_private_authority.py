"""A hub behind TLS whose certificate is by an authority of one's own, which SSL_CERT_FILE names."""

import socket
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from tests.cli.processes import RunningHub, hubbub
from tests.cli.stdio_peers import LEGACY, StdioPeer
from tests.node.link.test_websocket import certificate


@contextmanager
def behind_tls(port: int, file: Path) -> Iterator[str]:
    """The address of a server with the certificate in the file that passes everything on to the hub at the port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)

    class Pass(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with (
                suppress(OSError),
                context.wrap_socket(self.request, server_side=True) as client,
                socket.create_connection(("127.0.0.1", port)) as hub,
            ):
                back = threading.Thread(target=carry, args=(hub, client), daemon=True)
                back.start()
                carry(client, hub)
                back.join()

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads, block_on_close = True, False

    with Server(("127.0.0.1", 0), Pass) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"https://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def carry(source: socket.socket, target: socket.socket) -> None:
    """Pass on what comes until one of the two ends."""
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


@pytest.mark.system
def test_commands_bridge_and_clients_trust_ones_own_authority(hub: RunningHub, tmp_path: Path) -> None:
    """With SSL_CERT_FILE every way to the hub works; without it each is refused, and the variable is named."""
    file, token = certificate(tmp_path), hub.secret("token", "create", "--agent", "ada")
    home = {"HOME": str(tmp_path), "HUBBUB_CONFIG": str(tmp_path / "config"), "HUBBUB_PROJECT": hub.project}
    with behind_tls(hub.port, file) as url:
        there = {**home, "HUBBUB_URL": url, "HUBBUB_TOKEN": token}
        trusting = {**there, "SSL_CERT_FILE": str(file)}
        data = tmp_path / "data"

        assert hubbub("agents", data=data, environment=trusting).returncode == 0
        login = ("login", url, "--token-stdin")
        person = hub.client().token
        assert hubbub(*login, data=data, given=person, environment={**home, **trusting}).returncode == 0
        assert hubbub("with", "db", "--", "true", data=data, environment=trusting).returncode == 0
        owner = {**trusting, "HUBBUB_TOKEN": person}
        installed = hubbub("install", "windsurf", "--as", "w", data=data, environment=owner)
        assert (installed.returncode, "w reaches" in installed.stdout) == (0, True)
        with closing(StdioPeer(hub, LEGACY, **trusting)) as peer:
            assert "result" in peer.connect().ask("tools/list", {})
        worker = {name: value for name, value in owner.items() if name != "HUBBUB_PROJECT"}
        hub.work("cat", "cat", **worker).says("ready")

        refused = hubbub("agents", data=data, environment=there)
        assert (refused.returncode, "name its file in SSL_CERT_FILE" in refused.stderr) == (3, True)
