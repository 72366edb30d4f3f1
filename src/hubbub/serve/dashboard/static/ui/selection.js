// Several cards at once: which are chosen, and the bar with what can be done to all of them.
import { html, signal } from "../vendor/ui.js";
import { t } from "../words.js";
import { Button, IconButton } from "./button.js";

/** The ids of what is chosen. A new Set after each change. */
export const selected = signal(new Set());
let anchor = null;

/** @param {string} id */
export function toggle(id) {
  const next = new Set(selected.value);
  if (!next.delete(id)) next.add(id);
  anchor = id;
  selected.value = next;
}

/**
 * Choose everything from the one chosen last to this one.
 * @param {string[]} ids as they stand on the page
 * @param {string} id
 */
export function extend(ids, id) {
  const [from, to] = [ids.indexOf(anchor), ids.indexOf(id)];
  if (from < 0) return toggle(id);
  const between = ids.slice(Math.min(from, to), Math.max(from, to) + 1);
  selected.value = new Set([...selected.value, ...between]);
}

export function clear() {
  selected.value = new Set();
}

/**
 * @typedef {{label: string, icon?: string, danger?: boolean, disabled?: boolean, run: (ids: string[]) => void}} Action
 * @param {{actions: Action[]}} props
 */
export function BulkBar({ actions }) {
  const ids = [...selected.value];
  if (!ids.length) return null;
  return html`<div class="bulk" role="toolbar" aria-label=${t("shell.bulk")}>
    <span class="strong num" role="status">${t("shell.selected", { count: ids.length })}</span>
    ${actions.map(({ label, icon, danger, disabled, run }) => html`<${Button} key=${label} small icon=${icon}
      kind=${danger ? "danger" : "plain"} disabled=${disabled} onClick=${() => run(ids)}>${label}<//>`)}
    <${IconButton} kind="quiet" small icon="x" label=${t("shell.clear_selection")} onClick=${clear} />
  </div>`;
}
