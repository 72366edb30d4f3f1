"""Importing the memory and the summaries of an existing relay folder into the hub, once; the folder stays as it is."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from enum import StrEnum, auto
from pathlib import Path
from typing import NamedTuple

from hubbub.model.errors import Conflict, HubError
from hubbub.workspace.documents import Documents, Subject
from hubbub.workspace.memory_sync import combine, refused, sentence
from hubbub.workspace.relay_folder import RelayFolder, parts_of


class ImportOutcome(StrEnum):
    """The result of importing a file."""

    ADDED = auto()  # the hub had nothing of the kind
    MERGED = auto()  # with the hub's document
    UNCHANGED = auto()  # the hub had everything in it
    REFUSED = auto()


class ImportedFile(NamedTuple):
    """One imported file, the result, and sentences about it."""

    name: str
    outcome: ImportOutcome
    sentences: list[str]


async def import_folder(folder: Path, documents: Documents) -> AsyncIterator[ImportedFile]:
    """Merge each file into the hub's document; a repetition changes nothing. Raises `Away`."""
    shelf = RelayFolder(folder)
    for subject in await asyncio.to_thread(shelf.subjects):
        try:
            yield await _import(shelf, subject, documents)
        except HubError as error:
            name = shelf.name(subject)
            yield ImportedFile(name, ImportOutcome.REFUSED, [refused(name, error)])


async def _import(shelf: RelayFolder, subject: Subject, documents: Documents) -> ImportedFile:
    name = shelf.name(subject)
    text = await asyncio.to_thread(shelf.read, subject) or ""
    label = f"conflict from file {datetime.now(UTC):%Y-%m-%d %H:%M}"
    while True:
        held = await documents.fetch(subject)
        parts, clashes = combine(subject, None, held.parts, parts_of(subject, text, held.parts), label=label)
        if not text.strip() or parts == held.parts:
            return ImportedFile(name, ImportOutcome.UNCHANGED, [])
        try:
            await documents.replace(subject, parts, held.version)
        except Conflict:
            continue
        outcome = ImportOutcome.MERGED if held.parts else ImportOutcome.ADDED
        return ImportedFile(name, outcome, [sentence(name, clash) for clash in clashes])
