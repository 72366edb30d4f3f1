"""Commands that talk with a hub and end, run in the test's own process: a sixth of the work of a process each.

`test_command.py` shows for each of them that a process says the same. What reads a terminal, takes signals, starts
others or stays is no business of this module.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from io import BytesIO, TextIOWrapper
from unittest.mock import patch

from hubbub.cli import hubbub as program

TALK = frozenset(
    {
        "agents", "approve", "deny", "inbox", "login", "logout", "project", "send", "task", "tasks", "token", "user",
        "webhook", "why",
    }
)  # fmt: skip
OF_PROCESSES = frozenset({"TZ", "PATH", "HOME"})  # which a process reads as it begins, or to find others


def can_run(arguments: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Tell whether the command does the same here as in a process: this thread may have the environment for itself."""
    return (
        bool(arguments)
        and arguments[0] in TALK
        and OF_PROCESSES.isdisjoint(environment)
        and threading.current_thread() is threading.main_thread()
    )


def run(
    arguments: Sequence[str], environment: Mapping[str, str], given: str
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end in this whole environment, with files that are no terminal."""
    files = {
        name: TextIOWrapper(BytesIO(), "utf-8", "backslashreplace", "\n") for name in ("stdout", "stderr")
    }
    files["stdin"] = TextIOWrapper(BytesIO(given.encode()), "utf-8")
    with ExitStack() as stack:
        stack.enter_context(patch.dict(os.environ, environment, clear=True))
        for name, file in files.items():
            stack.enter_context(patch.object(sys, name, file))
            stack.enter_context(patch.object(sys, f"__{name}__", file))
        try:
            program(list(arguments), prog_name="hubbub")
        except SystemExit as ended:
            code = ended.code
    assert isinstance(code, int)
    return subprocess.CompletedProcess(
        list(arguments), code, _written(files["stdout"]), _written(files["stderr"])
    )


def _written(file: TextIOWrapper) -> str:
    file.flush()
    assert isinstance(file.buffer, BytesIO)
    return file.buffer.getvalue().decode()
