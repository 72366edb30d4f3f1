"""Keys of machines, and their signatures on the statements about completed tasks.

A machine says its public key when it links. When a task is completed whose work it saw, it is asked to sign the
statement; it compares the statement with what it saw itself (`node/audit/witness.py`), and signs or refuses.
"""

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from hubbub.model.errors import Invalid, NotFound
from hubbub.model.fleet.nodes import Machine
from hubbub.model.visible_text import cut, visible
from hubbub.model.work.signatures import Answer, MachineKey, keyid, public_bytes
from hubbub.store.tx import Tx
from hubbub.store.work import proof_signatures as rows

MOST_ASKED = 100  # statements at a time
LONGEST_REFUSAL = 500

# These need no rule of their own, so they are the store's functions.
of_project = rows.keys_in
leave = rows.end_keys


def introduce(tx: Tx, machine: Machine, public: str, *, is_own: bool = False) -> MachineKey:
    """Store the key that a machine has now; another one that it had ends. Raises `Invalid`."""
    name = keyid(public_bytes(public))
    known = {each.keyid: each for each in rows.keys_of(tx, machine.id)}
    found = known.get(name)
    if found is not None and found.until is None and found.name == machine.name:
        return found
    if any(each.until is None and each.keyid != name for each in known.values()):
        rows.end_keys(tx, machine.id)
    key = MachineKey(
        machine=machine.id,
        keyid=name,
        project_id=machine.project_id,
        name=machine.name,
        public=public,
        is_own=is_own,
        since=found.since if found is not None else tx.now,
    )
    rows.put_key(tx, replace(key, until=None))
    return key


def open_requests(tx: Tx, machine_id: UUID) -> list[tuple[UUID, str]]:
    """Return the statements that a machine is to sign, with their tasks, the oldest first."""
    return rows.open_requests(tx, machine_id, MOST_ASKED)


def take_answer(
    tx: Tx, machine_id: UUID, task_id: UUID, answer: Answer, is_signed: Callable[[str, str, str], bool]
) -> None:
    """Store what a machine says to a statement; `is_signed` checks a signature by a public key and a payload.

    Raises `NotFound` if the machine was not asked, and `Invalid` for a signature that is not by its key.
    """
    asked = next((each for each in rows.signatures(tx, task_id) if each.machine == machine_id), None)
    payload = rows.statement(tx, task_id)
    if asked is None or payload is None:
        raise NotFound("statement", str(task_id))
    if answer.signature is None:
        refusal = cut(visible(answer.refusal or "it does not say why"), LONGEST_REFUSAL)
        rows.answer(tx, task_id, machine_id, signature=None, refusal=refusal)
        return
    public = next(each.public for each in rows.keys_of(tx, machine_id) if each.keyid == asked.keyid)
    if not is_signed(public, payload, answer.signature):
        raise Invalid("the signature is not by the machine's key")
    rows.answer(tx, task_id, machine_id, signature=answer.signature, refusal=None)
