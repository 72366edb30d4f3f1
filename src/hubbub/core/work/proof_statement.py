"""A proof for other programs: an in-toto statement about the git objects of a completed task.

If a machine with a key saw the work, the statement is kept letter by letter at the completion, and that machine is
asked to sign it. The hub, which judged the work, signs every statement when it is exported.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from hubbub.core.work import proof
from hubbub.model.errors import Conflict
from hubbub.model.lifecycle import Status
from hubbub.model.records import Task
from hubbub.model.timestamps import EPOCH
from hubbub.model.work.proof import Contract, Finding, ProofRules, Sighting, sentence
from hubbub.model.work.signatures import MachineKey, MachineSignature
from hubbub.store.people import projects
from hubbub.store.tx import Tx
from hubbub.store.work import proof_signatures
from hubbub.store.work import signing_key as rows

Json = dict[str, Any]

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:hubbub:proof:v1"
MOST_STEPS = 100  # the last ones

known_key = rows.find
asked_machines = proof_signatures.signatures


def prepare(tx: Tx, task: Task) -> None:
    """Keep the statement on a task that has just been completed, if machines saw its work, and ask these to sign it."""
    known = sorted(proof_signatures.keys_in(tx, task.project_id), key=lambda each: each.is_own)
    keys = {each.keyid: each for each in known if each.until is None}
    if not keys:
        return
    found = proof.of_task(tx, task)
    seen = {each.machine_key for each in found.sightings}
    machines = [key for name, key in sorted(keys.items()) if name in seen]
    subjects = _subjects(proof.last_looks(tx, task)) if machines else []
    if subjects:
        payload = json.dumps(_statement(tx, task, found, subjects, machines), ensure_ascii=False)
        proof_signatures.put_statement(tx, task.id, payload, machines)


def exported(tx: Tx, task: Task) -> tuple[str, list[MachineSignature]]:
    """Return the statement as it is signed, and the machines that were asked to sign it. Raises like `statement`."""
    kept = proof_signatures.statement(tx, task.id)
    if kept is not None:
        return kept, asked_machines(tx, task.id)
    return json.dumps(statement(tx, task), ensure_ascii=False), []


def statement(tx: Tx, task: Task) -> Json:
    """Return the statement on a completed task. Raises `Conflict` if no hook saw a git object of it."""
    if task.status is not Status.COMPLETED:
        raise Conflict(f"the task is {task.status}: a proof is exported once it is completed")
    subjects = _subjects(proof.last_looks(tx, task))
    if not subjects:
        raise Conflict("no hook saw a commit or a tree of it, so there is nothing to state")
    return _statement(tx, task, proof.of_task(tx, task), subjects, [])


def _statement(
    tx: Tx, task: Task, found: proof.Proof, subjects: Sequence[Json], machines: Sequence[MachineKey]
) -> Json:
    return {
        "_type": STATEMENT,
        "subject": subjects,
        "predicateType": PREDICATE,
        "predicate": {
            **_predicate(tx, task, found),
            "machines": [{"name": each.name, "keyid": each.keyid} for each in machines],
        },
    }


def signing_key(tx: Tx, fresh: Callable[[], str]) -> str:
    """Return the key by which the hub signs; the first time, keep a `fresh` one."""
    found = rows.find(tx)
    if found is None:
        rows.keep(tx, fresh())
        found = rows.find(tx)
    assert found is not None
    return found


def _subjects(looks: Sequence[Sighting]) -> list[Json]:
    """List the commit and the tree of each checkout, hashed as git does."""
    subjects: list[Json] = []
    for each in looks:
        tree = each.tree
        if tree is None:
            continue
        where = f"{each.repository or each.worktree or 'checkout'}@{tree.branch or 'HEAD'}"
        if tree.head is not None:
            subjects.append({"name": where, "digest": {"gitCommit": tree.head}})
        subjects.append({"name": f"{where}^{{tree}}", "digest": {"gitTree": tree.tree}})
    return subjects


def _predicate(tx: Tx, task: Task, found: proof.Proof) -> Json:
    project = projects.find(tx, task.project_id)
    return {
        "project": project.slug if project is not None else None,
        "task": {"id": str(task.id), "number": task.number, "title": task.title},
        "agent": task.assignee,
        "claim": task.result,
        "completedAt": _moment(task.ended_at),
        "isProven": found.is_proven,
        "contract": {
            "tests": found.rules.tests,
            "testFiles": list(found.rules.test_files),
            "takenAt": _moment(proof.taken_at(task)),
        },
        "findings": [_finding(each, found.rules) for each in found.findings],
        "waiver": _waiver(found.contract),
        "steps": [_step(each) for each in found.sightings[-MOST_STEPS:]],
    }


def _finding(finding: Finding, rules: ProofRules) -> Mapping[str, str]:
    return {**proof.shown(finding), "means": sentence(finding.demand, rules)}


def _waiver(contract: Contract) -> Json | None:
    if contract.waived_by is None:
        return None
    return {"by": contract.waived_by, "reason": contract.waived_why, "at": _moment(contract.waived_at)}


def _step(each: Sighting) -> Json:
    tree = each.tree
    return {
        "at": _moment(each.at),
        "step": each.step,
        "keyid": each.machine_key,
        "deed": each.deed,
        "client": each.client,
        "host": each.host,
        "command": each.command,
        "exitStatus": each.code,
        "paths": list(each.paths),
        "gitTree": tree.tree if tree is not None else None,
        "gitCommit": tree.head if tree is not None else None,
    }


def _moment(at: int | None) -> str | None:
    if at is None:
        return None
    return (EPOCH + timedelta(milliseconds=at)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
