"""Fleet: every agent, machine by machine, and what a person sees and does at one of them."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from hubbub.core import agent_renaming
from hubbub.core.actions import inbox, task_actions
from hubbub.core.agents import agents, scopes
from hubbub.core.fleet import managed_agents, nodes
from hubbub.core.limits import accounts
from hubbub.core.people import tokens
from hubbub.core.presence import presences
from hubbub.core.work import task_search, tasks
from hubbub.model.agents.scopes import Scope
from hubbub.model.fleet.calls import NodeInfo
from hubbub.model.lifecycle import Status
from hubbub.model.limits.usage_limits import LimitKind, UsageLimit
from hubbub.model.people.rights import Actor, Role
from hubbub.model.records import Condition, Profile
from hubbub.store.tx import Tx
from tests.dashboard.browser import PHONE, Visit, Watch, enter_list, inside, until_told, until_whole
from tests.dashboard.conftest import MEMBER, VIEWER
from tests.dashboard.looks import faults
from tests.dashboard.scene import NEVER, Scene
from tests.serve.served_hub import Hub

HOSTILE = "<img src=x onerror=alert(1)>\u202e\u200b`" + "W" * 900
MINUTE = 60_000


@pytest.fixture(scope="module", autouse=True)
def _scene(scene: Scene) -> None:
    """All these pages show a team at work."""


def test_one_moves_among_the_cards_of_a_page_that_was_opened_here(visit: Visit) -> None:
    """The keys hjkl lead to an agent where the view stood there before its picture, as after a reload."""
    page = visit("/fleet")
    expect(page.locator("main .fleet-grid").first).to_be_visible()
    enter_list(page)
    assert str(page.evaluate("document.activeElement.dataset.item")).startswith("agent:")


def come(hub: Hub, name: str, *, files: list[str] | None = None, **told: Any) -> None:
    """Let an agent be there, and say where it works."""

    def report(tx: Tx) -> None:
        presence = presences.report(
            tx,
            hub.project.id,
            name,
            instance=name,
            condition=Condition.IDLE,
            profile=Profile(**told),
            ttl=NEVER,
        )
        if files is not None:
            scopes.declare(tx, hub.project, presence, Scope.of(None, files))

    hub.do(report)


def leave(hub: Hub, name: str) -> None:
    """Let an agent have been there."""
    come(hub, name, hostname="demeter")
    hub.do(lambda tx: presences.leave(tx, hub.project.id, name, instance=name))


def begin(hub: Hub, name: str, title: str) -> str:
    """Let an agent work on a new task; returns its id."""

    def start(tx: Tx) -> str:
        task = tasks.send(tx, hub.project.id, sender="hub", to=name, text=title)
        task_actions.start(tx, task_actions.accept(tx, task, name), name)
        return str(task.id)

    return str(hub.do(start))


def card(page: Page, name: str) -> Locator:
    return page.locator(".agent").filter(has=page.get_by_role("link", name=re.compile(rf"^{name}, ")))


# Clear the filter; how many cards are seen in the first frame after it.
CLEARED = """(m.set({ q: null }), new Promise((done) => requestAnimationFrame(() =>
  done(document.querySelectorAll(".agent:not([hidden] *)").length))))"""


def panel(page: Page) -> Locator:
    return page.get_by_role("complementary", name="Agent")


def test_agents_stand_under_their_machine_with_what_they_are_at(visit: Visit) -> None:
    """Each agent is a card under its machine: its name, what it runs, its exact state in a word, its task."""
    page = visit("/fleet")
    expect(page.get_by_role("region", name="atlas").locator("h2")).to_contain_text("7 agents")
    ember = card(page, "ember")
    expect(ember).to_contain_text("codex")
    expect(ember.locator(".state-word")).to_have_text("Waiting")
    expect(ember.locator("a.agent-task")).to_have_text(re.compile(r"^T-\d+ "))


def test_an_agent_of_no_known_machine_stands_elsewhere(hub: Hub, visit: Visit) -> None:
    """An agent that does not say where it runs is shown under Elsewhere."""
    come(hub, "nomad")
    page = visit("/fleet")
    expect(page.get_by_role("region", name="Elsewhere")).to_contain_text("nomad")


@pytest.mark.parametrize(
    ("language", "said"), [("en", "not started yet: start claude"), ("zh-CN", "尚未启动：请启动 claude")]
)
def test_an_agent_that_was_never_there_says_what_to_start(
    hub: Hub, visit: Visit, language: str, said: str
) -> None:
    """An agent that was only installed has not left: its card and its panel say which program to start."""
    name = f"fresh-{language.lower()}"
    role = Role.MEMBER
    hub.do(
        lambda tx: tokens.for_project(tx, hub.project, role=role, agent=name, program="claude-code"),
        hub.owner,
    )
    page = visit(f"/fleet?agent={name}", language=language)
    expect(card(page, name)).to_contain_text(said)
    expect(page.get_by_role("complementary")).to_contain_text(said)


@pytest.mark.daily
def test_a_new_agent_appears_by_itself(hub: Hub, visit: Visit) -> None:
    """The fleet is live: whoever comes is there without a reload."""
    page = visit("/fleet")
    expect(card(page, "newcomer")).to_have_count(0)
    come(hub, "newcomer", runtime="codex", hostname="hermes")
    expect(page.get_by_role("region", name="hermes").locator(".agent")).to_have_count(1)


def test_the_small_bars_count_steps_and_no_signs_of_life(page: Page) -> None:
    """An agent's actions count, three minutes a bar; its presence, or actions long ago, do not."""
    now = 100 * 60 * MINUTE
    told = [
        ("agent.heartbeat", 1),
        ("task.progress", 1),
        ("task.progress", 2),
        ("task.started", 80),
        ("task.sent", 95),
    ]
    log = [
        {"at": now - ago * MINUTE, "kind": kind, "actor": "ember", "agent": None}
        for kind, ago in reversed(told)
    ]
    counts = inside(
        page, "views/fleet.js", "m.pulses(x.log, new Map([['ember', {}]]), x.now).get('ember')",
        {"log": log, "now": now},
    )  # fmt: skip
    assert len(counts) == 30
    assert sum(counts) == 3
    assert counts[-1] == 2


