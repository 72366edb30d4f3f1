// How keys are written, with the sign that stands on the keyboard of whoever looks; and the one that sends a text.

const IS_APPLE = /Mac|iP(hone|ad|od)/.test(navigator.platform);
/** How keys are written that have no letter of their own. */
const WRITTEN = { space: "␣", Escape: "Esc", Enter: "↵" };

/** ⌘Enter or Ctrl Enter in a field sends its form. @param {KeyboardEvent} event */
export function onCommandEnter(event) {
  if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey)) return;
  event.preventDefault();
  event.target.form?.requestSubmit();
}

/** "mod+k" -> "⌘K" or "Ctrl K", "g b" -> "g b". @param {string} key */
export function written(key) {
  if (!key.startsWith("mod+")) return key.split(" ").map((one) => WRITTEN[one] ?? one).join(" ");
  const other = key.slice("mod+".length);
  return (IS_APPLE ? "⌘" : "Ctrl ") + (WRITTEN[other] ?? other.toUpperCase());
}
