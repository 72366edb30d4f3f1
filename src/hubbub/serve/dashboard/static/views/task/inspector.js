// One task at the side: what can be done to it, its life so far, why it is as it is, what was said, what happened.

import { html, useEffect, useMemo, useRef, useState } from "../../vendor/ui.js";
import { toggle } from "../../model/filter.js";
import { waiting } from "../../model/needs.js";
import { childrenOf, currentTask, findTask, neededBy, titleOf } from "../../model/states.js";
import { arrived, could, isPending, moment, project, shown, standstill } from "../../model/store.js";
import { act, sentence } from "../../hub/actions.js";
import { read } from "../../hub/endpoints.js";
import { t } from "../../i18n.js";
import { href, set } from "../../shell/router.js";
import { Button, Icon, IconButton, Menu, Tabs } from "../../ui/controls.js";
import { CopyButton, Empty, Skeleton } from "../../ui/empty.js";
import { dismissDraft, onCommandEnter, useDraft } from "../../ui/form.js";
import { Markdown } from "../../ui/markdown.js";
import { Glyph, Paused, StateWord, Tile } from "../../ui/marks.js";
import { toast } from "../../ui/overlays.js";
import { Ago, Clock, Text } from "../../ui/text.js";
import { called, Deliveries, HUB, receiverOf, senderOf } from "../deliveries.js";
import { NeedCard, useNeedKeys } from "../needs.js";
import { actionsOn, labelOf, perform, Priority, refOf, taskHref, useTaskKeys } from "./actions.js";
import { Attempts, Events, Rail } from "./history.js";
import { Proof } from "./proof.js";
import { Why } from "./why.js";

// What is too large for the picture: texts, thread, events, artifacts of one task. Fetched when the task is opened,
// and again when the log tells of it; while replaying, cut at the moment.

const PAUSE = 250; // milliseconds: a burst of events is one fetch
const NOTHING = {
  status: "loading", task: null, messages: [], activity: [], artifacts: [], deliveries: [],
  children: [], needs: [], needed_by: [], at: 0,
};

/**
 * @param {string} id
 * @returns {object} what `GET /tasks/{id}` tells, activity oldest first; `status` loading, there or absent; `at` rises
 *   with each fetch
 */
function useDetails(id) {
  const [held, setHeld] = useState({ of: id, ...NOTHING });
  const whole = held.of === id ? held : { of: id, ...NOTHING };
  const known = useRef(whole);
  known.current = whole;
  useEffect(() => keepFresh(id, known, setHeld), [id]);
  return useMemo(() => upTo(whole, moment.value), [whole, moment.value]);
}

/** Fetch now, and again a moment after anything about it happened; returns how to stop. */
function keepFresh(id, known, setHeld) {
  const abort = new AbortController();
  let timer;
  let fetches = 0;
  let busy = false;
  let isStale = false; // something happened while the answer was on its way
  const plan = () => (timer ??= setTimeout(load, PAUSE));
  const load = async () => {
    timer = undefined;
    [busy, isStale] = [true, false];
    const answer = await fetched(id, abort.signal);
    if (abort.signal.aborted) return;
    busy = false;
    setHeld({ of: id, ...NOTHING, ...answer, at: ++fetches });
    if (isStale) plan();
  };
  const stop = arrived.subscribe((activities) => {
    const { task } = known.current;
    if (!activities.some((each) => !task || concerns(each, known.current))) return;
    if (busy) isStale = true;
    else plan();
  });
  load();
  return () => {
    abort.abort();
    clearTimeout(timer);
    stop();
  };
}

async function fetched(id, signal) {
  try {
    const answer = await read.task(id);
    return { ...answer, activity: answer.activity.toReversed(), status: "there" };
  } catch (refused) {
    if (!signal.aborted && refused.status === 0) return { status: "unreachable" };
    return { status: "absent" };
  }
}

/** Whether it is about the task, one of its messages, or a new answer to either. */
function concerns({ task_id: taskId, message_id: messageId, detail }, { task, messages }) {
  const about = [taskId, messageId, detail?.in_reply_to].filter(Boolean);
  return about.includes(task.id) || messages.some(({ id }) => about.includes(id));
}

