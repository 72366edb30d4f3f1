"""Results that the hub does not have yet, on disk: they survive the worker that ran the command."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from hubbub.processes import durable_files


@dataclass(frozen=True, slots=True, kw_only=True)
class SpooledResult:
    """The result of one letter, ready to be reported.

    `epoch` is that of the task when it was begun, None for a broadcast; `verb` is `complete` or `fail`.
    """

    ref: str
    epoch: int | None
    sender: str
    verb: str
    text: str
    instance: str
    used: list[Mapping[str, object]] = field(default_factory=list)  # the use that its command reported

    @property
    def name(self) -> str:
        return f"{self.ref}.{self.epoch or 0}"


class ResultSpool:
    """A folder of results, one file each, and of notes on broadcasts that were begun."""

    def __init__(self, folder: Path) -> None:
        durable_files.make_folder(folder, 0o700)
        self.folder = folder
        self._held: dict[str, SpooledResult] = {}  # that the disk does not take

    @classmethod
    def of(cls, data: Path, hub: str, project: str, agent: str) -> "ResultSpool":
        """Return the spool of one agent of one project of one hub, in the data folder."""
        whose = hashlib.sha256(f"{hub}\n{project}\n{agent}".encode()).hexdigest()
        return cls(data / "work" / whose[:32])

    def keep(self, result: SpooledResult) -> None:
        """Store a result; when this returns, it survives a crash."""
        durable_files.write(
            self.folder / f"{result.name}.json", json.dumps(asdict(result), ensure_ascii=False)
        )

    def hold(self, result: SpooledResult) -> None:
        """Hold a result in memory that cannot be on disk."""
        self._held[result.name] = result

    def kept(self) -> list[SpooledResult]:
        """Return every stored result, oldest first."""
        files = sorted(self.folder.glob("*.json"), key=lambda file: file.stat().st_mtime_ns)
        return [
            *(SpooledResult(**json.loads(file.read_text("utf-8"))) for file in files),
            *self._held.values(),
        ]

    def drop(self, result: SpooledResult) -> None:
        """Drop a result and the note on its letter: the hub has the result, or does not want it."""
        self._held.pop(result.name, None)
        for suffix in ("json", "begun"):
            (self.folder / f"{result.name}.{suffix}").unlink(missing_ok=True)

    def begin(self, ref: str) -> int:
        """Note that a broadcast begins; return the number of the attempt, from 1. The hub counts those of tasks."""
        note = self.folder / f"{ref}.0.begun"
        attempt = int(note.read_text("utf-8")) + 1 if note.exists() else 1
        durable_files.write(note, str(attempt))
        return attempt
