"""Graph: what waits for what, drawn in layers."""

import re
from dataclasses import replace
from typing import Any

from playwright.sync_api import Locator, Page, expect

from hubbub.core.actions import task_actions
from hubbub.core.people import projects
from hubbub.core.work import completion, task_search, tasks
from hubbub.model.lifecycle import Event, Status
from hubbub.model.records import Task
from hubbub.store.tx import Tx
from tests.dashboard.browser import PHONE, Visit, inside, settle
from tests.dashboard.looks import faults
from tests.serve.served_hub import Hub

SHAPE = """(() => {
  const tasks = new Map(x.map(([id, status, needs]) => [id, {
    id, number: Number(id), depends_on: needs, ended_at: status === "completed" ? 1 : null,
  }]));
  const { nodes, needs, key, alone } = m.shape({ tasks });
  return { nodes, key, alone, arrows: m.arrows(needs).map(({ from, to }) => `${from}>${to}`).sort() };
})()"""


def shape(page: Page, *given: tuple[str, str, list[str]]) -> Any:
    """Return the graph's tasks, each with its number, its status and its dependencies."""
    return inside(page, "views/graph.js", SHAPE, [list(each) for each in given])


def send(hub: Hub, title: str, *needs: Task, to: str | None = None) -> Task:
    """A task that waits for others."""

    def make(tx: Tx) -> Task:
        before = [tasks.find(tx, [hub.project.id], str(each.id)) for each in needs]
        return tasks.send(tx, hub.project.id, sender="hub", to=to, text=title, needs=before)

    task: Task = hub.do(make)
    return task


def node(page: Page, task: Task) -> Locator:
    return page.locator(f'.graph-node[data-item="task:{task.id}"]')


def finish(hub: Hub, task: Task, by: str) -> None:
    def end(tx: Tx) -> None:
        current = task_actions.start(
            tx, task_actions.accept(tx, tasks.find(tx, [hub.project.id], str(task.id)), by), by
        )
        completion.end(tx, current, Event.COMPLETE, by=by, text="done", result="done")

    hub.do(end)


def project(hub: Hub, slug: str) -> Hub:
    """The hub with a project in which no other test has made a task."""
    return replace(hub, project=hub.do(lambda tx: projects.create(tx, slug), hub.owner))


def test_an_empty_graph_teaches_how_to_fill_it(hub: Hub, visit: Visit) -> None:
    """Where no task waits for another, the graph says what belongs there, and the one command that fills it."""
    page = visit(f"/graph?project={project(hub, 'without-plan').project.slug}")
    expect(page.get_by_role("heading", name="No dependencies between tasks")).to_be_visible()
    expect(page.locator("code")).to_contain_text("--depends-on")
    page.set_viewport_size({"width": 390, "height": 844})
    lines = "(option) => option.getClientRects().length"  # of which it has one, where nothing breaks it
    assert page.locator("code span", has_text="--depends-on").evaluate(lines) == 1


def test_unfinished_tasks_and_two_levels_before_them_are_shown(page: Page) -> None:
    """Tasks that are tied to others and not ended, and of what has ended two levels that they came from."""
    made = shape(
        page,
        ("1", "completed", []), ("2", "completed", ["1"]), ("3", "completed", ["2"]),
        ("4", "working", ["3"]), ("5", "queued", ["4"]), ("6", "queued", []),
    )  # fmt: skip
    assert made["nodes"] == ["2", "3", "4", "5"]
    assert made["alone"] == 1


def test_what_a_longer_way_says_needs_no_arrow(page: Page) -> None:
    """An arrow that only says what a longer way says too is left out; a circle does no harm."""
    made = shape(page, ("1", "queued", []), ("2", "queued", ["1"]), ("3", "queued", ["1", "2"]))
    assert made["arrows"] == ["1>2", "2>3"]
    assert len(shape(page, ("1", "queued", ["2"]), ("2", "queued", ["1"]))["arrows"]) == 1


def test_the_layout_depends_on_nothing_but_the_shape(page: Page) -> None:
    """Progress of a task changes no place: only another node or another dependency makes a new layout."""
    before = shape(page, ("1", "queued", []), ("2", "queued", ["1"]))
    assert shape(page, ("1", "working", []), ("2", "queued", ["1"]))["key"] == before["key"]
    assert (
        shape(page, ("1", "queued", []), ("2", "queued", []), ("3", "queued", ["1"]))["key"] != before["key"]
    )


def test_what_waits_is_drawn_as_waiting_until_it_no_longer_does(hub: Hub, visit: Visit) -> None:
    """Tasks stand from left to right as they wait for each other; an arrow is dashed until its source is completed."""
    hub = project(hub, "house")
    hub.meet("ember")
    first = send(hub, "Draw the plan", to="ember")
    second = send(hub, "Build the house", first)
    third = send(hub, "Move in", second)
    page = visit("/graph?project=house")
    expect(node(page, first)).to_contain_text("ember")
    places = [node(page, each).bounding_box() for each in (first, second, third)]
    assert [place["x"] for place in places if place] == sorted({place["x"] for place in places if place})
    expect(page.locator(".graph-lines .is-waiting")).to_have_count(2)
    finish(hub, first, "ember")
    expect(page.locator(".graph-lines .is-waiting")).to_have_count(1)
    expect(node(page, first)).to_have_attribute("aria-label", re.compile("Completed$"))


