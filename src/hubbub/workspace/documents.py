"""The documents that are mirrored between the hub and a relay folder, and the mirror's interface to the hub."""

from collections.abc import Mapping, Sequence
from enum import StrEnum, auto
from typing import ClassVar, NamedTuple, Protocol

from hubbub.model.errors import HubError
from hubbub.model.work.memory import MemoryPart


class DocumentKind(StrEnum):
    """The kind of owner of a document: the project, an agent, or a run."""

    PROJECT = auto()
    AGENT = auto()
    RUN = auto()  # its summary


class Subject(NamedTuple):
    """A document: the project's memory, an agent's, or the summary of a run; `name` is that of the agent or run."""

    kind: DocumentKind
    name: str = ""


PROJECT = Subject(DocumentKind.PROJECT)


class HubDocument(NamedTuple):
    """A document as the hub holds it. A summary is one part without a key; version 0 is empty."""

    project: str  # the id of its project
    version: int
    parts: tuple[MemoryPart, ...]


class HubAway(Exception):
    """The hub cannot be reached now."""


class ForeignDocument(HubError):
    """Our token may not change this document; only the mirror of the agent that owns it may."""

    code: ClassVar[str] = "wrong_identity"


class Documents(Protocol):
    """The documents of one project in the hub. Every method raises `HubAway`, and `HubError` if the hub refuses."""

    async def versions(self) -> Mapping[Subject, int]:
        """Return the version of each document."""

    async def fetch(self, subject: Subject) -> HubDocument:
        """Return one of them; a missing one is empty, at version 0."""

    async def replace(self, subject: Subject, parts: Sequence[MemoryPart], version: int) -> int:
        """Replace its content by `parts`; return its new version. Raises `Conflict` if `version` is outdated.

        Also raises `ForeignDocument`.
        """


KINDS = ("memory.updated", "summary.saved")  # of activities that change a document


def subject_of(kind: str, agent: str | None, detail: Mapping[str, object]) -> Subject | None:
    """Return the document that an activity of this kind changed; None if it changed none."""
    if kind == "memory.updated":
        return Subject(DocumentKind.AGENT, agent) if agent is not None else PROJECT
    return Subject(DocumentKind.RUN, str(detail["run"])) if kind == "summary.saved" else None
