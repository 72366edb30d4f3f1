"""The activity in a browser: what happened as sentences, filtered, live, paged and in the past."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hubbub.core.actions import task_actions
from hubbub.core.agents import agents
from hubbub.core.mail import messages
from hubbub.core.work import tasks
from hubbub.serve.dashboard.assets import FOLDER
from tests.dashboard.browser import DESKTOP, PHONE, TABLET, Visit, inside, settle
from tests.dashboard.scene import Scene
from tests.serve.served_hub import Hub

EVENTS = Path(__file__).parents[3] / "docs" / "reference" / "events.md"
HAS_COLOUR = "(name) => getComputedStyle(name, '::before').backgroundColor.startsWith('oklch')"
HOSTILE = "<img src=x onerror=alert(1)>\u202e`rm -rf`" + "W" * 5_000


@pytest.fixture(scope="module", autouse=True)
def _scene(scene: Scene) -> None:
    """All these pages show a team at work."""


def rows(page: Page) -> Any:
    return page.locator(".activity-row")


def kinds() -> list[str]:
    """The kinds that the reference lists."""
    told = EVENTS.read_text().partition("## The kinds of the log")[2]
    cells = [line.split("|")[1] for line in told.splitlines() if line.startswith("| `")]
    return re.findall(r"`([a-z]+\.[a-z_]+)`", " ".join(cells))


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_every_kind_of_the_log_has_a_sentence(language: str) -> None:
    """The events of the reference are all named by the dashboard, in both languages."""
    words = json.loads((FOLDER / "words" / f"{language}.json").read_text())["activity"]
    assert [kind for kind in kinds() if kind.replace(".", "_") not in words] == []


def test_every_part_of_every_sentence_is_known(page: Page) -> None:
    """A sentence of any kind is whole even where the log says nothing of who, what and where."""
    told = inside(
        page,
        "views/sentences.js",
        "x.map((kind) => m.keyOf({ kind, agent: null, detail: {} }))",
        kinds(),
    )
    assert "activity.other" not in told


@pytest.mark.daily
def test_the_newest_comes_first_as_a_sentence_with_its_task(visit: Visit, hub: Hub) -> None:
    """A task that is sent shows at once, who to whom, with a link that opens it."""
    page = visit("/activity")
    expect(page.get_by_role("heading", name="Activity")).to_be_visible()
    expect(rows(page).first).to_be_visible()
    made = hub.do(
        lambda tx: tasks.send(tx, hub.project.id, sender="amber", to="birch", text="Mend the fence")
    )
    expect(rows(page).first).to_contain_text(f"amber sent T-{made.number} to birch")
    expect(rows(page).first).to_contain_text("Mend the fence")
    rows(page).first.get_by_role("link", name=f"T-{made.number}").click()
    expect(page).to_have_url(re.compile(rf"/activity\?.*task={made.number}"))


def test_a_message_to_everyone_is_one_row(visit: Visit, hub: Hub) -> None:
    """However many a message to everyone reached, it is one row, which names the first of them; each has its colour."""
    page = visit("/activity")
    expect(rows(page).first).to_be_visible()
    names = ["amber", "birch", "dune", "ember", "fjord"]
    hub.do(lambda tx: messages.broadcast(tx, hub.project.id, sender="amber", recipients=names, body="Hush"))
    expect(rows(page).first).to_contain_text("amber wrote to everyone: amber, birch, dune, and 2 more")
    expect(rows(page).nth(1)).not_to_contain_text("everyone")
    assert rows(page).first.locator(".of-agent").first.evaluate(HAS_COLOUR)

    page = visit("/activity?agent=birch")
    expect(rows(page).first).to_contain_text("birch received what amber wrote to everyone")


def test_the_chips_choose_groups_and_stand_in_the_address(visit: Visit) -> None:
    """Only the groups that are chosen are shown; the address keeps them, and one click clears them."""
    page = visit("/activity")
    page.get_by_role("button", name="Approvals").click()
    expect(page).to_have_url(re.compile("kinds=approval"))
    expect(rows(page).first).to_contain_text("asks to use")
    expect(rows(page).filter(has_text="accepted")).to_have_count(0)
    page.get_by_role("button", name="Clear filters").click()
    expect(rows(page).filter(has_text="accepted").first).to_be_visible()


def test_progress_is_hidden_until_it_is_asked_for(visit: Visit) -> None:
    """Heartbeats and progress are no news, but they are there."""
    page = visit("/activity")
    expect(rows(page).first).to_be_visible()
    expect(rows(page).filter(has_text=" % of ")).to_have_count(0)
    page.get_by_role("button", name="Heartbeats and progress").click()
    expect(rows(page).filter(has_text=" % of ").first).to_be_visible()


def test_agent_task_and_words_filter(visit: Visit, scene: Scene) -> None:
    """One agent, one task, or words out of the filter field: each leaves only what is of it."""
    page = visit("/activity?agent=iris")
    expect(rows(page).first).to_contain_text("iris")
    assert all("iris" in text for text in rows(page).all_inner_texts())
    number = scene.tasks["failed"][0].number
    page = visit(f"/activity?about={number}")
    expect(rows(page).filter(has_text="failed").first).to_be_visible()
    assert all(f"T-{number}" in text for text in rows(page).all_inner_texts())
    page = visit("/activity?q=publish")
    expect(rows(page)).to_have_count(1)


def test_what_comes_while_somebody_reads_waits_behind_a_button(visit: Visit, hub: Hub) -> None:
    """Scrolled down, nothing moves: new activity is counted, and shown on a click."""
    page = visit("/activity")
    expect(rows(page).nth(60)).to_be_attached()
    page.locator("main").evaluate("main => { main.scrollTop = 900; }")
    settle(page)  # or what comes may be there before the page has seen that somebody scrolled
    read = rows(page).nth(30)
    before = read.bounding_box()
    hub.do(lambda tx: messages.send(tx, hub.project.id, sender="amber", to="birch", body="one"))
    news = page.get_by_role("button", name="1 new")
    expect(news).to_be_visible()
    assert read.bounding_box() == before
    news.click()
    expect(rows(page).first).to_contain_text("amber wrote to birch")


def test_the_log_is_paged_to_its_beginning(visit: Visit) -> None:
    """Earlier pages come on demand, until the page says that the log begins here."""
    page = visit("/activity?routine=1")
    more = page.get_by_role(
        "button", name="Show earlier activity", disabled=False
    )  # while a page comes, it is not
    beginning = page.get_by_text("This is where the log begins")
    for _ in range(10):
        expect(more.or_(beginning)).to_be_visible()
        if beginning.is_visible():
            break
        more.click()
    expect(beginning).to_be_visible()
    expect(rows(page).filter(has_text="joined").first).to_be_attached()


def test_a_row_opens_to_all_that_the_log_has(visit: Visit) -> None:
    """The detail is JSON, in a box of its own, and the button says whether it is open."""
    page = visit("/activity?q=publish")
    button = rows(page).first.get_by_role("button", name="Details of event")
    button.click()
    expect(button).to_have_attribute("aria-expanded", "true")
    expect(page.locator(".activity-detail")).to_contain_text('"kind": "approval.asked"')


def test_in_the_past_only_what_had_happened_is_there(visit: Visit) -> None:
    """Time travel cuts the feed at its moment."""
    page = visit("/activity?at=100")
    expect(page.get_by_text("It is read-only")).to_be_visible()
    expect(rows(page).first).to_be_visible()
    rows(page).first.get_by_role("button").click()
    told = json.loads(page.locator(".activity-detail").text_content() or "")
    assert told["id"] <= 100


def test_hostile_texts_are_texts(visit: Visit, hub: Hub) -> None:
    """Markup, marks of direction and words without end are shown as they are, and move nothing."""
    hub.do(lambda tx: agents.meet(tx, hub.project.id, "birch"))
    made = hub.do(lambda tx: tasks.send(tx, hub.project.id, sender="amber", to="birch", text=HOSTILE))
    hub.do(lambda tx: task_actions.cancel(tx, made, by="hub", reason=HOSTILE))
    page = visit("/activity")
    expect(rows(page).filter(has_text="<img src=x").first).to_be_visible()
    for width, height in (DESKTOP, TABLET, PHONE):
        page.set_viewport_size({"width": width, "height": height})
        widths = page.locator("main").evaluate("main => [main.scrollWidth, main.clientWidth]")
        assert widths[0] <= widths[1]
