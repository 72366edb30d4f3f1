// A row of small bars: how much happened, per slice of time.
import { html } from "../vendor/ui.js";

/** @param {{values: number[], label: string, height?: number}} props `label`: the same in words */
export function Sparkline({ values, label, height = 22 }) {
  const most = Math.max(1, ...values);
  const width = 6;
  return html`<svg class="spark" role="img" aria-label=${label} height=${height} preserveAspectRatio="none"
    viewBox="0 0 ${values.length * width} ${height}">
    <line x1="0" x2=${values.length * width} y1=${height - 0.5} y2=${height - 0.5} />
    ${values.map((value, at) => {
      const tall = value ? Math.max(2, Math.round((value / most) * height)) : 0;
      return tall ? html`<rect x=${at * width} y=${height - tall} width=${width - 2} height=${tall} rx="1" />` : null;
    })}
  </svg>`;
}