def test_a_node_opens_its_task_and_dims_what_is_not_connected(hub: Hub, visit: Visit) -> None:
    """Nodes are links in reading order: one opens its task at the side, and what has nothing to do with it fades."""
    here = send(hub, "Here")
    tied = send(hub, "Tied", here)
    there = send(hub, "There")
    apart = send(hub, "Apart", there)
    page = visit("/graph")
    node(page, here).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("complementary", name="Task")).to_contain_text("Here")
    expect(node(page, apart)).to_have_class(re.compile("is-dim"))
    expect(node(page, tied)).not_to_have_class(re.compile("is-dim"))
    expect(node(page, here)).to_have_attribute("aria-current", "true")


def test_the_filter_fades_what_does_not_match(hub: Hub, visit: Visit) -> None:
    """The filter changes no place in the graph: what it does not ask for fades."""
    wanted = send(hub, "Needle")
    other = send(hub, "Hay", wanted)
    page = visit("/graph?q=needle")
    expect(node(page, other)).to_have_class(re.compile("is-dim"))
    expect(node(page, wanted)).not_to_have_class(re.compile("is-dim"))


def test_the_graph_is_made_larger_and_smaller_and_fitted_in(hub: Hub, visit: Visit) -> None:
    """Keys, buttons, and Ctrl with the wheel make the graph larger and smaller; one button shows all of it."""
    hub = project(hub, "hut")
    send(hub, "Put up the roof", send(hub, "Put up the walls"))
    page = visit("/graph?project=hut", painted=True)
    scale = page.get_by_role("group", name="Zoom").get_by_role("status")
    expect(scale).to_have_text("100 %")
    settle(page)  # what is shown listens to keys from the next frame on
    page.keyboard.press("+")
    expect(scale).to_have_text("120 %")
    page.keyboard.press("-")
    expect(scale).to_have_text("100 %")
    page.get_by_role("region", name="Tasks and their dependencies").hover()
    page.keyboard.down("Control")
    page.mouse.wheel(0, 300)
    page.keyboard.up("Control")
    expect(scale).not_to_have_text("100 %")
    page.get_by_role("button", name="Show everything").click()
    expect(scale).to_have_text("100 %")


def test_five_hundred_tasks_are_laid_out(hub: Hub, visit: Visit) -> None:
    """A graph of more than 500 tasks shows the newest 500 of them, and says how many it leaves out."""

    def many(tx: Tx) -> None:
        made: list[Task] = []
        for number in range(510):
            needs = [made[number - 30]] if number >= 30 else []
            made.append(
                tasks.send(tx, hub.project.id, sender="hub", to=None, text=f"Step {number}", needs=needs)
            )

    hub.do(many)
    page = visit("/graph")
    expect(page.locator(".graph-node")).to_have_count(500)
    expect(page.get_by_text(re.compile(r"^\d+ older tasks are not shown$"))).to_be_visible()


def test_on_a_phone_the_graph_is_a_list_of_steps(hub: Hub, visit: Visit) -> None:
    """What can be done first stands above what waits for it; each task names what it needs, without a longer way."""
    own = project(hub, "steps")
    first = send(own, "Build it")
    second = send(own, "Test it", first)
    send(own, "Ship it", first, second)
    page = visit("/graph?project=steps", size=PHONE)
    for number, told in enumerate(("Build it", "Test it Needs T-1", "Ship it Needs T-2"), 1):
        step = page.get_by_role("region", name=f"Step {number}")
        expect(step.get_by_role("listitem")).to_have_text(re.compile(told.replace(" ", ".*"), re.DOTALL))
        expect(step.get_by_text(re.compile("^T-"))).to_have_count(told.count("T-") + 1)
    page.get_by_role("region", name="Step 2").get_by_role("link", name="T-2 Test it").click()
    expect(page.get_by_role("complementary", name="Task")).to_contain_text("Test it")


def test_the_graph_has_no_fault_that_axe_finds(hub: Hub, visit: Visit) -> None:
    """In every width and theme, axe-core finds nothing wrong with the graph, whatever tasks are called."""

    def clear(tx: Tx) -> None:
        for task in task_search.search(tx, [hub.project.id], status=[Status.QUEUED], limit=1_000):
            task_actions.cancel(tx, task, by="hub", reason="enough")

    hub.do(clear)
    first = send(hub, "<img src=x onerror=alert(1)>\u202e" + "W" * 180)
    send(hub, "After it", first)
    page = visit(f"/graph?task={first.number}")
    expect(node(page, first)).to_contain_text("<img src=x")
    assert faults(page) == []
