"""Wakes over REST: a call that waits is answered when mail comes, for one's own name only."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hubbub.clients.hook import wake_poll
from hubbub.clients.hook.hub_target import Target
from hubbub.serve.fleet.timings import Timings
from tests.serve.served_hub import Hub, running_hub
from tests.serve.web_client import Web, done

Acting = Callable[[str], Web]

ASKED = {"instance": "one", "client": "claude-code", "method": "monitor"}


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    """A hub that wakes without waiting for more letters."""
    pace = Timings(mail=timedelta())
    with running_hub(tmp_path_factory.mktemp("wakes") / "hub", pace) as running:
        yield running


@pytest.fixture
def web(hub: Hub) -> Iterator[Acting]:
    """REST as an agent of that name, by its own token."""
    with ExitStack() as clients:

        def acting(agent: str) -> Web:
            hub.meet(agent)
            made = Web(hub.url + "/api/v1", hub.token(agent))
            clients.callback(made.http.close)
            return made

        yield acting


def asks(web: Web, name: str, **more: Any) -> Any:
    return web.http.post(f"/agents/{name}/wakes", json={**ASKED, **more})


def test_a_waiting_call_is_answered_when_mail_comes(web: Acting) -> None:
    """A waiter is given the wake; a sender is told before that it will likely be seen, and the agent shows it."""
    ash = web("ash")
    with ThreadPoolExecutor() as threads:
        assert asks(ash, "ash").json() == {"wake": None}
        waits = threads.submit(asks, ash, "ash", wait=30)
        sent = done(web("elm").post("/messages", {"to": "ash", "text": "hello"}))
        wake = waits.result().json()["wake"]

    assert sent["delivery"] == {
        "status": "stored", "wake": "native", "likely_seen": True,
        "note": "Its client wakes it, also while it is idle.",
    }  # fmt: skip
    assert wake["text"] == f"hubbub: 1 unread (M-{sent['message']['number']}). Read your hubbub inbox."
    told = done(web("elm").get("/agents/ash"))["agent"]["wake"]
    assert (told["method"], told["last_wake"]["status"]) == ("monitor", "taken")


def test_a_token_wakes_its_own_agent_only(web: Acting) -> None:
    """A bound token may neither wait, glance nor try for another agent, nor report on its wakes."""
    birch, hub_wake = web("birch"), done(web("oak").post("/agents/oak/probe", {}))["wake"]
    body = {"instance": "i", "client": "c", "moment": "tool"}

    assert asks(birch, "oak").status_code == 403
    assert birch.post("/agents/oak/glance", body).status_code == 403
    assert birch.post("/agents/oak/probe", {}).status_code == 403
    assert birch.post(f"/wakes/{hub_wake['id']}", {"result": "cannot"}).status_code == 403
    assert birch.http.delete("/agents/oak/wakers/one").status_code == 403


def test_what_is_no_method_or_too_long_is_invalid(web: Acting) -> None:
    """A value out of range is refused in a sentence that says what is allowed."""
    refused = asks(web("fir"), "fir", method="shout", wait=46)

    assert refused.status_code == 400
    assert "'monitor', 'rewake', 'queue', 'prompt' or 'turn'" in refused.json()["message"]


def test_a_waiter_of_the_standard_library_brings_a_wake(hub: Hub, web: Acting, tmp_path: Path) -> None:
    """A waker beside a client asks, brings the text, and tells the hub the outcome."""
    web("yew")
    target = Target(url=hub.url, token=hub.token("yew"), agent="yew")
    waker = wake_poll.Waker(client="claude-code", instance="one", method="monitor")
    probe = done(web("yew").post("/agents/yew/probe", {}))["wake"]

    wake = wake_poll.ask(target, waker, seconds=5)
    assert wake is not None
    wake_poll.tell(target, wake, wake_poll.WOKEN)

    story = done(web("yew").get(f"/wakes/{probe['id']}"))["wake"]
    assert (story["status"], story["text"]) == ("woken", wake.text)
    turns = [wake_poll.WaiterTurn(str(tmp_path / "waiting"), target, waker) for _ in range(2)]
    for turn in turns:
        turn.take()
    assert [turn.is_ours() for turn in turns] == [False, True]
    with pytest.raises(wake_poll.WakeRefused):
        wake_poll.ask(Target(url=hub.url, token="ntok_nonsense", agent="yew"), waker, seconds=0)


def test_dead_letters_are_listed(web: Acting) -> None:
    """A project without any has an empty list; a mark that is no id is refused."""
    pine = web("pine")

    assert done(pine.get("/dead-letters")) == {"letters": []}
    assert pine.http.get("/dead-letters", params={"before": "x"}).status_code == 400
