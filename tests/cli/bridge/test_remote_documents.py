"""The documents of a project over REST, as a mirror on another machine uses them."""

import asyncio
import signal
from pathlib import Path

import pytest

from hubbub.bridge.companions.remote_documents import RemoteDocuments
from hubbub.model.errors import Conflict, HubError
from hubbub.model.work.memory import MemoryPart
from hubbub.workspace.documents import PROJECT, DocumentKind, HubAway, HubDocument, Subject
from hubbub.workspace.memory_sync import Mirror
from tests.cli.processes import RunningHub

ANN = Subject(DocumentKind.AGENT, "ann@代码")
RUN = Subject(DocumentKind.RUN, "2026-03-14-007")
EACH = pytest.mark.parametrize("subject", [PROJECT, ANN, RUN])
TEXT = (MemoryPart(None, "## no heading\r\nbut text"),)


@pytest.fixture
def documents(hub: RunningHub) -> RemoteDocuments:
    return RemoteDocuments(hub.client)


def fetched(documents: RemoteDocuments, subject: Subject) -> HubDocument:
    return asyncio.run(documents.fetch(subject))


@EACH
def test_there_and_back(documents: RemoteDocuments, subject: Subject) -> None:
    """A fetched document is the one that was put, under a rising version; a missing one is empty, at version 0."""
    before = fetched(documents, subject)
    assert (before.version, before.parts) == (0, ())
    assert asyncio.run(documents.replace(subject, TEXT, 0)) == 1
    assert fetched(documents, subject) == HubDocument(before.project, 1, TEXT)
    assert asyncio.run(documents.versions()) == {subject: 1}


@EACH
def test_refusals(documents: RemoteDocuments, subject: Subject) -> None:
    """A version that has moved on is a conflict, and what is too large a refusal; neither changes anything."""
    with pytest.raises(Conflict):
        asyncio.run(documents.replace(subject, TEXT, 1))
    with pytest.raises(HubError, match="larger than 1 MiB"):
        asyncio.run(documents.replace(subject, (MemoryPart(None, "x" * 1024 * 1024),), 0))
    assert fetched(documents, subject).version == 0


def test_a_hub_that_is_gone(own_hub: RunningHub) -> None:
    """A hub that cannot be reached is away, whatever is asked."""
    documents = RemoteDocuments(own_hub.client)
    own_hub.stop(signal.SIGKILL)
    for call in (documents.versions(), documents.fetch(RUN), documents.replace(RUN, TEXT, 0)):
        with pytest.raises(HubAway, match="cannot be reached"):
            asyncio.run(call)


def test_a_mirror_over_rest(documents: RemoteDocuments, hub: RunningHub, tmp_path: Path) -> None:
    """A mirror on another machine brings edits to the hub and changes to the files, as the hub's own does."""
    hub.client().put("/memory/project", {"text": "## a\n\none\n"})
    mirror = Mirror(tmp_path, documents)
    asyncio.run(mirror.sync(PROJECT))
    file = tmp_path / "memory" / "project.md"
    file.write_text(file.read_text() + "\n## b\n\ntwo\n")
    asyncio.run(mirror.sync(PROJECT))
    assert (
        hub.client().get("/memory/project")["document"]["text"]
        == file.read_text()
        == "## a\n\none\n\n## b\n\ntwo\n"
    )
