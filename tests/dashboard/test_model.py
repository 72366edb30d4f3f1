"""What the page makes of a picture: states, what needs people, filters, and words; each a function without a page."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from hubbub.cli.watch.standing import Standing
from hubbub.model.pictures import Fold
from tests.dashboard.browser import Visitors, inside, until_ready
from tests.dashboard.scene import Scene

pytestmark = pytest.mark.daily  # all on one page

NOW = 10_000_000_000
MINUTE = 60_000
HOUR = 60 * MINUTE

TASK = {
    "id": "t", "number": 12, "title": "Fix the API", "status": "working", "priority": "medium", "sender": "hub",
    "assignee": "ann", "area": "api", "issue": None, "parent_id": None, "depends_on": [], "attempt": 1, "files": None,
    "note": None, "created_at": NOW - 9 * HOUR, "updated_at": NOW - 5 * MINUTE, "started_at": NOW, "ended_at": None,
}  # fmt: skip
AGENT = {
    "name": "ann", "condition": "working", "doing": None, "live": True, "end_reason": None, "machine": "atlas",
    "runtime": "codex", "model": None, "area": None, "files": None, "since": NOW - 5 * MINUTE, "ended_at": None,
}  # fmt: skip
APPROVAL = {"id": "a", "who": "ann", "created_at": NOW - MINUTE, "expires_at": NOW + HOUR, "dangerous": False}


@pytest.fixture(scope="module")
def page(scene: Scene, visitors: Visitors, browser: Browser) -> Any:
    """One page for all of them, as none changes anything."""
    context = visitors.context(None, (1440, 900), "dark", "en")
    opened = context.new_page()
    opened.goto(visitors.url)
    until_ready(opened)
    yield opened
    context.close()


def picture(*, task: Any = None, agent: Any = None, **cards: Any) -> Any:
    """The cards of one task and its agent, with what is different about them."""
    return {"tasks": {"t": {**TASK, **(task or {})}}, "agents": {"ann": {**AGENT, **(agent or {})}}, **cards}


def ask(page: Page, module: str, expression: str, cards: Any, *more: Any) -> Any:
    """Evaluate with `p`, a picture with these cards."""
    opened = f"import(root + 'model/fold.js').then((fold) => {{ const p = fold.open(x[0]); return {expression}; }})"
    return inside(page, module, opened, [cards, *more])


def in_terminal(cards: Any) -> Standing:
    """How `hubbub watch` sees the same picture."""
    return Standing(Fold.of(cards).picture, NOW)


STATES: list[tuple[Any, str]] = [
    (picture(task={"status": "queued"}), "queued"),
    (picture(task={"status": "delivered"}), "delivered"),
    (picture(task={"status": "accepted"}), "acked"),
    (picture(), "running"),
    (picture(agent={"condition": "waiting"}), "waiting"),
    (picture(agent={"condition": "waiting", "live": False}), "running"),
    (picture(approvals={"a": APPROVAL}), "waiting"),
    (picture(task={"status": "blocked"}, approvals={"a": APPROVAL}), "blocked"),
    (picture(task={"status": "in_review"}), "review"),
    (picture(task={"status": "completed"}), "done"),
    (picture(task={"status": "failed"}), "failed"),
    (picture(task={"status": "cancelled"}), "cancelled"),
    (picture(task={"status": "expired"}), "expired"),
]


def test_an_older_change_overwrites_no_newer_one(page: Page) -> None:
    """Of two racing changes of one card that with the greater id stays, in whichever order the log tells of them."""
    done, begun = (
        {"id": place, "patch": {"tasks": {"t": {**TASK, "status": status}}}}
        for place, status in ((8, "completed"), (7, "working"))
    )
    both = "(fold.apply(p, x[1]), fold.apply(p, x[2]), p.tasks.get('t').status)"

    assert ask(page, "model/fold.js", both, picture(), done, begun) == "completed"
    assert ask(page, "model/fold.js", both, picture(), begun, done) == "completed"


def test_a_task_is_in_one_of_eleven_states(page: Page) -> None:
    """A state is the status in other words; a task whose holder cannot go on without a person waits."""
    for cards, state in STATES:
        assert ask(page, "model/states.js", "m.stateOf(p.tasks.get('t'), p)", cards) == state
        assert in_terminal(cards).state(cards["tasks"]["t"]) == state
    assert (
        inside(page, "model/states.js", "m.STATES.length") == len({state for _cards, state in STATES}) == 11
    )


AGENTS: list[tuple[Any, str]] = [
    (picture(), "working"),
    (picture(agent={"condition": "idle"}), "working"),
    (picture(agent={"condition": "idle"}, task={"status": "completed"}), "idle"),
    (picture(agent={"condition": "idle"}, task={"status": "blocked"}), "blocked"),
    (picture(agent={"condition": "error"}), "error"),
    (picture(approvals={"a": APPROVAL}), "waiting"),
    (picture(agent={"live": False, "end_reason": "silent"}), "stale"),
    (picture(agent={"live": False, "end_reason": "silent"}, task={"status": "delivered"}), "offline"),
    (picture(agent={"live": False, "end_reason": "left"}), "offline"),
]


def test_an_agent_that_fell_silent_with_work_in_hand_is_stale(page: Page) -> None:
    """An agent's state is what it says, unless it is gone, waits for people, or holds work that says more."""
    for cards, state in AGENTS:
        assert ask(page, "model/states.js", "m.agentState(p.agents.get('ann'), p)", cards) == state
        assert in_terminal(cards).agent_state(cards["agents"]["ann"]) == state


