"""Time travel: any moment of the log, exactly as it was, while nothing on the hub changes."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hubbub.core.snapshots import full_snapshot, keyframes
from hubbub.core.work import tasks
from hubbub.model.lifecycle import Status
from hubbub.store.tx import Tx
from tests.dashboard.browser import Visit, Watch, inside
from tests.dashboard.pictures import CARDS
from tests.dashboard.scene import Scene
from tests.serve.served_hub import Hub
from tests.support.pictures import picture


def replay(page: Page, call: str) -> Any:
    return inside(page, "hub/replay.js", f"m.{call}")


def moment(page: Page) -> Any:
    """The moment that is shown; None while live."""
    return inside(page, "model/store.js", "m.moment.value")


def past(page: Page) -> Any:
    return inside(page, "model/store.js", f"({CARDS})(m.shown.value)")


def told(hub: Hub) -> tuple[int, Any]:
    """The last id of the log, and what the hub says that the project looks like."""
    at: int = hub.do(lambda tx: full_snapshot.moment(tx, hub.project.id)).position.seq
    return at, hub.do(lambda tx: picture(tx, hub.project.id))


@pytest.fixture(scope="module")
def moments(hub: Hub, scene: Scene) -> list[tuple[int, Any]]:
    """A few moments of a log that has three keyframes, and how the hub saw them then."""
    seen = [told(hub)]
    for _ in range(2):
        hub.do(lambda tx: keyframes.keep(tx, keyframes.take_keyframe(tx, hub.project.id)))
        for _ in range(3):
            hub.do(lambda tx: _go_on(tx, hub, 700))
            seen.append(told(hub))
    return seen


def _go_on(tx: Tx, hub: Hub, count: int) -> None:
    task = tasks.send(tx, hub.project.id, sender="hub", to="amber", text="count")
    for number in range(count):
        tasks.note(tx, task, actor="amber", detail={"reason": f"**{number}**"})


def test_every_moment_is_shown_as_it_was(page: Page, moments: list[tuple[int, Any]]) -> None:
    """Whichever moment one seeks, within a reel or in another, the picture is what the hub's was then."""
    for at, then in (*reversed(moments), *moments):
        replay(page, f"seek({at})")
        assert moment(page)["id"] == at
        assert past(page) == then


def test_steps_go_activity_by_activity_over_the_ends_of_reels(
    page: Page, hub: Hub, moments: list[tuple[int, Any]]
) -> None:
    """One step back and one forth is where one was, at the beginning of a reel too; the last one on is live."""
    hub.do(lambda tx: _go_on(tx, hub, 1))  # the log may end in another project
    for at, _picture in (*moments, told(hub)):
        replay(page, f"seek({at})")
        replay(page, "step(-1)")
        assert moment(page)["id"] < at
        replay(page, "step(1)")
        assert moment(page)["id"] == at
    replay(page, "step(1)")
    assert moment(page) is None


def test_the_moment_survives_a_reload_and_the_way_back_to_live(
    page: Page, moments: list[tuple[int, Any]]
) -> None:
    """The moment stands in the address; leaving it is being live again."""
    at, picture = moments[1]
    replay(page, f"seek({at})")
    page.wait_for_url(f"**/?project=default&at={at}")
    page.reload()
    inside(page, "model/store.js", "new Promise((done) => m.moment.subscribe((it) => it && done()))")
    assert past(page) == picture
    replay(page, "toLive()")
    page.wait_for_url(lambda url: "at=" not in url)
    assert moment(page) is None


def test_a_moment_that_is_not_in_the_log_is_said(
    visit: Visit, watch: Watch, moments: list[tuple[int, Any]]
) -> None:
    """A link to a moment that the hub does not know leads to live, with a sentence."""
    watch.expect(404)
    page = visit("/board?at=987654321")
    expect(page.get_by_role("alert")).to_contain_text("no longer has that moment")
    page.wait_for_url("**/board?project=default")
    assert moment(page) is None


def test_a_moment_may_be_of_another_project(page: Page, hub: Hub, moments: list[tuple[int, Any]]) -> None:
    """Where the log has an activity of another project, this one is shown as it was by then, and one goes on there."""
    before = told(hub)
    elsewhere = hub.other_project()
    hub.do(lambda tx: tasks.send(tx, elsewhere.id, sender="hub", to=None, text="elsewhere"))
    at = hub.do(lambda tx: full_snapshot.moment(tx, elsewhere.id)).position.seq
    hub.do(lambda tx: tasks.send(tx, hub.project.id, sender="hub", to="amber", text="later"))
    replay(page, f"seek({at})")
    assert past(page) == before[1]
    replay(page, "step(1)")
    assert moment(page)["id"] > at
    assert past(page) != before[1]


def test_what_happens_meanwhile_is_there_when_one_comes_back(
    page: Page, hub: Hub, moments: list[tuple[int, Any]]
) -> None:
    """While the past is shown the live picture goes on underneath, and shows nothing of itself."""
    at, picture = moments[0]
    replay(page, f"seek({at})")
    sent = hub.do(lambda tx: tasks.send(tx, hub.project.id, sender="hub", to="amber", text="meanwhile"))
    inside(page, "model/store.js", "new Promise((done) => m.live.subscribe((it) => it.tasks.has(x) && done()))",
           str(sent.id))  # fmt: skip
    assert past(page) == picture
    replay(page, "toLive()")
    assert str(sent.id) in past(page)["tasks"]


def test_the_past_runs_to_its_end(page: Page, moments: list[tuple[int, Any]]) -> None:
    """Played, one moment follows the other until there is no past left: that is live."""
    replay(page, f"seek({moments[-1][0]}).then(() => m.step(-3))")
    replay(page, "play()")
    inside(page, "model/store.js", "new Promise((done) => m.moment.subscribe((it) => it || done()))")
    assert inside(page, "hub/replay.js", "m.playing.value") is False


def test_nothing_can_be_done_in_the_past(
    visit: Visit, hub: Hub, scene: Scene, moments: list[tuple[int, Any]]
) -> None:
    """An action in the past is refused with a sentence before the hub hears of it."""
    page = visit("/board")
    task = scene.tasks["queued"][0]
    replay(page, f"seek({moments[1][0]})")
    assert inside(page, "model/store.js", "[m.may.value, m.could.value]") == [
        {"write": False, "manage": False},
        {"write": True, "manage": True},
    ]
    done = inside(page, "hub/actions.js", "m.act('cancel', { task: x, reason: 'no' })", str(task.id))
    assert done is None
    expect(page.get_by_role("alert")).to_contain_text("This is the past")
    now = hub.do(lambda tx: tasks.find(tx, [hub.project.id], str(task.id)))
    assert now.status is Status.QUEUED
