// How a key is written: with the sign that stands on the keyboard of whoever looks.

const IS_APPLE = /Mac|iP(hone|ad|od)/.test(navigator.platform);
/** How keys are written that have no letter of their own. */
const WRITTEN = { space: "␣", Escape: "Esc", Enter: "↵" };

/** "mod+k" -> "⌘K" or "Ctrl K", "g b" -> "g b". @param {string} key */
export function written(key) {
  if (!key.startsWith("mod+")) return key.split(" ").map((one) => WRITTEN[one] ?? one).join(" ");
  const other = key.slice("mod+".length);
  return (IS_APPLE ? "⌘" : "Ctrl ") + (WRITTEN[other] ?? other.toUpperCase());
}
