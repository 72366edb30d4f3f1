// The parts of an agent's panel: each shows one thing that is known of it, or nothing where there is nothing.

import { html } from "../../vendor/ui.js";
import { read } from "../../hub/reads.js";
import { may } from "../../model/moment.js";
import { href } from "../../shell/router.js";
import { Ago } from "../../ui/ago.js";
import { Button } from "../../ui/button.js";
import { Badge } from "../../ui/chip.js";
import { Glyph } from "../../ui/glyph.js";
import { Icon } from "../../ui/icon.js";
import { Text } from "../../ui/text.js";
import { t } from "../../words.js";
import { Fetched, useFetched } from "../fetched.js";
import { clashWords } from "../files/words.js";
import { keyOf } from "../files/claims.js";
import { refOf, taskHref } from "../task/names.js";
import { wakeWords } from "./card.js";
import { releaseTask } from "./doings.js";

const MOST_FILES = 12;
const MOST_LETTERS = 20;

const Section = ({ title, count, children }) => html`<section class="agent-part" aria-label=${title}>
  <h3 class="section-title">${title} <${Badge} value=${count} /></h3>${children}</section>`;

/** Its open tasks. A person can take each away from it. */
export function Held({ tasks, picture }) {
  return html`<${Section} title=${t("fleet.holds")} count=${tasks.length}>
    ${tasks.length === 0 ? html`<p class="small muted">${t("fleet.holds_nothing")}</p>` : html`<ul class="agent-list">
      ${tasks.map((task) => html`<li key=${task.id} class="row">
        <a class="row grow" href=${taskHref(task)}><${Glyph} state=${task.state} />
          <span class="mono faint">${refOf(task)}</span><span class="clip"><${Text} value=${task.title}
            lines=${1} /></span></a>
        ${may.value.write && task.may.includes("release") && html`<${Button} small kind="quiet"
          onClick=${() => releaseTask(task)}
          aria-label=${t("fleet.release_task", { ref: refOf(task) })}>${t("fleet.release")}<//>`}
      </li>`)}</ul>`}
  <//>`;
}

/** With whom it is in conflict, and on what. */
export function Clashes({ name, picture }) {
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
export function Facts({ agent, told }) {
  const files = agent.files ?? [];
  const rows = [
    ["runs", [agent.runtime, agent.model].filter(Boolean).join(", ")],
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
export function Todos({ items }) {
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
export function Letters({ name, unread }) {
  const look = async () => (unread ? read.inbox(name, { limit: MOST_LETTERS }) : { letters: [] });
  const inbox = useFetched(look, [name, unread]);
  return html`<${Section} title=${t("fleet.inbox")} count=${unread}>
    <${Fetched} of=${inbox}>${({ letters }) => letters.length === 0 ? html`<p
      class="small muted">${t("fleet.inbox_empty")}</p>`
      : html`<ul class="agent-list">${letters.map((letter) => html`<li key=${letter.id} class="stack agent-letter">
        <span class="row small"><bdi class="strong">${letter.sender}</bdi><span
          class="faint">${t(`fleet.kind_${letter.kind}`)}</span>
          <span class="end faint">${t(`fleet.letter_${stepOf(letter)}`)}${" "}
          <${Ago} at=${letter.seen_at ?? letter.notified_at ?? letter.stored_at} /></span></span>
        <span class="small muted"><${Text} value=${letter.text} lines=${2} /></span></li>`)}</ul>`}<//>
    <p class="meta faint">${t("fleet.inbox_note")}</p>
  <//>`;
}
