"""`hubbub`, and `python -m hubbub`."""

import io
import sys

from hubbub.cli import hubbub


def main() -> None:
    """Run the command line; ends the process with one of its exit codes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="backslashreplace"
            )  # what the terminal's encoding lacks is shown escaped
    hubbub(prog_name="hubbub")


if __name__ == "__main__":
    main()
