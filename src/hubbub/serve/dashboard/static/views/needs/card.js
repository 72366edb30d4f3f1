// Something that needs a person: what it is, since when, why, and what can be done about it.

import { html, useState } from "../../vendor/ui.js";
import { isPending, moment, shown } from "../../model/moment.js";
import { late } from "../../shell/late.js";
import { Ago, Until } from "../../ui/ago.js";
import { Button } from "../../ui/button.js";
import { Card } from "../../ui/card.js";
import { Icon } from "../../ui/icon.js";
import { t } from "../../words.js";
import { actingOn } from "./acting.js";
import { told } from "./telling.js";

const ICONS = {
  approval: "shield-check", question: "hand", letter: "mail", expired: "clock", stale: "wifi-off",
  conflict: "git-branch", failed: "circle-x", late: "clock",
};
const TONES = { approval: "amber", question: "amber" };

/**
 * @param {{need: import("../../model/waiting.js").Need, small?: boolean}} props  `small`: in the row above the board
 */
export function NeedCard({ need, small = false }) {
  const [Why, setWhy] = useState(null);
  const { main, aside } = told(need, shown.value);
  const title = t(`needs.${titleOf(need)}`);
  const busy = isPending(need.of);
  return html`
    <${Card} item=${`need:${need.key}`} tone=${TONES[need.kind]}
      class=${`need is-${need.kind}${small ? " is-small" : ""}`} pending=${busy}
      role="group" aria-label=${title}>
      <div class="need-head">
        <span class="need-icon"><${Icon} name=${ICONS[need.kind]} size=${15} /></span>
        <span class="strong">${title}</span>
        <span class="end meta muted">${need.kind === "approval"
          ? html`${t("needs.left")} <${Until} at=${need.approval.expires_at} />`
          : html`<${Ago} at=${need.since} />`}</span>
      </div>
      <div class="need-main">${main}</div>
      ${aside && html`<div class="need-aside">${aside}</div>`}
      <${Actions} need=${need} busy=${busy} onWhy=${() => explain(Why, setWhy)} asked=${Why !== null} small=${small} />
      ${Why && html`<${Why} of=${whyOf(need)} key=${need.key} />`}
    <//>`;
}

/** The account of why, fetched when it is first asked for; asked again, it goes. */
async function explain(open, setWhy) {
  const found = open ? null : await late("why");
  setWhy(() => found?.Why ?? null);
}

/** A blocked task is told apart from an agent that asks. */
function titleOf({ kind, task, approval }) {
  if (kind === "question" && task?.state === "blocked") return "title_blocked";
  if (kind === "approval" && approval.dangerous) return "title_dangerous";
  return `title_${kind}`;
}

/** What is asked about: the task, or who holds it. */
function whyOf({ task, agent }) {
  return task ? { ref: task.number, kind: "task" } : { ref: agent.name, kind: "agent" };
}

function Actions({ need, busy, onWhy, asked, small }) {
  const all = actingOn(need);
  const shownHere = small ? all.filter((each) => each.id !== "why" || each.primary).slice(0, 3) : all;
  return html`
    <div class="need-actions">
      ${shownHere.map(({ id, label, run, key, primary, danger, href }) => html`
        <${Button} key=${id} href=${href} keyHint=${key?.toUpperCase()} data-act=${id}
          kind=${danger ? "danger" : primary ? "primary" : "plain"} disabled=${Boolean(run && (moment.value || busy))}
          aria-expanded=${id === "why" ? asked : undefined} onClick=${id === "why" ? onWhy : run}>${label}<//>`)}
    </div>`;
}
