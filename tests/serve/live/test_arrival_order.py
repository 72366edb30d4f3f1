"""The order of letters in an inbox where clocks are wrong."""

from collections.abc import Awaitable, Callable

import pytest

from hubbub.core.actions import inbox
from hubbub.core.agents import agents
from hubbub.core.mail import messages
from hubbub.core.people import projects
from hubbub.model import ids
from hubbub.model.ids import new_id
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Project
from hubbub.serve.live import arrival_order
from hubbub.store.log import activity as log_of
from hubbub.store.log.activity import START
from hubbub.store.tx import Store, Tx

pytestmark = pytest.mark.anyio

A_MINUTE = 60_000 << 12  # in what ids count


def _lab(tx: Tx) -> Project:
    project = projects.create(tx, "lab")
    agents.meet(tx, project.id, "ann")
    return project


async def _restarted(store: Store) -> None:
    await arrival_order.continue_order(store)


async def _told(store: Store) -> None:
    arrival_order.hear(store.read_now(SYSTEM, lambda tx: log_of.tail(tx, START, 100)).activities)


@pytest.mark.parametrize("learns", [_restarted, _told], ids=["after a restart", "of another hub"])
async def test_letters_stay_in_the_order_of_sending(
    store: Store, monkeypatch: pytest.MonkeyPatch, learns: Callable[[Store], Awaitable[None]]
) -> None:
    """A letter that was sent by a clock a minute ahead stays in front of those that are sent after it: when the clock
    is set back and the hub starts again, and where another hub has stored it.
    """
    project = store.write_now(SYSTEM, _lab)

    def send(body: str) -> None:
        store.write_now(SYSTEM, lambda tx: messages.send(tx, project.id, sender="hub", to="ann", body=body))

    monkeypatch.setattr(ids, "_last", (new_id().int >> 80 << 12) + A_MINUTE)
    send("first")
    monkeypatch.setattr(ids, "_last", 0)
    await learns(store)
    for body in ("second", "third"):
        send(body)

    letters = store.read_now(SYSTEM, lambda tx: inbox.read(tx, project.id, "ann", 10))
    assert [each.body for each in letters] == ["first", "second", "third"]
