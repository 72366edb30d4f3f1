"""The hub as seen by a program on this machine: a typed, blocking client of `/api/v1` and of the live events.

Replies are the hub's JSON, typed as far as the command line and the worker read it. Two things can go wrong:
the hub refuses (`HubRefused`, with its code and its sentence) or cannot be reached (`HubUnreachable`). An impossible
address, token or id is `Invalid`, before anything is sent.
"""

import json
import re
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypedDict
from urllib.parse import quote, urlencode, urlsplit
from uuid import uuid4

from hubbub.client.event_stream import STREAM, EventReader
from hubbub.client.transport import (
    FAILED,
    NOT_FOUND,
    QUIET_SECONDS,
    READ_SECONDS,
    WAIT_SECONDS,
    Answer,
    Reply,
    TooLate,
    Transport,
    Unreachable,
    Untrusted,
    is_near,
    transport_to,
)
from hubbub.model import data_folder
from hubbub.model.errors import Invalid
from hubbub.model.hub_address import SCHEMES, origin
from hubbub.model.programs.retry_after import patiently
from hubbub.processes import durable_files

REASONS: Mapping[type[Unreachable], str] = {
    TooLate: "took too long to answer",
    Untrusted: (
        "has a certificate that this machine does not trust; "
        "if its authority is your own, name its file in SSL_CERT_FILE"
    ),
}
JSON = {"Content-Type": "application/json"}
ONLY_ATTEMPT = {"Idempotency-Attempt": "1"}  # at a call whose key is never used again
TEMPORARY = frozenset({429, 502, 503, 504})
BARE = re.compile(r"[a-z0-9][a-z0-9.-]*(?P<port>:[0-9]{1,5})|[a-z0-9][a-z0-9.-]*\.[a-z]+", re.IGNORECASE)
DOTS = {".": "%2E", "..": "%2E%2E"}  # parts of a path that would be resolved

OWNER_FILE = data_folder.OWNER_FILE
running_hub, owner_token = data_folder.running_hub, data_folder.owner_token


