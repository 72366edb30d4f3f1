"""The client of the REST interface: what goes wrong, and what is done twice."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hubbub.client import Frame, Hub, HubRefused, HubUnreachable, owner_token, quoted, running_hub
from hubbub.client.transport import Reply
from tests.cli.processes import RunningHub


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHub]:
    place = RunningHub(tmp_path_factory.mktemp("client") / "data")
    place.start()
    yield place
    place.close()


@pytest.fixture
def hub(running: RunningHub) -> Iterator[Hub]:
    place = running.new_project()
    yield place.client()
    place.close()


def test_finds_hub_and_owner(running: RunningHub, tmp_path: Path) -> None:
    """The data folder of a running hub says where it is and holds its owner's token; an empty one says nothing."""
    assert running_hub(running.data) == running.url
    assert (owner_token(running.data) or "").startswith("utok_")
    assert (running_hub(tmp_path), owner_token(tmp_path)) == (None, None)
    (tmp_path / "hub.json").write_text("[half a fi")
    assert running_hub(tmp_path) is None


def test_refusals_have_code_and_sentence(hub: Hub) -> None:
    """A refusal of the hub is raised with its status, its code and its sentence, and may or may not pass."""
    with pytest.raises(HubRefused, match="task '9' not found") as refused:
        hub.task("9")
    assert (refused.value.status, refused.value.code, refused.value.is_temporary) == (404, "not_found", False)


def test_nobody_there() -> None:
    """Where nothing listens, that is said, with the address."""
    hub = Hub("http://127.0.0.1:9", "ntok_1")
    with pytest.raises(HubUnreachable, match=r"the hub at http://127\.0\.0\.1:9 cannot be reached"):
        hub.get("/me")
    hub.close()


def test_same_key_same_thing(hub: Hub) -> None:
    """A write that is sent again with its key is done once, and answered alike."""
    first, again = (hub.post("/tasks", {"text": "once"}, key="k") for _ in range(2))
    assert first == again
    assert len(hub.get("/tasks")["tasks"]) == 1


class Noting:
    """A transport that notes the headers of requests, and leads to nobody."""

    def __init__(self) -> None:
        self.sent: list[Mapping[str, str]] = []

    def request(
        self,
        _method: str,
        target: str,
        headers: Mapping[str, str],
        _content: bytes | None = None,
        *,
        timeout: float = 0,
    ) -> Reply:
        self.sent.append(headers)
        return Reply(200, {}, b"{}", target)

    def stream(self, *_given: object, **_more: object) -> Any: ...

    def close(self) -> None: ...


def test_a_call_with_a_new_key_is_its_only_attempt() -> None:
    """A key that is never used again goes with the number 1, so that a refusal is final; one of the caller without."""
    there = Noting()
    hub = Hub("http://127.0.0.1:9", "ntok_1", http=there)
    hub.post("/nodes/web1/run", {"command": "true"})
    hub.post("/nodes/web1/run", {"command": "true"}, key="k")
    told = [(each["Idempotency-Key"], each.get("Idempotency-Attempt")) for each in there.sent]
    assert (told[0][1], told[1]) == ("1", ("k", None))


def test_names_in_paths(hub: Hub) -> None:
    """A name may hold what means something in an address, and letters of any script."""
    for name in ("a+b@c", "_.-", "代码1号", "a..b"):
        hub.put(f"/agents/{quoted(name)}/presence", {"instance": "1", "take": True})
        assert hub.agent(name)["name"] == name


def test_follows_from_where_it_was(hub: Hub) -> None:
    """A stream that is taken up again after a frame goes on with the next one, neither sooner nor later."""
    for number in range(3):
        hub.post("/tasks", {"text": f"task {number}"})
    seen: list[Frame] = []
    for _ in range(3):  # a frame each time: other lines may lie between those of the tasks
        with closing(hub.follow(after=seen[-1].id if seen else "0")) as frames:
            seen.append(next(frame for frame in frames if frame.data["kind"] == "task.sent"))
    assert [frame.data["detail"]["title"] for frame in seen] == ["task 0", "task 1", "task 2"]