def test_evidence_of_work_unread_letters_and_wake_are_told_apart_from_liveness(
    hub: Hub, visit: Visit
) -> None:
    """A card says what its agent was last seen to do, how much it has not read, and whether anything listens for it."""
    come(hub, "scout", hostname="demeter", output="3 of 4 files checked")
    hub.send_task("scout", "look")
    page = visit("/fleet")
    facts = card(page, "scout").locator(".agent-facts")
    expect(facts).to_contain_text("output")
    expect(facts).to_contain_text("1 unread message")
    expect(facts).to_contain_text("Nothing listens for its messages now.")


def test_the_task_on_a_card_opens_the_task(visit: Visit) -> None:
    """A click on an agent's task opens that task at the side, not the agent."""
    page = visit("/fleet")
    task = card(page, "ember").locator("a.agent-task")
    number = re.match(r"T-(\d+)", task.text_content() or "")
    assert number is not None
    task.click()
    expect(page).to_have_url(re.compile(rf"task={number[1]}\b"))
    expect(page.get_by_role("complementary", name="Task")).to_contain_text(number[0])


def test_an_agent_opens_at_the_side_and_closes_with_escape(visit: Visit) -> None:
    """A card opens its agent: what it holds, claims and is in conflict about; Esc closes it again."""
    page = visit("/fleet")
    page.get_by_role("link", name=re.compile("^ember, ")).click(position={"x": 60, "y": 14})
    expect(panel(page).get_by_role("heading", name="ember")).to_be_visible()
    expect(panel(page).get_by_role("region", name="Holds")).to_contain_text("T-")
    expect(panel(page).get_by_role("region", name="In conflict")).to_contain_text(
        "ember and xenon overlap on src/store/compaction.py."
    )
    expect(panel(page).get_by_role("region", name="Facts")).to_contain_text("src/store/wal.py")
    page.keyboard.press("Escape")
    expect(panel(page)).to_have_count(0)


