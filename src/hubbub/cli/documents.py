"""The documents of a project as a program on this machine mirrors or imports them: over REST."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hubbub.client import Hub, HubRefused, HubUnreachable, quoted
from hubbub.model.errors import Conflict, HubError, NotFound
from hubbub.model.memory import Part
from hubbub.workspace.documents import PROJECT, Away, Held, Kind, NotOurs, Subject


class RemoteDocuments:
    """`Documents` of the project that the hub is asked about, which `hub` gives anew for each request."""

    def __init__(self, hub: Callable[[], Hub]) -> None:
        self._hub = hub

    async def versions(self) -> Mapping[Subject, int]:
        memories = await self._call(self._hub().get, "/memory")
        runs = await self._call(self._hub().get, "/summaries")
        return {
            Subject(Kind.AGENT, each["agent"]) if each["agent"] is not None else PROJECT: each["version"]
            for each in memories["documents"]
        } | {Subject(Kind.RUN, each["run"]): each["version"] for each in runs["summaries"]}

    async def fetch(self, subject: Subject) -> Held:
        try:
            reply = await self._call(self._hub().get, _path(subject))
        except _Missing:
            nothing = await self._call(self._hub().get, "/summaries")
            return Held(nothing["project_id"], 0, ())
        (found,) = reply.values()
        return Held(found["project_id"], found["version"], _parts(found))

    async def replace(self, subject: Subject, parts: Sequence[Part], version: int) -> int:
        body = {"version": version, **_body(subject, parts)}
        (written,) = (await self._call(self._hub().put, _path(subject), body)).values()
        new: int = written["version"]
        return new

    @staticmethod
    async def _call(method: Callable[..., Any], *arguments: object) -> Any:
        """A call of the blocking client. Raises `Away`, and `HubError` as the core would."""
        try:
            return await asyncio.to_thread(method, *arguments)
        except HubUnreachable as error:
            raise Away(str(error)) from None
        except HubRefused as error:
            if error.is_temporary:
                raise Away(str(error)) from None
            raise REFUSALS.get(error.code, HubError)(str(error)) from None


class _Missing(HubError):
    """There is nothing at that path."""


REFUSALS: dict[str, type[HubError]] = {
    NotFound.code: _Missing,
    Conflict.code: Conflict,
    NotOurs.code: NotOurs,
}


def _parts(found: Mapping[str, Any]) -> tuple[Part, ...]:
    if "parts" in found:
        return tuple(Part(part["key"], part["content"]) for part in found["parts"])
    return (Part(None, found["text"]),)


def _body(subject: Subject, parts: Sequence[Part]) -> dict[str, object]:
    if subject.kind is Kind.RUN:
        return {"text": "".join(part.content for part in parts)}
    return {"parts": [{"key": part.key, "content": part.content} for part in parts]}


def _path(subject: Subject) -> str:
    match subject.kind:
        case Kind.PROJECT:
            return "/memory/project"
        case Kind.AGENT:
            return f"/memory/agents/{quoted(subject.name)}"
        case Kind.RUN:
            return f"/summaries/{quoted(subject.name)}"
