"""A history on its way to a file: every call and every answer of one program, a line each, until the program dies."""

import json
import os
import secrets
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

Answer = Literal["yes", "no", "unknown"]


class History:
    """The lines that one program writes; several may continue one file, one after the other."""

    def __init__(self, file: Path) -> None:
        self._file = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._name = f"{file.stem}-{secrets.token_hex(3)}"
        self._lock = threading.Lock()
        self._number = 0
        os.write(self._file, b"\n")  # the last line of a killed program may have no end

    def asked(self, do: str, who: str, **facts: object) -> str:
        """Record a call before it is made; return its name."""
        with self._lock:
            self._number += 1
            call = f"{self._name}-{self._number}"
        self.note(call=call, do=do, who=who, **facts)
        return call

    def told(self, call: str, answer: Answer, **facts: object) -> None:
        self.note(call=call, answer=answer, **facts)

    def gone(self, agents: Iterable[str], *, absent_since: float | None = None) -> None:
        """Record that from now on nobody relies on these agents' things, and since when they may have counted as gone.

        The time is that of `time.monotonic`; None if nothing made them count so.
        """
        absent = {"absent": True, "since": absent_since} if absent_since is not None else {}
        self.note(gone=[*agents], **absent)

    def note(self, **facts: object) -> None:
        line = json.dumps({"at": time.monotonic(), **facts}, ensure_ascii=False)
        os.write(self._file, f"{line}\n".encode())

    def close(self) -> None:
        os.close(self._file)