def test_what_an_agent_has_set_out_to_do_and_what_waits_for_it_is_read_without_a_trace(
    hub: Hub, visit: Visit
) -> None:
    """A person sees an agent's inbox; nothing in it counts as seen or acknowledged by that."""
    come(hub, "reader", hostname="demeter")
    hub.send_task("reader", "read me")
    page = visit("/fleet?agent=reader")
    waiting = panel(page).get_by_role("region", name="Inbox")
    expect(waiting).to_contain_text("read me")
    expect(waiting).to_contain_text("not delivered yet")
    letters = hub.do(lambda tx: _letters(tx, hub, "reader"))
    assert [letter.delivery.seen_at for letter in letters] == [None]


def _letters(tx: Tx, hub: Hub, name: str) -> Any:
    return inbox.read(tx, hub.project.id, name, 10)


def test_a_person_gives_an_agent_a_task(hub: Hub, visit: Visit) -> None:
    """From an agent's panel a new task begins with the agent filled in; the person is its sender."""
    page = visit("/fleet?agent=jade")
    panel(page).get_by_role("button", name="Give task").click()
    form = page.get_by_role("dialog")
    expect(form.get_by_label("For")).to_have_value("jade")
    form.get_by_label("Title").fill("Tidy the changelog")
    form.get_by_role("button", name="Create task").click()
    expect(form).to_have_count(0)
    found = hub.do(lambda tx: task_search.search(tx, [hub.project.id], assignee="jade", limit=1))
    assert [(task.title, task.sent_by) for task in found] == [("Tidy the changelog", "owner")]


def test_a_click_on_the_tile_opens_the_agent(visit: Visit) -> None:
    """All of a card opens its agent, the coloured tile too."""
    page = visit("/fleet")
    tile = page.locator(".agent").filter(has_text="jade").locator(".tile").first
    tile.click(force=True)  # what lies there is the link of the card
    expect(page).to_have_url(re.compile("agent=jade"))


def test_a_person_has_one_name_in_a_task(hub: Hub, visit: Visit) -> None:
    """A task says which person it is from, and its thread to whom the agent's result went."""
    owner = Actor(token_id=None, user_name="owner", owns_hub=True)
    task = hub.do(
        lambda tx: tasks.send(tx, hub.project.id, sender="hub", to="jade", text="Count the bees"), owner
    )
    hub.do(lambda tx: task_actions.complete(tx, task, by="jade", result="twelve thousand"))
    page = visit(f"/t/{task.number}")
    expect(page.locator(".facts")).to_contain_text("owner")
    said = page.locator(".thread-message")
    expect(said.locator(".thread-head")).to_contain_text("to owner")
    expect(said.locator(".deliveries")).to_have_count(0)  # a result waits for nobody


def test_a_person_frees_what_an_agent_claims(hub: Hub, visit: Visit) -> None:
    """Releasing claims empties the agent's scope in the hub, and the agent is told why."""
    come(hub, "squatter", files=["web/**"], hostname="demeter")
    page = visit("/fleet?agent=squatter")
    panel(page).get_by_role("button", name="Release claims").click()
    page.get_by_role("textbox", name="Why?").fill("lumen needs it")
    page.get_by_role("dialog").get_by_role("button", name="Release claims").click()
    expect(page.get_by_role("status").filter(has_text="The claims of squatter are released")).to_be_visible()
    expect(panel(page).get_by_role("button", name="Release claims")).to_have_count(0)
    until_told(page)
    presence = hub.do(lambda tx: agents.presence(tx, hub.project.id, "squatter"))
    assert not presence.files
    told = hub.do(lambda tx: _letters(tx, hub, "squatter"))
    assert any("lumen needs it" in letter.text for letter in told)


