"""A client of plain HTTP with a token, for tests."""

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

import httpx2

from hubbub.model.programs.proxy_trust import authorities
from tests.serve.served_hub import Hub
from tests.support.waiting import patience

Json = dict[str, Any]
T = TypeVar("T")


class Web:
    """Calls below one address with one token; the answers are `httpx2.Response`s."""

    def __init__(self, url: str, secret: str | None = None) -> None:
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        self.http = httpx2.Client(
            base_url=url, headers=headers, timeout=patience(30), verify=authorities(url), trust_env=False
        )

    def get(self, path: str, **query: Any) -> httpx2.Response:
        return self.http.get(path, params=query or None)

    def post(self, path: str, body: object = None, **headers: str) -> httpx2.Response:
        return self.http.post(path, json={} if body is None else body, headers=headers)

    def put(self, path: str, body: object) -> httpx2.Response:
        return self.http.put(path, json=body)

    def delete(self, path: str, **query: str) -> httpx2.Response:
        return self.http.delete(path, params=query)

    def send(self, method: str, path: str, content: bytes) -> httpx2.Response:
        """Send these very bytes as JSON."""
        return self.http.request(method, path, content=content, headers={"Content-Type": "application/json"})


def done(response: httpx2.Response) -> Json:
    """The JSON of an answer that is not a refusal."""
    assert response.is_success, response.text
    content: Json = response.json()
    return content


def refusal(response: httpx2.Response) -> tuple[int, str]:
    """Return status and code of a refusal, which always has one sentence."""
    content = response.json()
    if content.get("jsonrpc") == "2.0":  # at MCP
        assert set(content) == {"jsonrpc", "id", "error"}, content
        content = {"message": content["error"]["message"], **content["error"]["data"]}
    assert set(content) == {"error", "message"}, content
    assert content["message"]
    return response.status_code, content["error"]


def not_refused(
    call: Callable[[T], httpx2.Response], table: Iterable[T], status: int = 400, code: str = "invalid"
) -> list[tuple[T, str]]:
    """Return the rows that are not refused with this code and a sentence, each with the answer that came instead."""
    found = []
    for each in table:
        answer = call(each)
        content = answer.json()
        is_refusal = content.keys() == {"error", "message"} and content["message"]
        if not is_refusal or (answer.status_code, content["error"]) != (status, code):
            found.append((each, answer.text))
    return found


class Visit(Protocol):
    """Makes a client of a hub, which is closed when the test ends."""

    def __call__(self, hub: Hub, secret: str | None = None, root: str = "/api/v1") -> Web: ...
