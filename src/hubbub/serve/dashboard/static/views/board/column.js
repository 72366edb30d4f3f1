// One column of the board: its name, how many there are, and the cards that are near the visible part.

import { html, useRef } from "../../vendor/ui.js";
import { isPending } from "../../model/moment.js";
import { Glyph } from "../../ui/glyph.js";
import { number, t } from "../../words.js";
import { FinishedRow, TaskCard } from "./card.js";
import { Window } from "./window.js";

const ROW = 33; // pixels of a finished task
const CARD = 92; // pixels of a card with a title of one line, and the gap below it

/**
 * @param {object} props
 * @param {{name: string, glyph: string, cards: {task: object, state: string}[]}} props.column
 * @param {object} props.look  what cards are drawn from: picture, links, letters, selected, current, pick
 */
export function Column({ column, look, aside, children }) {
  const drawn = useRef(new Map());
  const title = t(`board.column_${column.name}`);
  const items = column.cards.map((card) => ({ ...card, key: card.task.id }));
  const finished = column.name === "finished";
  return html`
    <section class="column is-${column.name}" aria-label=${title}>
      <h2 class="column-head">
        <${Glyph} state=${column.glyph} quiet />
        <span>${title}</span> <small class="num">${number(items.length)}</small>
        ${aside && html`<small class="end">${aside}</small>`}
      </h2>
      <${Window} items=${items} guess=${finished ? ROW : CARD} label=${title}
        draw=${(item) => remembered(drawn.current, item, look, finished)}>
        ${items.length === 0 && html`<p class="faint" role="listitem">${t("board.nothing")}</p>`}
        ${children}
      <//>
    </section>`;
}

/** The element of a card: the same object as the last time if nothing that it shows is another. */
function remembered(drawn, { task, state }, look, finished) {
  const shows = finished ? ofFinished(task, state, look) : ofCard(task, state, look);
  const before = drawn.get(task.id);
  if (before && same(before.shows, shows)) return before.element;
  const View = finished ? FinishedRow : TaskCard;
  const { holder, links, files, letters, ...props } = shows;
  const counts = { links, files, letters };
  const element = html`<${View} key=${task.id} ...${props} counts=${counts} picture=${look.picture}
    onPick=${(event) => look.pick(event, task.id)} />`;
  drawn.set(task.id, { shows, element });
  return element;
}

function ofFinished(task, state, { selected, current }) {
  return {
    task, state, selected: selected.has(task.id), current: current === task.id, pending: isPending(`tasks\n${task.id}`),
  };
}

function ofCard(task, state, look) {
  const agent = look.picture.agents.get(task.assignee);
  const atIt = agent?.live && agent.holds[0] === task.id;
  return {
    ...ofFinished(task, state, look),
    holder: agent?.state,
    links: look.links.get(task.id) ?? 0,
    files: (task.files ?? (atIt ? agent.files : null))?.length ?? 0,
    letters: look.letters.get(task.id) ?? 0,
    progress: atIt && state === "running" ? agent.progress : null,
  };
}

function same(a, b) {
  return Object.keys(b).every((key) => a[key] === b[key]);
}