def test_a_person_takes_a_task_from_an_agent(hub: Hub, visit: Visit) -> None:
    """Releasing a task puts it back into the open queue, and it leaves the list of what the agent holds."""
    come(hub, "holder", hostname="demeter")
    ref = begin(hub, "holder", "Count the stars")
    page = visit("/fleet?agent=holder")
    holds = panel(page).get_by_role("region", name="Holds")
    holds.get_by_role("button", name=re.compile("^Release")).click()
    page.get_by_role("textbox", name="Why?").fill("too many")
    page.get_by_role("dialog").get_by_role("button", name="Release").click()
    expect(holds).to_contain_text("No open task.")
    until_told(page)
    task = hub.do(lambda tx: tasks.find(tx, [hub.project.id], ref))
    assert (task.status, task.assignee) == (Status.QUEUED, None)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ("Rename", "New name", "codre-en is now called coder-en.")),
        ("zh-CN", ("改名", "新名称", "codre-zh-CN 现已改名为 coder-zh-CN。")),
    ],
)
def test_a_person_gives_an_agent_another_name(
    hub: Hub, visit: Visit, language: str, words: tuple[str, str, str]
) -> None:
    """A new name moves what the agent has in the hub; its panel and the address follow to that name."""
    action, field, said = words
    old, new = f"codre-{language}", f"coder-{language}"
    leave(hub, old)
    hub.send_task(old, "Mend the name")
    page = visit(f"/fleet?agent={old}", language=language)
    side = page.get_by_role("complementary")
    expect(side).to_contain_text("Mend the name")
    until_whole(page)
    side.get_by_role("button", name=action).click()
    page.get_by_role("dialog").get_by_role("textbox", name=field).fill(new)
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text=said)).to_be_visible()
    expect(side.get_by_role("heading", name=new)).to_be_focused()
    expect(side).to_contain_text("Mend the name")
    expect(page).to_have_url(re.compile(rf"agent={new}\b"))
    until_told(page)
    found = hub.do(lambda tx: task_search.search(tx, [hub.project.id], assignee=new, limit=1))
    assert [task.title for task in found] == ["Mend the name"]


def test_a_panel_follows_an_agent_that_is_renamed_elsewhere(hub: Hub, visit: Visit) -> None:
    """Who looks at an agent goes on looking at it under the name that somebody else has given it."""
    leave(hub, "strya")
    page = visit("/fleet?agent=strya")
    expect(panel(page).get_by_role("heading", name="strya")).to_be_visible()
    expect(panel(page).get_by_role("region", name="Inbox")).to_be_visible()
    until_whole(page)
    hub.do(lambda tx: agent_renaming.rename(tx, hub.project, "strya", "stray"), hub.owner)
    expect(panel(page).get_by_role("heading", name="stray")).to_be_visible()
    expect(panel(page).get_by_role("region", name="Facts")).to_be_visible()


def test_a_panel_tells_what_an_agent_has_done(hub: Hub, visit: Visit) -> None:
    """The tasks that an agent had are listed with their attempt, what it did last below; both lead on by keyboard."""
    come(hub, "veteran", hostname="demeter")
    ref = begin(hub, "veteran", "Mend the clock")
    page = visit("/fleet?agent=veteran")
    past = panel(page).get_by_role("region", name="Past tasks")
    expect(past).to_contain_text("No finished task.")
    until_whole(page)

    def end(tx: Tx) -> None:
        failed = task_actions.fail(tx, tasks.find(tx, [hub.project.id], ref), by="veteran", reason="no")
        again = task_actions.retry(tx, failed, by="hub")
        task_actions.cancel(tx, again, by="hub", reason="never mind")

    hub.do(end)
    expect(past.get_by_role("link")).to_contain_text("Mend the clock")
    expect(past).to_contain_text("attempt 2")
    deeds = panel(page).get_by_role("region", name="Latest activity")
    expect(deeds.get_by_role("listitem").first).to_contain_text("cancelled")
    past.get_by_role("link").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"task="))
    page.go_back()
    deeds.get_by_role("link", name="All its activity").press("Enter")
    expect(page).to_have_url(re.compile(r"/activity\?.*agent=veteran"))


