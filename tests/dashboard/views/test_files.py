"""Files: who works on what, where two are in each other's way, and what a person does about it."""

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from hubbub.core.actions import task_actions
from hubbub.core.agents import agents, scopes
from hubbub.core.mail import messages
from hubbub.core.presence import presences
from hubbub.core.work import leases, merge_radar, tasks
from hubbub.core.work.merge_radar import Judgement
from hubbub.model.agents.merges import BranchHead
from hubbub.model.agents.scopes import Scope
from hubbub.model.lifecycle import Event
from hubbub.model.records import Condition, Priority, Profile
from hubbub.model.work.leases import Terms
from hubbub.store.tx import Tx
from tests.dashboard.browser import PHONE, Visit, inside, until_told
from tests.dashboard.conftest import VIEWER
from tests.dashboard.looks import faults
from tests.dashboard.scene import NEVER, Scene
from tests.serve.served_hub import Hub

CONFLICT = "/files?file=file:web/tokens.css"


@pytest.fixture(scope="module", autouse=True)
def _scene(scene: Scene) -> None:
    """All these pages show a team at work."""


class Claimants:
    """Agents of one test, which are there and say where they work; they leave with what they claim when it ends."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.names: list[str] = []

    def claim(self, name: str, *files: str, area: str | None = None) -> None:
        def declare(tx: Tx) -> None:
            presence = presences.report(
                tx, project.id, name, instance=name, condition=Condition.IDLE, profile=Profile(), ttl=NEVER
            )
            scopes.declare(tx, project, presence, Scope.of(area, files))

        project = self.hub.project
        self.hub.do(declare)
        self.names.append(name)

    def leave(self) -> None:
        project_id = self.hub.project.id
        self.hub.do(lambda tx: [presences.leave(tx, project_id, name, instance=name) for name in self.names])


@pytest.fixture
def claimants(hub: Hub) -> Iterator[Claimants]:
    agents = Claimants(hub)
    yield agents
    agents.leave()


def will_conflict(hub: Hub) -> None:
    """Let two agents commit on branches that git could not merge."""

    def tell(tx: Tx) -> None:
        for agent, branch, commit, paths in (
            ("ann", "login", "1" * 40, ("src/a.py", "src/b.py")),
            ("bob", "logout", "2" * 40, ("src/b.py",)),
        ):
            head = BranchHead(
                project_id=hub.project.id, repository="github.com/octo/parser", agent=agent, branch=branch,
                head=commit, tree=commit, paths=paths, emptied=(), host=None, told_at=tx.now,
            )  # fmt: skip
            merge_radar.tell_head(tx, hub.project, head)
        found = Judgement(agent="ann", branch="login", head="1" * 40, files=("src/b.py",))
        merge_radar.tell_judgements(tx, hub.project, head, [found])

    hub.do(tell)


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=name))


def claims(page: Page, agents: list[dict[str, Any]], tasks: list[dict[str, Any]] | None = None) -> Any:
    """Return the map's view of a picture: the rows, as key and marks, and whether there is a conflict."""
    return inside(
        page, "model/file_claims.js",
        """m.claims({
          agents: new Map(x.agents.map((each) => [each.name, { live: true, area: null, holds: [], ...each }])),
          tasks: new Map(x.tasks.map((each, at) => [String(at), { id: String(at), ended_at: null, ...each }])),
          overlaps: new Map(),
        }).rows.map((row) => [row.key, Object.fromEntries(row.marks), row.clash])""",
        {"agents": agents, "tasks": tasks or []},
    )  # fmt: skip


def test_conflicts_stand_first_and_say_how_many_agents(visit: Visit) -> None:
    """Files of two agents come first, marked, with their number of agents; then the others by name; all are counted."""
    page = visit("/files")
    names = page.get_by_role("rowheader")
    expect(names.nth(0)).to_have_text("src/store/compaction.py")
    expect(names.nth(1)).to_have_text("web/tokens.css")
    expect(names.nth(2)).to_have_text("docs/part_165.md")
    expect(row(page, "web/tokens.css")).to_contain_text("2 agents")
    expect(page.get_by_text("5 files claimed, 2 conflicts")).to_be_visible()


