// One agent at the side: how it is, what it holds, what waits for it, and what a person can do about it.

import { html, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/ui.js";
import { keyOf } from "../../model/file_claims.js";
import { isNew, tasksOf } from "../../model/states.js";
import { could, live, loaded, may, moment, recent, shown } from "../../model/store.js";
import { read } from "../../hub/endpoints.js";
import { t } from "../../i18n.js";
import { href, set } from "../../shell/router.js";
import { Badge, Button, Icon, IconButton } from "../../ui/controls.js";
import { Empty, Skeleton } from "../../ui/empty.js";
import { Glyph, runtimeOf, StateWord, Tile } from "../../ui/marks.js";
import { Ago, Text } from "../../ui/text.js";
import { AgentActions, releaseTask } from "./actions.js";
import { senderOf } from "../deliveries.js";
import { Fetched, useFetched } from "../fetching.js";
import { none, wakeWords } from "../fleet.js";
import { clashWords, Sentence } from "../sentences.js";
import { refOf, taskHref } from "../task/actions.js";

// The parts of an agent's panel: each shows one thing that is known of it, or nothing where there is nothing.

const MOST_FILES = 12;
const MOST_LETTERS = 20;
const MOST_PAST = 10;
const MOST_DEEDS = 8;

const Section = ({ title, count, children }) => html`<section class="agent-part" aria-label=${title}>
  <h3 class="section-title">${title} <${Badge} value=${count} /></h3>${children}</section>`;

/** Its open tasks. A person can take each away from it. */
function Held({ tasks, picture }) {
  return html`<${Section} title=${t("fleet.holds")} count=${tasks.length}>
    ${tasks.length === 0 ? html`<p class="small muted">${t("fleet.holds_nothing")}</p>` : html`<ul class="agent-list">
      ${tasks.map((task) => html`<li key=${task.id} class="row">
        <a class="row grow" href=${taskHref(task)}><${Glyph} state=${task.state} />
          <span class="ref mono faint">${refOf(task)}</span><span class="clip"><${Text} value=${task.title}
            lines=${1} /></span></a>
        ${may.value.write && task.may.includes("release") && html`<${Button} small kind="quiet"
          onClick=${() => releaseTask(task)}
          aria-label=${t("fleet.release_task", { ref: refOf(task) })}>${t("fleet.release")}<//>`}
      </li>`)}</ul>`}
  <//>`;
}

/** With whom it is in conflict, and on what. */
function Clashes({ name, picture }) {
  const found = [...picture.overlaps.values()].filter(({ agents }) => agents.includes(name));
  if (found.length === 0) return null;
  return html`<${Section} title=${t("fleet.clashes")} count=${found.length}>
    <ul class="agent-list">${found.map((overlap) => html`<li key=${overlap.agents.join("\n")} class="amber">
      <a class="row" href=${href("files", { file: rowOf(overlap) })}><${Icon} name="git-branch" size=${14} />
        <span>${clashWords(overlap)}</span></a></li>`)}</ul>
  <//>`;
}

const rowOf = ({ files, areas }) => (files.length > 0 ? keyOf("file", files[0]) : keyOf("area", areas[0]));

/** What it says of itself and what it was seen to do, which its heartbeat is not. */
function Facts({ agent, told }) {
  const files = agent.files ?? [];
  const rows = [
    ["runs", [runtimeOf(agent), agent.model].filter(Boolean).join(", ")],
    ["machine", agent.machine && html`<a class="link" href=${href("machines", { node: agent.machine })}>
      <bdi>${agent.machine}</bdi></a>`],
    ["area", agent.area && html`<bdi>${agent.area}</bdi>`],
    ["files", files.length > 0 && html`<${Files} files=${files} />`],
    ["here", agent.live && agent.since && html`<${Ago} at=${agent.since} />`],
    ["left", !agent.live && agent.ended_at && html`<${Ago} at=${agent.ended_at} />`],
    ["heard", told?.seen_at && html`<${Ago} at=${told.seen_at} />`],
    ["tool", told?.last_tool && html`<bdi class="mono">${told.last_tool}</bdi> · <${Ago} at=${told.last_tool_at} />`],
    ["output", told?.last_output && html`<${Text} value=${told.last_output} lines=${3} class="mono" />
      ${" "}<span class="faint"><${Ago} at=${told.last_output_at} /></span>`],
    ["wake", told?.wake && wakeWords(told.wake)],
    ["placed", told?.placed && html`<bdi>${told.placed.node}</bdi>, ${t(`machines.placed_${told.placed.status}`)}
      ${" · "}<${Ago} at=${told.placed.since} />`],
  ];
  return html`<${Section} title=${t("fleet.facts")}><dl class="facts small">
    ${rows.filter(([, value]) => value).map(([key, value]) => html`<dt>${t(`fleet.fact_${key}`)}</dt>
      <dd>${value}</dd>`)}
  </dl><//>`;
}

function Files({ files }) {
  return html`${files.slice(0, MOST_FILES).map((file) => html`<div key=${file} class="mono"><bdi>${file}</bdi>
    </div>`)}
    ${files.length > MOST_FILES && html`<a class="link" href=${href("files")}>
      ${t("fleet.more_files", { count: files.length - MOST_FILES })}</a>`}`;
}

/** What it has set out to do, as it says. */
function Todos({ items }) {
  if (items.length === 0) return null;
  return html`<${Section} title=${t("fleet.todos")} count=${items.filter(({ done }) => !done).length}>
    <ul class="agent-list">${items.map(({ text, done }, index) => html`<li key=${index}
      class="row ${done ? "faint" : ""}">
      <${Icon} name=${done ? "square-check" : "square"} size=${14} />
      <span class="sr">${t(done ? "fleet.todo_done" : "fleet.todo_open")}</span><${Text} value=${text}
        lines=${2} /></li>`)}</ul>
  <//>`;
}

const stepOf = (letter) => (letter.seen_at ? "seen" : letter.notified_at ? "notified" : "stored");

/** What waits in its inbox. That a person looks changes nothing in it. */
function Letters({ name, unread }) {
  const look = async () => (unread ? read.inbox(name, { limit: MOST_LETTERS }) : { letters: [] });
  const inbox = useFetched(look, [name, unread]);
  return html`<${Section} title=${t("fleet.inbox")} count=${unread}>
    <${Fetched} of=${inbox}>${({ letters }) => letters.length === 0 ? html`<p
      class="small muted">${t("fleet.inbox_empty")}</p>`
      : html`<ul class="agent-list">${letters.map((letter) => html`<li key=${letter.id} class="stack agent-letter">
        <span class="row small"><bdi class="strong">${senderOf(letter)}</bdi><span
          class="faint">${t(`fleet.kind_${letter.kind}`)}</span>
          <span class="end faint">${t(`fleet.letter_${stepOf(letter)}`)}${" "}
          <${Ago} at=${letter.seen_at ?? letter.notified_at ?? letter.stored_at} /></span></span>
        <span class="small muted"><${Text} value=${letter.text} lines=${2} /></span></li>`)}</ul>`}<//>
    <p class="meta faint">${t("fleet.inbox_note")}</p>
  <//>`;
}

/** What it has done: the tasks that it had and that have ended, and what happened with it last. */
function History({ name, holds }) {
  const past = useFetched(() => read.tasks({ assignee: name, ended: true, limit: MOST_PAST }), [name, holds]);
  const before = useFetched(() => read.activity({ agent: name, limit: MOST_DEEDS }), [name]);
  return html`<${Fetched} of=${past}>${({ tasks }) => html`
    <${Section} title=${t("fleet.past")} count=${tasks.length}>
      ${tasks.length === 0 ? html`<p class="small muted">${t("fleet.past_none")}</p>`
        : html`<ul class="agent-list">${tasks.map((task) => html`<li key=${task.id} class="row">
          <a class="row grow" href=${taskHref(task)}><${Glyph} state=${task.state} />
            <span class="ref mono faint">${refOf(task)}</span><span class="clip"><${Text} value=${task.title}
              lines=${1} /></span></a>
          <span class="small faint">${task.attempt > 1 && html`${t("fleet.attempt", { number: task.attempt })} · `}
            <${Ago} at=${task.ended_at} /></span></li>`)}</ul>`}<//>`}<//>
  <${Fetched} of=${before}>${({ activity }) => html`<${Deeds} name=${name} before=${activity} />`}<//>`;
}

/** The latest that is known of it, from before the panel was opened and since. */
function Deeds({ name, before }) {
  const since = recent.value.filter(({ agent, actor }) => agent === name || actor === name);
  const known = new Map([...before, ...since].map((activity) => [activity.id, activity]));
  const latest = [...known.values()].sort((one, other) => other.id - one.id).slice(0, MOST_DEEDS);
  return html`<section class="agent-part" aria-label=${t("fleet.deeds")}>
    <h3 class="section-title">${t("fleet.deeds")}</h3>
    <ul class="agent-list">${latest.map((activity) => html`<li key=${activity.id} class="row small">
      <span class="grow"><${Sentence} activity=${activity} /></span>
      <span class="faint"><${Ago} at=${activity.at} /></span></li>`)}</ul>
    <p class="small"><a class="link" href=${href("activity", { agent: name })}>${t("fleet.deeds_all")}</a></p>
  </section>`;
}

const PAUSE = 400; // milliseconds: a busy agent is not asked about at each of its steps

/** @param {{agent: string, onClose: () => void}} props */
export function View({ agent: name, onClose }) {
  const picture = shown.value;
  const agent = picture.agents.get(name);
  const told = useTold(name);
  const heading = useRef(null);
  const followed = useNewName(name, picture);
  useLayoutEffect(() => heading.current?.focus(), [name]);
  const isPresent = !moment.value;
  return html`<div class="agent-panel">
    <div class="row agent-panel-head">
      ${agent && html`<${Tile} agent=${agent} picture=${picture} />`}
      <h2 class="grow" tabindex="-1" ref=${heading}><bdi>${name}</bdi></h2>
      <${IconButton} kind="quiet" small icon="x" label=${t("fleet.close")} onClick=${onClose} />
    </div>
    ${agent ? html`
      ${followed && html`<p class="small muted"><bdi>${t("fleet.renamed", followed)}</bdi></p>`}
      <div><${StateWord} agent state=${agent.state} /></div>
      ${isNew(agent) && told && html`<p class="muted">${none(agent, told)}</p>`}
      ${isPresent && told?.description && html`<p><${Text} value=${told.description} lines=${4} /></p>`}
      ${agent.doing && html`<p class="muted"><${Text} value=${agent.doing} lines=${4} /></p>`}
      ${could.value.write && html`<${AgentActions} agent=${agent} placed=${told?.placed} picture=${picture} />`}
      <${Held} tasks=${tasksOf(name, picture)} picture=${picture} />
      <${Clashes} name=${name} picture=${picture} />
      <${Facts} agent=${agent} told=${isPresent ? told : null} />
      ${isPresent && told && html`<${Todos} items=${told.todos} /><${Letters} name=${name} unread=${told.unread} />`}
      ${isPresent && html`<${History} key=${name} name=${name} holds=${tasksOf(name, picture).length} />`}
    ` : loaded.value ? html`<${Empty} icon="bot" title=${t("fleet.unknown")} text=${t("fleet.unknown_text")} />`
      : html`<${Skeleton} lines=${8} />`}
  </div>`;
}

/** Follow an agent to the name that it has now, from here, from elsewhere, or from an old link; tell both names. */
function useNewName(name, picture) {
  const [followed, setFollowed] = useState(null);
  const seen = useRef(null); // the name under which it was there
  if (picture.agents.has(name)) seen.current = name;
  const renamed = recent.value.findLast(({ kind, detail }) => kind === "agent.renamed" && detail.old === name);
  const heard = renamed?.detail.new;
  const isLost = loaded.value && !moment.value && !picture.agents.has(name);
  useEffect(() => {
    if (!isLost) return undefined;
    let isGone = false;
    const ask = async () => (seen.current === name ? null : (await read.agent(name).catch(() => null))?.agent.name);
    const follow = async () => {
      const now = heard ?? await ask();
      if (isGone || !now || now === name) return;
      setFollowed((before) => ({ name: before?.to === name ? before.name : name, to: now }));
      set({ agent: now }, { replace: true });
    };
    follow();
    return () => {
      isGone = true;
    };
  }, [name, heard, isLost]);
  return followed?.to === name ? followed : null;
}

/** What `GET /agents/NAME` tells; read again some time after the agent did anything. */
function useTold(name) {
  const [told, setTold] = useState(null);
  const last = recent.value.findLast(({ agent, actor }) => agent === name || actor === name)?.id;
  const known = useRef(null); // the name of the agent that is told
  useEffect(() => {
    if (moment.value) return undefined;
    const first = known.current !== name;
    if (first) setTold(null);
    let isGone = false;
    const timer = setTimeout(async () => {
      if (!live.peek().agents.has(name)) return; // it has another name by now, or left for good
      const answer = await read.agent(name).catch(() => null);
      if (isGone) return;
      known.current = name;
      setTold(answer?.agent ?? null);
    }, first ? 0 : PAUSE);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [name, last, Boolean(moment.value)]);
  return told;
}
