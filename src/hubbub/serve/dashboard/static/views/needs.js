// The first screen: everything that waits for a person, the most urgent first; and the card of each, which stands
// above the board too: what it is, since when, why, and what can be done about it.

import { html, signal, useRef, useState } from "../vendor/ui.js";
import { matches, parse } from "../model/filter.js";
import { needOf, settled, waiting } from "../model/needs.js";
import { currentTask, findTask, titleOf as cardTitle } from "../model/states.js";
import { could, isPending, loaded, may, moment, now, shown, standstill } from "../model/store.js";
import { act } from "../hub/actions.js";
import { list, span, t } from "../i18n.js";
import { useKey, useList } from "../shell/keyboard.js";
import { lazy, LazyView } from "../shell/lazy.js";
import { href, route } from "../shell/router.js";
import { Card } from "../ui/card.js";
import { Button, Icon } from "../ui/controls.js";
import { Empty, Skeleton } from "../ui/empty.js";
import { toast } from "../ui/overlays.js";
import { Ago, Text, Until } from "../ui/text.js";
import { NothingWaits } from "./nothing_waits.js";
import { HUB, receiverOf, senderOf } from "./deliveries.js";
import { labelOf, perform, refOf, TASK_ACTIONS, taskHref } from "./task/actions.js";

// Saying yes. Where a machine's rule calls a call dangerous, one press is not enough: the first one arms the button.

const ARMED_FOR = 8_000; // milliseconds: a yes that was half said is forgotten

/** The id of the approval that a second press would approve. */
const armed = signal(null);
let timer;

/** Approve, or arm what is dangerous; says whether it was approved. */
async function approve(approval) {
  if (!may.value.write) return false;
  if (approval.dangerous && armed.value !== approval.id) {
    armed.value = approval.id;
    clearTimeout(timer);
    timer = setTimeout(() => (armed.value = null), ARMED_FOR);
    return false;
  }
  armed.value = null;
  if (!(await act("approve", { approval: approval.id }))) return false;
  toast(t("needs.approved", { who: approval.who }));
  return true;
}

// What a person can do about each kind of need, the best first. Each is `{id, label, run | href}` and, for some,
// the `key` that does it and what the button looks like.

const openLink = (task) => task && { id: "open", label: t("needs.open", { ref: refOf(task) }), href: taskHref(task) };
const taskAction = (id, task, more = {}) => {
  const label = labelOf(TASK_ACTIONS.find((each) => each.id === id), task);
  return { id, label, run: () => perform(id, task), ...more };
};

const ACTIONS_OF = {
  approval: ({ approval, task }) => [
    {
      id: "approve", key: "a", primary: true, run: () => approve(approval),
      label: armed.value === approval.id ? t("needs.approve_sure") : t("needs.approve"),
      danger: armed.value === approval.id,
    },
    { id: "deny", label: t("needs.deny"), run: () => say("deny", approval) },
    openLink(task),
  ],
  question: ({ task, agent }) => (task
    ? [
      taskAction("answer", task, { key: "r", primary: true }),
      { id: "why", label: t("needs.why") },
      taskAction("reassign", task),
      openLink(task),
    ]
    : [
      { id: "answer", key: "r", primary: true, label: t("inspector.answer"), run: () => say("writeTo", agent.name) },
      { id: "fleet", label: t("needs.open_agent"), href: href("fleet", { agent: agent.name }) },
    ]),
  letter: ({ letter }) => [
    { id: "reply", key: "r", primary: true, label: t("needs.reply"), run: () => say("reply", letter) },
    { id: "done", label: t("needs.done"), run: () => acknowledge(letter) },
    openLink(findTask(letter.in_reply_to ?? letter.thread ?? "", shown.value)),
  ],
  review: ({ task }) => [
    taskAction("approve_work", task, { key: "a", primary: true }),
    taskAction("request_changes", task, { key: "r" }),
    openLink(task),
  ],
  stopped: ({ stop }) => [
    { id: "lift", primary: true, label: t("needs.lift"), run: () => act("liftStop", { stop: stop.id }) },
    { id: "both", label: t("needs.message_both"), key: "r", run: () => say("writeTo", ...stop.agents) },
    { id: "threads", label: t("needs.open_threads"), href: href("messages", { agent: stop.agents[0] }) },
  ],
  budget: ({ budget }) => [
    { id: "raise", primary: true, label: t("needs.budget_raise"), href: href("cost", { raise: budget.id }) },
  ],
  paused: ({ account }) => [
    { id: "accounts", primary: true, label: t("needs.open_accounts"), href: href("fleet") },
    { id: "resume", label: t("needs.resume", { name: account.name }),
      run: () => act("resumeAccount", { account: account.name }) },
  ],
  expired: (need) => [
    { id: "again", primary: true, label: t("needs.ask_again"), run: () => say("askAgain", need) },
    { id: "done", label: t("needs.done"), run: () => settle(need) },
    openLink(need.task),
  ],
  stale: ({ agent, task, held }) => [
    task && taskAction("reassign", task, { primary: true }),
    { id: "release", label: t("needs.release"), run: () => say("releaseAll", agent, held) },
    { id: "why", label: t("needs.why") },
    openLink(task),
  ],
  conflict: ({ overlap }) => [
    { id: "map", label: t("needs.open_map"), primary: true, href: href("files", { q: overlap.files[0] ?? "" }) },
    { id: "both", label: t("needs.message_both"), key: "r", run: () => say("writeTo", ...overlap.agents) },
  ],
  failed: ({ task }) => [
    taskAction("retry", task, { primary: true }), taskAction("reassign", task), openLink(task),
  ],
  late: ({ task }) => [
    { id: "why", label: t("needs.why"), primary: true },
    taskAction("reassign", task),
    taskAction("cancel", task),
    openLink(task),
  ],
};