def test_a_large_fleet_comes_a_few_cards_in_each_frame(hub: Hub, visit: Visit) -> None:
    """Of a fleet of 200 only the first cards are drawn at once; those that a filter hid are there again at once."""
    for number in range(200):
        come(hub, f"many-{number:03}", hostname="zeus")
    page = visit("/fleet?q=many-00")
    cards = page.locator(".agent:not([hidden] *)").filter(has_text="many-")
    expect(cards).to_have_count(10)
    drawn = inside(page, "shell/router.js", CLEARED)
    assert drawn < 100, drawn
    for query in ("many-00", "nobody-is-called-that"):  # also when what comes is cut short by the filter
        inside(page, "shell/router.js", "m.set({ q: x })", query)
        expect(cards).to_have_count(10 if query == "many-00" else 0)
        assert inside(page, "shell/router.js", CLEARED) >= drawn
        expect(cards).to_have_count(200)
    inside(page, "shell/router.js", "m.set({ q: 'many-00' })")
    expect(cards).to_have_count(10)
    assert inside(page, "shell/router.js", CLEARED) >= 200


def test_an_old_link_leads_to_a_renamed_agent(hub: Hub, visit: Visit, watch: Watch) -> None:
    """A link with a name that an agent had long ago opens the agent, and tells both names; one to nobody says so."""
    leave(hub, "ancient")
    for old, new in (("ancient", "middle"), ("middle", "modern")):
        hub.do(lambda tx, old=old, new=new: agent_renaming.rename(tx, hub.project, old, new), hub.owner)
    page = visit("/board?agent=ancient")
    expect(panel(page).get_by_role("heading", name="modern")).to_be_visible()
    expect(panel(page)).to_contain_text("ancient is now called modern.")
    expect(page).to_have_url(re.compile(r"agent=modern\b"))
    expect(panel(page).get_by_role("region", name="Facts")).to_be_visible()

    watch.expect(404)
    nobody = visit("/board?agent=nobody")
    expect(panel(nobody)).to_contain_text("No such agent")
    until_whole(nobody)


def test_a_person_says_what_an_agent_is_for(hub: Hub, visit: Visit) -> None:
    """Its panel edits what an agent is for and the area it works in, and shows both; its card says what it is for."""
    come(hub, "helper", hostname="demeter")
    page = visit("/fleet?agent=helper")
    panel(page).get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Description").fill("Reviews the parser")
    dialog.get_by_label("Area").select_option("docs")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status").filter(has_text="helper is changed.")).to_be_visible()
    expect(panel(page)).to_contain_text("Reviews the parser")
    expect(card(page, "helper")).to_contain_text("Reviews the parser")
    expect(panel(page).get_by_role("region", name="Facts")).to_contain_text("docs")
    panel(page).get_by_role("button", name="Edit").click()
    expect(dialog.get_by_label("Description")).to_have_value("Reviews the parser")


def test_why_an_agent_keeps_its_name_is_told(hub: Hub, visit: Visit, watch: Watch) -> None:
    """The button says so of an agent that is there, the hub of a name that is taken; what was typed is there again."""
    come(hub, "staying", hostname="demeter")
    watch.expect(409)
    page = visit("/fleet?agent=staying")
    rename = panel(page).get_by_role("button", name="Rename")
    expect(rename).to_be_disabled()
    expect(rename).to_have_attribute("title", "It is online. End its program first.")
    inside(page, "shell/router.js", "m.go('fleet', x)", {"agent": "north"})
    expect(panel(page).get_by_role("heading", name="north")).to_be_visible()
    rename.click()
    field = page.get_by_role("dialog").get_by_role("textbox", name="New name")
    field.fill("staying")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("is called 'staying' already; choose another name")
    expect(panel(page).get_by_role("heading", name="north")).to_be_visible()
    rename.click()
    expect(field).to_have_value("staying")


