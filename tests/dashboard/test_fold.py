"""The fold in the browser: live, replayed and told by the hub it is one and the same picture."""

from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page

from hubbub.core.actions import inbox, task_actions
from hubbub.core.agents import agents, scopes
from hubbub.core.fleet import approvals
from hubbub.core.mail import messages
from hubbub.core.presence import presences
from hubbub.core.work import completion, task_search, tasks
from hubbub.model.agents.scopes import Scope
from hubbub.model.errors import HubError
from hubbub.model.fleet.calls import Principal, Question, call_digest
from hubbub.model.lifecycle import Event
from hubbub.model.records import Condition, Profile, Task
from hubbub.store.tx import Tx
from tests.dashboard.browser import Visit, inside
from tests.dashboard.pictures import CARDS, caught_up, live, told
from tests.serve.served_hub import Hub

CREW = ("ann", "bob", "cy")
AN_HOUR = timedelta(hours=1)


def replayed(page: Page) -> Any:
    """The end of the whole log, folded from the hub's reels, from the beginning on."""
    return inside(
        page,
        "hub/replay.js",
        f"m.fetchReel().then((reel) => ({CARDS})(m.pictureAt(reel, reel.activities.length - 1)))",
    )


class Deeds:
    """Actions in a project, whatever is asked of it: one that the hub refuses has not happened."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.project = hub.project
        for name in CREW:
            hub.meet(name)

    def do(self, deed: str, who: int, which: int) -> None:
        """Do one deed, by one of the crew, to one of the tasks."""
        with suppress(HubError):
            self.hub.do(lambda tx: getattr(self, deed)(tx, CREW[who % len(CREW)], which))

    def send(self, tx: Tx, who: str, which: int) -> None:
        known = task_search.search(tx, [self.project.id], limit=1)
        to = None if which % 3 == 0 else who
        needs = known if which % 4 == 0 else ()
        tasks.send(tx, self.project.id, sender="hub", to=to, text=f"count to {which}", needs=needs)

    def accept(self, tx: Tx, who: str, which: int) -> None:
        task_actions.accept(tx, self._task(tx, which), who)

    def start(self, tx: Tx, who: str, which: int) -> None:
        task_actions.start(tx, self._task(tx, which), who)

    def block(self, tx: Tx, who: str, which: int) -> None:
        tasks.step(tx, self._task(tx, which), Event.BLOCK, actor=who, detail={"reason": f"waits for {which}"})

    def submit(self, tx: Tx, who: str, which: int) -> None:
        tasks.step(tx, self._task(tx, which), Event.SUBMIT, actor=who)

    def progress(self, tx: Tx, who: str, which: int) -> None:
        task = self._task(tx, which)
        task_actions.progress(tx, task, task.assignee or who, progress=which % 100)

    def complete(self, tx: Tx, who: str, which: int) -> None:
        completion.end(tx, self._task(tx, which), Event.COMPLETE, by=who, text="done", result="done")

    def fail(self, tx: Tx, who: str, which: int) -> None:
        completion.end(tx, self._task(tx, which), Event.FAIL, by=who, text="no", result="no")

    def cancel(self, tx: Tx, _who: str, which: int) -> None:
        task_actions.cancel(tx, self._task(tx, which), by="hub", reason="not needed")

    def retry(self, tx: Tx, _who: str, which: int) -> None:
        task_actions.retry(tx, self._task(tx, which), by="hub", ttl=None)

    def reassign(self, tx: Tx, who: str, which: int) -> None:
        task_actions.reassign(tx, self._task(tx, which), to=who, by="hub")

    def report(self, tx: Tx, who: str, which: int) -> None:
        condition = list(Condition)[which % len(Condition)]
        profile = Profile(doing=f"step {which}", runtime="codex", hostname="atlas")
        presences.report(
            tx, self.project.id, who, instance=who, condition=condition, profile=profile, ttl=AN_HOUR
        )

    def declare(self, tx: Tx, who: str, which: int) -> None:
        presence = agents.presence(tx, self.project.id, who)
        if presence is not None:
            scopes.declare(tx, self.project, presence, Scope.of(None, [f"src/{which % 3}.py"]))

    def write(self, tx: Tx, who: str, which: int) -> None:
        messages.send(tx, self.project.id, sender=who, to="hub", body=f"question {which}")

    def acknowledge(self, tx: Tx, _who: str, which: int) -> None:
        letters = inbox.read(tx, self.project.id, "hub", 50)
        if letters:
            inbox.ack(tx, self.project.id, "hub", str(letters[which % len(letters)].delivery.id))

    def ask(self, tx: Tx, who: str, which: int) -> None:
        caller, call = Principal(project=self.project.slug, name=who), {"command": f"rm -r build/{which}"}
        digest = call_digest(caller, "run_command", call, "/srv", "atlas")
        question = Question(
            who=caller,
            node="atlas",
            tool="run_command",
            arguments=call,
            folder="/srv",
            shown=str(call["command"]),
            reason="rule",
            digest=digest,
        )
        approvals.put(tx, self.project, question, AN_HOUR)

    def _task(self, tx: Tx, which: int) -> Task:
        known = task_search.search(tx, [self.project.id], limit=10)
        if not known:
            raise HubError
        return tasks.find(tx, [self.project.id], str(known[which % len(known)].id))


DEEDS = [name for name in vars(Deeds) if not name.startswith("_") and name != "do"]
LONG = st.lists(
    st.tuples(st.sampled_from(DEEDS), st.integers(0, 2), st.integers(0, 30)), min_size=20, max_size=60
)


@pytest.fixture(scope="module")
def deeds(hub: Hub) -> Deeds:
    return Deeds(hub)


@pytest.fixture
def board(visit: Visit) -> Page:
    return visit("/board")


@pytest.mark.daily
def test_live_replayed_and_told_are_the_same(board: Page, hub: Hub, deeds: Deeds) -> None:
    """Whatever happens while the page is open, its picture is the hub's own, and so is the one folded anew."""

    @settings(max_examples=6, derandomize=True, phases=[Phase.generate], database=None)
    @given(LONG)
    def anything(happens: list[tuple[str, int, int]]) -> None:
        for deed, who, which in happens:
            deeds.do(deed, who, which)
        caught_up(board, hub)
        picture = told(board)
        assert live(board) == picture
        assert replayed(board) == picture

    anything()


def test_a_burst_is_folded_in_a_few_flushes(board: Page, hub: Hub, deeds: Deeds) -> None:
    """A thousand events that come at once are shown in a few steps, and all of them."""
    inside(board, "model/store.js", "(globalThis.flushes = 0, m.live.subscribe(() => flushes += 1), 0)")

    def burst(tx: Tx) -> None:
        for number in range(1000):
            tasks.send(tx, hub.project.id, sender="hub", to="ann", text=f"burst {number}")

    hub.do(burst)
    caught_up(board, hub)
    assert inside(board, "model/store.js", "m.live.value.tasks.size") >= 1000
    assert board.evaluate("flushes") < 300
    assert live(board) == told(board)
