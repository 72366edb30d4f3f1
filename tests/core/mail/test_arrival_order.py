"""The order of letters in an inbox where clocks are wrong."""

import pytest

from hubbub.core.actions import inbox
from hubbub.core.agents import agents
from hubbub.core.mail import messages
from hubbub.core.people import projects
from hubbub.core.work import tasks, transfers
from hubbub.model import ids
from hubbub.model.ids import new_id
from hubbub.model.lifecycle import Event
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Project, Task
from hubbub.store.engine.postgres import Postgres
from hubbub.store.tx import Store, Tx

A_MINUTE = 60_000 << 12  # in what ids count


class Clocks:
    """The clocks of hubs that make ids, one after the other."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch = monkeypatch

    def ahead(self) -> None:
        """Be the hub whose clock is a minute ahead."""
        self._patch.setattr(ids, "_last", (new_id().int >> 80 << 12) + A_MINUTE)

    def right(self) -> None:
        """Be the hub whose clock is right, and which knows nothing of the other."""
        self._patch.setattr(ids, "_last", 0)


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    return Clocks(monkeypatch)


def _lab(tx: Tx) -> Project:
    project = projects.create(tx, "lab")
    agents.meet(tx, project.id, "ann")
    return project


def _send(tx: Tx, project: Project, body: str) -> None:
    messages.send(tx, project.id, sender="hub", to="ann", body=body)


def _assign(tx: Tx, project: Project, text: str) -> Task:
    return tasks.send(tx, project.id, sender="hub", to="ann", text=text)


def _inbox(store: Store, project: Project) -> list[str]:
    return [each.body for each in store.read_now(SYSTEM, lambda tx: inbox.read(tx, project.id, "ann", 10))]


def test_letters_stay_in_the_order_of_sending_after_a_restart(store: Store, clocks: Clocks) -> None:
    """A letter stays in front of those sent after it, also where the clock is set back and the hub starts again."""
    project = store.write_now(SYSTEM, _lab)
    clocks.ahead()
    store.write_now(SYSTEM, lambda tx: _send(tx, project, "first"))
    clocks.right()

    store.read_now(SYSTEM, messages.follow_last)
    for body in ("second", "third"):
        store.write_now(SYSTEM, lambda tx, body=body: _send(tx, project, body))  # type: ignore[misc]

    assert _inbox(store, project) == ["first", "second", "third"]


def test_letters_of_several_hubs_stay_in_the_order_of_sending(
    postgres_store: Postgres, clocks: Clocks
) -> None:
    """A letter or task stays in front of those that other hubs store after it, whatever their clocks say."""
    project = postgres_store.write_now(SYSTEM, _lab)
    clocks.ahead()
    postgres_store.write_now(SYSTEM, lambda tx: _send(tx, project, "first"))
    clocks.right()
    postgres_store.write_now(SYSTEM, lambda tx: _assign(tx, project, "second"))
    clocks.right()
    postgres_store.write_now(SYSTEM, lambda tx: _send(tx, project, "third"))

    assert _inbox(postgres_store, project) == ["first", "second", "third"]


def test_a_task_that_comes_again_comes_last(postgres_store: Postgres, clocks: Clocks) -> None:
    """A task that is delivered again stands behind the letters that came meanwhile, whichever hub stored them."""
    project = postgres_store.write_now(SYSTEM, _lab)
    task = postgres_store.write_now(SYSTEM, lambda tx: _assign(tx, project, "task"))
    clocks.ahead()
    postgres_store.write_now(SYSTEM, lambda tx: _send(tx, project, "letter"))
    clocks.right()
    postgres_store.write_now(
        SYSTEM, lambda tx: transfers.restart(tx, task, Event.RELEASE, to="ann", by="hub")
    )
    clocks.right()
    postgres_store.write_now(SYSTEM, lambda tx: _send(tx, project, "later"))

    assert _inbox(postgres_store, project) == ["letter", "task", "later"]
