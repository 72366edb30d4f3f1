"""`hubbub`, and `python -m hubbub`."""

import io
import os
import sys

import click

from hubbub.cli import hubbub
from hubbub.model.programs.launching import ignore_current_folder

STDOUT = 1  # its descriptor, which is there even if Python has no stream for it


def main() -> None:
    """Run the command line; ends the process with one of its exit codes."""
    ignore_current_folder(os.environ)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="backslashreplace"
            )  # characters missing in the terminal's encoding are shown escaped
    try:
        hubbub(prog_name="hubbub")
    except OSError as error:
        _drop_output()
        click.echo(f"Error: {_sentence(error)}", err=True)
        sys.exit(1)


def _sentence(error: OSError) -> str:
    """Return a sentence for an error of a file or a device, without its path."""
    if isinstance(error, FileExistsError | NotADirectoryError):
        return "there is a file where a folder is needed; choose another folder with --data"
    return f"the system refuses: {error.strerror or 'input or output failed'}"


def _drop_output() -> None:
    """Discard unwritable output: Python would try again at the end, and fail with a trace."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, STDOUT)
    os.close(nowhere)


if __name__ == "__main__":
    main()
