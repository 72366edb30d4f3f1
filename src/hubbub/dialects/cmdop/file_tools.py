"""The tools for reading files and the log. A machine does them; they change nothing."""

from typing import Annotated, Literal

from pydantic import Field

from hubbub.dialects.cmdop import argument_checks
from hubbub.dialects.cmdop.tool_set import DIALECT

Line = Annotated[int, Field(ge=1)]


@DIALECT.on_machine(reads=True, fits=argument_checks.lines)
def read_file(path: str, start: Line | None = None, end: Line | None = None) -> None:
    """Read a text file, or its lines from start to end, counted from 1, both included; truncated if there is more."""


@DIALECT.on_machine(reads=True)
def grep(pattern: str, path: str, glob: str | None = None) -> None:
    """Search files by a regular expression, as ripgrep does: .gitignore is respected, glob narrows it to some files."""


@DIALECT.on_machine(reads=True)
def glob(pattern: str, cwd: str | None = None) -> None:
    """Find files by a pattern of their paths, such as src/**/*.py; the newest first."""


@DIALECT.on_machine(reads=True)
def list_dir(path: str) -> None:
    """List a folder by name: name, type (file, dir, link or other) and size."""


@DIALECT.on_machine(reads=True)
def read_logs(
    since_minutes: Annotated[int, Field(ge=1, le=525_600)] | None = None,
    level: Literal["debug", "info", "warning", "error", "critical"] | None = None,
    match: str | None = None,
) -> None:
    """The log of the machine's daemon: the last hour unless you say otherwise, from a level on, with a text in it."""
