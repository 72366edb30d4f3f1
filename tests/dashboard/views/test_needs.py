"""The needs of people: the first screen, from which everything that waits can be understood and freed."""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import Locator, Page, expect

from hubbub.core.actions import inbox, task_actions
from hubbub.core.fleet import approvals
from hubbub.core.work import task_search, tasks
from hubbub.model.fleet.approvals import Approval, ApprovalStatus
from hubbub.model.fleet.calls import Principal, Question, QuestionKind, call_digest
from hubbub.model.fleet.nodes import beside
from hubbub.model.lifecycle import Status
from hubbub.model.log.projection import Projector
from hubbub.model.records import Task
from hubbub.store.tx import Tx
from hubbub.watch.view_model import ViewModel
from tests.dashboard.browser import DESKTOP, PHONE, Visit, Watch, inside, until_told
from tests.dashboard.conftest import MEMBER
from tests.dashboard.looks import faults
from tests.dashboard.scene import Scene
from tests.serve.served_hub import Hub

HOUR = timedelta(hours=1)

pytestmark = pytest.mark.usefixtures("scene")


def task_of(hub: Hub, task: Task) -> Task:
    """The task as the hub has it now."""
    found: Task = hub.do(lambda tx: tasks.find(tx, [hub.project.id], str(task.id)))
    return found


@pytest.mark.daily
def test_a_stranger_finds_the_blocked_task_and_frees_it_on_a_phone(
    visit: Visit, hub: Hub, scene: Scene
) -> None:
    """On a phone the first screen shows the blocked task and its reason; an answer lets it go on."""
    task = scene.tasks["blocked"][-1]
    page = visit("/", size=PHONE)
    card = page.locator(".need", has_text=f"T-{task.number}").filter(has_text="Blocked")
    expect(card).to_contain_text(task_of(hub, task).title)
    card.get_by_role("button", name="Why?").click()
    expect(card.get_by_role("note")).to_contain_text("blocked")
    card.get_by_role("button", name="Answer").click()
    page.get_by_label("Your answer", exact=True).fill("Keep it for 30 days.")
    page.get_by_role("dialog").get_by_role("button", name="Answer").click()
    expect(page.get_by_role("status").filter(has_text=f"T-{task.number}")).to_be_visible()
    expect(card).to_have_count(0)
    until_told(page)
    assert task_of(hub, task).status is Status.WORKING


def test_an_approval_is_denied_with_a_reason_that_the_agent_hears(page: Page, hub: Hub, scene: Scene) -> None:
    """Deny answers the machine with a no, in the person's name; the reason, if there is one, goes to the agent."""
    asked = scene.approvals[1]
    card = page.locator(f"[data-item='need:approval:{asked}']")
    expect(card).to_contain_text("git push --force-with-lease origin api-v2")
    card.get_by_role("button", name="Deny").click()
    dialog = page.get_by_role("dialog", name="Deny what quartz asks for")
    dialog.get_by_label("Reason (optional, sent to the agent)").fill("Merge it instead.")
    dialog.get_by_role("button", name="Deny").click()
    expect(card).to_have_count(0)
    until_told(page)
    assert status_of(hub, asked) is ApprovalStatus.DENIED
    letters = hub.do(lambda tx: inbox.read(tx, hub.project.id, "quartz", 50))
    assert any("Reason: Merge it instead." in str(letter) for letter in letters)


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["laptop", "phone"])
def test_every_line_of_a_command_is_shown_also_beside_its_task(
    visit: Visit, hub: Hub, size: tuple[int, int]
) -> None:
    """An approval shows each line of the call, its folder, who asks, and since when; so does its task's panel."""
    command = "for each in a b\ndo\n  make $each\ndone\n\nmake publish"
    asked = ask(hub, {"command": command}, QuestionKind.CALL)
    page = visit("/", size=size)
    item = f"[data-item='need:approval:{asked.id}']"
    _shows_all_of(page.locator(item), command)
    page.locator(item).get_by_role("link", name="Open T-").click()
    beside = page.get_by_role("complementary", name="Task").locator(item)
    _shows_all_of(beside, command)
    beside.get_by_role("button", name="Approve").click()
    expect(beside).to_have_count(0)
    until_told(page)
    assert status_of(hub, asked.id) is ApprovalStatus.APPROVED