QUIET = NOW - 61 * MINUTE
OVERLAP = {"agents": ["ann", "bob"], "files": ["a.py"], "areas": []}
LETTER = {"id": "l", "sender": "ann", "text": "May I?", "created_at": NOW - MINUTE}
NEEDS: list[tuple[Any, list[str]]] = [
    (picture(), []),
    (picture(approvals={"a": APPROVAL}), ["approval"]),
    (picture(approvals={"a": {**APPROVAL, "expires_at": NOW - 1}}), ["expired"]),
    (picture(agent={"condition": "waiting"}), ["question"]),
    (picture(task={"status": "blocked"}), ["question"]),
    (picture(task={"status": "blocked"}, approvals={"a": APPROVAL}), ["approval", "question"]),
    (picture(agent={"condition": "waiting"}, approvals={"a": APPROVAL}), ["approval"]),
    (picture(letters={"l": LETTER}), ["letter"]),
    (picture(agent={"live": False, "end_reason": "silent"}), ["stale"]),
    (picture(overlaps={"ann\nbob": OVERLAP}), ["conflict"]),
    (picture(task={"status": "failed", "ended_at": NOW - HOUR}), ["failed"]),
    (picture(task={"status": "failed", "ended_at": NOW - 25 * HOUR}), []),
    (picture(task={"status": "delivered", "updated_at": NOW - 31 * MINUTE}), ["late"]),
    (picture(task={"status": "delivered", "updated_at": NOW - 29 * MINUTE}), []),
    (picture(task={"updated_at": QUIET}, agent={"since": QUIET}), ["late"]),
    (
        picture(letters={"l": LETTER}, approvals={"a": APPROVAL}, task={"status": "blocked"}),
        ["approval", "question", "letter"],
    ),
]


def test_what_needs_a_person_is_found_and_ordered(page: Page) -> None:
    """Who is held up comes first, then what is in danger, then what is lost or late; and nothing else."""
    for cards, kinds in NEEDS:
        assert ask(page, "model/needs.js", "m.needs(p, x[1]).map(({ kind }) => kind)", cards, NOW) == kinds
        live = [kind for kind in kinds if kind != "expired"]  # a terminal has no way to have it asked again
        assert [need.kind for need in in_terminal(cards).needs()] == live


