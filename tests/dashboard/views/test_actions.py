"""Actions of people on the page: each is pending until the hub has told its result, or has refused."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Request, Route, expect

from hubbub.core.actions import inbox, task_actions
from hubbub.core.agents import agents
from hubbub.core.fleet import approvals
from hubbub.core.work import completion, task_search, tasks
from hubbub.core.work.tasks import find
from hubbub.model.lifecycle import Event, Status
from hubbub.model.records import Task
from hubbub.store.tx import Tx
from tests.dashboard.browser import Visit, Watch, inside, until_told
from tests.dashboard.conftest import VIEWER
from tests.dashboard.pictures import caught_up
from tests.dashboard.scene import Scene
from tests.serve.served_hub import Hub

S = Status


def act(page: Page, name: str, /, **values: object) -> Any:
    """The hub's answer to an action; None if it was refused."""
    return inside(page, "hub/actions.js", "m.act(x.name, x.values)", {"name": name, "values": values})


def status(page: Page, picture: str, task: Task) -> Any:
    """The status of a task in the picture that is shown, or in the live one beneath."""
    return inside(page, "model/store.js", f"m.{picture}.value.tasks.get(x)?.status", str(task.id))


@pytest.fixture
def send(hub: Hub, scene: Scene) -> Callable[..., Task]:
    """Sends a task to `amber`, and takes it so many steps along."""

    def sent(*steps: Event) -> Task:
        def make(tx: Tx) -> Task:
            task = tasks.send(tx, hub.project.id, sender="hub", to="amber", text="count the lines")
            for each in steps:
                if each in (Event.COMPLETE, Event.FAIL):
                    task = completion.end(tx, task, each, by="amber", text="so", result="so")
                elif each is Event.START:
                    task = task_actions.start(tx, task, "amber")
                else:
                    task = tasks.step(tx, task, each, actor="amber", detail={"reason": "no key"})
            return task

        made: Task = hub.do(make)
        return made

    return sent


# What is shown of a task while an action on it is under way: its status, and whether it is pending; and if it was done.
PENDING = """import(root + "hub/actions.js").then(({ act }) => {
    const done = act(...x);
    const { status } = m.shown.value.tasks.get(x[1].task);
    const pending = m.isPending(`tasks\n${x[1].task}`);
    return done.then((answer) => [status, pending, answer !== null]);
})"""

TRUTH = [
    ("cancel", {"reason": "not now"}, (), S.CANCELLED),
    ("complete", {"result": "42"}, (Event.START,), S.COMPLETED),
    ("unblock", {"reason": "here it is"}, (Event.START, Event.BLOCK), S.WORKING),
    ("retry", {}, (Event.START, Event.FAIL), S.DELIVERED),
    ("reassign", {"to": "birch"}, (Event.START,), S.DELIVERED),
    ("release", {"reason": "amber is on leave"}, (Event.START,), S.QUEUED),
    ("approveWork", {"comment": "fine"}, (Event.START, Event.SUBMIT), S.COMPLETED),
    ("requestChanges", {"comment": "tests?"}, (Event.START, Event.SUBMIT), S.WORKING),
]


@pytest.mark.daily
def test_actions_on_tasks_are_pending_until_the_hub_has_told(
    visit: Visit, hub: Hub, send: Callable[..., Task]
) -> None:
    """The page invents no outcome: a task stays as it is, marked as pending, until the hub says how it is now."""
    page = visit("/board")
    for name, values, steps, expected in TRUTH:
        task = send(*steps)
        caught_up(page, hub)
        doing = inside(page, "model/store.js", PENDING, [name, {"task": str(task.id), **values}])
        assert (name, doing) == (name, [task.status.value, True, True])
        until_told(page)
        now = hub.do(lambda tx, task=task: find(tx, [hub.project.id], str(task.id)))
        assert (name, now.status, status(page, "shown", task)) == (name, expected, expected.value)


def test_what_is_pending_is_shown_so(page: Page, send: Callable[..., Task], hub: Hub) -> None:
    """While a call is under way its card is busy and cannot be acted on again; then it is as the hub tells."""
    task = send(Event.START, Event.FAIL)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/retry?*", hold)
    card = page.locator(f"[data-item='need:failed:{task.id}']")
    card.get_by_role("button", name="Retry").click()
    expect(card).to_have_attribute("aria-busy", "true")
    expect(card.get_by_role("button", name="Retry")).to_be_disabled()
    assert status(page, "shown", task) == S.FAILED
    held[0].continue_()
    expect(card).to_have_count(0)
    until_told(page)
    assert status(page, "shown", task) == S.DELIVERED


def test_what_the_hub_refuses_is_said_in_its_sentence(
    page: Page, watch: Watch, send: Callable[..., Task], hub: Hub
) -> None:
    """A refused action leaves everything as it was, and says why in the hub's own words."""
    watch.expect(409)
    task = send(Event.START, Event.COMPLETE)
    caught_up(page, hub)
    assert act(page, "cancel", task=str(task.id), reason="too late") is None
    expect(page.get_by_role("alert")).to_contain_text("completed")
    until_told(page)
    assert status(page, "shown", task) == S.COMPLETED


