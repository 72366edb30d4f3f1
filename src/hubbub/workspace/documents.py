"""What is mirrored between the hub and a relay folder, and how the mirror speaks to the hub."""

from collections.abc import Mapping, Sequence
from enum import StrEnum, auto
from typing import ClassVar, NamedTuple, Protocol

from hubbub.model.errors import HubError
from hubbub.model.memory import Part


class Kind(StrEnum):
    """Whose document it is."""

    PROJECT = auto()
    AGENT = auto()
    RUN = auto()  # its summary


class Subject(NamedTuple):
    """Which document: the project's memory, an agent's, or the summary of a run; `name` is theirs."""

    kind: Kind
    name: str = ""


PROJECT = Subject(Kind.PROJECT)


class Held(NamedTuple):
    """A document as the hub holds it. A summary is one part without a key; at version 0 there is nothing yet."""

    project: str  # the id of the project that it belongs to
    version: int
    parts: tuple[Part, ...]


class Away(Exception):
    """The hub cannot be reached now."""


class NotOurs(HubError):
    """Our token may not change this document: that is for the mirror of the agent whose it is."""

    code: ClassVar[str] = "wrong_identity"


class Documents(Protocol):
    """The documents of one project in the hub. Everything raises `Away`, and `HubError` where the hub refuses."""

    async def versions(self) -> Mapping[Subject, int]:
        """Which documents there are, and their versions."""

    async def fetch(self, subject: Subject) -> Held:
        """One of them; one that is not there is empty, at version 0."""

    async def replace(self, subject: Subject, parts: Sequence[Part], version: int) -> int:
        """Put `parts` in its place, and give its new version. Raises `Conflict` if `version` is not the one it has.

        Also raises `NotOurs`.
        """


KINDS = ("memory.updated", "summary.saved")  # of activities that change a document


def subject_of(kind: str, agent: str | None, detail: Mapping[str, object]) -> Subject | None:
    """What an activity of this kind changed; None if it was no document."""
    if kind == "memory.updated":
        return Subject(Kind.AGENT, agent) if agent is not None else PROJECT
    return Subject(Kind.RUN, str(detail["run"])) if kind == "summary.saved" else None
