"""Proof for other programs: a signed in-toto statement of a completed task, and the keys to check it by."""

from pydantic import Field

from hubbub.core.people import access
from hubbub.core.work import machine_keys, proof_statement
from hubbub.model.errors import Conflict
from hubbub.model.people.rights import Right
from hubbub.model.programs import extras
from hubbub.model.work.signatures import MachineKey, MachineSignature, public_bytes
from hubbub.serve.rest.base.call import Call
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Model
from hubbub.serve.rest.work import dsse
from hubbub.store.tx import Tx

router = Router("proof")


class MachineKeyShape(dsse.PublicKey):
    """A key by which a machine signs what it saw."""

    machine: str
    since: int
    until: int | None = Field(
        description="since when the machine has another key, or has left; null: its key"
    )


class MachineKeys(Model):
    keys: list[MachineKeyShape]


class MachineAnswer(Model):
    """A machine that saw the work, and what it said when it was asked to sign the statement."""

    machine: str
    keyid: str
    is_signed: bool
    refusal: str | None = Field(description="why it did not sign")
    answered_at: int | None = Field(description="null: it has not answered yet")


class MachineAnswers(Model):
    machines: list[MachineAnswer]


@router.post("/tasks/{ref}/proof/statement")
async def sign_proof(call: Call, ref: str) -> dsse.Envelope:
    """Return a completed task's sightings as an in-toto statement in a DSSE envelope.

    The machines that saw the work have signed it, and the hub signs it, too.
    """

    def look(tx: Tx) -> tuple[str, str, list[MachineSignature]]:
        payload, machines = proof_statement.exported(tx, call.task(tx, ref, Right.READ))
        return proof_statement.signing_key(tx, dsse.new_key), payload, machines

    with extras.required():
        key, payload, machines = await call.write(look)
        before = [dsse.Signature(keyid=each.keyid, sig=each.signature) for each in machines if each.signature]
        return dsse.sealed(key, payload, before)


@router.get("/tasks/{ref}/proof/signatures")
async def list_signatures(call: Call, ref: str) -> MachineAnswers:
    """List the machines that saw the work on a completed task, and whether they signed the statement."""

    def look(tx: Tx) -> MachineAnswers:
        asked = proof_statement.asked_machines(tx, call.task(tx, ref, Right.READ).id)
        return MachineAnswers(machines=[_answer(each) for each in asked])

    return await call.read(look)


@router.get("/proof/key")
async def show_key(call: Call) -> dsse.PublicKey:
    """Return the public key that verifies the hub's signatures, once it has signed a statement."""
    key = await call.read(proof_statement.known_key)
    if key is None:
        raise Conflict("the hub has signed no proof yet, so it has no key")
    with extras.required():
        return dsse.public_key(key)


@router.get("/proof/machine-keys")
async def list_machine_keys(call: Call) -> MachineKeys:
    """List the public keys that verify machines' signatures, also the keys of machines that have left."""

    def look(tx: Tx) -> list[MachineKey]:
        return [
            key for each in access.visible(tx, call.project) for key in machine_keys.of_project(tx, each.id)
        ]

    found = {(each.machine, each.keyid): each for each in await call.read(look)}
    with extras.required():
        return MachineKeys(keys=[_key(each) for each in found.values()])


def _answer(asked: MachineSignature) -> MachineAnswer:
    return MachineAnswer(
        machine=asked.name,
        keyid=asked.keyid,
        is_signed=asked.signature is not None,
        refusal=asked.refusal,
        answered_at=asked.answered_at,
    )


def _key(key: MachineKey) -> MachineKeyShape:
    shown = dsse.known_key(public_bytes(key.public))
    return MachineKeyShape(**dict(shown), machine=key.name, since=key.since, until=key.until)
