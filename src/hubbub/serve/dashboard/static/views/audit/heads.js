// Whether the audit logs that the machines keep themselves hold beside what they told before. For who manages.
import { html } from "../../vendor/ui.js";
import { t } from "../../words.js";
import { read } from "../../hub/reads.js";
import { could } from "../../model/moment.js";
import { Ago } from "../../ui/ago.js";
import { Icon } from "../../ui/icon.js";
import { existed, Fetched, useFetched } from "../fetched.js";

/** Of each machine its farthest head, and whether any is broken; broken ones first. */
function byMachine(heads) {
  const machines = new Map();
  for (const head of heads) {
    const known = machines.get(head.node) ?? { node: head.node, latest: null, broken: null };
    if (head.broken) known.broken ??= head;
    else if (!known.latest || head.seq > known.latest.seq) known.latest = head;
    machines.set(head.node, known);
  }
  return [...machines.values()].sort((one, other) =>
    Boolean(other.broken) - Boolean(one.broken) || one.node.localeCompare(other.node));
}

function Head({ machine: { node, latest, broken } }) {
  const last = latest ?? broken;
  return html`<li class=${`head ${broken ? "is-broken" : ""}`}>
    <${Icon} name=${broken ? "shield-alert" : "shield-check"} size=${18} />
    <span class="grow"><strong class="clip"><bdi>${node}</bdi></strong>
      <span class="small">${broken ? t("audit.broken", { seq: broken.seq }) : t("audit.holds", { seq: last.seq })}
        ${" · "}<${Ago} at=${(broken ?? last).at} /></span>
      <code class="meta clip">${last.hash}</code></span>
  </li>`;
}

export function Heads() {
  const isMine = could.value.manage;
  const heads = useFetched(async () => (isMine ? read.auditHeads() : { heads: [] }), [isMine], ["audit."]);
  if (!isMine) return null;
  return html`<section class="stack" aria-label=${t("audit.heads")}>
    <h2 class="section-title">${t("audit.heads")}</h2>
    <${Fetched} of=${heads}>${(found) => {
      const machines = byMachine(existed(found.heads, "at"));
      if (!machines.length) return html`<p class="small muted">
        ${t("audit.no_heads")} <code>hubbub audit verify</code></p>`;
      return html`<ul class="heads">${machines.map((machine) => html`<${Head} key=${machine.node}
        machine=${machine} />`)}</ul>`;
    }}<//>
  </section>`;
}
