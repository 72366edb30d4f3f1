"""Limits of transport sessions: how many a token may have open, and how many requests each may have under way.

A session is kept for half an hour after its last use.

Many clients reconnect again and again without ending their sessions, so a new one is not refused: the least recently
used one gives way, unless something is under way in all of them.
"""

import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from hubbub.core.people.quotas import Quota, Quotas
from hubbub.model.errors import TooMany
from hubbub.model.people.rights import Actor

Token = UUID | None
Close = Callable[[str], Coroutine[None, None, None]]  # ends the session of that id

IDLE = 30 * 60.0  # seconds after which an unused session has ended by itself
RETRY = 30  # seconds until one may be idle
SEEN = 5 * 60.0  # seconds between the SDK's notes of a session's use, to which it keeps idle time
UNDER_WAY = 200  # requests of one session that are not answered yet
SOON = 1  # seconds until one of them may be


@dataclass(eq=False, slots=True)
class Opening:
    """A session that is being opened; its opener sets its id, unless the opening fails."""

    place: str = field(default_factory=lambda: uuid4().hex)
    name: str | None = None
    given_up: list[str] = field(default_factory=list)  # those that gave way


@dataclass(eq=False, slots=True)
class _Session:
    """An open session; as a context, one of its requests under way."""

    close: Close
    now: Callable[[], float]
    used: float
    manager: object = None  # the part of the SDK that began it, and alone knows it
    in_use: int = 0
    server: object = None  # which serves it, once the SDK has answered by it
    seen: float = 0.0  # by the SDK, last
    is_over: bool = False  # the SDK has ended it

    def __enter__(self) -> None:
        self.in_use += 1

    def __exit__(self, *_failure: object) -> None:
        self.in_use -= 1
        self.used = self.now()


class Connections:
    """The transport sessions of a hub, of all its dialects, by token; the quotas limit their number."""

    def __init__(self, quotas: Quotas, now: Callable[[], float] = time.monotonic) -> None:
        self.many = quotas.limits.connections
        self._quotas = quotas
        self._now = now
        self._open: dict[Token, dict[str, _Session]] = {}  # the least recently used one first
        quotas.hold(Quota.CONNECTIONS, self.number_of)

    def __len__(self) -> int:
        return sum(map(len, self._open.values()))

    def number_of(self, token: Token) -> int:
        """Count the token's open sessions. For all threads."""
        return sum(map(self._is_used, list(self._open.get(token, {}).values())))

    @asynccontextmanager
    async def beginning(self, actor: Actor, close: Close, manager: object = None) -> AsyncIterator["Opening"]:
        """Make room for one more, which counts when the context ends. Raises `TooMany` if there is no room."""
        self._forget_ended()
        own = self._open.setdefault(actor.token_id, {})
        given_up: list[tuple[str, _Session]] = []
        while self.many and len(own) >= self.many:
            idle = next((each for each, session in own.items() if not session.in_use), None)
            if idle is None:
                sentence = f"this token has {self.many:,} MCP sessions open, and all of them are in use; end one first"
                raise self._quotas.refusal(actor, Quota.CONNECTIONS, RETRY, sentence)
            given_up.append((idle, own.pop(idle)))
        opening = Opening(given_up=[name for name, _session in given_up])
        session = _Session(close, self._now, self._now(), manager, in_use=1)
        own[opening.place] = session
        try:
            for name, each in given_up:
                await each.close(name)
            yield opening
        finally:
            del own[opening.place]
            session.in_use = 0
            if opening.name is not None:
                own[opening.name] = session

    def using(self, token: Token, name: str | None, *, asks: bool) -> AbstractContextManager[None]:
        """Return a context for a request of the session of that id, which counts as under way if the token has it.

        Raises `TooMany` for a request that `asks` for an answer while as many as allowed wait for theirs.
        Cancellations, answers to the hub and the end of the session are let through.
        """
        own = self._open.get(token, {})
        if name is None or (session := own.get(name)) is None:
            return nullcontext()
        if asks and session.in_use >= UNDER_WAY:
            raise TooMany(
                SOON, f"this MCP session has {UNDER_WAY} requests under way, which are all that it may"
            )
        del own[name]
        own[name] = session  # at the end now
        return session

    def meet(self, token: Token, name: str | None, server: object) -> bool:
        """Note that the SDK has just answered in a session, at that server; True if it is the first time."""
        session = self._open.get(token, {}).get(name or "")
        if session is None:
            return False
        is_first = session.server is None
        session.server, session.seen = server, self._now()
        return is_first

    def part(self, token: Token, name: str | None) -> None:
        """Note that the SDK has ended a session."""
        if (session := self._open.get(token, {}).get(name or "")) is not None:
            session.is_over = True

    def is_here(self, token: Token, name: str, manager: object = None) -> bool:
        """Tell whether that part of the SDK has the session, and this hub began it."""
        session = self._open.get(token, {}).get(name)
        if session is None or session.manager is not manager:
            return False
        return not session.is_over and self._is_used(session)

    def is_plain(self, token: Token, name: str, server: object) -> bool:
        """Tell whether a plain call of the session needs no SDK: it answered there lately, or has no such session."""
        session = self._open.get(token, {}).get(name)
        if session is None or (session.server is server and self._now() - session.seen <= SEEN):
            return True
        return session.is_over or not self._is_used(session)

    def take(self, name: str) -> Close | None:
        """Forget the session of that id; return the function that ends it here, if there was one."""
        for own in self._open.values():
            if (session := own.pop(name, None)) is not None:
                return session.close
        return None

    def _is_used(self, session: _Session) -> bool:
        """Tell whether the session has not yet ended by being idle."""
        return session.in_use > 0 or session.used >= self._now() - IDLE

    def _forget_ended(self) -> None:
        """Forget the sessions that have ended by themselves."""
        for token, own in list(self._open.items()):
            for name, session in list(own.items()):
                if not self._is_used(session):
                    del own[name]
            if not own:
                del self._open[token]
