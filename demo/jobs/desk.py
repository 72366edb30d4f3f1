"""The desk: the folder that the agents share, where reports and the ledger lie."""

from collections.abc import Iterator
from pathlib import Path

from demo.ledger import Ledger

VARIABLE = "DEMO_DESK"
ROOT = Path(__file__).resolve().parents[2]


class Unable(Exception):
    """A job cannot be done; the message says why."""


class Desk:
    """The place where jobs put their findings, and read those of others."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ledger = Ledger(folder / "ledger.jsonl")

    def put(self, subject: str, report: str) -> None:
        (self.folder / f"{subject}.txt").write_text(report, "utf-8")

    def take(self, subject: str) -> str:
        """The report on a subject. Raises `Unable` if nobody has written it."""
        try:
            return (self.folder / f"{subject}.txt").read_text("utf-8")
        except FileNotFoundError:
            raise Unable(f"there is no report on {subject} on the desk yet") from None


def sources(folder: str) -> Iterator[tuple[str, Path]]:
    """The Python files below a folder of this project, each with its path from there. Raises `Unable`."""
    start = ROOT / folder
    if not start.is_dir() or not start.resolve().is_relative_to(ROOT):
        raise Unable(f"there is no folder {folder!r} in this project")
    for path in sorted(start.rglob("*.py")):
        inside = path.relative_to(start)
        if not any(part.startswith(".") or part == "node_modules" for part in inside.parts):
            yield inside.as_posix(), path


def numbered(count: int, noun: str) -> str:
    """A count and its noun, such as `1 file` or `2 files`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
