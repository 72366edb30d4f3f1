// Dialogs that open from several places. What is not needed at once is fetched only when somebody asks for it, so
// that the first screen is there sooner; the palette's field is there at once, as people type on without looking.
import { html } from "../vendor/ui.js";
import { openDialog } from "../ui/dialog.js";
import { Palette } from "./palette.js";

/** How to close what is open, by its name. @type {Map<string, () => void>} */
const open = new Map();

/** Search everything by its name (⌘K). */
export function openPalette() {
  toggle("palette", Palette);
}

/** What the keys do (?). */
export async function openHelp() {
  const { Help } = await import("./help.js");
  toggle("help", Help);
}

/** A new task. */
export async function createTask() {
  const { CreateTask } = await import("../views/task/create.js");
  toggle("create", CreateTask);
}

/** Asking again for what is open closes it. @param {string} name @param {any} View is given `onClose` */
function toggle(name, View) {
  if (open.has(name)) return open.get(name)();
  const shut = openDialog(() => html`<${View} onClose=${close} />`);
  function close() {
    open.delete(name);
    shut();
  }
  open.set(name, close);
  return undefined;
}
