// Cards: a bordered box that stands for one thing, and several of them at once.

import { html, signal, useEffect, useRef } from "../vendor/ui.js";
import { t } from "../i18n.js";
import { Button, IconButton } from "./controls.js";

// A bordered box that stands for one thing; where it has an address, all of it is one link.

/**
 * @param {object} props
 * @param {string} [props.item] "task:ID", "approval:ID"…: what the keys `a`, `r`, `x` act on; hjkl reach it
 * @param {string} [props.href] where a click anywhere on it goes
 * @param {string} [props.name] the link's accessible name: begins with what the card shows
 * @param {boolean} [props.selected] one of those that the next action is for
 * @param {boolean} [props.current] the one that is open at the side
 * @param {boolean} [props.pending] something is being done to it, and the hub has not told what came of it
 * @param {"amber"|"red"} [props.tone]
 * @param {any} [props.flash] the card flashes when this changes
 * @param {string} [props.class]
 * @param {any} [props.children]
 */
export function Card({
  item, href, name, selected, current, pending, tone, flash, class: more = "", children, ...rest
}) {
  const box = useRef(null);
  useFlash(box, flash);
  const look = [
    "card", more, tone && `is-${tone}`, pending && "is-pending", selected && "is-selected",
    current && "is-current", href && "is-link",
  ].filter(Boolean).join(" ");
  return html`<div ...${rest} ref=${box} class=${look} data-item=${href ? undefined : item}
    tabindex=${item && !href ? -1 : undefined} aria-busy=${pending ? "true" : undefined}>
    ${href && html`<a class="card-link" href=${href} data-item=${item} aria-label=${name}
      aria-current=${current ? "true" : undefined}></a>`}
    ${children}
  </div>`;
}

/** Let an element flash for a moment when `value` is another than before. */
function useFlash(ref, value) {
  const before = useRef(value);
  useEffect(() => {
    if (before.current === value) return;
    before.current = value;
    const element = ref.current;
    element.classList.remove("is-flashing");
    void element.offsetWidth;
    element.classList.add("is-flashing");
  }, [value]);
}

// Several cards at once: which are chosen, and the bar with what can be done to all of them.

/** The ids of what is chosen. A new Set after each change. */
export const selected = signal(new Set());
let anchor = null;

/** @param {string} id */
export function toggleSelected(id) {
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
export function selectRange(ids, id) {
  const [from, to] = [ids.indexOf(anchor), ids.indexOf(id)];
  if (from < 0) return toggleSelected(id);
  const between = ids.slice(Math.min(from, to), Math.max(from, to) + 1);
  selected.value = new Set([...selected.value, ...between]);
}

export function clearSelection() {
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
    <${IconButton} kind="quiet" small icon="x" label=${t("shell.clear_selection")} onClick=${clearSelection} />
  </div>`;
}