def _shows_all_of(card: Locator, command: str) -> None:
    expect(card).to_contain_text("ember wants to use run_command on atlas:")
    expect(card).to_contain_text("Folder: /srv")
    expect(card).to_contain_text(re.compile(r"Has waited for \d+s"))
    lines = card.locator("pre")
    assert lines.inner_text() == command
    assert lines.evaluate("(each) => each.scrollHeight <= each.clientHeight")


def ask(
    hub: Hub,
    call: dict[str, str],
    kind: QuestionKind,
    *,
    dangerous: bool = False,
    lasts: timedelta = HOUR,
    node: str = "atlas",
) -> Approval:
    """Let ember's machine ask people about a call."""
    who = Principal(project=hub.project.slug, name="ember")
    question = Question(
        who=who, node=node, tool="run_command", arguments=call, folder="/srv", shown=" ".join(call.values()),
        reason="it asks", digest=call_digest(who, "run_command", call, "/srv", "atlas"), kind=kind,
        dangerous=dangerous,
    )  # fmt: skip
    asked: Approval = hub.do(lambda tx: approvals.put(tx, hub.project, question, lasts)[0])
    return asked


def test_what_an_agents_own_program_asks_is_shown_as_that(visit: Visit, hub: Hub) -> None:
    """Where no machine asks but a program with an agent's token, the card and the log say whose, and where it says."""
    asked = ask(hub, {"command": "rotate keys"}, QuestionKind.CALL, node=beside("ember", "prod-db"))
    card = visit("/").locator(f"[data-item='need:approval:{asked.id}']")
    expect(card).to_contain_text(
        "ember’s own program, which says it is on prod-db, wants to use run_command:"
    )
    entries = visit("/audit").locator(".audit-table")
    expect(entries).to_contain_text(
        re.compile("ember’s own program, which says it is on prod-db, asks to use run_command", re.IGNORECASE)
    )


def test_a_clients_prompt_says_that_it_is_there_too(visit: Visit, hub: Hub) -> None:
    """A permission prompt says where else it may be answered, and shows what the agent asked lately."""
    before = ask(hub, {"command": "git fetch"}, QuestionKind.PROMPT, node=beside("ember", "box"))
    hub.do(lambda tx: approvals.answer(tx, str(before.id), approved=False), hub.owner)
    asked = ask(hub, {"command": "git push"}, QuestionKind.PROMPT, node=beside("ember", "box"))
    card = visit("/").get_by_role("group", name="Approval at its client", exact=True)
    expect(card).to_have_attribute("data-item", f"need:approval:{asked.id}")
    expect(card).to_contain_text("the first answer counts")
    card.get_by_role("button", name="Earlier approvals").click()
    expect(card.get_by_role("list", name="Earlier approvals")).to_contain_text(
        re.compile("denied.*git fetch", re.DOTALL)
    )


def status_of(hub: Hub, asked: object) -> ApprovalStatus:
    """Return the state of a question."""
    found: Approval = hub.do(lambda tx: approvals.find(tx, [hub.project.id], str(asked)))
    return found.status


def test_a_rule_is_for_those_who_manage(visit: Visit, hub: Hub) -> None:
    """Whether a machine's policy gets a rule is asked of admins: to a member the question has no buttons."""
    asked = ask(hub, {"rule": "ls *"}, QuestionKind.RULE)
    for visitor, count in ((MEMBER, 0), (None, 1)):
        card = visit("/", who=visitor).locator(f"[data-item='need:approval:{asked.id}']")
        expect(card).to_contain_text("ls *")
        expect(card.get_by_role("button", name="Approve")).to_have_count(count)


def test_an_approval_by_keys_alone(page: Page, hub: Hub, scene: Scene) -> None:
    """`a` goes to the first question; `a` on it approves."""
    asked = scene.approvals[0]
    card = page.locator(f"[data-item='need:approval:{asked}']")
    expect(card).to_be_visible()
    page.keyboard.press("a")
    expect(card).to_be_focused()
    page.keyboard.press("a")
    expect(card).to_have_count(0)
    until_told(page)
    assert status_of(hub, asked) is ApprovalStatus.APPROVED