/** What of it was there at a moment. */
function upTo(details, moment) {
  if (!moment || details.status !== "there") return details;
  const before = ({ created_at: at }) => at <= moment.at;
  return {
    ...details,
    messages: details.messages.filter(before),
    artifacts: details.artifacts.filter(before),
    activity: details.activity.filter((each) => each.id <= moment.id),
    task: null,
  };
}

// The head of the inspector: which task, how it is, and what can be done to it.

const AT_HAND = 3; // buttons; the others are in the menu

/** What others can follow, wherever they are signed in to this hub. */
const linkTo = ({ number }) => `${location.origin}/t/${number}?project=${encodeURIComponent(project.value)}`;

/** Without a task: only the button that closes. */
function Head({ task, state, picture }) {
  return html`
    <header class="inspector-head">
      <div class="row">
        ${task && html`<span class="ref mono muted">${refOf(task)}</span><${StateWord} state=${state} />
          <${Paused} task=${task} picture=${picture} />`}
        <span class="end row-tight">
          ${task && html`<${CopyButton} key=${task.id} icon="link" label=${t("inspector.copy_link")}
            text=${linkTo(task)} />`}
          <${IconButton} icon="x" label=${t("dialogs.close")} onClick=${() => set({ task: null })} /></span>
      </div>
      ${task && html`<h2><${Text} value=${titleOf(task)} lines=${4} /></h2>
        <${Doings} task=${task} />`}
    </header>`;
}

const actionsFor = (task) => (could.value.write ? actionsOn(task) : []);

