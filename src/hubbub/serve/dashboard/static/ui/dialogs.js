// The dialogs that are open. What stands in them is fetched when somebody asks for it.
import { html, signal } from "../vendor/ui.js";

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
