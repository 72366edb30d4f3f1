// What lies above the page: short sentences about what happened, and the dialogs that are open.

import { html, signal, useEffect, useId, useLayoutEffect, useState } from "../vendor/ui.js";
import { t } from "../i18n.js";
import { Button, Icon, IconButton } from "./controls.js";

// Short sentences about what happened, at the lower edge; read aloud by screen readers, and gone after a while.

/** How long a sentence stays (ms): long enough to read it twice; a refusal twice as long. */
const STAYS = 6_000;
/** More at a time would hide the page. */
const MOST = 4;

const toasts = signal([]);
/** Where they can be shown, the uppermost last: behind an open dialog nobody could read or close them. */
const places = signal([]);
let numbered = 0;

/**
 * @param {string} sentence
 * @param {{kind?: "done"|"error"|"away", undo?: () => void}} [options] `away`: it is true until the hub is back;
 *   `undo`: adds the button that takes it back
 */
export function toast(sentence, { kind = "done", undo } = {}) {
  numbered += 1;
  const others = toasts.value.filter((one) => one.sentence !== sentence);
  toasts.value = [...others, { key: numbered, sentence, kind, undo }].slice(-MOST);
}

/** The hub is there again: what was said of its absence is true no longer. */
export function dismissAway() {
  toasts.value = toasts.peek().filter((one) => one.kind !== "away");
}

function dismiss(key) {
  toasts.value = toasts.value.filter((one) => one.key !== key);
}

/** Two regions that are always there, in the shell and in each dialog: readers hear only changes of what they know. */
export function Toasts() {
  const id = useId();
  useLayoutEffect(() => {
    places.value = [...places.value, id];
    return () => (places.value = places.value.filter((one) => one !== id));
  }, []);
  const all = places.value.at(-1) === id ? toasts.value : [];
  const shown = (...kinds) => all.filter((one) => kinds.includes(one.kind))
    .map((one) => html`<${Toast} key=${one.key} one=${one} />`);
  return html`<div class="toasts">
    <div role="alert">${shown("error", "away")}</div>
    <div role="status">${shown("done")}</div>
  </div>`;
}

function Toast({ one }) {
  const [held, setHeld] = useState(false);
  useEffect(() => {
    if (held) return undefined;
    const timer = setTimeout(() => dismiss(one.key), one.kind === "done" ? STAYS : 2 * STAYS);
    return () => clearTimeout(timer);
  }, [held, one.key]);
  const undo = () => {
    dismiss(one.key);
    one.undo();
  };
  const hold = { onMouseEnter: () => setHeld(true), onMouseLeave: () => setHeld(false),
    onFocusIn: () => setHeld(true), onFocusOut: () => setHeld(false) };
  return html`<div class="toast is-${one.kind}" ...${hold}>
    <${Icon} name=${one.kind === "done" ? "circle-check" : "triangle-alert"} />
    <span class="grow">${one.sentence}</span>
    ${one.undo && html`<${Button} small onClick=${undo}>${t("shell.undo")}<//>`}
    <${IconButton} kind="quiet" small icon="x" label=${t("dialogs.close")} onClick=${() => dismiss(one.key)} />
  </div>`;
}

// The dialogs that are open. What stands in them is fetched when somebody asks for it.

/** Those that were opened by a call, oldest first. */
const open = signal([]);

/**
 * Open a dialog from anywhere (a key, a menu). @param {(close: () => void) => any} view what to show: a <Dialog>
 * @returns {() => void} closes it
 */
export function openDialog(view) {
  const entry = { view, close: () => (open.value = open.value.filter((one) => one !== entry)) };
  open.value = [...open.value, entry];
  return entry.close;
}

/** Where the dialogs of `openDialog` appear; once, in the shell. */
export function Dialogs() {
  return open.value.map((entry, at) => html`<${Opened} key=${at} entry=${entry} />`);
}

function Opened({ entry }) {
  return entry.view(entry.close);
}
