"""Memory and summaries, also as files on this machine: each read and write first synchronises hub and file."""

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from hubbub.bridge.companions.tool_calls import ClientCall, reply_of, with_reply
from hubbub.bridge.messages.json_rpc import Message
from hubbub.model.errors import HubError
from hubbub.workspace.documents import PROJECT, DocumentKind, Documents, ForeignDocument, HubAway, Subject
from hubbub.workspace.memory_sync import Mirror, refused
from hubbub.workspace.relay_folder import RelayFolder

CONFLICT = "conflict"  # in a reply: the conflicts of hub and file
KEPT = 20  # sentences that are kept for the next reply


class MemoryCalls:
    """The calls about the files of a relay folder, and the mirroring of those beside the calls."""

    def __init__(self, folder: Path, documents: Documents) -> None:
        self._shelf = RelayFolder(folder)
        self._documents = documents
        self._mirror = Mirror(folder, documents)
        self._untold: deque[str] = deque(maxlen=KEPT)

    async def stay_in_step(self, changes: AsyncIterator[Subject | None]) -> None:
        """Mirror both ways for as long as there are `changes`."""
        await self._mirror.run(changes, self._tell)

    async def read(self, call: ClientCall, find: "Find") -> Message:
        """Return the hub's answer, once it knows the files' content."""
        is_in_step = await self._sync(call, find)
        answer = await call.ask()
        if not is_in_step:  # the hub was away; as it has answered it is back
            await self._sync(call, find)
            answer = await call.ask()
        return self._telling(answer)

    async def write(self, call: ClientCall, find: "Find") -> Message:
        """Return the hub's answer, once the files have the same content."""
        answer = await call.ask()
        if reply_of(answer).get("success"):
            await self._sync(call, find)
        return self._telling(answer)

    async def summaries_only_here(self, call: ClientCall) -> list[Subject]:
        """Return the summaries that the hub does not have. Raises `HubAway`."""
        known = await self._documents.versions()
        return [
            each for each in self._shelf.subjects() if each.kind is DocumentKind.RUN and each not in known
        ]

    async def _sync(self, call: ClientCall, find: "Find") -> bool:
        """Make documents equal here and in the hub, if possible; False if the hub is away."""
        try:
            for subject in await find(call):
                try:
                    for sentence in await self._mirror.sync(subject):
                        self._tell(sentence)
                except ForeignDocument:
                    pass  # the hub reports it itself, if the call is about that
                except HubError as error:
                    self._tell(refused(self._shelf.name(subject), error))
        except HubAway:
            return False
        return True

    def _tell(self, sentence: str) -> None:
        """Add a sentence to the next reply."""
        if sentence not in self._untold:
            self._untold.append(sentence)

    def _telling(self, answer: Message) -> Message:
        reply = reply_of(answer)
        if not self._untold or not reply.get("success"):
            return answer
        said, self._untold = list(self._untold), deque(maxlen=KEPT)
        return with_reply(answer, {**reply, CONFLICT: "; ".join(said)})


Find = Callable[
    [ClientCall], Awaitable[list[Subject]]
]  # the documents that a call is about; may raise `HubAway`


async def memory_of(call: ClientCall) -> list[Subject]:
    """Return the memory that a call means; none, if it names it in a way that the hub refuses."""
    name = call.arguments.get("agent_id")
    return [PROJECT] if name is None else _named(DocumentKind.AGENT, name)


async def summary_of(call: ClientCall) -> list[Subject]:
    """Return the summary that a call means; none, if it names it in a way that the hub refuses."""
    return _named(DocumentKind.RUN, call.arguments.get("session_id"))


def _named(kind: DocumentKind, name: object) -> list[Subject]:
    return [Subject(kind, name)] if isinstance(name, str) and name else []
