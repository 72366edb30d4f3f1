// A task on the board: what state it is in, what it is called, who has it, and why it does not go on.

import { html } from "../../vendor/ui.js";
import { Ago } from "../../ui/ago.js";
import { Card } from "../../ui/card.js";
import { Glyph, stateWord } from "../../ui/glyph.js";
import { Icon } from "../../ui/icon.js";
import { Text } from "../../ui/text.js";
import { Tile } from "../../ui/tile.js";
import { t } from "../../words.js";
import { refOf, taskHref } from "../task/names.js";
import { Priority } from "../task/priority.js";
import { since } from "./shape.js";

/** The states in which a card says what was said last: why it waits, or what went wrong. */
const TELLING = new Set(["blocked", "waiting", "failed"]);

/**
 * @param {object} props
 * @param {import("../../model/fold.js").Task} props.task
 * @param {string} props.state
 * @param {import("../../model/fold.js").Picture} props.picture
 * @param {{links: number, files: number, letters: number}} props.counts
 * @param {number|null} props.progress  percent, if its holder is at it and says so
 * @param {boolean} props.selected  one of those that the next action is for
 * @param {boolean} props.current  the one that is open at the side
 * @param {boolean} props.pending  something is being done to it
 */
export function TaskCard({ task, state, picture, counts, progress, selected, current, pending, onPick }) {
  const note = TELLING.has(state) && reasonOf(task, picture);
  return html`
    <div class="board-card" role="listitem" onClick=${onPick}>
      <${Card} item=${`task:${task.id}`} href=${taskHref(task)} name=${nameOf(task, state)} selected=${selected}
        current=${current} pending=${pending} flash=${state}>
        <div class="board-line">
          <${Glyph} state=${state} quiet />
          <span class="mono faint">${refOf(task)}</span>
          <${Priority} priority=${task.priority} />
          <span class="end meta faint"><${Ago} at=${since(task, state)} /></span>
        </div>
        <div class="board-title"><${Text} value=${task.title} lines=${2} /></div>
        ${note && html`<div class="board-note" data-state=${state}><${Text} value=${note} lines=${2} /></div>`}
        <div class="board-line board-foot">
          <${Holder} task=${task} picture=${picture} />
          <${Counts} ...${counts} />
        </div>
        ${progress !== null && html`<${Progress} percent=${progress} />`}
      <//>
    </div>`;
}

/** Why it does not go on: a question to people, what was said of it last, or what its holder says. */
function reasonOf(task, picture) {
  if (task.state === "waiting" && !task.need) return t("board.waits_approval");
  const doing = picture.agents.get(task.assignee)?.doing;
  return task.note || (doing === task.title ? null : doing);
}

/** A link's accessible name begins with what the card shows. */
const nameOf = (task, state) => `${refOf(task)} ${task.title.slice(0, 120)}, ${stateWord(state)}`;

function Holder({ task, picture }) {
  if (!task.assignee) return html`<span class="muted small">${t("board.unassigned")}</span>`;
  return html`<${Tile} small agent=${task.assignee} picture=${picture} />
    <bdi class="muted small clip">${task.assignee}</bdi>`;
}

function Counts({ links, files, letters }) {
  const count = (value, icon, key) => value > 0 && html`
    <span class="board-count" title=${t(key, { count: value })}><${Icon} name=${icon} size=${13} />
      <span aria-hidden="true">${value}</span><span class="sr">${t(key, { count: value })}</span></span>`;
  return html`<span class="board-counts">
    ${count(links, "link", "board.links")}
    ${count(letters, "message-square", "board.letters")}
    ${count(files, "file-code", "board.files")}
  </span>`;
}

function Progress({ percent }) {
  const value = Math.max(0, Math.min(100, Math.round(percent)));
  return html`<div class="board-progress" role="progressbar" aria-label=${t("board.progress")}
    aria-valuenow=${value} aria-valuemin="0" aria-valuemax="100"><i style=${{ width: `${value}%` }}></i></div>`;
}

/** A task that has ended, in one line. */
export function FinishedRow({ task, state, selected, current, pending, onPick }) {
  return html`
    <div class="board-done" role="listitem" onClick=${onPick}>
      <${Card} item=${`task:${task.id}`} href=${taskHref(task)} name=${nameOf(task, state)} selected=${selected}
        current=${current} pending=${pending} flash=${state}>
        <div class="board-line">
          <${Glyph} state=${state} quiet />
          <span class="grow clip"><${Text} value=${task.title.split("\n", 1)[0]} /></span>
          <span class="meta faint"><${Ago} at=${since(task, state)} /></span>
        </div>
        ${state === "failed" && task.note && html`
          <div class="board-note" data-state="failed"><${Text} value=${task.note} lines=${1} /></div>`}
      <//>
    </div>`;
}