/** One of `replies`, fetched when it is asked for. */
const say = async (name, ...given) => (await lazy("replies"))?.[name](...given);

const settle = ({ key }) => (settled.value = new Set([...settled.value, key]));

async function acknowledge(letter) {
  if (await act("acknowledge", { letter: letter.id })) toast(t("needs.acknowledged"));
}

/** What can be done about a need; those who may only look are shown where to look. */
function actionsFor(need) {
  const all = ACTIONS_OF[need.kind](need).filter(Boolean);
  const able = could.value[need.approval?.right ?? "write"];
  return all.filter((each) => each.href || each.id === "why" || able || !each.run);
}

// What a need says: `main` is what it is about, `aside` who, where and why.

const MOST_PLACES = 5;

const number = (task) => html`<span class="ref mono">${refOf(task)}</span>`;
const title = (task) => html`<${Text} value=${cardTitle(task)} lines=${2} />`;
const name = (text) => html`<bdi>${text}</bdi>`;

/** Parts in one line, with dots between them; each dot stays with what follows, so that none ends a line. */
const line = (...parts) =>
  parts.filter(Boolean).map((part, index) => html`${index > 0 && DOT}${part}`);
const DOT = html`<span class="faint">${" ·\u00a0"}</span>`;

const WORDS_OF = {
  approval: ({ approval }, _picture, small) => ({
    main: html`<${LazyView} path="approval" approval=${approval} small=${small} />`,
  }),
  question: ({ task, agent }) => ({
    main: task ? title(task) : html`<${Text} value=${agent.doing || t("needs.asks_nothing")} lines=${3} />`,
    aside: html`${line(name(task?.assignee ?? agent.name), task && number(task))}
      ${task && html`<div class="amber"><${Text} value=${task.note || agent?.doing || t("needs.no_reason")}
        lines=${3} /></div>`}`,
  }),
  letter: ({ letter }) => ({
    main: html`<${Text} value=${letter.text} lines=${4} />`,
    aside: html`<bdi>${letter.recipient === HUB && !letter.addressee ? t("needs.from", { name: senderOf(letter) })
      : t("needs.from_to", { name: senderOf(letter), whom: receiverOf(letter) })}</bdi>`,
  }),
  review: ({ task }) => ({
    main: title(task),
    aside: line(number(task), task.assignee && name(task.assignee)),
  }),
  stopped: ({ stop }) => ({ main: name(t(`why.loop_${stop.kind}`, { who: list(stop.agents), times: stop.count })) }),
  budget: ({ budget }) => ({ main: name(t(`needs.budget_of_${budget.kind}`, { label: budget.label })) }),
  paused: (_need, picture) => ({ main: html`${firstAfterPause(picture)}` }),
  stale: ({ agent, held }) => ({
    main: line(name(agent.name), t("needs.holds", { count: held.length })),
    aside: held.slice(0, 3).map((task) => html`
      <div><span class="ref mono faint">${refOf(task)}</span> <${Text} value=${task.title} lines=${1} /></div>`),
  }),
  conflict: ({ overlap }, picture) => ({
    main: html`<span class="mono"><${Text} value=${places(overlap)} lines=${2} /></span>`,
    aside: whoMeets(overlap.agents, picture),
  }),
  failed: ({ task, agent }) => ({
    main: title(task),
    aside: html`<div class="need-error"><${Text} value=${task.note || t("needs.no_error")} lines=${4} /></div>
      ${line(task.assignee && name(task.assignee), number(task), agent?.machine && name(agent.machine))}`,
  }),
  late: ({ task }) => ({
    main: title(task),
    aside: line(number(task), task.assignee ? name(task.assignee) : t("board.unassigned"),
      html`<span>${lateBecause(task)}</span>`),
  }),
};

