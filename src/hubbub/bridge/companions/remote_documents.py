"""The documents of a project over REST, for a program on this machine that mirrors or imports them."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hubbub.client import Hub, HubRefused, HubUnreachable, quoted
from hubbub.model.errors import Conflict, HubError, NotFound
from hubbub.model.work.memory import MemoryPart
from hubbub.workspace.documents import PROJECT, DocumentKind, ForeignDocument, HubAway, HubDocument, Subject


class RemoteDocuments:
    """`Documents` of the project at the hub, which `hub` returns anew for each request."""

    def __init__(self, hub: Callable[[], Hub]) -> None:
        self._hub = hub

    async def versions(self) -> Mapping[Subject, int]:
        memories = await self._call(self._hub().get, "/memory")
        runs = await self._call(self._hub().get, "/summaries")
        return {
            Subject(DocumentKind.AGENT, each["agent"]) if each["agent"] is not None else PROJECT: each[
                "version"
            ]
            for each in memories["documents"]
        } | {Subject(DocumentKind.RUN, each["run"]): each["version"] for each in runs["summaries"]}

    async def fetch(self, subject: Subject) -> HubDocument:
        try:
            reply = await self._call(self._hub().get, _path(subject))
        except _Missing:
            nothing = await self._call(self._hub().get, "/summaries")
            return HubDocument(nothing["project_id"], 0, ())
        (found,) = reply.values()
        return HubDocument(found["project_id"], found["version"], _parts(found))

    async def replace(self, subject: Subject, parts: Sequence[MemoryPart], version: int) -> int:
        body = {"version": version, **_body(subject, parts)}
        (written,) = (await self._call(self._hub().put, _path(subject), body)).values()
        new: int = written["version"]
        return new

    @staticmethod
    async def _call(method: Callable[..., Any], *arguments: object) -> Any:
        """Call the blocking client. Raises `HubAway`, and `HubError` like the core."""
        try:
            return await asyncio.to_thread(method, *arguments)
        except HubUnreachable as error:
            raise HubAway(str(error)) from None
        except HubRefused as error:
            if error.is_temporary:
                raise HubAway(str(error)) from None
            raise REFUSALS.get(error.code, HubError)(str(error)) from None


class _Missing(HubError):
    """There is nothing at that path."""


REFUSALS: dict[str, type[HubError]] = {
    NotFound.code: _Missing,
    Conflict.code: Conflict,
    ForeignDocument.code: ForeignDocument,
}


def _parts(found: Mapping[str, Any]) -> tuple[MemoryPart, ...]:
    if "parts" in found:
        return tuple(MemoryPart(part["key"], part["content"]) for part in found["parts"])
    return (MemoryPart(None, found["text"]),)


def _body(subject: Subject, parts: Sequence[MemoryPart]) -> dict[str, object]:
    if subject.kind is DocumentKind.RUN:
        return {"text": "".join(part.content for part in parts)}
    return {"parts": [{"key": part.key, "content": part.content} for part in parts]}


def _path(subject: Subject) -> str:
    match subject.kind:
        case DocumentKind.PROJECT:
            return "/memory/project"
        case DocumentKind.AGENT:
            return f"/memory/agents/{quoted(subject.name)}"
        case DocumentKind.RUN:
            return f"/summaries/{quoted(subject.name)}"
