"""Telling webhooks: what they get, in what order, and what becomes of it when they misbehave."""

import asyncio
import hashlib
import hmac
import json
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from hubbub.core.log import webhooks
from hubbub.model.log.outbox_items import DeliveryOutcome
from hubbub.serve.outbox import dns_pinning
from hubbub.serve.outbox import webhook_delivery as courier
from hubbub.store.tx import Store
from tests.conftest import MovableClock
from tests.serve.outbox.outbox_desk import Desk
from tests.serve.outbox.receivers import CUTS, Answer, Receiver

pytestmark = pytest.mark.anyio


CERTIFICATE = "certificate.pem"


def certified(name: str, folder: Path) -> ssl.SSLContext:
    """TLS as the server of that name, by a certificate that is in the folder and vouches for itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "key.pem").write_bytes(key.private_bytes(*plain))
    (folder / CERTIFICATE).write_bytes(made.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / CERTIFICATE, folder / "key.pem")
    return context


async def test_a_webhook_gets_the_activity_signed(desk: Desk, receiver: Receiver) -> None:
    """It gets the activity as /events tells it, its kind, an id of the delivery, and the signature of time and body."""
    webhook = desk.add_webhook("task.completed")
    async with desk.delivering():
        desk.happen("task.completed")
        got = await desk.arrived()
        told = await desk.until("outbox.delivered")
    happened = desk.log("task.completed")[0]
    assert (got.method, got.path) == ("POST", "/hook?key=1")
    assert got.json == {
        "id": happened.seq,
        "kind": "task.completed",
        "at": happened.at,
        "actor": "hub",
        "agent": None,
        "task_id": None,
        "message_id": None,
        "detail": {"text": "代"},
    }
    assert got.headers["Host"] == f"127.0.0.1:{receiver.port}"
    assert got.headers["Content-Type"] == "application/json"
    assert got.headers["Hubbub-Event"] == "task.completed"
    assert got.headers["Hubbub-Delivery"] == told.detail["parcel_id"]
    moment = got.headers["Hubbub-Signature"].split(",")[0].removeprefix("t=")
    signed = hmac.new(webhook.secret.encode(), f"{moment}.".encode() + got.body, hashlib.sha256)
    assert got.headers["Hubbub-Signature"] == f"t={moment},v1={signed.hexdigest()}"
    assert (told.detail["target"], told.detail["status"]) == (f"127.0.0.1:{receiver.port}", 200)


async def test_a_webhook_is_told_everything_in_order(desk: Desk, receiver: Receiver) -> None:
    """Through failures of all sorts, each thing arrives, and nothing overtakes what came before it."""
    receiver.script += [Answer(500), CUTS, Answer(404), Answer(200), CUTS, Answer(429)]
    desk.add_webhook("task.*")
    names = [f"task.{letter * 3}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    async with desk.delivering():
        desk.happen(*names)
        await desk.until("outbox.failed", 5)
        desk.do(lambda tx: tx.run("UPDATE outbox SET next_at = 0"))
        desk.happen("agent.met")
        await desk.until("outbox.delivered", len(names))
    arrived = [received.json["kind"] for received in receiver.received]
    assert list(dict.fromkeys(arrived)) == names
    assert arrived == sorted(arrived)


async def test_repeats_carry_the_same_id(desk: Desk, receiver: Receiver) -> None:
    """A delivery sent again, as its arrival is unknown, has the same id and body, so that a receiver can tell."""
    receiver.script += [CUTS]
    desk.add_webhook()
    async with desk.delivering():
        desk.happen("task.sent")
        await desk.until("outbox.delivered")
    first, second = receiver.received
    assert first.headers["Hubbub-Delivery"] == second.headers["Hubbub-Delivery"]
    assert first.body == second.body


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(302, {"Location": "http://127.0.0.1:1/elsewhere"}), "redirects are not followed"),
        (Answer(410), "it wants no more"),
    ],
)
async def test_a_refusal_is_final(desk: Desk, receiver: Receiver, answer: Answer, why: str) -> None:
    """A redirect is not followed, and a receiver that is gone is not asked again: the parcel is dead at once."""
    receiver.script += [answer]
    desk.add_webhook()
    async with desk.delivering():
        desk.happen("task.sent")
        told = await desk.until("outbox.dead")
    assert told.detail["reason"] == f"it answered {answer.status}: {why}"
    assert len(receiver.received) == 1
    assert [parcel.outcome for parcel in desk.parcels()] == [DeliveryOutcome.DEAD]


async def test_a_receiver_that_is_busy_is_left_alone(
    desk: Desk, receiver: Receiver, clock: MovableClock
) -> None:
    """The seconds of `Retry-After` are kept."""
    receiver.script += [Answer(503, {"Retry-After": "120"})]
    desk.add_webhook()
    async with desk.delivering():
        desk.happen("task.sent")
        told = await desk.until("outbox.failed")
        clock.advance(timedelta(seconds=120))
        desk.happen("agent.met")
        await desk.until("outbox.delivered")
    assert int(str(told.detail["next_at"])) - told.at == 120_000


async def test_a_private_address_is_refused(desk: Desk, receiver: Receiver) -> None:
    """Unless it is allowed, nothing is sent to an address of the own network, whatever name leads there."""
    for host in ("127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]"):
        desk.add_webhook(url=f"http://{host}:{receiver.port}/")
    async with desk.delivering(allow_private=False):
        desk.happen("task.sent")
        await desk.until("outbox.dead", 6)
    assert receiver.received == []
    assert {parcel.last_error for parcel in desk.parcels()} == {courier.PRIVATE}


async def test_a_name_is_looked_up_once(
    desk: Desk, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection goes to the address that was checked, though the name may lead elsewhere a moment later."""
    asked = []

    async def getaddrinfo(host: str, port: int, **_more: object) -> list[tuple[object, ...]]:
        asked.append(host)
        return [(0, 0, 0, "", ("127.0.0.1" if len(asked) == 1 else "192.0.2.1", port))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo, raising=False)
    desk.add_webhook(url=f"http://hook.example:{receiver.port}/x")
    async with desk.delivering():
        desk.happen("task.sent")
        got = await desk.arrived()
        await desk.until("outbox.delivered")
    assert got.headers["Host"] == f"hook.example:{receiver.port}"
    assert asked.count("hook.example") == 1


