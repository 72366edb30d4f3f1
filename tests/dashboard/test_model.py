"""The page's use of a picture: needs of people, filters, and words; each a function without a page."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.dashboard.browser import Visitors, inside, visiting
from tests.dashboard.scene import Scene

pytestmark = pytest.mark.daily  # all on one page

NOW = 10_000_000_000
MINUTE = 60_000
HOUR = 60 * MINUTE

TASK = {
    "id": "t", "number": 12, "title": "Fix the API", "status": "working", "priority": "medium", "sender": "hub",
    "assignee": "ann", "area": "api", "issue": None, "parent_id": None, "depends_on": [], "attempt": 1, "files": None,
    "note": None, "state": "running", "need": None, "may": [],
    "created_at": NOW - 9 * HOUR, "updated_at": NOW - 5 * MINUTE, "started_at": NOW, "ended_at": None,
}  # fmt: skip
AGENT = {
    "name": "ann", "condition": "working", "doing": None, "live": True, "end_reason": None, "machine": "atlas",
    "runtime": "codex", "model": None, "area": None, "files": None, "since": NOW - 5 * MINUTE, "ended_at": None,
    "state": "working", "need": None, "may": [], "holds": ["t"],
}  # fmt: skip
OVERLAP = {"agents": ["ann", "bob"], "files": ["a.py"], "areas": []}


@pytest.fixture(scope="module")
def page(scene: Scene, visitors: Visitors) -> Iterator[Page]:
    """One page for all of them, as none changes anything."""
    with visiting(visitors) as (visit, _watch):
        yield visit()


def picture(*, task: Any = None, agent: Any = None, **cards: Any) -> Any:
    """Return the cards of one task and its agent, with these differences."""
    return {"tasks": {"t": {**TASK, **(task or {})}}, "agents": {"ann": {**AGENT, **(agent or {})}}, **cards}


def ask(page: Page, module: str, expression: str, cards: Any, *more: Any) -> Any:
    """Evaluate with `p`, a picture with these cards."""
    opened = f"import(root + 'model/fold.js').then((fold) => {{ const p = fold.open(x[0]); return {expression}; }})"
    return inside(page, module, opened, [cards, *more])


def test_an_older_change_overwrites_no_newer_one(page: Page) -> None:
    """The change with the greater id stays of two racing changes of one card, in whichever order the log tells them."""
    done, begun = (
        {"id": place, "patch": {"tasks": {"t": {**TASK, "status": status}}}}
        for place, status in ((8, "completed"), (7, "working"))
    )
    both = "(fold.apply(p, x[1]), fold.apply(p, x[2]), p.tasks.get('t').status)"

    assert ask(page, "model/fold.js", both, picture(), done, begun) == "completed"
    assert ask(page, "model/fold.js", both, picture(), begun, done) == "completed"


def test_what_needs_a_person_is_a_matter_of_the_clock(page: Page) -> None:
    """The hub says why and from when until when; the page compares that with the clock, the most urgent first."""
    late = {"kind": "late", "rank": 7, "since": NOW - MINUTE, "until": None}
    asks = {"kind": "approval", "rank": 0, "since": NOW, "until": NOW + MINUTE}
    approvals = {"a": {"id": "a", "who": "ann", "need": asks}}
    cards = picture(task={"need": late}, approvals=approvals)
    kinds = "x[1].map((at) => m.needs(p, at).map(({ key }) => key))"
    moments = [NOW - 2 * MINUTE, NOW - MINUTE, NOW, NOW + MINUTE]
    found = ask(page, "model/needs.js", kinds, cards, moments)
    assert found == [[], ["late:t"], ["approval:a", "late:t"], ["late:t"]]


def test_what_an_agent_is_at_is_what_the_hub_says(page: Page) -> None:
    """A silent agent's need names the work that it holds, what it was at first, as far as the picture has it."""
    stale = {"kind": "stale", "rank": 4, "since": NOW, "until": None}
    cards = picture(agent={"live": False, "state": "stale", "need": stale, "holds": ["t", "gone"]})
    held = "m.needs(p, x[1]).map(({ kind, task, held }) => [kind, task.id, held.length])"
    assert ask(page, "model/needs.js", held, cards, NOW) == [["stale", "t", 1]]


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


