"""The line from a machine to its hub, when what is at the other end is no hub, a bad one, or a bad road."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from ipaddress import ip_address
from itertools import islice
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from hubbub.model.fleet.link_protocol import LARGEST, PIECE, MessageKind
from hubbub.model.ids import new_id
from hubbub.node.link.websocket import LinkRefused, LinkTimings, SocketLost, opened, pauses
from tests.node.link.evil_hub import KEY, QUICK, EvilHub, Talk, evil_hub, machine, mark
from tests.support.waiting import until_soon

pytestmark = pytest.mark.anyio


# ---- coming back ---------------------------------------------------------------------------------------------------


def test_the_pause_grows_by_chance_within_bounds() -> None:
    """At once after the first loss; then anything up to half a second, doubled each time, up to half a minute."""
    found = [list(islice(pauses(LinkTimings()), 12)) for _ in range(200)]

    assert {each[0] for each in found} == {0.0}
    tops = [0.5 * 2**step for step in range(6)] + [30.0] * 5
    for number, top in enumerate(tops, start=1):
        drawn = [each[number] for each in found]
        assert 0 <= min(drawn) < top / 4
        assert top * 3 / 4 < max(drawn) <= top


NONSENSE: tuple[str | bytes, ...] = (
    "no piece",
    "",
    ".",
    ".[]",
    ".{}",
    '.{"kind": 7}',
    '.{"kind": "dance"}',
    '.{"kind": ["order"]}',
    '.{"kind": "hello"}',
    '.{"kind": "welcome"}',
    '.{"kind": "order"}',
    '.{"kind": "order", "order": "7"}',
    '.{"kind": "order", "order": {}}',
    '.{"kind": "kept"}',
    '.{"kind": "cancel", "order": null}',
    '.{"kind": "reply", "id": "x", "value": NaN}',
    '.{"kind": "reply", "id": "x", "value": 1e999}',
    '.{"kind": "reply", "id": "x", "value": "\\ud800"}',
    "." + '{"a":' * 10_000 + "1" + "}" * 10_000,
    "." + "[" * 30_000,
    "." + "9" * 30_000,
    "." + "x" * (5 * PIECE),
    b".{}",
)


async def test_nonsense_ends_the_line_and_not_the_machine(tmp_path: Path) -> None:
    """An invalid message costs the hub its line; the machine comes back, and does what it is asked."""
    async with evil_hub() as hub, machine(tmp_path, hub) as box:
        for each in NONSENSE:
            talk = await hub.linked()
            await talk.socket.send(each)
            await talk.ends()
        talk = await hub.linked()
        await talk.outcome(await talk.run(mark()))
        assert box.ran() == 1


async def test_a_reply_without_an_id_is_for_nobody(tmp_path: Path) -> None:
    """Neither it nor one with another's id changes anything."""
    async with evil_hub() as hub, machine(tmp_path, hub) as box:
        talk = await hub.linked()
        for request_id in (None, 7, ["x"], "x", str(new_id())):
            await talk.say(MessageKind.REPLY, id=request_id, value={})
        await talk.outcome(await talk.run(mark()))
        assert box.ran() == 1