WORDS_OF.expired = WORDS_OF.approval;

/** What two agents both work on: files, else areas. */
const places = ({ files, areas }) => (files.length ? files : areas).slice(0, MOST_PLACES).join(", ");

/** Two agents, each with the task that it is at. */
function whoMeets(agents, picture) {
  const said = agents.map((agent) => {
    const task = currentTask(agent, picture);
    return task ? `${agent} ${refOf(task)}` : agent;
  });
  return html`<bdi>${list(said)}</bdi>`;
}

/** When the first of the paused accounts goes on. */
function firstAfterPause({ accounts }) {
  const ends = [...accounts.values()].map(({ paused_until: until }) => until).filter((until) => until !== null);
  if (!ends.length) return t("needs.until_resumed");
  return html`${t("needs.first_goes_on")} <${Until} at=${Math.min(...ends)} />`;
}

/** Why a task is late, in one short sentence. */
function lateBecause(task) {
  const age = span(now.value - (task.state === "running" ? task.updated_at : task.created_at));
  if (task.state === "running") return t("needs.late_silent", { age });
  if (task.state === "queued") return t("needs.late_free", { age });
  return t("needs.late_unread", { age, name: task.assignee });
}

// Something that needs a person: what it is, since when, why, and what can be done about it.

const ICONS = {
  approval: "shield-check", question: "hand", letter: "mail", review: "eye", stopped: "rotate-ccw", budget: "timer",
  paused: "pause",
  expired: "clock", stale: "wifi-off", conflict: "git-branch", failed: "circle-x", late: "clock",
};
const TONES = { approval: "amber", question: "amber" };

/**
 * @param {{need: import("../model/needs.js").Need, small?: boolean, isOpen?: boolean}} props  `small`: in the row above
 *   the board; `isOpen`: its task is
 */
export function NeedCard({ need, small = false, isOpen = false }) {
  const [Why, setWhy] = useState(null);
  const { main, aside } = WORDS_OF[need.kind](need, shown.value, small);
  const title = t(`needs.${titleOf(need)}`);
  const busy = isPending(need.of);
  return html`
    <${Card} item=${`need:${need.key}`} tone=${TONES[need.kind]}
      class=${`need is-${need.kind}${small ? " is-small" : ""}`} pending=${busy}
      role="group" aria-label=${title}>
      <div class="need-head">
        <span class="need-icon"><${Icon} name=${ICONS[need.kind]} size=${15} /></span>
        <span class="strong">${title}</span>
        <span class="end meta muted">${need.kind === "approval"
          ? html`${t("needs.left")} <${Until} at=${need.approval.expires_at} />`
          : html`<${Ago} at=${need.since} />`}</span>
      </div>
      <div class="need-main">${main}</div>
      ${aside && html`<div class="need-aside">${aside}</div>`}
      <${Actions} need=${need} busy=${busy} onWhy=${() => explain(Why, setWhy)} asked=${Why !== null} small=${small}
        isOpen=${isOpen} />
      ${Why && html`<${Why} of=${whyOf(need)} key=${need.key} />`}
    <//>`;
}

/** The account of why, fetched when it is first asked for; asked again, it goes. */
async function explain(open, setWhy) {
  const found = open ? null : await lazy("why");
  setWhy(() => found?.Why ?? null);
}

/** A blocked task is told apart from an agent that asks. @param {import("../model/needs.js").Need} need */
function titleOf({ kind, task, approval, budget }) {
  if (kind === "budget" && budget.level === "spent") return "title_budget_spent";
  if (kind === "question" && task?.state === "blocked") return "title_blocked";
  if (kind === "approval" && approval.dangerous) return "title_dangerous";
  if (kind === "approval" && approval.kind === "prompt") return "title_prompt";
  return `title_${kind}`;
}

/** What is asked about: the task, or who holds it. @param {import("../model/needs.js").Need} need */
function whyOf({ task, agent }) {
  return task ? { ref: task.number, kind: "task" } : { ref: agent.name, kind: "agent" };
}