def test_the_earlier_word_for_critical_still_filters(page: Page) -> None:
    """`priority:urgent` finds what is critical."""
    critical = picture(task={"priority": "critical"})
    matches = "m.matches(p.tasks.get('t'), m.parse(x[1]), p)"
    found = [
        ask(page, "model/filter.js", matches, critical, f"priority:{word}") for word in ("urgent", "low")
    ]
    assert found == [True, False]


FINISHED = {
    "today": ["2026-11-28T00:00", None], "7d": ["2026-11-22T00:00", None],
    "2026-10-24..2026-10-25": ["2026-10-24T00:00", "2026-10-26T00:00"], "2026-11-01..": ["2026-11-01T00:00", None],
    "..2026-11-01": ["1970-01-01T00:00Z", "2026-11-02T00:00"], "all": None, "": None, "..": None, "2026-13-01..": None,
    "yesterday": None,
}  # fmt: skip


def test_a_time_is_that_of_whole_days(page: Page) -> None:
    """What is finished is chosen by days of the browser's zone, the last one included, also when clocks change."""
    times = """((found) => found && [found.since, found.until === Infinity ? null : found.until])(
        m.finishedIn(x[0], Date.parse("2026-11-28T13:14:15")))"""
    for said, moments in FINISHED.items():
        expected = "x && x.map((each) => each && Date.parse(each))"
        assert inside(page, "model/filter.js", times, [said]) == inside(
            page, "model/filter.js", expected, moments
        )


@pytest.mark.parametrize(
    ("path", "area", "found"),
    [("a.py", None, True), ("b.py", None, False), ("api", "api", True), ("web", "web", False)],
)
def test_a_file_is_in_conflict_if_two_want_this_very_one(
    page: Page, path: str, area: str | None, found: bool
) -> None:
    """One conflict does not put the agent's other scopes in conflict."""
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
        inside(page, "i18n.js", "m.setLanguage(x)", language)
        for duration, written in spans.items():
            assert inside(page, "i18n.js", "m.span(x)", duration) == written
    assert inside(page, "i18n.js", "m.t('states.blocked')") == "受阻"
    assert page.locator("html").get_attribute("lang") == "zh-CN"
    inside(page, "i18n.js", "m.setLanguage('en')")
    assert inside(page, "i18n.js", "[m.t('states.blocked'), m.t('no.such'), m.number(12345)]") == [
        "Blocked", "no.such", "12,345",
    ]  # fmt: skip


def test_agents_whose_names_are_counted_are_told_apart(page: Page) -> None:
    """A tile has two letters of the name, or its first and the end of its number; counted names differ in colour."""
    names = ["ember", "ci-runner", "x", "coder-1", "coder-12", "rr8", "rr2024", "2024", "代码1号"]
    letters = "x.map((agent) => m.Tile({ agent }).props.children)"
    assert inside(page, "ui/marks.js", letters, names) == [
        "Em", "Cr", "X", "C1", "C12", "R8", "R24", "20", "代码",
    ]  # fmt: skip

    one, *others = inside(page, "ui/marks.js", "x.map(m.hueOf)", [f"rr{number}" for number in range(1, 9)])
    assert len({one, *others}) == 8
    assert all(min((hue - one) % 360, (one - hue) % 360) > 40 for hue in others[:3])


def test_ended_tasks_may_be_missing_where_there_are_as_many_as_a_picture_holds(page: Page) -> None:
    """Older tasks are offered from a thousand ended ones on; open ones are all there."""
    ended, begun = ({**TASK, "ended_at": NOW}, TASK)
    tasks = {str(number): ended for number in range(999)} | {"open": begun}

    assert not ask(page, "model/fold.js", "m.hasOlder(p)", {"tasks": tasks})
    assert ask(page, "model/fold.js", "m.hasOlder(p)", {"tasks": {**tasks, "last": ended}})
