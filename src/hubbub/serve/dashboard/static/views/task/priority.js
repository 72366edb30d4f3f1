// How urgent a task is: a mark and a word, where it is more urgent than usual.

import { html } from "../../vendor/ui.js";
import { Icon } from "../../ui/icon.js";
import { t } from "../../words.js";

const ICONS = { critical: "triangle-alert", high: "arrow-up", medium: "circle", low: "arrow-down" };

/** @param {{priority: string, always?: boolean}} props `always`: the usual ones too */
export function Priority({ priority, always = false }) {
  if (!always && priority !== "critical" && priority !== "high") return null;
  return html`<span class="priority" data-priority=${priority}>
    <${Icon} name=${ICONS[priority] ?? "circle"} size=${13} />${t(`board.priority_${priority}`)}</span>`;
}