function Actions({ need, busy, onWhy, asked, small, isOpen }) {
  const all = actionsFor(need).filter(({ id }) => !(isOpen && id === "open"));
  const shownHere = small ? all.filter((each) => each.id !== "why" || each.primary).slice(0, 3) : all;
  return html`
    <div class="need-actions">
      ${shownHere.map(({ id, label, run, key, primary, danger, href }) => html`
        <${Button} key=${id} href=${href} keyHint=${key?.toUpperCase()} data-act=${id}
          kind=${danger ? "danger" : primary ? "primary" : "plain"} 
          disabled=${Boolean(run && (standstill.value || busy))}
          title=${run && standstill.value ? t(standstill.value) : undefined}
          aria-expanded=${id === "why" ? asked : undefined} onClick=${id === "why" ? onWhy : run}>${label}<//>`)}
    </div>`;
}

// What the keys do to the need whose card has the focus: `a` approves, `r` replies, and the buttons do the rest.

/** Without a card in focus, `a` goes to the first approval instead of answering one that nobody looks at. */
export function useNeedKeys() {
  useKey("a", "needs.key_approve", (item) => press("a", item) || (item === null && focusFirst()) || false);
  useKey("r", "needs.key_reply", (item) => press("r", item));
  useKey("Enter", "keys.open", openNeed, { group: "move" });
}

/** Goes from the card to what it is about; a letter that is about nothing else is answered. */
function openNeed(item, { target }) {
  if (!item?.startsWith("need:") || target.dataset.item !== item) return false;
  const way = target.querySelector(".need-actions a") ?? target.querySelector("[data-act=reply]");
  return way ? way.click() : false;
}

function press(key, item) {
  if (!item?.startsWith("need:") || !may.value.write) return false;
  const need = needOf(item.slice(5));
  const acting = need && !isPending(need.of) && actionsFor(need).find((each) => each.key === key);
  if (!acting) return false;
  acting.run();
  if (armed.value && armed.value === need.approval?.id) buttonOf(item)?.focus(); // so that Enter is the second press
  return true;
}

/** @returns {HTMLElement|null} */
const buttonOf = (item) => document.querySelector(`[data-item="${CSS.escape(item)}"] [data-act="approve"]`);

function focusFirst() {
  /** @type {HTMLElement|null} */
  const first = document.querySelector("[data-item^='need:approval']");
  first?.focus();
  first?.scrollIntoView({ block: "nearest", inline: "nearest" });
  return Boolean(first);
}

/** The kinds by urgency: somebody is held up; work is in danger or lost; it takes longer than it should. */
const GROUPS = [
  { name: "held_up", kinds: ["approval", "question", "letter", "review", "stopped", "budget", "paused",
    "expired"] },
  { name: "in_danger", kinds: ["stale", "conflict", "failed"] },
  { name: "late", kinds: ["late"] },
];
const AT_FIRST = 30;

export function View() {
  const page = useRef(null);
  useList(page);
  useNeedKeys();
  const all = asked(waiting.value, route.value.query.q, shown.value);
  return html`
    <div class="view needs" ref=${page}>
      ${!loaded.value ? html`<${Skeleton} lines=${6} />`
        : all.length ? GROUPS.map(({ name, kinds }) => html`
            <${Group} key=${name} name=${name} needs=${all.filter((need) => kinds.includes(need.kind))} />`)
          : html`<${Nothing} />`}
      ${isYoung() && html`<${LazyView} path="first_steps" alone=${!all.length} />`}
    </div>`;
}

/** Those that the filter asks for: by their task, else by their agent, else by the files that two share. */
function asked(needs, typed, picture) {
  if (!typed) return needs;
  const query = parse(typed);
  return needs.filter(({ task, agent, overlap }) => {
    const card = task ?? agent ?? (overlap && { path: overlap.files.join("\n"), agents: overlap.agents });
    return card && matches(card, query, picture);
  });
}

function Group({ name, needs }) {
  const [most, setMost] = useState(AT_FIRST);
  if (!needs.length) return null;
  const title = t(`needs.group_${name}`);
  return html`
    <section class="need-group" aria-label=${title}>
      <h2 class="section-title">${title} <small class="num">${needs.length}</small></h2>
      <div class="need-list">
        ${needs.slice(0, most).map((need) => html`<${NeedCard} key=${need.key} need=${need} />`)}
      </div>
      ${needs.length > most && html`
        <${Button} kind="quiet" onClick=${() => setMost(most + AT_FIRST)}>
          ${t("needs.more", { count: needs.length - most })}<//>`}
    </section>`;
}

const FEW = 10; // agents: a project with more has taken its first steps, whether or not two have talked

/** Whether this may be the first visit: then the first steps are shown, and not that there is nothing. */
const isYoung = () => loaded.value && !moment.value && !route.value.query.q && shown.value.agents.size <= FEW;

/** Nobody waits. */
function Nothing() {
  if (route.value.query.q) {
    return html`<${Empty} icon="filter" title=${t("needs.filtered_title")} text=${t("needs.filtered_text")} />`;
  }
  return isYoung() ? null : html`<${NothingWaits} />`;
}
