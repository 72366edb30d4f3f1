// Dialogs that open from several places. The palette's field is there at once, as people type on without looking.

import { html } from "../vendor/ui.js";
import { lazy } from "./lazy.js";
import { Palette } from "./palette.js";
import { openDialog } from "../ui/overlays.js";

/** How to close what is open, by its name. @type {Map<string, () => void>} */
const open = new Map();

/** Search everything by its name (⌘K). */
export function openPalette() {
  toggle("palette", Palette);
}

/** What the keys do (?). */
export async function openHelp() {
  toggle("help", (await lazy("help"))?.Help);
}

/** A new task. */
export async function createTask() {
  toggle("create", (await lazy("forms"))?.CreateTask);
}

/** Ask for one text, as `ask` of `ui/dialog.js` does. @returns {Promise<string|null>} null: thought better of it */
export const ask = async (words) => (await lazy("dialog"))?.ask(words) ?? null;

/** Ask for two days, as `askDates` of `ui/dialog.js` does. @returns {Promise<string|null>} */
export const askDates = async (words) => (await lazy("dialog"))?.askDates(words) ?? null;

/** Ask for a yes, as `confirm` of `ui/dialog.js` does. @returns {Promise<boolean>} */
export const confirm = async (words) => (await lazy("dialog"))?.confirm(words) ?? false;

/** Write to agents. @param {string[]} to @param {"message"|"task"} [as] */
export async function compose(to, as = "message") {
  const Compose = (await lazy("compose"))?.Compose;
  if (Compose) openDialog((close) => html`<${Compose} to=${to} as=${as} onClose=${close} />`);
}

/** Asking again for what is open closes it. @param {string} name @param {any} [View] is given `onClose` */
function toggle(name, View) {
  if (!View) return undefined;
  if (open.has(name)) return open.get(name)();
  const shut = openDialog(() => html`<${View} onClose=${close} />`);
  function close() {
    open.delete(name);
    shut();
  }
  open.set(name, close);
  return undefined;
}
