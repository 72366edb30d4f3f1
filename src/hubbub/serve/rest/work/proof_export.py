"""Proof for other programs: a signed in-toto statement of a completed task, and the key to check it by."""

from fastapi import APIRouter

from hubbub.core.work import proof_statement
from hubbub.model.errors import Conflict
from hubbub.model.people.rights import Right
from hubbub.model.programs import extras
from hubbub.serve.rest.base.call import Call
from hubbub.serve.rest.work import dsse
from hubbub.store.tx import Tx

router = APIRouter(tags=["proof"])


@router.post("/tasks/{ref}/proof/statement")
async def sign_proof(call: Call, ref: str) -> dsse.Envelope:
    """Return a completed task's sightings as an in-toto statement in a DSSE envelope, signed by the hub."""

    def look(tx: Tx) -> tuple[str, proof_statement.Json]:
        told = proof_statement.statement(tx, call.task(tx, ref, Right.READ))
        return proof_statement.signing_key(tx, dsse.new_key), told

    with extras.required():
        return dsse.sealed(*await call.write(look))


@router.get("/proof/key")
async def show_key(call: Call) -> dsse.PublicKey:
    """Return the public key that verifies the hub's statements, once it has signed one."""
    key = await call.read(proof_statement.known_key)
    if key is None:
        raise Conflict("the hub has signed no proof yet, so it has no key")
    with extras.required():
        return dsse.public_key(key)