def test_what_a_rule_calls_dangerous_is_approved_by_a_second_press(page: Page, hub: Hub) -> None:
    """The first press only asks whether it is really meant; in Chinese the machine's reason has a Chinese beginning."""
    asked = ask(hub, {"command": "rm -rf build"}, QuestionKind.CALL, dangerous=True)
    card = page.locator(f"[data-item='need:approval:{asked.id}']")
    for language, why in (
        ("zh-CN", f"机器的安全底线要求由人决定：{asked.reason}"),
        ("en", f"Why: {asked.reason}"),
    ):
        inside(page, "i18n.js", "m.setLanguage(x)", language)
        expect(card).to_contain_text(why)
    card.focus()
    page.keyboard.press("a")
    expect(card.get_by_role("button", name="Approve, really?")).to_be_focused()
    assert status_of(hub, asked.id) is ApprovalStatus.PENDING
    page.keyboard.press("Enter")
    expect(card).to_have_count(0)
    until_told(page)
    assert status_of(hub, asked.id) is ApprovalStatus.APPROVED


def test_a_question_shows_all_that_is_asked_for_and_the_time_that_is_left(page: Page, hub: Hub) -> None:
    """An approval counts down to its end, gives its reason, and shows the whole of a long command when asked to."""
    asked = ask(hub, {"command": f"echo {'yes ' * 1_000}and done"}, QuestionKind.CALL)
    card = page.locator(f"[data-item='need:approval:{asked.id}']")
    expect(card).to_contain_text(re.compile(r"time left [56]\d?m|time left 1h"))
    expect(card).to_contain_text("it asks")
    expect(card).not_to_contain_text("and done")
    card.get_by_role("button", name="Show all").click()
    expect(card).to_contain_text("and done")
    expect(card.get_by_role("button", name="Show all")).to_have_count(0)


def test_who_got_no_answer_in_time_is_told_to_ask_again(visit: Visit, hub: Hub) -> None:
    """A question that expired stays as such, also for who comes later; to tell its agent to ask again settles it."""
    asked = ask(hub, {"command": "make deploy"}, QuestionKind.CALL, lasts=timedelta(milliseconds=1))
    page = visit("/")
    card = page.locator(f"[data-item='need:expired:{asked.id}']")
    expect(card).to_contain_text("Expired: nobody answered in time")
    expect(card).to_contain_text("make deploy")
    card.get_by_role("button", name="Tell it to ask again").click()
    expect(card).to_have_count(0)
    found = hub.do(lambda tx: inbox.read(tx, hub.project.id, "ember", 50))
    assert any("make deploy" in letter.text for letter in found)


def test_page_terminal_and_rest_say_the_same_needs(page: Page, hub: Hub) -> None:
    """The hub makes the one list of needs: the page, `hubbub watch` and `GET /needs` show it alike."""
    asking = "m.get('/needs').then(async ({ needs, at }) => [needs, at, (await m.get('/snapshot')).picture])"
    told, at, picture = inside(page, "hub/api.js", asking)
    listed = [f"{need['kind']}:{need['key']}" for need in told]
    assert len({need["kind"] for need in told}) > 4
    assert [each.id for each in ViewModel(Projector.of(picture).picture, at).needs()] == listed
    seen = "m.needs(shown.shown.value, x).map(({ key }) => key)"
    shown = f"import(root + 'model/store.js').then((shown) => {seen})"
    assert inside(page, "model/needs.js", shown, at) == listed


def test_a_failed_task_says_what_went_wrong_and_is_tried_again(page: Page, hub: Hub, scene: Scene) -> None:
    """The error text stands on the card, and Retry begins the task again."""
    task = scene.tasks["failed"][0]
    card = page.locator(".need.is-failed", has_text=f"T-{task.number}")
    expect(card).to_contain_text("AssertionError")
    card.get_by_role("button", name="Retry").click()
    expect(card).to_have_count(0)
    until_told(page)
    assert task_of(hub, task).status in (Status.QUEUED, Status.DELIVERED)


