// Leases beside the map of files: who holds which things, and who waits for them in which turn.

import { html } from "../vendor/ui.js";
import { t } from "../i18n.js";
import { Icon } from "../ui/controls.js";
import { Span } from "../ui/text.js";

const URGENCY = ["critical", "high", "medium", "low"];

/** First what is held, by the oldest; then who waits, in their turn. @param {Map<string, object>} leases */
function inTurn(leases) {
  const turn = ({ status, granted_at: at, priority, number }) =>
    status === "held" ? [0, 0, at] : [1, URGENCY.indexOf(priority), number];
  return [...leases.values()].sort((one, other) => {
    const [a, b] = [turn(one), turn(other)];
    return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
  });
}

/** @param {{leases: Map<string, object>}} props */
export function Leases({ leases }) {
  if (leases.size === 0) return null;
  return html`<section class="leases small" aria-label=${t("files.leases")}>
    <ul>${inTurn(leases).map((lease) => html`<${Lease} key=${lease.id} lease=${lease} />`)}</ul>
  </section>`;
}

function Lease({ lease }) {
  const isHeld = lease.status === "held";
  const units = Object.entries(lease.units).map(([thing, numbers]) => `${thing} ${numbers.join(", ")}`).join("; ");
  return html`<li class="row-tight" data-status=${lease.status}>
    <${Icon} name=${isHeld ? "key-round" : "clock"} size=${13} />
    <bdi class="mono strong" title=${units || null}>${lease.things.join(" ")}</bdi>
    <span>${t(isHeld ? "files.lease_held" : "files.lease_waiting")}</span>
    <bdi class="strong">${lease.holder}</bdi>
    ${lease.host && html`<span class="faint"><bdi>${lease.host}</bdi></span>`}
    <${Span} from=${isHeld ? lease.granted_at : lease.asked_at} />
    ${lease.purpose && html`<code class="clip"><bdi>${lease.purpose}</bdi></code>`}
  </li>`;
}
