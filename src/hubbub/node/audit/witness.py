"""The machine as a witness: it signs a statement on a task only if it agrees with what hooks saw on this machine.

Hooks keep their own record of each step beside the key (`clients/hook/step_journal.py`), which no hub can change. A
statement that alters a step seen here, leaves one out, or draws another conclusion than this machine, is not signed.

The library that signs takes 7 MB, so it is loaded when something is to be signed, and when the key is made.
"""

import base64
import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from hubbub.model.work.proof import Deed, Demand, Known, ProofRules, Sighting, Tree, judge, stored_command
from hubbub.model.work.signatures import Answer, keyid, signed_bytes
from hubbub.processes import durable_files

FOLDER, KEY, KEYID = "machine", "key", "keyid"
PUBLIC = "public"  # the public key, after a hash of the key that it belongs to: another one may be put in its place
KEY_LENGTH = 32  # bytes, at random
KEEP = timedelta(days=91)  # longer than a hub keeps what hooks told it
MOST_STEPS = 100  # in a statement: one with so many may be cut
NOBODY = UUID(int=0)
NOT_SEEN_HERE = frozenset({Demand.ARTIFACT, Demand.REVIEW})  # the hub alone knows of these

Json = Mapping[str, Any]


class Disagreement(Exception):
    """The reason why this machine does not sign a statement."""


@dataclass(frozen=True, slots=True)
class StepWitness:
    """This machine, with its key and its record of steps in `folder`; `public` is the public key, in base64."""

    folder: Path
    key: bytes = field(repr=False)
    public: str

    @property
    def keyid(self) -> str:
        """Return the name of the key."""
        return keyid(base64.b64decode(self.public))

    def answer(self, payload: str) -> Answer:
        """Compare a statement with the steps seen here; sign it if it agrees with all of them."""
        try:
            self._require_agreement(json.loads(payload)["predicate"])
        except Disagreement as error:
            return Answer(refusal=str(error))
        except (ValueError, TypeError, KeyError, RecursionError):
            return Answer(refusal="it is not a statement on a task")
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        signature = Ed25519PrivateKey.from_private_bytes(self.key).sign(signed_bytes(payload))
        return Answer(signature=base64.b64encode(signature).decode())

    def tidy(self) -> None:
        """Delete records that are too old for any statement."""
        oldest = (datetime.now(UTC) - KEEP).strftime("%Y-%m-%d")
        for each in self.folder.glob("*.jsonl"):
            if each.stem < oldest:
                each.unlink(missing_ok=True)

    def _require_agreement(self, told: Json) -> None:
        """Raise `Disagreement` if the statement's steps or findings are not what this machine saw."""
        seen, taken = self._record()
        steps: list[tuple[Json, Json]] = []
        for each in told["steps"]:
            if each["keyid"] != self.keyid:
                continue
            own = seen.get(each["step"])
            if own is None or _as_stated(own) != {name: each[name] for name in _as_stated(own)}:
                raise Disagreement(f"the step at {each['at']} is not what this machine saw")
            steps.append((each, own))
        if not steps:
            raise Disagreement("this machine saw none of its steps")
        listed = {each["step"] for _, each in steps}
        for missing in _between(seen.values(), steps, _moment(told["completedAt"])):
            if missing["step"] in taken and missing["step"] not in listed:
                raise Disagreement("it leaves out a step that this machine saw")
        if len(steps) == len(told["steps"]) < MOST_STEPS:
            _require_findings(told, steps)

    def _record(self) -> tuple[dict[str, Json], set[str]]:
        """Return the steps seen here, by their names, in order; and the names of those that a hub took."""
        seen: dict[str, Json] = {}
        taken: set[str] = set()
        for line in _lines(sorted(self.folder.glob("*.jsonl"))):
            if "taken" in line:
                taken.add(line["taken"])
            elif isinstance(line.get("step"), str):
                seen[line["step"]] = line
        return seen, taken