def test_work_of_a_silent_agent_goes_to_another(page: Page, hub: Hub, scene: Scene) -> None:
    """A silent agent's card says what it holds; Reassign gives that to somebody who is there."""
    held = hub.do(lambda tx: task_search.search(tx, [hub.project.id], assignee=scene.stale, limit=5))
    card = page.locator(".need.is-stale")
    expect(card).to_contain_text(scene.stale)
    card.get_by_role("button", name="Reassign").click()
    page.get_by_label("Agent", exact=True).select_option("cedar")
    page.get_by_role("dialog").get_by_role("button", name="Reassign").click()
    expect(card).to_have_count(0)
    until_told(page)
    assert task_of(hub, held[0]).assignee == "cedar"


def handed_in(hub: Hub) -> Task:
    """A task of the hub's owner that ember has handed in."""

    def work(tx: Tx) -> Task:
        sent = tasks.send(tx, hub.project.id, sender="hub", to="ember", text="Draw the map")
        begun = task_actions.start(tx, task_actions.accept(tx, sent, "ember"), "ember")
        noted = task_actions.progress(tx, begun, "ember", output="the map has its rivers", progress=90)
        return task_actions.submit(tx, noted, by="ember", result="The map is drawn.")

    found: Task = hub.do(work, hub.owner)
    return found


@pytest.mark.parametrize(
    ("language", "said", "button"),
    [("en", "Ready for your review", "Approve work"), ("zh-CN", "等待你评审", "通过")],
)
def test_work_that_a_person_sent_waits_once_for_their_review(
    page: Page, hub: Hub, language: str, said: str, button: str
) -> None:
    """Work handed in to a person is one card, counted in the badge, from which it is approved."""
    inside(page, "i18n.js", "m.setLanguage(x)", language)
    waiting = "m.waiting.value.length"
    before = inside(page, "model/needs.js", waiting)
    task = handed_in(hub)
    card = page.get_by_role("group", name=said).filter(has_text=f"T-{task.number}")
    expect(card).to_contain_text("Draw the map")
    assert inside(page, "model/needs.js", waiting) == before + 1
    card.get_by_role("button", name=button).click()
    expect(card).to_have_count(0)
    until_told(page)
    assert task_of(hub, task).status is Status.COMPLETED


def test_changes_are_requested_of_work_in_review(page: Page, hub: Hub) -> None:
    """Request changes asks what should change, and the work goes on."""
    task = handed_in(hub)
    card = page.locator(".need.is-review", has_text=f"T-{task.number}")
    card.get_by_role("button", name="Request changes").click()
    page.get_by_label("What should change", exact=True).fill("Name the rivers.")
    page.get_by_role("dialog").get_by_role("button", name="Request changes").click()
    expect(card).to_have_count(0)
    until_told(page)
    assert task_of(hub, task).status is Status.WORKING


def test_a_letter_is_done_with(page: Page, hub: Hub) -> None:
    """Done acknowledges a letter to people, and only then does it leave the screen."""
    card = page.locator(".need.is-letter", has_text="403")
    card.get_by_role("button", name="Done").click()
    expect(card).to_have_count(0)


def test_a_refusal_says_why_and_undoes_itself(page: Page, hub: Hub, scene: Scene, watch: Watch) -> None:
    """A refusal is told in the hub's own sentence, and the card is as it was."""
    watch.expect(409)
    task = scene.tasks["failed"][1]
    page.route("**/retry**", lambda route: route.fulfill(
        status=409, json={"error": "conflict", "message": "somebody else was faster"}
    ))  # fmt: skip
    card = page.locator(".need.is-failed", has_text=f"T-{task.number}")
    card.get_by_role("button", name="Retry").click()
    expect(page.get_by_role("alert").filter(has_text="Somebody else was faster")).to_be_visible()
    expect(card).to_be_visible()
    assert task_of(hub, task).status is Status.FAILED


@pytest.mark.daily
def test_viewers_see_no_buttons_that_would_fail(viewer_page: Page) -> None:
    """A viewer sees what waits, and no button that the hub would refuse."""
    expect(viewer_page.locator(".need").first).to_be_visible()
    for name in ("Approve", "Deny", "Answer", "Retry", "Reassign"):
        expect(viewer_page.locator(".need").get_by_role("button", name=name)).to_have_count(0)


def test_the_first_screen_has_no_fault_for_who_may_only_look(viewer_page: Page) -> None:
    """Without its buttons the first screen is whole too, in every width and theme, and in Chinese."""
    expect(viewer_page.locator(".need").first).to_be_visible()
    assert faults(viewer_page, chinese=True) == []