@pytest.mark.daily
def test_a_viewer_changes_nothing(visit: Visit, watch: Watch, send: Callable[..., Task], hub: Hub) -> None:
    """The hub refuses a viewer's actions, whatever a page would let them click."""
    watch.expect(403)
    page = visit("/board", who=VIEWER)
    task = send()
    assert act(page, "cancel", task=str(task.id), reason="no") is None
    assert inside(page, "model/store.js", "m.may.value") == {"write": False, "manage": False}
    now = hub.do(lambda tx: find(tx, [hub.project.id], str(task.id)))
    assert now.status is S.DELIVERED


def test_a_call_whose_answer_was_lost_is_made_once(page: Page, watch: Watch, hub: Hub, scene: Scene) -> None:
    """Where no answer came the same call is made again under its key, with the next number, and has happened once."""
    watch.expect(0)
    keys: list[str] = []
    attempts: list[str] = []

    def lose_first(route: Route, request: Request) -> None:
        keys.append(request.headers["idempotency-key"])
        attempts.append(request.headers["idempotency-attempt"])
        if len(keys) == 1:
            route.fetch()  # the hub has done it
            route.abort()
        else:
            route.continue_()

    page.route("**/api/v1/tasks?*", lose_first)
    answer = act(page, "createTask", text="only one of this", to="amber")
    assert answer["task"]["title"] == "only one of this"
    assert keys[0] == keys[1]
    assert attempts == ["1", "2"]
    found = hub.do(lambda tx: task_search.search(tx, [hub.project.id], limit=100))
    assert [each.title for each in found].count("only one of this") == 1


def test_people_answer_what_is_asked_of_them(page: Page, hub: Hub, scene: Scene) -> None:
    """Approvals, letters and claims can be seen to from the page."""
    yes, no = scene.approvals
    act(page, "approve", approval=str(yes))
    act(page, "deny", approval=str(no))
    found = hub.do(lambda tx: [approvals.find(tx, [hub.project.id], str(each)).status for each in (yes, no)])
    assert found == ["approved", "denied"]
    letters = hub.do(lambda tx: inbox.read(tx, hub.project.id, "hub", 50))
    act(page, "acknowledge", letter=str(letters[0].delivery.id))
    left = hub.do(lambda tx: inbox.read(tx, hub.project.id, "hub", 50))
    assert letters[0].delivery.id not in {each.delivery.id for each in left}
    act(page, "releaseScope", agent="ember", reason="xenon needs it")
    caught_up(page, hub)
    assert inside(page, "model/store.js", "[...m.live.value.overlaps.keys()]") == ["lumen\nonyx"]
    until_told(page)


def test_people_run_their_project_from_the_page(page: Page, hub: Hub) -> None:
    """Areas, members, tokens, invitations, webhooks and projects are made by the same calls that anyone can make."""
    slug = hub.project.slug
    act(page, "putArea", project=slug, area="ops", name="Operations", patterns=["deploy/**"])
    secret = act(page, "makeToken", agent="newcomer")["secret"]
    assert hub.do(lambda tx: agents.is_known(tx, hub.project.id, "newcomer"))
    assert secret
    added = act(page, "addWebhook", url="https://example.org/hook", events=["task.*"])["webhook"]
    act(page, "removeWebhook", webhook=added["id"])
    assert act(page, "inviteMachine", name="new-machine")["code"]
    act(page, "putMember", project=slug, user=VIEWER, role="member")
    act(page, "putMember", project=slug, user=VIEWER, role="viewer")
    act(page, "addProject", slug="another")
    expect(page.get_by_role("alert")).to_be_empty()


def test_who_sends_a_task_is_named_in_it(page: Page) -> None:
    """What a person sends from the page is from that person, by the name that the log has."""
    page.keyboard.press("c")
    expect(page.get_by_role("dialog").get_by_label("Title")).to_be_focused()
    page.keyboard.type("Sweep the yard")
    page.keyboard.press("Control+Enter")
    side = page.get_by_role("complementary", name="Task")
    expect(side.get_by_role("heading", level=2)).to_have_text("Sweep the yard")
    expect(side.locator("dt", has_text="From").locator("+ dd")).to_have_text("owner")


def test_a_task_that_there_is_already(visit: Visit, watch: Watch, hub: Hub, scene: Scene) -> None:
    """A person who makes a task that is the same job as an open one is shown that, and makes it anyway or not."""
    watch.expect(409)
    hub.do(lambda tx: tasks.send(tx, scene.project.id, sender="hub", to=None, text="Solve octo/parser#7"))
    page = visit("/board")
    page.keyboard.press("c")
    page.get_by_role("dialog", name="New task").get_by_label("Title").fill("Fix octo/parser#7")
    page.get_by_role("button", name="Create task").click()
    asked = page.get_by_role("dialog", name="A task like this already exists")
    expect(asked).to_contain_text("'Solve octo/parser#7' (queued) is about octo/parser#7 too")
    asked.get_by_role("button", name="Create it anyway").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert len(hub.do(lambda tx: task_search.search(tx, [scene.project.id], "octo/parser#7", limit=9))) == 2