def test_only_who_manages_the_project_renames(visit: Visit) -> None:
    """A member, whom the hub would refuse, sees no button for it."""
    page = visit("/fleet?agent=ember", who=MEMBER)
    expect(panel(page).get_by_role("button", name="Message")).to_be_visible()
    expect(panel(page).get_by_role("button", name="Rename")).to_have_count(0)


def test_what_the_hub_refuses_is_told_in_its_own_sentence(hub: Hub, visit: Visit, watch: Watch) -> None:
    """A placed agent whose machine is not there cannot be stopped: the hub's sentence says so, and nothing changes."""

    def place(tx: Tx) -> None:
        about = NodeInfo(name="faraway", machine_id="far", platform="Linux", version="0.1.0", sandbox="bwrap")
        nodes.report(tx, hub.project, about, ttl=NEVER)
        machine = nodes.find(tx, hub.project, "faraway")
        placed = managed_agents.order(tx, hub.project, agent="distant", machine=machine, command="cat")
        managed_agents.started(tx, placed, 1)

    hub.do(place, hub.owner)
    watch.expect(409)
    page = visit("/fleet?agent=distant")
    expect(panel(page).get_by_role("link", name="Output")).to_have_attribute(
        "href", re.compile("terminal=distant")
    )
    panel(page).get_by_role("button", name="Stop").click()
    page.get_by_role("dialog").get_by_role("button", name="Stop").click()
    expect(page.get_by_role("alert")).to_contain_text("faraway")
    expect(panel(page).get_by_role("button", name="Stop")).to_be_enabled()


def test_who_may_only_look_sees_no_buttons(visit: Visit) -> None:
    """A viewer sees an agent without anything that would be refused."""
    page = visit("/fleet?agent=ember", who=VIEWER)
    expect(panel(page).get_by_role("region", name="Facts")).to_be_visible()
    for name in ("Message", "Give task", "Release claims", "Release", "Rename"):
        expect(panel(page).get_by_role("button", name=name)).to_have_count(0)


def test_the_past_is_shown_as_it_was_and_cannot_be_changed(hub: Hub, visit: Visit) -> None:
    """At an earlier moment a card shows what was so then, what only the present knows is gone, buttons are off."""
    page = visit("/fleet")
    early = inside(page, "model/store.js", "m.recent.value.find(({ kind }) => kind === 'task.sent').id")
    page = visit(f"/fleet?agent=jade&at={early}")
    expect(page.locator(".agent .state-word").first).to_be_visible()
    expect(page.locator(".agent-facts").filter(has_text="unread")).to_have_count(0)
    expect(panel(page).get_by_role("button", name="Give task")).to_be_disabled()
    expect(panel(page).get_by_role("region", name="Inbox")).to_have_count(0)


def test_the_filter_leaves_the_agents_that_match(visit: Visit) -> None:
    """With a state in the filter only agents of exactly that state are left; with none of it, that is said."""
    page = visit("/fleet?q=state:blocked")
    expect(page.locator(".agent").first).to_be_visible()
    states = page.locator(".agent .state-word").all_inner_texts()
    assert set(states) == {"Blocked"}
    page = visit("/fleet?q=nobody-is-called-that")
    expect(page.get_by_role("heading", name="No agent matches the filter")).to_be_visible()


