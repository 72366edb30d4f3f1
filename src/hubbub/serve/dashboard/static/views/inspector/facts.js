// What is known of a task in a word each: who has it, who wants it, what it needs, what it is about.

import { html } from "../../vendor/ui.js";
import { toggle } from "../../model/filter.js";
import { childrenOf, findTask, neededBy } from "../../model/states.js";
import { href } from "../../shell/router.js";
import { Clock } from "../../ui/ago.js";
import { Glyph } from "../../ui/glyph.js";
import { Markdown } from "../../ui/markdown.js";
import { Text } from "../../ui/text.js";
import { Tile } from "../../ui/tile.js";
import { t } from "../../words.js";
import { called } from "../messages/people.js";
import { refOf, taskHref } from "../task/names.js";
import { Priority } from "../task/priority.js";

const MOST_LINKS = 20;

/** @param {{task: object, details: object, picture: object}} props */
export function Facts({ task, details, picture }) {
  const needs = linked(task.depends_on, details.needs, picture);
  const children = linked(childrenOf(task, picture).map(({ id }) => id), details.children, picture);
  const waiting = linked(neededBy(task, picture).map(({ id }) => id), details.needed_by, picture);
  const parent = task.parent_id && findTask(task.parent_id, picture);
  return html`
    <section class="inspector-part" aria-label=${t("inspector.facts")}>
      <dl class="facts">
        ${fact("agent", html`<${Agent} task=${task} picture=${picture} />`)}
        ${fact("from", html`<bdi>${called(task.sender)}</bdi>`)}
        ${details.task?.edited_by && fact("edited_by", html`<bdi>${called(details.task.edited_by)}</bdi>`)}
        ${fact("priority", html`<${Priority} priority=${task.priority} always />`)}
        ${fact("needs", needs.length ? links(needs, picture) : nothing())}
        ${waiting.length > 0 && fact("needed_by", links(waiting, picture))}
        ${parent && fact("parent", links([parent], picture))}
        ${children.length > 0 && fact("children", links(children, picture))}
        ${task.area && fact("area", html`<${Area} slug=${task.area} />`)}
        ${task.issue && fact("issue", html`<bdi class="mono">${task.issue}</bdi>`)}
        ${task.attempt > 1 && fact("attempt", String(task.attempt))}
        ${mayExpire(task) && fact("expires", html`<${Clock} at=${task.expires_at} />`)}
      </dl>
      <${Description} details=${details} title=${task.title} />
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
      <${Glyph} state=${task.state} size=${14} /><span class="mono">${refOf(task)}</span>
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
      <div class="long"><${Markdown} html=${task.description_html} /></div>`}
    ${task.context_html && html`<details class="form-more"><summary>${t("inspector.context")}</summary>
      <${Markdown} html=${task.context_html} /></details>`}`;
}
