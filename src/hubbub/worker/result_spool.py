"""Results that the hub does not have yet, on disk: what a command printed survives the worker that ran it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from hubbub.processes import durable_files


@dataclass(frozen=True, slots=True, kw_only=True)
class SpooledResult:
    """What came of one letter, as it is to be reported.

    `epoch` is that of the task when it was begun, None for a broadcast; `verb` is `complete` or `fail`.
    """

    ref: str
    epoch: int | None
    sender: str
    verb: str
    text: str
    instance: str
    used: list[Mapping[str, object]] = field(default_factory=list)  # what its command said that it used

    @property
    def name(self) -> str:
        return f"{self.ref}.{self.epoch or 0}"


class ResultSpool:
    """A folder of results, one file each, and of notes about broadcasts that were begun."""

    def __init__(self, folder: Path) -> None:
        durable_files.make_folder(folder, 0o700)
        self.folder = folder
        self._held: dict[str, SpooledResult] = {}  # that the disk does not take

    @classmethod
    def of(cls, data: Path, hub: str, project: str, agent: str) -> "ResultSpool":
        """The spool of one agent of one project of one hub, in the data folder."""
        whose = hashlib.sha256(f"{hub}\n{project}\n{agent}".encode()).hexdigest()
        return cls(data / "work" / whose[:32])

    def keep(self, result: SpooledResult) -> None:
        """Keep a result; when this returns it survives a crash."""
        durable_files.write(
            self.folder / f"{result.name}.json", json.dumps(asdict(result), ensure_ascii=False)
        )

    def hold(self, result: SpooledResult) -> None:
        """Keep a result that cannot be on disk as long as this process lives."""
        self._held[result.name] = result

    def kept(self) -> list[SpooledResult]:
        """Every result that is kept, oldest first."""
        files = sorted(self.folder.glob("*.json"), key=lambda file: file.stat().st_mtime_ns)
        return [
            *(SpooledResult(**json.loads(file.read_text("utf-8"))) for file in files),
            *self._held.values(),
        ]

    def drop(self, result: SpooledResult) -> None:
        """Forget a result, and that its letter was begun: the hub has it, or will not have it."""
        self._held.pop(result.name, None)
        for suffix in ("json", "begun"):
            (self.folder / f"{result.name}.{suffix}").unlink(missing_ok=True)

    def begin(self, ref: str) -> int:
        """Note that a broadcast is begun, and return for which time, from 1; a task's attempts the hub counts."""
        note = self.folder / f"{ref}.0.begun"
        attempt = int(note.read_text("utf-8")) + 1 if note.exists() else 1
        durable_files.write(note, str(attempt))
        return attempt
