// What agents wrote in one line: only text nodes, `code` in code letters, kept apart from the page's direction.
import { html } from "../vendor/ui.js";

/** No line of a card shows more characters than this, so more never reach the page. */
const PER_LINE = 240;

/** @param {{value: string|null|undefined, lines?: number, class?: string}} props `lines`: cut off after so many */
export function Text({ value, lines, class: more = "" }) {
  const text = shortened(String(value ?? ""), lines);
  const look = `text ${more}${lines ? " clamp" : ""}`;
  return html`<bdi class=${look} dir="auto" style=${lines ? { "--lines": lines } : undefined}>${parts(text)}</bdi>`;
}

/** @param {string} text @param {number} [lines] */
function shortened(text, lines) {
  const most = lines ? lines * PER_LINE : 20_000;
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** Words and `code` in turns: what the expression caught stands at the odd places. @param {string} text */
function parts(text) {
  return text.split(/`([^`\n]{1,200})`/).map((part, at) => (at % 2 ? html`<code>${part}</code>` : part));
}
