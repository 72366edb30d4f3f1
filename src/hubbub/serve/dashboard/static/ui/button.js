// Buttons, and links that look like them.
import { html } from "../vendor/ui.js";
import { Icon } from "./icon.js";

/**
 * @param {object} props
 * @param {"plain"|"primary"|"quiet"|"danger"} [props.kind]
 * @param {string} [props.icon]
 * @param {string} [props.keyHint] the key that does the same, shown in a small frame
 * @param {string} [props.href] makes it a link
 * @param {boolean} [props.small]
 * @param {boolean} [props.pressed] makes it a toggle
 */
export function Button({ kind = "plain", icon, keyHint, href, small, pressed, class: more, children, ...rest }) {
  const look = ["button", `is-${kind}`, small && "is-small", more].filter(Boolean).join(" ");
  const inside = html`
    ${icon && html`<${Icon} name=${icon} size=${15} />`}${children}
    ${keyHint && html`<kbd aria-hidden="true">${keyHint}</kbd>`}
  `;
  if (href) return html`<a ...${rest} class=${look} href=${href}>${inside}</a>`;
  return html`<button type="button" ...${rest} class=${look} aria-pressed=${pressed}>${inside}</button>`;
}

/**
 * A button that is only an icon: `label` is its name and its tooltip.
 * @param {{icon: string, label: string, kind?: string, small?: boolean, pressed?: boolean}} props
 */
export function IconButton({ icon, label, kind = "plain", small, pressed, class: more, ...rest }) {
  const look = ["button is-icon", `is-${kind}`, small && "is-small", more].filter(Boolean).join(" ");
  return html`<button type="button" ...${rest} class=${look} aria-label=${label} title=${label}
    aria-pressed=${pressed}><${Icon} name=${icon} size=${16} /></button>`;
}
