// Inside a line: texts of others, and times.

import { html, useComputed } from "../vendor/ui.js";
import { now } from "../model/store.js";
import { clock, day, fullTime, span, t } from "../i18n.js";

// What agents wrote in one line: only text nodes, `code` in code letters, kept apart from the page's direction.

/** No line of a card shows more characters than this, so more never reach the page. */
const PER_LINE = 240;

/** @param {{value: string|null|undefined, lines?: number, class?: string}} props `lines`: cut off after so many;
 *  where there is one, those of the text have dots between them */
export function Text({ value, lines, class: more = "" }) {
  const text = shortened(String(value ?? ""), lines);
  const look = `text ${more}${lines ? " clamp" : ""}`;
  return html`<bdi class=${look} dir="auto" style=${lines ? { "--lines": lines } : undefined}>${parts(text)}</bdi>`;
}

/** @param {string} text @param {number} [lines] */
function shortened(text, lines) {
  const most = lines ? lines * PER_LINE : 20_000;
  if (lines === 1) text = text.trim().replaceAll(/\s*\n\s*/g, " · ");
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** Words and `code` in turns: what the expression caught stands at the odd places. @param {string} text */
function parts(text) {
  return text.split(/`([^`\n]{1,200})`/).map((part, at) => (at % 2 ? html`<code>${part}</code>` : part));
}

// Times: compact on the page, whole in the tooltip, exact for machines.

/** How long ago something was, by the second: "36m". Only its text changes. @param {{at: number|null}} props */
export function Ago({ at }) {
  const text = useComputed(() => span(now.value - at));
  return at == null ? null : timed(at, text);
}

/** How long it is until something: "59m". @param {{at: number}} props */
export function Until({ at }) {
  return timed(at, useComputed(() => span(at - now.value)));
}

/** How long something took, or takes. @param {{from: number|null, to?: number|null}} props ms; no `to`: until now */
export function Span({ from, to }) {
  const text = useComputed(() => span((to ?? now.value) - from));
  if (from == null) return null;
  const whole = to == null ? fullTime(from) : `${fullTime(from)} – ${fullTime(to)}`;
  return html`<span class="num" title=${whole}>${text}</span>`;
}

/** When something was: 09:17:03. @param {{at: number|null}} props */
export function Clock({ at }) {
  return at == null ? null : timed(at, clock(at));
}

/** On which day something was, and when: Sat, 22 Nov 09:17:03. @param {{at: number}} props */
export function Moment({ at }) {
  return timed(at, `${day(at)} ${clock(at)}`);
}

function timed(at, text) {
  return html`<time datetime=${new Date(at).toISOString()} title=${fullTime(at)}>${text}</time>`;
}

/** In which time the shown tasks ended, in words. @param {string} said as the address says it */
export function finishedWords(said) {
  if (!said.includes("..")) return t(`board.finished_${said}`);
  const [first, last] = said.split("..").map((date) => date && day(Date.parse(`${date}T00:00`)));
  const key = first && last ? "dates" : first ? "since" : "until";
  return t(`board.finished_${key}`, { first, last });
}