def test_who_holds_a_thing_and_who_waits_is_there(visit: Visit, hub: Hub) -> None:
    """Above the map stands who holds which things, and who waits for them in their turn; live, and till it is over."""
    page = visit("/files")
    shown = page.get_by_role("region", name="Ports, databases and other things").get_by_role("listitem")
    expect(shown).to_have_count(0)

    held = hub.do(lambda tx: leases.ask(tx, hub.project, ["port:8000"], by="mara", terms=Terms(host="atlas")))
    for name, priority in (("ember", Priority.MEDIUM), ("rune", Priority.HIGH)):
        hub.do(
            partial(
                leases.ask, project=hub.project, things=["port:8000"], by=name, terms=Terms(priority=priority)
            )
        )

    expect(shown).to_have_text(
        [re.compile(f"^port:8000(held|wanted) by{name}") for name in ("mara", "rune", "ember")]
    )
    hub.do(lambda tx: leases.release(tx, hub.project, str(held.id), by="mara"))
    expect(shown).to_have_count(2)
    expect(shown.first).to_contain_text("held byrune")


def test_a_mark_says_what_the_agent_does_with_the_file(page: Page) -> None:
    """Editing; in review, once all that the agent had begun is; or in conflict: the same file and two who edit it."""
    made = claims(
        page,
        [
            {"name": "ember", "files": ["both.py", "mine.py"]},
            {"name": "jade", "files": ["both.py"]},
            {"name": "onyx", "files": ["done.py"]},
            {"name": "gone", "files": ["old.py"], "live": False},
        ],
        [{"assignee": "onyx", "state": "review"}],
    )
    assert made == [
        ["file:both.py", {"ember": "clash", "jade": "clash"}, True],
        ["file:done.py", {"onyx": "review"}, False],
        ["file:mine.py", {"ember": "editing"}, False],
    ]


def test_two_agents_in_one_area_are_the_hubs_to_judge(page: Page) -> None:
    """An area is a row too; that two work in it is a conflict only if the hub says so."""
    made = claims(page, [{"name": "ember", "area": "api"}, {"name": "jade", "area": "api"}])
    assert made == [["area:api", {"ember": "editing", "jade": "editing"}, False]]


def test_an_area_and_a_pattern_are_rows_as_they_were_written(visit: Visit, claimants: Claimants) -> None:
    """A declared scope is shown as written, and an area with what it covers."""
    claimants.claim("gardener", "docs/guide/**", area="docs")
    page = visit("/files")
    expect(page.get_by_role("rowheader", name="docs/guide/**")).to_be_visible()
    page.get_by_role("rowheader", name="area docs").get_by_role("button").click()
    expect(page.get_by_role("region", name="docs").locator("code").first).to_have_text("docs/**")


def test_a_cell_tells_in_words_who_overlaps_and_both_can_be_written_to(hub: Hub, visit: Visit) -> None:
    """A click on a mark says who is in conflict and on what; one message goes to both."""
    page = visit("/files")
    page.get_by_role("button", name="onyx is in conflict on web/tokens.css").click()
    panel = page.get_by_role("region", name="web/tokens.css")
    expect(panel).to_contain_text("lumen and onyx overlap on web/tokens.css.")
    panel.get_by_role("button", name="Message both").click()
    page.get_by_role("textbox", name="Text").fill("Who goes first?")
    page.get_by_role("button", name="Send message").click()
    expect(page.get_by_role("status").filter(has_text="Sent to lumen and onyx.")).to_be_visible()
    found = hub.do(lambda tx: messages.history(tx, hub.project.id, limit=2))
    assert {(each.recipient, each.body) for each in found} == {
        ("lumen", "Who goes first?"), ("onyx", "Who goes first?")
    }  # fmt: skip


@pytest.mark.daily
def test_releasing_a_claim_ends_the_conflict(hub: Hub, visit: Visit, claimants: Claimants) -> None:
    """A person frees what one of two claims: the hub forgets the claim, and the conflict leaves the map."""
    claimants.claim("left", "ours.py")
    claimants.claim("right", "ours.py")
    page = visit("/files?file=file:ours.py")
    expect(row(page, "ours.py")).to_contain_text("2 agents")
    page.get_by_role("button", name="Release claims of left").click()
    page.get_by_role("textbox", name="Why?").fill("right was first")
    page.get_by_role("dialog").get_by_role("button", name="Release claims").click()
    expect(row(page, "ours.py")).not_to_contain_text("2 agents")
    expect(row(page, "ours.py").get_by_role("button", name="right is editing ours.py")).to_be_visible()
    until_told(page)
    presence = hub.do(lambda tx: agents.presence(tx, hub.project.id, "left"))
    assert not presence.files


