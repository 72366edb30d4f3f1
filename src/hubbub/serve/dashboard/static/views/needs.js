// The first screen: everything that waits for a person, the most urgent first; and the card of each, which stands
// above the board too: what it is, since when, why, and what can be done about it.

import { html, signal, useRef, useState } from "../vendor/ui.js";
import { matches, parse } from "../model/filter.js";
import { needOf, settled, waiting } from "../model/needs.js";
import { currentTask, findTask, titleOf as cardTitle } from "../model/states.js";
import { could, isPending, loaded, may, moment, now, shown, standstill } from "../model/store.js";
import { act } from "../hub/actions.js";
import { read } from "../hub/endpoints.js";
import { list, span, t } from "../i18n.js";
import { ask } from "../shell/dialogs.js";
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

async function deny(approval) {
  if (!may.value.write || !(await act("deny", { approval: approval.id }))) return;
  toast(t("needs.denied", { who: approval.who }));
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
    { id: "deny", label: t("needs.deny"), run: () => deny(approval) },
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
      { id: "answer", key: "r", primary: true, label: t("inspector.answer"), run: () => writeTo(agent.name) },
      { id: "fleet", label: t("needs.open_agent"), href: href("fleet", { agent: agent.name }) },
    ]),
  letter: ({ letter }) => [
    { id: "reply", key: "r", primary: true, label: t("needs.reply"), run: () => reply(letter) },
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
    { id: "both", label: t("needs.message_both"), key: "r", run: () => writeTo(...stop.agents) },
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
    { id: "again", primary: true, label: t("needs.ask_again"), run: () => askAgain(need) },
    { id: "done", label: t("needs.done"), run: () => settle(need) },
    openLink(need.task),
  ],
  stale: ({ agent, task, held }) => [
    task && taskAction("reassign", task, { primary: true }),
    { id: "release", label: t("needs.release"), run: () => releaseAll(agent, held) },
    { id: "why", label: t("needs.why") },
    openLink(task),
  ],
  conflict: ({ overlap }) => [
    { id: "map", label: t("needs.open_map"), primary: true, href: href("files", { q: overlap.files[0] ?? "" }) },
    { id: "both", label: t("needs.message_both"), key: "r", run: () => writeTo(...overlap.agents) },
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

/** What can be done about a need; those who may only look are shown where to look. */
function actionsFor(need) {
  const all = ACTIONS_OF[need.kind](need).filter(Boolean);
  const able = could.value[need.approval?.right ?? "write"];
  return all.filter((each) => each.href || each.id === "why" || able || !each.run);
}

/** Ask for a text and send it to each of these agents. */
async function writeTo(...names) {
  const title = t("needs.write_title", { names: list(names) });
  const text = await ask({ title, label: t("needs.write_label"), action: t("needs.send") });
  if (text === null) return;
  const answers = await Promise.all(names.map((to) => act("send", { to, text })));
  const told = names.filter((_name, index) => answers[index]);
  if (told.length) toast(t("needs.sent", { names: list(told) }));
}

/** Answer a letter; who answers has read it. */
async function reply(letter) {
  const title = t("needs.reply_title", { name: senderOf(letter) });
  const text = await ask({ title, label: t("needs.write_label"), action: t("needs.send"), hint: letter.text });
  if (text === null) return;
  if (!(await act("send", { to: letter.sender, text, in_reply_to: letter.message_id }))) return;
  await act("acknowledge", { letter: letter.id });
  toast(t("needs.sent", { names: senderOf(letter) }));
}

const settle = ({ key }) => (settled.value = new Set([...settled.value, key]));

/** Tell whoever asked that an answer can be had now. */
async function askAgain(need) {
  const { who, shown: call } = need.approval;
  if (!(await act("send", { to: who, text: t("needs.ask_again_text", { call }) }))) return;
  settle(need);
  toast(t("needs.sent", { names: who }));
}

async function acknowledge(letter) {
  if (await act("acknowledge", { letter: letter.id })) toast(t("needs.acknowledged"));
}

/** Put everything that a silent agent holds back into the open queue. */
async function releaseAll(agent, held) {
  const title = t("needs.release_title", { name: agent.name, count: held.length });
  const reason = await ask({ title, label: t("inspector.release_label"), action: t("needs.release") });
  if (reason === null) return;
  const answers = await Promise.all(held.map((task) => act("release", { task: task.id, reason })));
  const count = answers.filter(Boolean).length;
  if (count) toast(t("needs.released", { count }));
}

// What a need says: `main` is what it is about, `aside` who, where and why.

const MOST_PLACES = 5;
const SEEN = 240; // characters of a command that are seen without asking for more

const number = (task) => html`<span class="ref mono">${refOf(task)}</span>`;
const title = (task) => html`<${Text} value=${cardTitle(task)} lines=${2} />`;
const name = (text) => html`<bdi>${text}</bdi>`;

/** Parts in one line, with dots between them; each dot stays with what follows, so that none ends a line. */
const line = (...parts) =>
  parts.filter(Boolean).map((part, index) => html`${index > 0 && DOT}${part}`);
const DOT = html`<span class="faint">${" ·\u00a0"}</span>`;

const WORDS_OF = {
  approval: ({ approval }) => ({
    main: html`<div class=${approval.said_node ? "need-asks amber" : "need-asks"}>${name(whoAsks(approval))}</div>
      <${Command} key=${approval.id} approval=${approval} />`,
    aside: html`${approval.reason && html`<div><span class="faint">${t("needs.because")}</span>${" "}
        <${Text} value=${reasonOf(approval)} lines=${3} /></div>`}
      ${approval.kind === "prompt" && html`<div class="faint">${t("needs.at_client")}</div>`}`,
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

/** Who wants to run what, and where; where no machine asks but somebody's own program, that it is only said. */
function whoAsks({ who, tool, node, said_node: said }) {
  if (!said) return t("needs.asks", { who, tool, node });
  return t(who === HUB ? "needs.asks_own" : "needs.asks_beside", { who, tool, node: said });
}

/**
 * The reasons that machines give most, in the language of the page; others in the machine's own words.
 * @type {[RegExp, string][]}
 */
const REASONS = [
  [/^it changes files$/, "needs.reason_changes"],
  [/^no rule is about this call of (?<tool>.+)$/, "needs.reason_no_rule"],
  [/^it reaches outside the folders that agents work in$/, "needs.reason_outside"],
  [/^it reads or changes a file that may hold secrets$/, "needs.reason_secret"],
  [/^it reads a folder with a file that may hold secrets$/, "needs.reason_secret_within"],
  [/^it reads all files in a folder$/, "needs.reason_all_files"],
  [/^it reads more files than can be looked at$/, "needs.reason_many_files"],
  [/^it dumps the environment$/, "needs.reason_environment"],
  [/^only running it tells which files it uses$/, "needs.reason_files_unknown"],
  [/^only running it tells which folder it runs in$/, "needs.reason_folder_unknown"],
  [/^it leads to (?<where>.+), in a private network$/, "needs.reason_private"],
  [/^the rule (?<rule>.+) has it asked about$/, "needs.reason_rule"],
  [/^only running it tells whether the rule (?<rule>.+) is about it$/, "needs.reason_rule_unknown"],
  [/^no reason was given$/, "needs.reason_none"],
  [/^(?<client>.+) asks at its own prompt$/, "needs.reason_prompt"],
  [/^(?<client>.+) asks at its own prompt; the agent says: (?<why>[^]+)$/, "needs.reason_prompt_why"],
];

/** Why people are asked. */
function reasonOf({ reason, dangerous }) {
  for (const [said, words] of REASONS) {
    const found = said.exec(reason);
    if (found) return t(words, found.groups);
  }
  return dangerous ? t("needs.reason_floor", { said: reason }) : reason;
}

WORDS_OF.expired = WORDS_OF.approval;

/** What is asked for: its beginning, and all of it, which only the hub has, for who wants to read it first. */
function Command({ approval: { id, shown: beginning } }) {
  const [whole, setWhole] = useState(null);
  const look = () => read.approval(id).then(({ approval }) => setWhole(approval.shown),
    () => toast(t("errors.not_loaded"), { kind: "away" }));
  return html`
    <pre class=${whole === null ? "need-command" : "need-command is-whole"} tabindex="0"><bdi
      class="mono">${whole ?? beginning}</bdi></pre>
    ${whole === null && beginning.length > SEEN && html`
      <${Button} small kind="quiet" icon="chevron-down" onClick=${look}>${t("needs.whole")}<//>`}`;
}

/** What the same caller asked before, for who wants to see that before they answer. */
function Lately({ approval: { id } }) {
  const [found, setFound] = useState(null);
  const look = () => read.approval(id).then(({ lately }) => setFound(lately),
    () => toast(t("errors.not_loaded"), { kind: "away" }));
  if (found === null) return html`<${Button} small kind="quiet" icon="clock" onClick=${look}>${t("needs.lately")}<//>`;
  if (!found.length) return html`<div class="faint">${t("needs.lately_nothing")}</div>`;
  return html`
    <ul class="need-lately" aria-label=${t("needs.lately")}>
      ${found.map((each) => html`<li key=${each.id}>
        ${line(html`<${Ago} at=${each.created_at} />`, t(`needs.was_${each.status}`), name(each.tool))}
        <span class="mono"> <${Text} value=${each.shown} lines=${1} /></span>
      </li>`)}
    </ul>`;
}

/** @param {import("../model/needs.js").Need} need @param {import("../model/fold.js").Picture} picture */
const wordsOf = (need, picture) => WORDS_OF[need.kind](need, picture);

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
 * @param {{need: import("../model/needs.js").Need, small?: boolean}} props  `small`: in the row above the board
 */
export function NeedCard({ need, small = false }) {
  const [Why, setWhy] = useState(null);
  const { main, aside } = wordsOf(need, shown.value);
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
      ${need.kind === "approval" && !small && html`<${Lately} key=${need.key} approval=${need.approval} />`}
      <${Actions} need=${need} busy=${busy} onWhy=${() => explain(Why, setWhy)} asked=${Why !== null} small=${small} />
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

function Actions({ need, busy, onWhy, asked, small }) {
  const all = actionsFor(need);
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
