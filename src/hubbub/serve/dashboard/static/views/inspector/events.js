// What happened to a task, the latest first.

import { html, useState } from "../../vendor/ui.js";
import { Clock } from "../../ui/ago.js";
import { Button } from "../../ui/button.js";
import { Icon } from "../../ui/icon.js";
import { Text } from "../../ui/text.js";
import { has, t } from "../../words.js";

const AT_FIRST = 25;

/** Kind → its icon, and which state colours it. */
const LOOKS = {
  "task.sent": ["plus", "queued"], "task.delivered": ["circle", "delivered"], "task.ready": ["circle-dashed", "queued"],
  "task.accepted": ["circle-dot", "acked"], "task.started": ["loader", "running"],
  "task.blocked": ["circle-pause", "blocked"], "task.submitted": ["eye", "review"],
  "task.completed": ["circle-check", "done"], "task.failed": ["circle-x", "failed"],
  "task.cancelled": ["circle-slash"], "task.expired": ["clock"], "task.late": ["clock"], "task.progress": ["activity"],
  "task.noted": ["message-square"], "message.sent": ["message-square"], "task.retried": ["rotate-ccw"],
  "task.reassigned": ["user-plus"], "task.released": ["unlink"], "task.reopened": ["rotate-ccw"],
};

/** @param {{details: object}} props */
export function Events({ details }) {
  const [most, setMost] = useState(AT_FIRST);
  const events = details.activity.toReversed();
  return html`
    <section class="inspector-part">
      <h3>${t("inspector.events")} <small class="num">${events.length}</small></h3>
      <ol class="events">${events.slice(0, most).map((each) => html`<${Event} key=${each.id} activity=${each} />`)}</ol>
      ${events.length > most && html`
        <${Button} small kind="quiet" onClick=${() => setMost(events.length)}>${t("inspector.all_events")}<//>`}
    </section>`;
}

function Event({ activity }) {
  const { kind, at, actor, agent, detail } = activity;
  const [icon, state] = LOOKS[kind] ?? ["dot", undefined];
  const who = actor ?? agent;
  const key = `inspector.event_${kind.replace(".", "_")}`;
  const word = has(key) ? t(key, { percent: detail?.progress ?? "?" }) : kind;
  const said = detail?.reason ?? detail?.text ?? detail?.note;
  return html`
    <li data-state=${state}>
      <span class="event-icon"><${Icon} name=${icon === "dot" ? "info" : icon} size=${14} /></span>
      <span class="grow"><span class="strong">${word}</span>
        ${who && html` <span class="muted">${t("inspector.by", { name: "" })}<bdi>${who}</bdi></span>`}
        ${said && html`: <${Text} value=${said} lines=${3} />`}</span>
      <span class="mono faint meta"><${Clock} at=${at} /></span>
    </li>`;
}