async def test_a_message_without_an_end_ends_the_line(tmp_path: Path) -> None:
    """The size of a hub's message is bounded, so that the machine's memory is."""
    async with evil_hub() as hub, machine(tmp_path, hub):
        talk = await hub.linked()
        for _ in range(LARGEST // PIECE + 2):
            with suppress(Exception):
                await talk.socket.send("+" + "x" * PIECE)
        await talk.ends()
        await hub.linked()


async def test_what_comes_in_pieces_of_one_character_is_heard(tmp_path: Path) -> None:
    """However a message was cut, it is one when its end has come."""
    order = str(new_id())
    text = (
        f'{{"kind":"order","order":"{order}","tool":"execute_command","arguments":{{"command":"{mark()}"}},'
    )
    text += '"who":{"project":"shop","name":"ada"}}'
    async with evil_hub() as hub, machine(tmp_path, hub) as box:
        talk = await hub.linked()
        for each in text[:-1]:
            await talk.socket.send(f"+{each}")
        await talk.socket.send(f".{text[-1]}")
        await talk.outcome(order)
        assert box.ran() == 1


async def test_a_hub_that_says_no_welcome_is_left(tmp_path: Path) -> None:
    """Silence after the hello, or anything but a welcome, and the machine tries anew."""
    pace = replace(QUICK, opening=timedelta(milliseconds=200))
    async with evil_hub() as hub, machine(tmp_path, hub, pace=pace):
        await (await hub.met()).ends()
        talk = await hub.met()
        await talk.run(mark())
        await talk.ends()
        await hub.linked()


async def test_a_line_on_which_nobody_answers_is_dead(tmp_path: Path) -> None:
    """A heartbeat without an answer is a lost line, though nobody has closed it."""
    pace = replace(QUICK, ping=timedelta(milliseconds=50), pong=timedelta(milliseconds=50))
    async with evil_hub() as hub, road(hub) as way, machine(tmp_path, hub, pace=pace):
        await hub.linked()
        way.stuck = True
        await way.lost()
        way.stuck = False
        await hub.linked()


# ---- a bad road ----------------------------------------------------------------------------------------------------


class Road:
    """The way from the machine to the hub: it may break after any byte, be slow, or swallow everything."""

    def __init__(self) -> None:
        self.url = ""
        self.length: int | None = None  # bytes of the hub's after which a line breaks; each carries one more
        self.drip = False  # whether the hub's bytes come one by one
        self.stuck = False
        self._lost = asyncio.Event()

    async def lost(self) -> None:
        """Wait until the machine has given a line up."""
        self._lost.clear()
        await self._lost.wait()

    async def carry(self, inwards: asyncio.StreamReader, outwards: asyncio.StreamWriter, port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        forth = asyncio.create_task(self._forth(inwards, writer))
        self.length = left = None if self.length is None else self.length + 1
        try:
            while data := await reader.read(65_536):
                if self.stuck:
                    continue
                for each in [bytes([byte]) for byte in data] if self.drip else [data]:
                    outwards.write(each[:left])
                    await outwards.drain()
                if left is not None and (left := left - len(data)) <= 0:
                    break
        finally:
            outwards.transport.abort()
            writer.transport.abort()
            await forth

    async def _forth(self, inwards: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await inwards.read(65_536):
                writer.write(data)
        writer.close()
        self._lost.set()


@asynccontextmanager
async def road(hub: EvilHub) -> AsyncIterator[Road]:
    """A road to the hub, on which the machine is sent from now on."""
    way, port = Road(), int(hub.url.rpartition(":")[2])

    async def carry(inwards: asyncio.StreamReader, outwards: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            await way.carry(inwards, outwards, port)

    async with await asyncio.start_server(carry, "127.0.0.1", 0) as server:
        hub.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield way


@pytest.mark.system
async def test_a_line_may_break_after_any_byte(tmp_path: Path) -> None:
    """Wherever it breaks in the hub's words, the order is done once in the end, and its outcome told."""
    pace = replace(QUICK, shortest_pause=timedelta(), longest_pause=timedelta())
    order = str(new_id())
    async with evil_hub() as hub, road(hub) as way:
        way.length = 100  # within the answer to the handshake
        async with machine(tmp_path, hub, pace=pace) as box:
            while not await _heard_out(await hub.met(), order):
                pass
            assert box.ran() == 1
    assert way.length > 300  # so often it broke


async def _heard_out(talk: Talk, order: str) -> bool:
    """Tell whether the machine has reported the order's result before the line broke."""
    try:
        await talk.welcome()
        await talk.run(mark(), order)
        await talk.outcome(order)
    except (ConnectionClosed, AssertionError):
        return False
    return True


async def test_a_hub_that_speaks_byte_by_byte_is_heard(tmp_path: Path) -> None:
    """It takes longer, and that is all."""
    async with evil_hub() as hub, road(hub) as way:
        way.drip = True
        async with machine(tmp_path, hub) as box:
            talk = await hub.linked()
            await talk.outcome(await talk.run(mark()))
            assert box.ran() == 1


# ---- who is at the other end -----------------------------------------------------------------------------------------


async def test_a_machine_shows_its_key_to_the_hub_alone(tmp_path: Path) -> None:
    """It stands in the header of the one request; where the hub sends it elsewhere, the machine does not go."""
    async with evil_hub() as elsewhere, evil_hub() as hub, machine(tmp_path, hub):
        await hub.linked()
        assert hub.keys == [f"Bearer {KEY}"]
        hub.leads_to = elsewhere.url
        with pytest.raises(SocketLost, match="status 307"):
            async with opened(hub.url, KEY, QUICK):
                pass
        assert elsewhere.keys == []


async def test_where_nobody_listens_is_said_without_numbers_of_errors() -> None:
    """A person reads why there is no line: the hub cannot be reached, and what the system says of that."""
    async with evil_hub() as hub:
        url = hub.url
    with pytest.raises(SocketLost, match=r"^the hub cannot be reached: [a-z][^\[\]]*$"):
        async with opened(url, KEY, QUICK):
            pass


@pytest.mark.parametrize("status", [HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN])
async def test_a_key_that_is_none_is_not_shown_again(tmp_path: Path, status: HTTPStatus) -> None:
    """The machine gives up, and says what is wrong."""
    async with evil_hub() as hub:
        hub.refuses = status
        async with machine(tmp_path, hub) as box:
            with pytest.raises(LinkRefused, match="does not let this machine in: it does not know its key"):
                await box.serving
    assert len(hub.keys) == 1


@pytest.mark.parametrize(
    "status", [HTTPStatus.NOT_FOUND, HTTPStatus.BAD_GATEWAY, HTTPStatus.TOO_MANY_REQUESTS]
)
async def test_a_hub_that_is_not_itself_is_tried_again(tmp_path: Path, status: HTTPStatus) -> None:
    """A proxy in front of a hub that starts anew answers all sorts of things."""
    async with evil_hub() as hub:
        hub.refuses = status
        async with machine(tmp_path, hub):
            await until_soon(lambda: len(hub.keys) >= 3, "three attempts")
            hub.refuses = None
            await hub.linked()


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9", "http://hub.invalid", "http://127.0.0.1:notaport", "nowhere", ""]
)
async def test_an_address_at_which_there_is_no_hub_is_a_lost_line(url: str) -> None:
    """Whatever is wrong with it, it may be another the next time."""
    with pytest.raises(SocketLost):
        async with opened(url, KEY, QUICK):
            pass


async def test_a_hub_with_a_certificate_has_to_have_a_good_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over https the key is not shown to whom nobody vouches for."""
    keys: list[str | None] = []

    async def talk(socket: ServerConnection) -> None:
        await socket.wait_closed()

    def note(_socket: ServerConnection, request: Request) -> Response | None:
        keys.append(request.headers.get("Authorization"))
        return None

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate(tmp_path))
    async with serve(talk, "127.0.0.1", 0, ssl=context, process_request=note) as server:
        url = f"https://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"
        with pytest.raises(SocketLost, match="certificate"):
            async with opened(url, KEY, QUICK):
                pass
        assert keys == []
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "hub.pem"))
        async with opened(url, KEY, QUICK):
            assert keys == [f"Bearer {KEY}"]


def certificate(folder: Path) -> Path:
    """A file with a key and a certificate of its own making."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(
            name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(1)
        )
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=True)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = folder / "hub.pem"
    file.write_bytes(secret + made.public_bytes(serialization.Encoding.PEM))
    return file
