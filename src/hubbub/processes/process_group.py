"""Programs in process groups of their own: all of a group can be ended, and ends when this process is gone."""

import os
import subprocess
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from hubbub.model.programs.launching import script

GUARD = Path(__file__).with_name("guard.py")

File = int | IO[bytes]


class ProcessGroup:
    """A program that was started by this process, and leads a group."""

    def __init__(
        self,
        words: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str | os.PathLike[str] | None = None,
        stdin: File,
        stdout: File,
        stderr: File,
        pass_fds: Collection[int] = (),
        is_guarded: bool = True,
    ) -> None:
        """Start it. A program that ends by itself needs no guard, with which it would end when this process is gone.

        Raises `OSError` if it cannot be started, and `ValueError` for a NUL character among its words.
        """
        self._held: int | None = None  # our end of the guard's pipe, which closes with this process
        lifeline: list[int] = []
        if is_guarded:
            theirs, self._held = os.pipe()
            lifeline, words = [theirs], (*script(GUARD), str(theirs), *words)
        try:
            self._process = subprocess.Popen(  # noqa: S603, who calls says what runs, and has asked whether it may
                words,
                cwd=cwd,
                env=env,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                bufsize=0,
                start_new_session=True,
                pass_fds=[*pass_fds, *lifeline],
            )
        except BaseException:
            self._let_go()
            raise
        finally:
            for each in lifeline:
                os.close(each)

        self.stdin, self.stdout, self.stderr = (  # our ends, if a pipe was asked for
            self._process.stdin,
            self._process.stdout,
            self._process.stderr,
        )
        self._began()

    @property
    def pid(self) -> int:
        """Return its process, and the group that it leads."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """Return its exit code, negative after a signal; None until it was `reaped`."""
        return self._process.returncode

    def reap(self) -> int:
        """Block until the program has ended, whatever it left in its group; return its exit code."""
        code = self._process.wait()
        self._let_go()
        return code

    def signal(self, number: int) -> None:
        """Send a signal to everything in the process group, which may outlive its first process."""
        with suppress(ProcessLookupError, PermissionError):  # the latter on macOS, for a group of zombies
            os.killpg(self.pid, number)

    def _began(self) -> None:
        """Hook for subclasses, called once the process runs."""

    def _let_go(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            os.close(held)
