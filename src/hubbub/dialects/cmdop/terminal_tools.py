"""The tools for running commands and changing files. A machine does them."""

from typing import Annotated

from pydantic import Field

from hubbub.dialects.cmdop import argument_checks
from hubbub.dialects.cmdop.tool_set import DIALECT, TimeoutMs


@DIALECT.on_machine()
def execute_command(
    command: str,
    cwd: str | None = None,
    timeout_ms: TimeoutMs | None = None,
    background: bool = False,
) -> None:
    """Run a command in bash; gives stdout, stderr and exit_code.

    It is ended after timeout_ms, 120000 by default. With background it goes on after the answer, which then is its
    task_id for shell_tasks and shell_kill.
    """


@DIALECT.on_machine(reads=True)
def shell_tasks() -> None:
    """The commands that you have started in the background, and how each is."""


@DIALECT.on_machine()
def shell_kill(task_id: str, signal: str | None = None) -> None:
    """End a command in the background, by the signal TERM unless you name another."""


@DIALECT.on_machine(fits=argument_checks.written)
def write_file(path: str, content: str) -> None:
    """Write a text file, whole; folders above it are made. Gives bytes_written."""


@DIALECT.on_machine()
def open_file(path: str) -> None:
    """Open a file with the desktop's program for it; opened is false where there is no desktop."""


@DIALECT.on_machine(fits=argument_checks.saved)
def download_file(url: Annotated[str, Field(max_length=8192)], dest: str) -> None:
    """Download a file of up to 100 MiB from the web to the path dest. Gives path and bytes."""