class HubRefused(Exception):
    """The hub refused: `code` is stable, the message is a sentence for people."""

    def __init__(self, status: int, code: str, message: str, *, hub: str | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.hub = status, code, hub  # the hub's address, if it was asked

    @property
    def is_temporary(self) -> bool:
        """Tell whether the same request may be granted a little later."""
        return self.status in TEMPORARY


class HubUnreachable(Exception):
    """There is no hub at the address `url`, None if none is known, or the connection to it was lost."""

    def __init__(self, message: str, *, url: str | None = None) -> None:
        super().__init__(message)
        self.url = url


class TaskReply(TypedDict):
    """A task, as `/tasks` shows it; times are Unix milliseconds."""

    id: str
    number: int
    title: str
    description: str
    text: str
    context: str | None
    status: str
    priority: str
    sender: str
    author: str | None
    assignee: str | None
    issue: str | None
    result: str | None
    area: str | None
    depends_on: list[str]
    ready: bool
    epoch: int
    attempt: int
    created_at: int
    started_at: int | None
    ended_at: int | None
    need: dict[str, Any] | None


class LetterReply(TypedDict):
    """A row of an inbox: a task, or one of the kinds of messages."""

    id: str
    ref: str
    kind: str
    sender: str
    author: str | None
    text: str
    priority: str
    task_id: str | None
    in_reply_to: str | None
    stored_at: int


class AgentReply(TypedDict):
    """An agent and its presence; `live` says whether it is there now."""

    name: str
    condition: str
    description: str | None
    doing: str | None
    instance: str | None
    hostname: str | None
    runtime: str | None
    machine: str | None
    placed: dict[str, Any] | None
    work: dict[str, Any] | None
    last_output: str | None
    last_output_at: int | None
    last_tool: str | None
    last_tool_at: int | None
    seen_at: int | None
    expires_at: int | None
    unread: int
    live: bool
    now: int


class WhyReply(TypedDict):
    """The hub's explanation: the facts, and one paragraph made from them."""

    kind: str
    name: str
    sentence: str
    facts: list[dict[str, Any]]
    now: int


class ActivityReply(TypedDict):
    """One line of the activity log; `id` is its place there."""

    id: int
    at: int
    kind: str
    actor: str
    agent: str | None
    task_id: str | None
    message_id: str | None
    detail: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a live stream: its place in the log, if it has one, and its JSON."""

    id: str
    data: dict[str, Any]


class Hub:
    """One hub, spoken to with one token, about one project if that has to be named.

    May be used by several threads at once. Raises `Invalid` for an impossible address or token.
    """

    def __init__(
        self, url: str, token: str, *, project: str | None = None, http: Transport | None = None
    ) -> None:
        self.url = _address(url)
        self.token = _sendable(token)
        self.project = project
        self._http = http or transport_to(self.url)

    def close(self) -> None:
        self._http.close()

    def acting_with(self, token: str) -> "Hub":
        """Return the same hub and project over the same connections, with another token."""
        return Hub(self.url, token, project=self.project, http=self._http)

    def get(self, path: str, **query: object) -> Any:
        """Return the JSON at a path below `/api/v1`; a query value None is left out, a tuple repeated."""
        return self._call("GET", path, query)

    def post(
        self,
        path: str,
        body: Mapping[str, object] | None = None,
        *,
        key: str | None = None,
        patience: float = READ_SECONDS,
    ) -> Any:
        """Post `body` without its None values, which is done once for a `key`. The hub may take `patience` seconds."""
        headers = {"Idempotency-Key": key} if key else {"Idempotency-Key": str(uuid4()), **ONLY_ATTEMPT}
        return self._call("POST", path, {}, body or {}, headers, patience=patience)

    def put(self, path: str, body: Mapping[str, object]) -> Any:
        return self._call("PUT", path, {}, body)

    def patch(self, path: str, body: Mapping[str, object]) -> Any:
        return self._call("PATCH", path, {}, body)

    def delete(self, path: str, **query: object) -> Any:
        return self._call("DELETE", path, query)

    def health(self) -> dict[str, Any]:
        """Return the hub's public facts: that it runs, and its version."""
        with _reachable(self.url):
            reply = self._http.request("GET", "/health", {})
        facts: dict[str, Any] = _content(reply)
        return facts

    def sign_in(self, user: str, password: str, label: str) -> str:
        """Return a token of the person for their password; `label` says what it is for."""
        account = {"username": user, "password": password, "label": label}
        with _reachable(self.url):
            reply = self._http.request("POST", "/api/auth/login", JSON, _encoded(account))
        made: dict[str, Any] = _content(reply)
        return str(made["token"])

    def speaks(self, dialect: str) -> bool:
        """Tell whether the hub serves MCP in this dialect."""
        with _reachable(self.url):
            reply = self._http.request("OPTIONS", f"/mcp/{quoted(dialect)}", self._identity)
        return reply.status_code != NOT_FOUND

    def inbox(self, name: str, *, limit: int = 50, wait_seconds: float = 0) -> list[LetterReply]:
        """Return the pending letters of `name`, most urgent first; wait up to `wait_seconds` while there is none."""
        reply = self.get(f"/agents/{quoted(name)}/inbox", limit=limit, wait_seconds=wait_seconds or None)
        letters: list[LetterReply] = reply["letters"]
        return letters

    def ack(self, name: str, letter_id: str) -> None:
        self.post(f"/agents/{quoted(name)}/inbox/{quoted(letter_id)}/ack")

    def task(self, ref: str) -> TaskReply:
        task: TaskReply = self.get(f"/tasks/{segment('task', ref)}")["task"]
        return task

    def step(self, ref: str, verb: str, **body: object) -> TaskReply:
        """Move a task by a verb: `accept`, `start`, `complete`, `fail`, `cancel`, `retry`, `reassign`."""
        task: TaskReply = self.post(f"/tasks/{segment('task', ref)}/{verb}", body)["task"]
        return task

    def agent(self, name: str) -> AgentReply:
        agent: AgentReply = self.get(f"/agents/{quoted(name)}")["agent"]
        return agent

    def follow(
        self, name: str | None = None, *, after: str | None = None, patches: bool = False
    ) -> Generator[Frame, None, None]:
        """Yield the live events of one inbox, or of the project, after the frame `after`; else from now on.

        With `patches` each includes its change of the project's picture. Ends with `HubUnreachable` when the
        connection does; then go on after the last frame's id.
        """
        path = f"/events/{quoted(name)}" if name else "/events"
        yield from self._frames(path, {"Last-Event-ID": after or ""}, {"patches": "true"} if patches else {})
        raise HubUnreachable(f"the hub at {self.url} ended the stream", url=self.url)

    def frames(self, path: str, **query: object) -> Generator[Frame, None, None]:
        """Yield the frames of a stream at a path below `/api/v1`, until it ends."""
        yield from self._frames(f"/api/v1{path}", {}, query)

    def save(self, path: str, target: Path) -> None:
        """Write the body of a reply into the new file `target`, which appears only when it is complete."""
        partial = target.with_name(f".{target.name}.partial")
        partial.touch(mode=0o600)
        try:
            with (
                _reachable(self.url),
                self._http.stream(f"/api/v1{path}", self._identity, timeout=None) as answer,
            ):
                _require_granted(answer)
                with partial.open("wb") as file:
                    file.writelines(answer.chunks())
            durable_files.put(partial, target)
        finally:
            partial.unlink(missing_ok=True)

    def _frames(
        self, path: str, headers: Mapping[str, str], query: Mapping[str, object]
    ) -> Generator[Frame, None, None]:
        sent = {"Accept": STREAM, **headers, **self._identity}
        with (
            _reachable(self.url),
            self._http.stream(path + self._query(query), sent, timeout=QUIET_SECONDS) as answer,
        ):
            _require_granted(answer)
            reader = EventReader(answer.headers.get("content-type", ""))
            for chunk in answer.chunks():
                for event in reader.events(chunk):
                    yield Frame(event.id, json.loads(event.data))

    def _call(
        self,
        method: str,
        path: str,
        query: Mapping[str, object],
        content: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        patience: float = READ_SECONDS,
    ) -> Any:
        patience += WAIT_SECONDS if query.get("wait_seconds") else 0
        sent = {**(headers or {}), **self._identity}
        body = None
        if content is not None:
            sent |= JSON
            body = _encoded({name: each for name, each in content.items() if each is not None})
        target = f"/api/v1{path}{self._query(query)}"
        with _reachable(self.url):
            return _content(
                patiently(partial(self._http.request, method, target, sent, body, timeout=patience))
            )

    @property
    def _identity(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def _query(self, query: Mapping[str, object]) -> str:
        """Return the query as the end of an address: a tuple is several of one name, None is none."""
        pairs: list[tuple[str, str]] = []
        for name, value in {"project": self.project, **query}.items():
            values = value if isinstance(value, tuple) else () if value is None else (value,)
            pairs += [(name, str(each)) for each in values]
        return f"?{urlencode(pairs)}" if pairs else ""


def quoted(name: str) -> str:
    """Return a name as one part of a path. Raises `Invalid` for the empty one, which would be another path."""
    if not name:
        raise Invalid("a name or an id is needed, not an empty text")
    return DOTS.get(name) or quote(name, safe="")


def segment(noun: str, ref: str) -> str:
    """Return the id or slug of a `noun` as one part of a path. None has a slash: refused, in the hub's words."""
    if "/" in ref:
        raise HubRefused(NOT_FOUND, "not_found", f"{noun} {ref!r} not found")
    return quoted(ref)


def _address(url: str) -> str:
    """Return the address without the path of a page. Raises `Invalid` for an address that no hub can have."""
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme in SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_whole = False
    if not is_whole or not (is_near(url) or _is_known_form(url)) or any(each.isspace() for each in url):
        raise Invalid(f"the address of a hub is like http://127.0.0.1:8420, not {url!r}{_meant(url)}")
    return origin(url)


def _is_known_form(url: str) -> bool:
    """Tell whether httpx2 takes an address on another machine."""
    import httpx2

    try:
        httpx2.URL(url)
    except (ValueError, httpx2.InvalidURL):
        return False
    return True


def _meant(url: str) -> str:
    """Return a question about an address that only lacks its beginning: the hub itself does no TLS."""
    bare = BARE.fullmatch(url.rstrip("/"))
    return "" if bare is None else f"; did you mean {'http' if bare['port'] else 'https'}://{url}?"


def _sendable(token: str) -> str:
    """Return the token, if it can be sent; an empty one can. Raises `Invalid`, which does not show it."""
    if not token.isascii() or not token.isprintable() or " " in token:
        raise Invalid("the token has characters that are not allowed; give it as it was printed")
    return token


class Refusal(Protocol):
    """The part of an answer that says why the hub refused."""

    @property
    def status_code(self) -> int: ...

    @property
    def url(self) -> object: ...

    def json(self) -> Any: ...


def refusal(reply: Refusal) -> HubRefused:
    """Return the hub's refusal; for a reply that is not the hub's, its status."""
    try:
        body = reply.json()
    except ValueError:
        body = None
    if isinstance(body, dict) and isinstance(body.get("message"), str):
        code, hub = str(body.get("error", "refused")), str(reply.url).partition("/api/")[0]
        return HubRefused(reply.status_code, code, body["message"], hub=hub)
    return HubRefused(reply.status_code, "refused", f"the hub answered with status {reply.status_code}")


def _require_granted(answer: Answer) -> None:
    if answer.status_code >= FAILED:
        raise refusal(answer.reply())


def _encoded(content: Mapping[str, object]) -> bytes:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _content(reply: Reply) -> Any:
    if reply.is_error:
        raise refusal(reply)
    try:
        return reply.json() if reply.content else None
    except ValueError:
        place = urlsplit(reply.url)
        raise HubUnreachable(
            f"what answers at {place.hostname} is not a hub", url=f"{place.scheme}://{place.netloc}"
        ) from None


@contextmanager
def _reachable(url: str) -> Iterator[None]:
    """Turn failures on the way into `HubUnreachable`."""
    try:
        yield
    except Unreachable as error:
        reason = REASONS.get(type(error), "cannot be reached")
        raise HubUnreachable(f"the hub at {url} {reason}", url=url) from error