def test_a_change_of_one_agent_leaves_the_other_cards_alone(hub: Hub, visit: Visit) -> None:
    """Only the changed agent's card is touched, among two hundred."""

    def crowd(tx: Tx) -> None:
        for number in range(200):
            profile = Profile(hostname=f"rack-{number % 8}", runtime="codex")
            presences.report(
                tx, hub.project.id, f"bee-{number:03}", instance="it",
                condition=Condition.IDLE, profile=profile, ttl=NEVER,
            )  # fmt: skip

    hub.do(crowd)
    page = visit("/fleet?q=bee-")
    expect(page.locator(".agent")).to_have_count(200)
    page.evaluate("""() => {
        window.touched = new Set();
        new MutationObserver((all) => all.forEach(({ target }) => {
          const card = (target.nodeType === 1 ? target : target.parentElement)?.closest(".agent");
          if (card) window.touched.add(card.querySelector(".card-link").getAttribute("aria-label"));
        })).observe(document.querySelector(".fleet"),
          { subtree: true, childList: true, characterData: true, attributeFilter: ["data-state", "href"] });
    }""")
    begin(hub, "bee-042", "gather honey")
    expect(card(page, "bee-042")).to_contain_text("gather honey")
    touched = page.evaluate("() => [...window.touched].filter((name) => !name.startsWith('bee-042'))")
    assert [name for name in touched if "Working" in name] == []
    hub.do(lambda tx: [presences.leave(tx, hub.project.id, f"bee-{n:03}", instance="it") for n in range(200)])


def test_what_agents_say_of_themselves_breaks_nothing(hub: Hub, visit: Visit) -> None:
    """Markup, invisible letters and a word of 900 letters stay text, inside their card, in every width and theme."""
    come(hub, "mallory", doing=HOSTILE, runtime=HOSTILE, hostname="demeter", model=HOSTILE, output=HOSTILE)
    hub.send_task("mallory", HOSTILE)
    page = visit("/fleet?agent=mallory&q=mallory")
    expect(panel(page)).to_contain_text("<img src=x onerror=alert(1)>")
    assert faults(page) == []


@pytest.mark.daily
def test_on_a_phone_an_agent_takes_the_whole_page(visit: Visit) -> None:
    """On a phone the agent is a page of its own, in Chinese as well, and its cross leads back."""
    page = visit("/fleet?agent=ember", size=PHONE, language="zh-CN")
    side = page.get_by_role("complementary")
    expect(side.get_by_role("heading", name="ember")).to_be_visible()
    expect(side).to_have_css("width", f"{PHONE[0]}px")
    expect(page.locator("html")).to_have_js_property("scrollWidth", PHONE[0])
    side.get_by_role("button", name="关闭 Agent 面板").click()
    expect(page.get_by_role("region", name="atlas")).to_be_visible()


def test_a_paused_account_is_resumed_above_the_machines(hub: Hub, visit: Visit) -> None:
    """Fleet says which accounts are paused, for how much longer, and who shares them; a person resumes one there.

    On the board the tasks of their agents say until when.
    """
    come(hub, "limited")

    def pause(tx: Tx) -> None:
        accounts.put(tx, hub.project, "max", ["limited"])
        accounts.reached(tx, hub.project, "limited", UsageLimit(LimitKind.WINDOW, tx.now + 120 * MINUTE))

    hub.do(pause)
    hub.do(lambda tx: tasks.send(tx, hub.project.id, sender="hub", to="limited", text="stand still"))
    until = visit("/board?q=stand").locator(".card").filter(has_text="stand still")
    expect(until).to_contain_text(re.compile(r"paused until .*\d\d:\d\d"))
    page = visit("/fleet")
    lane = page.get_by_role("region", name="Accounts").get_by_role("listitem").filter(has_text="max")
    expect(lane).to_contain_text("limited")
    expect(lane).to_contain_text(re.compile(r"paused for\s+(2h|1h 59m)"))

    lane.get_by_role("button", name="Resume").click()
    expect(lane.get_by_role("button", name="Pause")).to_be_visible()
    assert hub.do(lambda tx: accounts.find(tx, hub.project, "max")).paused_at is None
    hub.do(lambda tx: accounts.drop(tx, hub.project, "max"))
    expect(page.get_by_role("region", name="Accounts")).to_have_count(0)
