"""The child process of a keeper: the steps before its command begins."""

import os
import signal
from collections.abc import Mapping
from threading import Thread
from typing import Any

from hubbub.node.commands import resource_limits
from hubbub.node.commands.command_spec import CommandSpec
from hubbub.node.system.kernel import Ruleset


class CommandPipes:
    """Three pipes from a command: its two streams, and the sandbox's report."""

    def __init__(self) -> None:
        ends = [os.pipe() for _ in range(3)]
        self.stdout, self.stderr, self.report = (ours for ours, _ in ends)
        self._theirs = [theirs for _, theirs in ends]

    def start(self, work: CommandSpec, cwd: int) -> int:
        """Start the command and return its process id. Raises `OSError` if it cannot be started.

        This process takes on the limits too, and moves to the folder.
        """
        os.fchdir(cwd)
        resource_limits.apply_limits()
        try:
            if work.ruleset is None:
                return self._spawn(work)
            return self._spawn_under(work.ruleset, work)
        finally:
            for end in self._theirs:
                os.close(end)

    def _spawn(self, work: CommandSpec) -> int:
        """Start the command by the system's own call, since forking a second Python takes twice as long."""
        places = (1, 2) if work.report is None else (1, 2, work.report)
        return os.posix_spawn(
            work.argv[0],
            work.argv,
            work.environment,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, end, place) for end, place in zip(self._theirs, places, strict=False)
            ],
            setsid=True,
            setsigmask=(),
            setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
        )

    def _spawn_under(self, ruleset: Mapping[str, Any], work: CommandSpec) -> int:
        """Start the command from a thread that alone takes on the rules and passes them on: this process stays free."""
        begun: list[int] = []
        failed: list[OSError] = []

        def begin() -> None:
            try:
                Ruleset(**ruleset).take_on()
                begun.append(self._spawn(work))
            except OSError as error:
                failed.append(error)

        thread = Thread(target=begin)
        thread.start()
        thread.join()
        if failed:
            raise failed[0]
        return begun[0]
