// What ended before what the picture holds: asked of the hub, page by page, when somebody wants to see it.

import { html, useState } from "../../vendor/ui.js";
import { read } from "../../hub/reads.js";
import { moment, now } from "../../model/moment.js";
import { Button } from "../../ui/button.js";
import { Span } from "../../ui/ago.js";
import { toast } from "../../ui/toasts.js";
import { t } from "../../words.js";
import { FinishedRow } from "./card.js";

const PAGE = 50;

/** How far back the column goes. */
export function FinishedSpan({ cards }) {
  const oldest = cards.at(-1)?.task.ended_at;
  if (!oldest) return null;
  return html`${t("board.last")} <${Span} from=${oldest} to=${now.value} />`;
}

/** The button, and what it brought. */
export function Older({ cards, look }) {
  const [pages, setPages] = useState({ tasks: [], done: false, busy: false });
  if (moment.value || (cards.length === 0 && pages.done)) return null;
  const more = async () => {
    setPages({ ...pages, busy: true });
    setPages(await older(cards, pages.tasks));
  };
  const known = new Set(cards.map(({ task }) => task.id));
  return html`
    ${pages.tasks.filter((task) => !known.has(task.id)).map((task) => html`
      <${FinishedRow} key=${task.id} task=${task} state=${task.state}
        selected=${look.selected.has(task.id)} current=${look.current === task.id}
        onPick=${(event) => look.pick(event, task.id)} />`)}
    <div role="listitem" class="board-older">
      ${pages.done ? html`<span class="faint small">${t("board.no_older")}</span>`
        : html`<${Button} small kind="quiet" disabled=${pages.busy} onClick=${more}>${t("board.older")}<//>`}
    </div>`;
}

/** One page more of what ended, by number downwards. */
async function older(cards, tasks) {
  const before = Math.min(...[...cards.map(({ task }) => task), ...tasks].map((task) => task.number));
  const query = { ended: true, limit: PAGE, before: Number.isFinite(before) ? before : undefined };
  try {
    const answer = await read.tasks(query);
    return { tasks: [...tasks, ...answer.tasks], done: answer.tasks.length < PAGE, busy: false };
  } catch (refused) {
    toast(refused.message, { kind: "error" });
    return { tasks, done: false, busy: false };
  }
}
