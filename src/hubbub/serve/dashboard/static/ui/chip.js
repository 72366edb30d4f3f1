// Small marks: a filter that is on or off, a count.
import { html } from "../vendor/ui.js";

/** A filter that can be switched on and off. @param {{pressed: boolean, onClick: () => void, children: any}} props */
export function Chip({ pressed, children, ...rest }) {
  return html`<button type="button" ...${rest} class="chip" aria-pressed=${pressed}>
    <span class="clip">${children}</span>
  </button>`;
}

/**
 * A count; nothing at all where there is nothing to count.
 * @param {{value: number, tone?: "plain"|"amber"|"red"}} props
 */
export function Badge({ value, tone = "plain" }) {
  return value ? html`<span class="badge is-${tone}">${value > 9999 ? "9999+" : value}</span>` : null;
}
