"""Hashes of skills and hooks that came with a project and that a person has seen."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from hubbub.processes import file_locks


class SeenHashes:
    """A file of the machine's own, with names and the hashes seen under them."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def digest(self, name: str) -> object:
        """Return the hash seen under the name; None if nothing was."""
        try:
            return _loads(self._file.read_bytes()).get(name)
        except FileNotFoundError:
            return None

    def add(self, digests: Mapping[str, str]) -> None:
        """Remember these beside the earlier ones."""
        with _locked(self._file) as file:
            known = {**_loads(file.read()), **digests}
            file.seek(0)
            file.truncate()
            file.write(json.dumps(known, indent=1).encode())


@contextmanager
def _locked(path: Path) -> Iterator[BinaryIO]:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "r+b") as file:
        file_locks.wait(descriptor)
        yield file


def _loads(content: bytes) -> dict[str, object]:
    """Parse the file; a half-written one counts as empty, so that all is asked about again."""
    try:
        known = json.loads(content)
    except ValueError:
        return {}
    return known if isinstance(known, dict) else {}