def test_a_task_that_needs_others_is_not_late(page: Page) -> None:
    """What waits for something unfinished is nobody's fault, however long it takes."""
    waits = {
        **TASK,
        "id": "w",
        "status": "queued",
        "assignee": None,
        "depends_on": ["t"],
        "updated_at": QUIET,
    }
    cards = {**picture(), "tasks": {"t": TASK, "w": waits}}
    assert ask(page, "model/needs.js", "m.needs(p, x[1])", cards, NOW) == []


FILTERS = {
    "": True, "api": True, "t-12": True, "#12": True, "nothing": False, "fix api": True, '"fix the"': True,
    '"the fix"': False, "state:running": True, "state:run": True, "state:blocked": False, "state:blocked,running": True,
    "state:running agent:bob": False, "agent:ann": True, "agent:an": True, "area:api": True, "area:ap": False,
    "is:open": True, "is:ended": False, "is:unassigned": False, "is:nonsense": False, "priority:medium": True,
    "colour:red": False, "http://x": False, "state:": True, '"': True,
}  # fmt: skip


def test_filters_find_by_exact_state_agent_area_and_words(page: Page) -> None:
    """Keys narrow, values of a key widen, words must all occur; a key that is not known is a word."""
    matches = "m.matches(p.tasks.get('t'), m.parse(x[1]), p)"
    for typed, found in FILTERS.items():
        assert (typed, ask(page, "model/filter.js", matches, picture(), typed)) == (typed, found)


@pytest.mark.parametrize(
    ("path", "area", "found"),
    [("a.py", None, True), ("b.py", None, False), ("api", "api", True), ("web", "web", False)],
)
def test_a_file_is_in_conflict_if_two_want_this_very_one(
    page: Page, path: str, area: str | None, found: bool
) -> None:
    """What else its agent has declared is not in conflict because one thing is."""
    cards = picture(overlaps={"ann\nbob": {**OVERLAP, "areas": ["api"]}})
    row = {"path": path, "agents": ["ann"], "area": area}
    conflict = "m.matches(x[1], m.parse('is:conflict'), p)"
    assert ask(page, "model/filter.js", conflict, cards, row) is found
    assert ask(page, "model/filter.js", "m.matches(p.agents.get('ann'), m.parse('is:conflict'), p)", cards)


def test_a_term_of_a_filter_is_put_in_and_taken_out(page: Page) -> None:
    """Chips change one term and leave the rest as it was typed."""
    toggle = "m.toggle(...x)"
    assert inside(page, "model/filter.js", toggle, ["fast api", "area", "web"]) == "fast api area:web"
    assert inside(page, "model/filter.js", toggle, ["fast area:web api", "area", "web"]) == "fast api"


SPANS = {
    "en": {0: "0s", 8_000: "8s", 36 * MINUTE: "36m", 65 * MINUTE: "1h 5m", 50 * HOUR: "2d", 2 * HOUR: "2h"},
    "zh-CN": {8_000: "8秒", 65 * MINUTE: "1小时 5分钟", 50 * HOUR: "2天"},
}


def test_spans_and_counts_are_written_as_the_language_writes_them(page: Page) -> None:
    """Durations are compact, numbers grouped, and the words follow the language that is chosen."""
    for language, spans in SPANS.items():
        inside(page, "words.js", "m.setLanguage(x)", language)
        for duration, written in spans.items():
            assert inside(page, "words.js", "m.span(x)", duration) == written
    assert inside(page, "words.js", "m.t('states.blocked')") == "受阻"
    assert page.locator("html").get_attribute("lang") == "zh-CN"
    inside(page, "words.js", "m.setLanguage('en')")
    assert inside(page, "words.js", "[m.t('states.blocked'), m.t('no.such'), m.number(12345)]") == [
        "Blocked", "no.such", "12,345",
    ]  # fmt: skip
