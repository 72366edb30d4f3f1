"""Machines of their own, on a wire that can be cut: network namespaces where this machine may have them.

Elsewhere they are plain processes, each of which reaches the hub through a relay of its own that can be stopped.
A cut loses nothing for good and tells nobody: what was under way stays away until the wire is mended, as with a cable.
"""

import ctypes
import itertools
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

from tests.support import zygote

LOOPBACK = "127.0.0.1"
CHUNK = 65_536
BRIDGE = "bridge"
NET = "198.18.0"  # set apart for trying out networks (RFC 2544)
FIRST, MOST = 2, 250  # the number in the address of the first machine, and how many there can be at once
NUMBERS = itertools.count()  # of machines; the kernel takes a while to forget a name


class Place(Protocol):
    """The place of one machine on the network."""

    def command(self, words: Sequence[str]) -> list[str]:
        """The command that runs `words` there."""

    def url(self, port: int) -> str:
        """Return the address of the hub that listens at the port, as seen from there."""

    def cut(self) -> None:
        """Let nothing through any more, and say so to nobody."""

    def mend(self) -> None:
        """Let through what waits, and what comes."""


class Network(Protocol):
    """One wire. The hub listens at `host`; `close` it in the end."""

    host: str

    def place(self) -> Place:
        """A place for another machine."""

    def close(self) -> None: ...


def can_have_namespaces() -> bool:
    """Tell whether this process may make network namespaces, and wires between them."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return False
    name = f"hb{os.getpid()}-try"
    tried = [["ip", "netns", "add", name], ["ip", "netns", "del", name]]
    return all(subprocess.run(each, capture_output=True, check=False).returncode == 0 for each in tried)


# ---- namespaces ----------------------------------------------------------------------------------------------------


class Namespaces:
    """A bridge of the kernel, at which the hub listens; each machine is a namespace at the end of a cable to it.

    The bridge is in a namespace too, where the thread that asked for it is until it closes it, with all that it starts:
    a browser elsewhere on this machine would give up what it has under way whenever an interface appears or goes.
    """

    def __init__(self) -> None:
        self.host = f"{NET}.1"
        self._places: list[Namespace] = []
        self._outside = os.open(zygote.NETWORK, os.O_RDONLY)
        _leave()
        _ip("link set lo up", f"link add {BRIDGE} type bridge", f"addr add {self.host}/24 dev {BRIDGE}")
        _ip(f"link set {BRIDGE} up")

    def place(self) -> "Namespace":
        number = next(NUMBERS)
        made = Namespace(self.host, f"{NET}.{FIRST + number % MOST}", f"hb{os.getpid()}-{number}")
        self._places.append(made)
        return made

    def close(self) -> None:
        for each in self._places:
            _ip(f"netns del {each.name}")  # and with it both ends of its cable
        zygote.enter_network(self._outside)
        os.close(self._outside)


class Namespace:
    """One machine's namespace."""

    def __init__(self, hub: str, address: str, name: str) -> None:
        self.name, self._hub = name, hub
        _ip(
            f"netns add {name}",
            f"link add {name} type veth peer name eth0 netns {name}",
            f"link set {name} master {BRIDGE} up",
        )
        inside = (f"addr add {address}/24 dev eth0", "link set lo up", "link set eth0 up")
        _ip(*inside, inside=name)

    def command(self, words: Sequence[str]) -> list[str]:
        return ["ip", "netns", "exec", self.name, *words]

    def url(self, port: int) -> str:
        return f"http://{self._hub}:{port}"

    def cut(self) -> None:
        _ip(f"link set {self.name} down")

    def mend(self) -> None:
        _ip(f"link set {self.name} up")


def _ip(*commands: str, inside: str | None = None) -> None:
    where = ("-n", inside) if inside else ()
    subprocess.run(["ip", *where, "-batch", "-"], input="\n".join(commands), text=True, check=True)


def _leave() -> None:
    """Move this thread into a network of its own, which is still empty."""
    if ctypes.CDLL(None, use_errno=True).unshare(zygote.CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "the system gives us no network of our own")


# ---- relays --------------------------------------------------------------------------------------------------------


class Relays:
    """This machine's own loopback, with a relay before each machine."""

    host = LOOPBACK

    def __init__(self) -> None:
        self._places: list[Relay] = []

    def place(self) -> "Relay":
        made = Relay(self.host)
        self._places.append(made)
        return made

    def close(self) -> None:
        for each in self._places:
            each.close()


class Relay:
    """Hands on what comes, in both directions, to the hub that listens at `host`, unless it is cut."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._listening = socket.create_server((LOOPBACK, 0))
        self._hub_port = 0
        self._is_whole = threading.Event()
        self._is_whole.set()
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def command(self, words: Sequence[str]) -> list[str]:
        return list(words)

    def url(self, port: int) -> str:
        self._hub_port = port
        return f"http://{LOOPBACK}:{self._listening.getsockname()[1]}"

    def cut(self) -> None:
        self._is_whole.clear()

    def mend(self) -> None:
        self._is_whole.set()

    def snap(self) -> None:
        """Break all connections, wherever they are in their messages."""
        while self._open:
            _end(self._open.pop())

    def close(self) -> None:
        self._is_whole.set()
        _end(self._listening)
        self.snap()

    def _accept(self) -> None:
        with suppress(OSError):  # it is closed
            while True:
                near, _address = self._listening.accept()
                threading.Thread(target=self._connect, args=[near], daemon=True).start()

    def _connect(self, near: socket.socket) -> None:
        self._is_whole.wait()
        try:
            far = socket.create_connection((self._host, self._hub_port))
        except OSError:
            near.close()
            return
        self._open += [near, far]
        for one, other in ((near, far), (far, near)):
            threading.Thread(target=self._hand_on, args=[one, other], daemon=True).start()

    def _hand_on(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while chunk := one.recv(CHUNK):
                self._is_whole.wait()
                other.sendall(chunk)
        _end(one)
        _end(other)


def _end(connection: socket.socket) -> None:
    with suppress(OSError):  # it has ended already
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
