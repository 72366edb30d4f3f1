// The board: who is there, what needs a person, and every task in the column of its state.

import { html, useEffect, useMemo, useRef } from "../vendor/ui.js";
import { parse } from "../model/filter.js";
import { inProject, loaded, shown } from "../model/moment.js";
import { useKey } from "../shell/keys.js";
import { useList } from "../shell/moving.js";
import { route } from "../shell/router.js";
import { Empty, Skeleton } from "../ui/empty.js";
import { clear, extend, selected, toggle } from "../ui/selection.js";
import { t } from "../words.js";
import { Attention } from "./board/attention.js";
import { Bulk } from "./board/bulk.js";
import { Column } from "./board/column.js";
import { FinishedSpan, Older } from "./board/older.js";
import { columnsOf, lettersOf, linksOf } from "./board/shape.js";
import { Strip } from "./board/strip.js";
import { useNeedKeys } from "./needs/keys.js";
import { taskOf, useTaskKeys } from "./task/keys.js";
import { openTask } from "./task/names.js";

export function View() {
  const picture = shown.value;
  const { q } = route.value.query;
  const page = useRef(null);
  useList(page);
  useNeedKeys();
  useTaskKeys();
  useKey("x", "board.key_select", (item) => (taskOf(item) ? toggle(taskOf(item).id) : false), { group: "act" });
  useKey("Escape", "keys.close", () => (selected.value.size ? clear() : false), { group: "move" });
  useEffect(() => clear, []);
  return html`
    <div class="board" ref=${page} onContextMenu=${hold}>
      <${Strip} picture=${picture} />
      <${Attention} />
      ${!loaded.value ? html`<div class="view"><${Skeleton} lines=${6} /></div>`
        : picture.tasks.size === 0 && !q ? html`<${NoTasks} />`
        : html`<${Columns} picture=${picture} typed=${q ?? ""} />`}
      <${Bulk} />
    </div>`;
}

function Columns({ picture, typed }) {
  const query = useMemo(() => parse(typed), [typed]);
  const columns = useMemo(
    () => columnsOf(picture, query),
    [picture.tasks, picture.overlaps, query],
  );
  const links = useMemo(() => linksOf(picture.tasks), [picture.tasks]);
  const letters = useMemo(() => lettersOf(picture.letters), [picture.letters]);
  const current = openTask(picture)?.id ?? null;
  const look = { picture, links, letters, current, selected: selected.value, pick };
  return html`
    <div class="columns">
      ${columns.map((column) => (column.name === "finished"
        ? html`<${Column} key=${column.name} column=${column} look=${look}
            aside=${html`<${FinishedSpan} cards=${column.cards} />`}>
            <${Older} cards=${column.cards} look=${look} />
          <//>`
        : html`<${Column} key=${column.name} column=${column} look=${look} />`))}
    </div>`;
}

/** With a finger, a long press chooses a card. */
function hold(event) {
  const card = event.pointerType === "touch" && event.target.closest("[data-item^='task:']");
  if (!card) return;
  event.preventDefault();
  toggle(card.dataset.item.slice(5));
}

/** With Shift or Ctrl a click chooses cards instead of opening one; after a long press a tap does. */
function pick(event, id) {
  const isTap = event.pointerType === "touch" && selected.value.size > 0;
  if (!isTap && !event.shiftKey && !event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  if (!event.shiftKey) return toggle(id);
  const column = event.currentTarget.closest(".column-cards");
  const ids = [...column.querySelectorAll("[data-item^='task:']")].map((card) => card.dataset.item.slice(5));
  extend(ids, id);
}

function NoTasks() {
  return html`<${Empty} icon="layout-dashboard" title=${t("board.empty_title")} text=${t("board.empty_text")}
    command=${inProject('hubbub task add "Write a haiku"')} />`;
}
