"""Codex to ring for."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.wake.codex_server import CodexServer, codex_server


@pytest.fixture
def codex() -> Iterator[CodexServer]:
    with (
        tempfile.TemporaryDirectory() as folder,
        codex_server(Path(folder)) as codex,
    ):  # sockets have short names
        yield codex
