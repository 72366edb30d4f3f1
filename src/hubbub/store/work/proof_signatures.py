"""SQL for machines' keys, the statements on completed tasks, and the machines' signatures on them."""

from collections.abc import Collection
from uuid import UUID

from hubbub.model.work.signatures import MachineKey, MachineSignature
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_KEYS = Table("machine_keys", MachineKey, key=("machine", "keyid"))
_SIGNATURES = Table("proof_signatures", MachineSignature)


put_key = _KEYS.put


def end_keys(tx: Tx, machine: UUID) -> None:
    """End the keys of a machine, and drop the requests that it will not answer."""
    tx.run(
        "UPDATE machine_keys SET until = :now WHERE machine = :machine AND until IS NULL",
        now=tx.now,
        machine=machine,
    )
    tx.run("DELETE FROM proof_signatures WHERE machine = :machine AND answered_at IS NULL", machine=machine)


def keys_of(tx: Tx, machine: UUID) -> list[MachineKey]:
    """List the keys of a machine, the newest first."""
    return _KEYS.all(tx, "WHERE machine = :machine ORDER BY since DESC, keyid", machine=machine)


def keys_in(tx: Tx, project_id: UUID) -> list[MachineKey]:
    """List the keys of machines that work for a project, old ones too."""
    found = _KEYS.all(
        tx,
        f"""WHERE project_id = :project_id AND is_own = 0
            UNION ALL SELECT {_KEYS.selected} FROM machine_keys WHERE is_own = 1""",
        project_id=project_id,
    )
    return sorted(found, key=lambda each: (each.name, -each.since, each.keyid))


def put_statement(tx: Tx, task_id: UUID, payload: str, machines: Collection[MachineKey]) -> None:
    """Store the statement on a task, and ask the machines to sign it."""
    tx.run(
        "INSERT INTO proof_statements (task_id, payload, made_at) VALUES (:task_id, :payload, :now)",
        task_id=task_id,
        payload=payload,
        now=tx.now,
    )
    for each in machines:
        asked = MachineSignature(task_id=task_id, machine=each.machine, name=each.name, keyid=each.keyid)
        _SIGNATURES.insert(tx, asked)


def statement(tx: Tx, task_id: UUID) -> str | None:
    return tx.value("SELECT payload FROM proof_statements WHERE task_id = :id", id=task_id)


def signatures(tx: Tx, task_id: UUID) -> list[MachineSignature]:
    """List the signatures that were asked for, by the names of the machines."""
    return _SIGNATURES.all(tx, "WHERE task_id = :id ORDER BY name", id=task_id)


def open_requests(tx: Tx, machine: UUID, limit: int) -> list[tuple[UUID, str]]:
    """List the statements that a machine has not answered yet, with their tasks, at most `limit`."""
    rows = tx.all(
        """SELECT proof_signatures.task_id, payload FROM proof_signatures
           JOIN proof_statements ON proof_statements.task_id = proof_signatures.task_id
           WHERE machine = :machine AND answered_at IS NULL ORDER BY made_at LIMIT :limit""",
        machine=machine,
        limit=limit,
    )
    return [(each["task_id"], each["payload"]) for each in rows]


def answer(tx: Tx, task_id: UUID, machine: UUID, *, signature: str | None, refusal: str | None) -> None:
    """Store a machine's answer, once."""
    tx.run(
        """UPDATE proof_signatures SET signature = :signature, refusal = :refusal, answered_at = :now
           WHERE task_id = :task_id AND machine = :machine AND answered_at IS NULL""",
        signature=signature,
        refusal=refusal,
        now=tx.now,
        task_id=task_id,
        machine=machine,
    )


def forget(tx: Tx, before: int) -> None:
    """Delete statements from before then, with their signatures."""
    tx.run(
        "DELETE FROM proof_signatures WHERE task_id IN (SELECT task_id FROM proof_statements WHERE made_at < :before)",
        before=before,
    )
    tx.run("DELETE FROM proof_statements WHERE made_at < :before", before=before)