def test_work_in_review_is_marked_as_it_happens(hub: Hub, visit: Visit, claimants: Claimants) -> None:
    """When an agent hands in what it works on, its marks become those of a review, and lead to the task."""
    claimants.claim("author", "novel.md")

    def begin(tx: Tx) -> Any:
        task = tasks.send(tx, hub.project.id, sender="hub", to="author", text="Write a novel")
        return task_actions.start(tx, task_actions.accept(tx, task, "author"), "author")

    task = hub.do(begin)
    page = visit("/files?file=file:novel.md")
    expect(page.get_by_role("button", name="author is editing novel.md")).to_be_visible()
    hub.do(
        lambda tx: tasks.step(
            tx, tasks.find(tx, [hub.project.id], str(task.id)), Event.SUBMIT, actor="author"
        )
    )
    expect(page.get_by_role("button", name="author has novel.md in review")).to_be_visible()
    expect(page.get_by_role("region", name="novel.md")).to_contain_text("Write a novel")


def test_the_map_is_walked_by_keys(visit: Visit) -> None:
    """One tab stop; arrows and hjkl go from mark to mark, Enter opens; the focus stays where one was."""
    page = visit("/files?q=src/store")
    page.get_by_role("rowheader", name="src/store/compaction.py").get_by_role("button").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("button", name="ember is in conflict on src/store/compaction.py")).to_be_focused()
    page.keyboard.press("l")
    expect(page.get_by_role("button", name="xenon is in conflict on src/store/compaction.py")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("button", name="ember is editing src/store/wal.py")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="src/store/wal.py")).to_be_visible()


def test_of_a_large_map_only_what_can_be_seen_is_in_the_page(visit: Visit, claimants: Claimants) -> None:
    """With 200 agents and 500 files, the page holds the rows near the window, and a key leads to the last of them."""
    for number in range(200):
        claimants.claim(f"ant-{number:03}", *(f"hill/{at:03}.py" for at in range(500) if at % 200 == number))
    page = visit("/files?q=hill/")
    expect(page.get_by_role("grid")).to_have_attribute("aria-rowcount", "501")
    expect(page.get_by_role("grid")).to_have_attribute("aria-colcount", "202")
    assert page.get_by_role("rowheader").count() < 100
    page.get_by_role("rowheader", name="hill/000.py").get_by_role("button").focus()
    page.keyboard.press("Control+End")
    expect(page.get_by_role("rowheader", name="hill/499.py").get_by_role("button")).to_be_focused()


def test_on_a_phone_the_map_is_a_list(visit: Visit) -> None:
    """On a phone each file is a line with its agents' names, which opens in its place."""
    page = visit("/files?q=web/", size=PHONE)
    line = page.get_by_role("button", name="web/tokens.css")
    expect(line).to_contain_text("lumen")
    line.click()
    expect(page.get_by_role("region", name="web/tokens.css")).to_contain_text("lumen and onyx overlap")


def test_the_past_and_those_who_may_only_look_change_nothing(visit: Visit) -> None:
    """A viewer has no buttons; at an earlier moment they are off."""
    page = visit(CONFLICT, who=VIEWER)
    expect(page.get_by_role("region", name="web/tokens.css")).to_be_visible()
    expect(page.get_by_role("button", name="Message both")).to_have_count(0)
    expect(page.get_by_role("button", name="Release claims of onyx")).to_have_count(0)
    last = inside(page, "model/store.js", "m.recent.value.at(-1).id")
    page = visit(f"{CONFLICT}&at={last}")
    expect(page.get_by_role("button", name="Message both")).to_be_disabled()


def test_the_map_has_no_fault_that_axe_finds(visit: Visit, claimants: Claimants) -> None:
    """In every width and theme, axe-core finds nothing wrong with the map, whatever files are called."""
    claimants.claim("mallory", "<img src=x onerror=alert(1)>/\u202e" + "w" * 900)
    page = visit(CONFLICT)
    expect(page.get_by_role("button", name="Message both")).to_be_visible()
    assert faults(page) == []


def test_branches_that_will_conflict(visit: Visit, hub: Hub) -> None:
    """Pairs of branches that git could not merge are listed above the map: whose, where, and which goes first."""
    will_conflict(hub)
    page = visit("/files")
    listed = page.get_by_role("region", name="Branches that will conflict").get_by_role("listitem")
    expect(listed).to_contain_text("login of ann and logout of bob will conflict in")
    expect(listed.get_by_role("code")).to_have_text("src/b.py")
    expect(listed).to_contain_text("merge bob first")