function Doings({ task }) {
  const busy = isPending(`tasks\n${task.id}`);
  return html`
    <div class="row wrap" role="group" aria-label=${t("inspector.actions")} aria-busy=${busy ? "true" : undefined}>
      ${actionsFor(task).slice(0, AT_HAND).map((action, index) => html`
        <${Button} key=${action.id} kind=${isBest(action, index) ? "primary" : "plain"} small
          disabled=${busy || Boolean(standstill.value)} title=${standstill.value ? t(standstill.value) : undefined}
          onClick=${() => perform(action.id, task)}>${labelOf(action, task)}<//>`)}
      <${More} task=${task} />
    </div>`;
}

/** What is done less often. */
function More({ task }) {
  const items = actionsFor(task).slice(AT_HAND).map((action) => ({
    label: labelOf(action, task), icon: action.icon, danger: action.danger, run: () => perform(action.id, task),
  }));
  if (!items.length) return null;
  return html`<${Menu} bare small icon="ellipsis" label=${t("inspector.more")} items=${items}
    disabled=${Boolean(standstill.value)} />`;
}

/** What helps a task on stands out; handing it to somebody else does not. */
const isBest = ({ id }, index) => index === 0 && ["approve_work", "answer", "retry"].includes(id);

// What is known of a task in a word each: who has it, who wants it, what it needs, what it is about.

const MOST_LINKS = 20;

/** @param {{task: object, details: object, picture: object}} props */
function Facts({ task, details, picture }) {
  const needs = linked(task.depends_on, details.needs, picture);
  const children = linked(childrenOf(task, picture).map(({ id }) => id), details.children, picture);
  const waiting = linked(neededBy(task, picture).map(({ id }) => id), details.needed_by, picture);
  const parent = task.parent_id && findTask(task.parent_id, picture);
  return html`
    <section class="inspector-part" aria-label=${t("inspector.facts")}>
      <dl class="facts">
        ${fact("agent", html`<${Agent} task=${task} picture=${picture} />`)}
        ${fact("from", html`<bdi>${senderOf(task)}</bdi>`)}
        ${details.task?.edited_by && fact("edited_by", html`<bdi>${called(details.task.edited_by)}</bdi>`)}
        ${fact("priority", html`<${Priority} priority=${task.priority} always />`)}
        ${fact("needs", needs.length ? links(needs, picture) : nothing())}
        ${waiting.length > 0 && fact("needed_by", links(waiting, picture))}
        ${parent && fact("parent", links([parent], picture))}
        ${children.length > 0 && fact("children", links(children, picture))}
        ${task.area && fact("area", html`<${Area} slug=${task.area} />`)}
        ${task.issue && fact("issue", html`<bdi class="mono">${task.issue}</bdi>`)}
        ${mayExpire(task) && fact("expires", html`<${Clock} at=${task.expires_at} />`)}
      </dl>
    </section>`;
}

const fact = (key, value) => html`<dt key=${key}>${t(`inspector.fact_${key}`)}</dt><dd>${value}</dd>`;

const nothing = () => html`<span class="faint">${t("inspector.needs_nothing")}</span>`;
const mayExpire = (task) => task.expires_at && !task.started_at && !task.ended_at;

function Area({ slug }) {
  return html`<a class="link" href=${href("board", { q: toggle("", "area", slug) })}><bdi>${slug}</bdi></a>`;
}

function Agent({ task, picture }) {
  if (!task.assignee) return html`<span class="muted">${t("board.unassigned")}</span>`;
  const agent = picture.agents.get(task.assignee);
  const at = [agent?.runtime, agent?.machine && t("inspector.on_machine", { machine: agent.machine })].filter(Boolean);
  return html`<span class="row">
    <${Tile} small agent=${task.assignee} picture=${picture} />
    <a class="strong" href=${href("fleet", { agent: task.assignee })}><bdi>${task.assignee}</bdi></a>
    ${at.length > 0 && html`<bdi class="muted clip">${at.join(" ")}</bdi>`}</span>`;
}

/** The tasks of these ids, as the picture has them, else as the hub told; what neither knows is left out. */
function linked(ids, told, picture) {
  const known = new Map(told.map((brief) => [brief.id, brief]));
  const all = [...new Set([...ids, ...known.keys()])];
  return all.map((id) => picture.tasks.get(id) ?? known.get(id)).filter(Boolean);
}

function links(tasks, picture) {
  return html`<ul class="stack links">${tasks.slice(0, MOST_LINKS).map((task) => html`
    <li key=${task.id}><a class="row" href=${taskHref(task)}>
      <${Glyph} state=${task.state} size=${14} /><span class="ref mono">${refOf(task)}</span>
      <span class="muted clip"><${Text} value=${task.title} /></span></a></li>`)}
    ${tasks.length > MOST_LINKS && html`
      <li class="faint">${t("inspector.and_more", { count: tasks.length - MOST_LINKS })}</li>`}
  </ul>`;
}

/** What is to be done, as it was written; what the title says already is not said again. */
function Description({ details, title }) {
  const { task } = details;
  if (!task) return null;
  return html`
    ${task.description_html && task.description !== title && html`
      <section class="inspector-part"><h3>${t("inspector.description")}</h3>
        <${Markdown} html=${task.description_html} /></section>`}
    ${task.context_html && html`<details class="inspector-part form-more"><summary>${t("inspector.context")}</summary>
      <${Markdown} html=${task.context_html} /></details>`}`;
}

// Which files a task is about: those that were changed for it, else those where its holder says that it works; and
// who else works on them.

const MOST = 30;

/** @param {{task: object, picture: object}} props */
function Files({ task, picture }) {
  const holder = picture.agents.get(task.assignee);
  const declared = holder?.live && currentTask(task.assignee, picture) === task ? holder.files : null;
  const files = task.files ?? declared ?? [];
  if (!files.length) return null;
  const others = othersOn(task.assignee, picture);
  return html`
    <section class="inspector-part">
      <h3>${t("inspector.files")}
        <small>${task.files ? t("inspector.files_changed") : t("inspector.files_declared")}</small></h3>
      <ul class="stack scope-files">
        ${files.slice(0, MOST).map((file) => html`
          <li key=${file}><${File} path=${file} others=${others.get(file)} /></li>`)}
        ${files.length > MOST && html`
          <li class="faint">${t("inspector.and_more", { count: files.length - MOST })}</li>`}
      </ul>
    </section>`;
}

function File({ path, others }) {
  return html`
    <a class="row" href=${href("files", { q: path })}>
      <${Icon} name="file-code" size=${14} /><bdi class="mono">${path}</bdi></a>
    ${others && html`<div class="amber small"><${Icon} name="triangle-alert" size=${13} />
      ${t("inspector.also", { names: [...others].join(", ") })}</div>`}`;
}

/** File → the other agents who said that they work on it. */
function othersOn(name, picture) {
  const found = new Map();
  for (const { agents, files } of picture.overlaps.values()) {
    if (!agents.includes(name)) continue;
    const other = agents.find((each) => each !== name);
    for (const file of files) found.set(file, (found.get(file) ?? new Set()).add(other));
  }
  return found;
}

// What was said about a task: who to whom, and how far each message got.

/** @param {{details: object, picture: object}} props */
function Thread({ details, picture }) {
  const { messages } = details;
  return html`
    <section class="inspector-part">
      <h3>${t("inspector.thread")} <small class="num">${messages.length}</small></h3>
      ${messages.length === 0 && html`<p class="faint">${t("inspector.thread_empty")}</p>`}
      <ol class="thread">
        ${messages.map((message) => html`<${Message} key=${message.id} message=${message} picture=${picture} />`)}
      </ol>
    </section>`;
}

function Message({ message, picture }) {
  const { addressee, body, body_html: rendered, deliveries = [], created_at: at } = message;
  const who = senderOf(message);
  return html`
    <li class="thread-message">
      <${Tile} small agent=${who} picture=${picture} />
      <div class="grow">
        <div class="thread-head"><bdi class="strong">${who}</bdi>
          <bdi class="muted">${t("inspector.to_whom", { name: receiverOf(message) })}</bdi>
          <span class="faint"><${Ago} at=${at} /></span></div>
        <div class="thread-body">
          ${rendered ? html`<${Markdown} html=${rendered} />` : html`<${Text} value=${body} />`}</div>
        <${Deliveries} deliveries=${deliveries} addressee=${addressee} at=${moment.value?.at} />
      </div>
    </li>`;
}

// Saying something about a task to whoever has it, at the foot of the inspector.

/** @param {{task: object}} props */
function Reply({ task }) {
  const [text, setText] = useState("");
  const form = useRef(null);
  const draft = `task:${task.id}`;
  useDraft(form, draft);
  const [busy, setBusy] = useState(false);
  if (!could.value.write) return null;
  const whom = task.assignee ?? (task.sender === HUB ? null : task.sender);
  const label = whom ? t("inspector.message_to", { name: whom }) : t("inspector.note_on");
  const send = async () => {
    if (!text.trim() || busy) return;
    setBusy(true);
    const answer = await act("comment", { task: task.id, text: text.trim() });
    setBusy(false);
    if (!answer) return;
    setText("");
    dismissDraft(draft);
    toast(answer.message ? t("inspector.answer_done", { ref: refOf(task), to: "" }) : t("inspector.noted"));
  };
  return html`
    <form class="inspector-reply" ref=${form} onSubmit=${(event) => (event.preventDefault(), send())}>
      <textarea class="input" rows="1" aria-label=${label} placeholder=${label} value=${text} maxlength="65536"
        disabled=${Boolean(moment.value)} onInput=${(event) => setText(event.currentTarget.value)}
        onKeyDown=${onCommandEnter}></textarea>
      <${IconButton} type="submit" icon="corner-down-left" label=${t("inspector.send")}
        disabled=${Boolean(standstill.value) || busy || !text.trim()} />
    </form>`;
}

// How a task ended, as its holder told; and the whole of it as the hub keeps it.

/** @param {{details: object}} props */
function Result({ details: { task } }) {
  if (!task?.result) return null;
  return html`<section class="inspector-part"><h3>${t("inspector.result")}</h3>
    ${task.result_html ? html`<${Markdown} html=${task.result_html} />`
      : html`<pre class="plain"><bdi>${task.result}</bdi></pre>`}
  </section>`;
}

/** @param {{task: object, details: object}} props */
function Raw({ task, details }) {
  const { description_html: _d, context_html: _c, result_html: _r, ...whole } = details.task ?? task;
  const text = JSON.stringify(whole, null, 2);
  return html`<section class="inspector-part">
    <div class="row"><span class="end"><${CopyButton} text=${text} /></span></div>
    <pre class="plain" tabindex="0"><code>${text}</code></pre>
  </section>`;
}

// What was made for a task: a list, and the content of one of them as plain text.

const SHOWN = 100_000; // characters: more than that nobody reads in a page

/** @param {{details: object}} props */
function Artifacts({ details }) {
  const [open, setOpen] = useState(null);
  if (!details.artifacts.length) {
    const text = t("inspector.artifacts_text");
    return html`<${Empty} icon="package" title=${t("inspector.artifacts_none")} text=${text} />`;
  }
  const toggle = async (id) => {
    if (open?.id === id) return setOpen(null);
    setOpen({ id });
    const text = await read.artifact(id)
      .then(({ content }) => content, (refused) => sentence(refused, "errors.not_loaded"));
    return setOpen((now) => (now?.id === id ? { id, text } : now));
  };
  return html`<ul class="inspector-part stack">
    ${details.artifacts.map((artifact) => html`
      <li key=${artifact.id}>
        <button type="button" class="artifact" aria-expanded=${open?.id === artifact.id}
          onClick=${() => toggle(artifact.id)}>
          <${Icon} name=${open?.id === artifact.id ? "chevron-down" : "chevron-right"} size=${14} />
          <bdi class="grow strong">${artifact.name}</bdi>
          <span class="faint small">${t("inspector.characters", { count: artifact.length })}${" · "}
            <bdi>${artifact.creator}</bdi>${" · "}<${Ago} at=${artifact.created_at} /></span>
        </button>
        ${open?.id === artifact.id && html`<${Content} text=${open.text} />`}
      </li>`)}
  </ul>`;
}

function Content({ text }) {
  if (text === undefined) return html`<${Skeleton} />`;
  return html`<div class="row"><span class="end"><${CopyButton} text=${text} /></span></div>
    <pre class="plain" tabindex="0"><bdi>${text.slice(0, SHOWN)}${text.length > SHOWN && "…"}</bdi></pre>`;
}

/** @param {{id: string}} props  the id or the number of a task */
export function View({ id }) {
  const picture = shown.value;
  useNeedKeys();
  useTaskKeys();
  const details = useDetails(id);
  const card = findTask(id, picture) ?? (moment.value ? undefined : details.task);
  if (!card) return html`<div class="inspector">${absent(id, details)}</div>`;
  return html`
    <div class="inspector">
      <${Head} task=${card} state=${card.state} picture=${picture} />
      <${Body} key=${card.id} task=${card} details=${details} picture=${picture} />
      <${Reply} key=${`reply ${card.id}`} task=${card} />
    </div>`;
}

function absent(id, { status }) {
  if (status === "loading") return html`<div class="inspector-part"><${Skeleton} lines=${8} /></div>`;
  const text = moment.value ? t("inspector.not_yet") : t("inspector.absent_text");
  return html`<${Head} /><${Empty} icon="circle-help" title=${t("inspector.absent", { ref: id })} text=${text} />`;
}

function Body({ task, details, picture }) {
  const [tab, setTab] = useState("overview");
  const tabs = [
    { id: "overview", label: t("inspector.tab_overview") },
    { id: "artifacts", label: t("inspector.tab_artifacts"), count: details.artifacts.length },
    { id: "raw", label: t("inspector.tab_raw") },
  ];
  const panels = {
    overview: () => html`<${Overview} task=${task} details=${details} picture=${picture} />`,
    artifacts: () => html`<${Artifacts} details=${details} />`,
    raw: () => html`<${Raw} task=${task} details=${details} />`,
  };
  return html`
    <div class="inspector-body">
      <${Tabs} label=${t("inspector.tabs")} tabs=${tabs} current=${tab} onChange=${setTab}>${panels[tab]()}<//>
    </div>`;
}

function Overview({ task, details, picture }) {
  const isLoading = details.status === "loading";
  const asked = waiting.value.filter((need) => need.approval && need.task?.id === task.id);
  return html`
    ${asked.map((need) => html`<div class="inspector-part" key=${need.key}><${NeedCard} need=${need} isOpen /></div>`)}
    <${Result} details=${details} />
    ${!moment.value && html`<${Proof} task=${task} at=${details.at} />`}
    ${isLoading ? html`<div class="inspector-part"><${Skeleton} lines=${3} /></div>`
      : html`<${Description} details=${details} title=${task.title} />`}
    ${!moment.value && html`<section class="inspector-part" aria-label=${t("needs.why")}>
      <${Why} of=${{ ref: task.number, kind: "task" }} at=${details.at} short /></section>`}
    <${Rail} task=${task} details=${details} />
    <${Attempts} task=${task} details=${details} />
    <${Facts} task=${task} details=${details} picture=${picture} />
    <${Files} task=${task} picture=${picture} />
    ${!isLoading && html`<${Thread} task=${task} details=${details} picture=${picture} />`}
    ${!isLoading && html`<${Events} details=${details} />`}`;
}