def open_witness(data: Path) -> StepWitness:
    """Return the witness of a data folder; the first time, make its key, which only its user may read."""
    folder = data / FOLDER
    durable_files.make_folder(folder, 0o700)
    with suppress(FileExistsError):
        file = os.open(folder / KEY, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "wb") as opened:
            opened.write(base64.b64encode(secrets.token_bytes(KEY_LENGTH)))
            opened.flush()
            os.fsync(opened.fileno())
    key = base64.b64decode((folder / KEY).read_bytes())
    witness = StepWitness(folder, key, _public(folder / PUBLIC, key))
    (folder / KEYID).write_text(witness.keyid, "ascii")
    witness.tidy()
    return witness


def _public(file: Path, key: bytes) -> str:
    """Return the public key in base64, from the file if that has the one of this key; else write it there."""
    owner = hashlib.sha256(key).hexdigest()
    with suppress(FileNotFoundError, ValueError):
        known, public = file.read_text("ascii").split()
        if known == owner:
            return public
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    public = base64.b64encode(
        Ed25519PrivateKey.from_private_bytes(key).public_key().public_bytes_raw()
    ).decode()
    durable_files.write(file, f"{owner} {public}")
    return public


def _lines(files: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """Yield the lines of the record; one that a full disk has cut is skipped."""
    for file in files:
        with file.open("rb") as opened:
            for line in opened:
                with suppress(ValueError):
                    found = json.loads(line)
                    if isinstance(found, dict):
                        yield found


def _as_stated(own: Json) -> Json:
    """Return a step of the record as a statement shows it."""
    tree = own["tree"]
    return {
        "deed": own["deed"],
        "client": own["client"],
        "host": own["host"],
        "command": stored_command(own["command"]) if own["command"] is not None else None,
        "exitStatus": own["code"],
        "paths": own["paths"],
        "gitTree": tree["tree"] if tree is not None else None,
        "gitCommit": tree.get("head") if tree is not None else None,
    }


def _between(seen: Iterable[Json], steps: Sequence[tuple[Json, Json]], ended_at: int) -> Iterator[Json]:
    """Yield the agent's steps seen here from the first stated one until the task's end, by this machine's clock."""
    who = {_agent(own) for _, own in steps}
    late = min(_moment(stated["at"]) - own["clock"] for stated, own in steps)
    first = min(own["clock"] for _, own in steps)
    return (each for each in seen if _agent(each) in who and first <= each["clock"] <= ended_at - late)


def _agent(own: Json) -> tuple[object, object, object]:
    return own["hub"], own["project"], own["agent"]


def _require_findings(told: Json, steps: Sequence[tuple[Json, Json]]) -> None:
    """Raise `Disagreement` if this machine judges the task otherwise."""
    asked = told["contract"]
    rules = ProofRules(tests=asked["tests"], test_files=tuple(asked["testFiles"]))
    known = Known(since=_moment(asked["takenAt"]), has_artifact=False, is_reviewed=False)
    stated = {each["demand"]: (each["verdict"], each["why"]) for each in told["findings"]}
    here = [each for each in stated if each not in NOT_SEEN_HERE]
    for found in judge(here, rules, [_sighting(*each) for each in steps], known):
        if (found.verdict, found.why) != stated[found.demand]:
            raise Disagreement(f"this machine finds {found.demand!r} {found.verdict}")
    if told["isProven"] != ({verdict for verdict, _ in stated.values()} == {"met"}):
        raise Disagreement("it says that the task is proven, against its findings")


def _sighting(stated: Json, own: Json) -> Sighting:
    """Return a step as the hub judges it."""
    at = _moment(stated["at"])
    return Sighting(
        id=NOBODY,
        project_id=NOBODY,
        agent=own["agent"],
        at=at,
        began_at=at - max(0, own["took"] or 0),
        deed=Deed(own["deed"]),
        client=own["client"],
        host=own["host"],
        place=own["place"],
        worktree=own["worktree"],
        repository=own["repository"],
        command=stored_command(own["command"]) if own["command"] is not None else None,
        code=own["code"],
        paths=tuple(own["paths"]),
        tree=Tree(**own["tree"]) if own["tree"] is not None else None,
        skew=at - own["clock"],
    )


def _moment(written: str) -> int:
    """Return a statement's time in milliseconds."""
    return round(datetime.fromisoformat(written).timestamp() * 1000)
