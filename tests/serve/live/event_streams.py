"""A client of the live events, for tests: it opens a stream and takes frame after frame."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2

from hubbub.model.programs.proxy_trust import authorities
from tests.support.waiting import patience


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame: its id, and its JSON."""

    id: int
    data: dict[str, Any]


class Stream:
    """An open stream of events. Waiting for what does not come fails after some seconds."""

    def __init__(self, response: httpx2.Response) -> None:
        self.response = response
        self._events = httpx2.EventSource(response).__iter__()

    def next(self) -> Frame:
        """The next frame that carries something."""
        event = next(each for each in self._events if each.data)
        return Frame(int(event.id), json.loads(event.data))

    def until(self, **wanted: object) -> list[dict[str, Any]]:
        """The data of all frames up to the first whose members are these."""
        found: list[dict[str, Any]] = []
        while not found or any(found[-1].get(name) != value for name, value in wanted.items()):
            found.append(self.next().data)
        return found

    def rest(self) -> list[dict[str, Any]]:
        """Return the remaining events until the hub ends the stream."""
        return [json.loads(event.data) for event in self._events if event.data]


@contextmanager
def following(
    url: str, secret: str | None, path: str = "/events", *, after: int | None = None, **query: str
) -> Iterator[Stream]:
    """An open stream at `path`, after the frame `after` if given. Raises `HTTPStatusError` if it is refused."""
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    if after is not None:
        headers["Last-Event-ID"] = str(after)
    with (
        httpx2.Client(
            base_url=url, headers=headers, timeout=patience(10), verify=authorities(url), trust_env=False
        ) as http,
        http.stream("GET", path, params=query or None) as response,
    ):
        response.raise_for_status()
        yield Stream(response)
