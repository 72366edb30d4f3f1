// Times: compact on the page, whole in the tooltip, exact for machines.
import { html, useComputed } from "../vendor/ui.js";
import { now } from "../model/moment.js";
import { clock, day, fullTime, span } from "../words.js";

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