async def test_all_addresses_of_a_name_count(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that leads to a public address and to a private one is refused."""
    monkeypatch.setattr(dns_pinning, "is_public", lambda address: address != "127.0.0.1")

    async def getaddrinfo(_host: str, port: int, **_more: object) -> list[tuple[object, ...]]:
        return [(0, 0, 0, "", (address, port)) for address in ("192.0.2.1", "127.0.0.1")]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo, raising=False)
    desk.add_webhook(url="http://hook.example/x")
    async with desk.delivering(allow_private=False):
        desk.happen("task.sent")
        told = await desk.until("outbox.dead")
    assert told.detail["reason"] == courier.PRIVATE


async def test_another_address_of_the_host_will_do(
    desk: Desk, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where one address of a host cannot be reached the next is tried, in the same attempt."""

    async def getaddrinfo(_host: str, port: int, **_more: object) -> list[tuple[object, ...]]:
        return [(0, 0, 0, "", (address, port)) for address in ("::1", "127.0.0.1")]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo, raising=False)
    desk.add_webhook(url=f"http://hook.example:{receiver.port}/x")
    async with desk.delivering():
        desk.happen("task.sent")
        told = await desk.until("outbox.delivered")
    assert told.detail["attempt"] == 1


async def test_what_cannot_be_reached_is_tried_again(desk: Desk, receiver: Receiver) -> None:
    """A name that leads nowhere, and a port where nobody listens, fail with a sentence that names no address."""
    desk.add_webhook(url="http://nowhere.invalid/T0PSECRET")
    desk.add_webhook(url="http://127.0.0.1:1/T0PSECRET")
    async with desk.delivering(chance=lambda: 1.0):
        desk.happen("task.sent")
        await desk.until("outbox.failed", 2)
    assert {each.detail["reason"] for each in desk.log("outbox.failed")} == {
        courier.UNKNOWN,
        "it cannot be reached",
    }
    assert "T0PSECRET" not in json.dumps([dict(each.detail) for each in desk.log("outbox.failed")])


async def test_a_certificate_must_be_valid(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over TLS the certificate must be one of the name that was asked for, though the connection goes by number."""
    server = Receiver(tls=certified("hook.example", tmp_path))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / CERTIFICATE))

    async def getaddrinfo(_host: str, port: int, **_more: object) -> list[tuple[object, ...]]:
        return [(0, 0, 0, "", ("127.0.0.1", port))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo, raising=False)
    with server.serving():
        desk = Desk(store, server)
        desk.add_webhook(url=f"https://hook.example:{server.port}/right")
        desk.add_webhook(url=f"https://other.example:{server.port}/wrong")
        async with desk.delivering(chance=lambda: 1.0):
            desk.happen("task.sent")
            told = await desk.until("outbox.failed")
            await desk.until("outbox.delivered")
    assert told.detail["reason"] == "its certificate is not valid"
    assert [received.path for received in server.received] == ["/right"]


async def test_one_dead_receiver_holds_up_nobody_else(desk: Desk, receiver: Receiver) -> None:
    """While one webhook waits for its receiver, another is told everything."""
    desk.add_webhook(url="http://127.0.0.1:1/")
    desk.add_webhook()
    async with desk.delivering(chance=lambda: 1.0):
        desk.happen(*["task.sent"] * 30)
        await desk.until("outbox.delivered", 30)
    assert len(receiver.received) == 30


async def test_what_happened_while_nobody_delivered_is_told_later(desk: Desk, receiver: Receiver) -> None:
    """A hub that starts tells what it has missed, though nothing new happens."""
    desk.add_webhook()
    desk.happen("task.sent", "task.completed")
    async with desk.delivering():
        await desk.until("outbox.delivered", 2)
    assert [received.json["kind"] for received in receiver.received] == ["task.sent", "task.completed"]


async def test_a_removed_webhook_is_not_told(desk: Desk, receiver: Receiver) -> None:
    """Items that wait for a removed webhook are not sent any more."""
    webhook = desk.add_webhook()
    desk.happen("task.sent")
    desk.do(webhooks.remove, desk.project, str(webhook.id))
    desk.add_webhook("agent.met")
    desk.happen("agent.met")
    async with desk.delivering():
        await desk.until("outbox.delivered")
    assert [received.json["kind"] for received in receiver.received] == ["agent.met"]
