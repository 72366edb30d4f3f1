"""Machines joined to a measured hub: real ones, each a process, and light ones, many in one process.

A light machine speaks the protocol of links and does nothing: it costs the hub as much as a real one, and this machine
next to nothing.
"""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from websockets.asyncio.client import ClientConnection, connect

from bench.serving import Line, Served
from hubbub.model.fleet import link_protocol
from hubbub.model.fleet.calls import NodeInfo, ToolResult
from hubbub.model.fleet.link_protocol import Hello, Message, MessageAssembler, MessageKind
from hubbub.model.programs.launching import program

LINKED = " is linked to "  # what `hubbub node run` says when it is


@dataclass(frozen=True, slots=True)
class Machine:
    """A real machine that is linked: its name, its process, and the folder that agents work in."""

    name: str
    pid: int
    work: Path


def path_without(program: str, folder: Path) -> str:
    """Return a search path with everything that this one finds except one program."""
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for found in Path(place).glob("*") if place else ():
            kept = folder / found.name
            if found.name != program and not kept.is_symlink():
                kept.symlink_to(found)
    return str(folder)


def configured(folder: Path, policy: str = "") -> tuple[Path, Path]:
    """Write a configuration whose policy allows everything in one folder; return both folders, made within this one."""
    config, work = folder / "config", folder / "work"
    for each in (config, work):
        each.mkdir(parents=True)
    file = config / "node.toml"
    file.write_text(f'mode = "bypass"\n{policy}\n[files]\nroots = ["{work}"]\n')
    file.chmod(0o600)
    return config, work


@contextmanager
def machine(
    hub: Served, code: str, folder: Path, *, policy: str = "", path: str | None = None
) -> Iterator[Machine]:
    """Run a machine named after its folder, joined by the code, until the context ends."""
    config, work = configured(folder, policy)
    own = {"HUBBUB_CONFIG": config, "HUBBUB_DATA": folder / "data", "HUBBUB_LOG_LEVEL": "warning"}
    environment = {**os.environ, **{name: str(value) for name, value in own.items()}}
    words = [*program(), "node", "run", "--name", folder.name, "--join", code]
    with subprocess.Popen(
        [*words, "--url", hub.url],
        cwd=work,
        env=environment | ({"PATH": path} if path is not None else {}),
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        try:
            said = child.stdout.readline()
            if LINKED not in said:
                raise RuntimeError(f"the machine {folder.name} did not start: {said}")
            yield Machine(folder.name, child.pid, work)
        finally:
            child.terminate()


async def invited(hub: Served, count: int) -> list[str]:
    """So many codes to join by."""
    line = await Line.to(hub)
    try:
        return [str((await line.ask("POST", "/api/v1/nodes/invites", {}))["code"]) for _ in range(count)]
    finally:
        line.close()


# ---- light machines ------------------------------------------------------------------------------------------------


@asynccontextmanager
async def light(hub: Served, answers: Mapping[str, float]) -> AsyncIterator[None]:
    """Link light machines of these names, whose agents take so many seconds for an answer, until the context ends."""
    keys = await _joined(hub, list(answers))
    standing = [
        asyncio.create_task(_stand(await _linked(hub, keys[name], name), name, answers[name]))
        for name in answers
    ]
    try:
        yield
        broken = [task for task in standing if task.done()]
        if broken:
            raise RuntimeError(f"{len(broken)} links broke")
    finally:
        for task in standing:
            task.cancel()
        await asyncio.gather(*standing, return_exceptions=True)


async def _joined(hub: Served, names: Sequence[str]) -> dict[str, str]:
    """The keys of machines that join."""
    line = await Line.to(hub)
    facts = {"platform": "linux", "version": "1", "sandbox": "none"}
    keys = {}
    for name in names:
        admission = await line.ask("POST", "/api/v1/nodes/join", {"name": name, "machine_id": name, **facts})
        keys[name] = str(admission["token"])
    line.close()
    return keys


async def _linked(hub: Served, key: str, name: str) -> ClientConnection:
    """A link that stands."""
    about = NodeInfo(name=name, machine_id=name, platform="linux", version="1", sandbox="none")
    socket = await connect(
        f"{hub.url.replace('http', 'ws', 1)}{link_protocol.PATH}",
        additional_headers={"Authorization": f"Bearer {key}"},
        compression=None,
        proxy=None,
    )
    hello = Hello(instance=str(uuid4()), about=about, runtime="claude")
    await _say(socket, MessageKind.HELLO, **link_protocol.hello_json(hello))
    welcome = await socket.recv()
    if MessageKind.WELCOME not in str(welcome):
        raise RuntimeError(f"the machine {name} is not welcome: {welcome!r}")
    return socket


async def _stand(socket: ClientConnection, name: str, seconds: float) -> None:
    """Answer every order, each after so many seconds, for as long as the link stands."""
    assembly = MessageAssembler()
    async with asyncio.TaskGroup() as answering:
        async for piece in socket:
            message = assembly.add(str(piece))
            if message is not None and message["kind"] == MessageKind.ORDER:
                answering.create_task(_answer(socket, message, name, seconds))


async def _answer(socket: ClientConnection, order: Message, name: str, seconds: float) -> None:
    await _say(socket, MessageKind.TAKEN, order=order["order"])
    await asyncio.sleep(seconds)
    value = {"by_host": {name: {"text": "hi", "tool_calls": []}}, "timed_out": []}
    await _say(
        socket,
        MessageKind.ENDED,
        order=order["order"],
        outcome=link_protocol.result_json(ToolResult(value=value)),
    )


async def _say(socket: ClientConnection, kind: MessageKind, **content: object) -> None:
    for piece in link_protocol.pieces(link_protocol.message(kind, **content)):
        await socket.send(piece)
