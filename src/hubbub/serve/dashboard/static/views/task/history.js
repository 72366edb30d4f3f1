// What became of a task: its life as a line of steps, and what happened to it.

import { html, useState } from "../../vendor/ui.js";
import { GLYPHS } from "../../model/states.js";
import { now } from "../../model/store.js";
import { fullTime, has, hourAndMinute, span, t } from "../../i18n.js";
import { Button, Icon } from "../../ui/controls.js";
import { stateWord } from "../../ui/marks.js";
import { Clock, Text } from "../../ui/text.js";

// The life of a task as steps with times, made from its part of the log: no DOM.

/** What the log says of a task in other words than people see. */
const WORDS = { accepted: "acked", working: "running", in_review: "review", completed: "done" };

const ALONG = ["queued", "delivered", "acked", "running", "blocked", "review"];
const ENDS = new Set(["failed", "cancelled", "expired"]);
const BEGIN_AGAIN = new Set(["task.retried", "task.reassigned", "task.released", "task.reopened"]);

const wordOf = (status) => WORDS[status] ?? status;

/**
 * The steps in their order, the last one being how the task ended or may end.
 * @param {object} task  its card, or the whole of it
 * @param {object[]} activities  of the task, oldest first
 * @param {number} now
 * @returns {{id: string, at: number|null, after: number|null, spent: number, current: boolean}[]}
 *   `at`: when it was reached since the task was last given to somebody; null: not reached, or skipped.
 *   `after`: milliseconds since the step that was reached before it. `spent`: milliseconds in it, all in all
 */
function stepsOf(task, activities, now) {
  const passed = passages(task, activities);
  const current = wordOf(task.status);
  const reached = new Map();
  const spent = new Map();
  passed.forEach(({ id, at }, index) => {
    const left = passed[index + 1]?.at ?? (task.ended_at ? at : now);
    spent.set(id, (spent.get(id) ?? 0) + Math.max(0, left - at));
    if (!reached.has(id)) reached.set(id, { at, after: index ? at - passed[index - 1].at : null });
  });
  return [...ALONG, ENDS.has(current) ? current : "done"].map((id) => ({
    id, at: null, after: null, ...reached.get(id), spent: spent.get(id) ?? 0, current: id === current,
  }));
}

/** Which steps were reached when, oldest first, since the task was last handed to somebody. */
function passages(task, activities) {
  const passed = [];
  for (const { kind, at, detail } of activities) {
    if (kind === "task.sent" || BEGIN_AGAIN.has(kind)) passed.length = 0;
    const id = wordOf(detail?.after);
    if (id && !passed.length && id !== "queued") passed.push({ id: "queued", at }); // straight into an inbox
    if (id && id !== passed.at(-1)?.id) passed.push({ id, at });
  }
  return passed.length ? passed : fromCard(task);
}

/** The same from what the task itself remembers, for when the log has not been read, or not far enough. */
function fromCard(task) {
  const known = [
    ["queued", task.created_at], ["delivered", task.delivered_at], ["acked", task.accepted_at],
    ["running", task.started_at], [wordOf(task.status), task.ended_at ?? task.updated_at],
  ];
  return known
    .filter(([, at]) => at !== null && at !== undefined)
    .map(([id, at]) => ({ id, at }))
    .filter((each, index, all) => all.findIndex((other) => other.id === each.id) === index);
}

// The life of a task as a line of steps: what was reached when, and how long each took.

/** @param {{task: object, details: object}} props */
export function Rail({ task, details }) {
  const steps = stepsOf(task, details.activity, now.value);
  const age = span((task.ended_at ?? now.value) - task.created_at);
  const since = task.ended_at ? t("inspector.took", { age }) : t("inspector.since", { age });
  return html`
    <section class="inspector-part">
      <h3>${t("inspector.lifecycle")} <small>${since}</small></h3>
      <ol class="rail">
        ${steps.map((step) => html`<${Step} key=${step.id} step=${step} />`)}
      </ol>
    </section>`;
}

function Step({ step }) {
  const { id, at, after, spent, current } = step;
  const reached = at !== null;
  const when = !reached ? t("inspector.skipped") : after === null ? hourAndMinute(at) : `+${span(after)}`;
  const title = reached ? t("inspector.step_title", { at: fullTime(at), span: span(spent) }) : undefined;
  return html`
    <li data-state=${id} class=${reached ? "is-reached" : ""} aria-current=${current ? "step" : undefined}
      title=${title}>
      <span class="rail-glyph"><${Icon} name=${GLYPHS[id]} size=${14} /></span>
      <span class="rail-word">${stateWord(id)}</span>
      <span class="rail-time mono">
        ${reached ? when : html`<span aria-hidden="true">·</span><span class="sr">${when}</span>`}</span>
    </li>`;
}

// How often a task was begun anew: who had it each time, from when to when, and how that ended.

/**
 * @param {object[]} activities  of the task, oldest first
 * @returns {{number: number, who: string|undefined, from: number, end: object|undefined}[]}  `end`: what ended it
 */
function attemptsOf(activities) {
  const known = activities.filter(({ detail }) => detail?.attempt);
  const attempts = [...Map.groupBy(known, ({ detail }) => detail.attempt)];
  return attempts.map(([number, events], index) => ({
    number,
    who: events.findLast(({ agent, detail }) => agent && detail.after !== "queued")?.agent,
    from: events[0].at,
    end: events.find(({ detail }) => isEnd(wordOf(detail.after))) ?? attempts[index + 1]?.[1][0],
  }));
}

const isEnd = (id) => id === "done" || ENDS.has(id);

/** @param {{task: object, details: object}} props */
export function Attempts({ task, details }) {
  const attempts = attemptsOf(details.activity);
  if (attempts.length < 2) return null;
  return html`
    <section class="inspector-part" aria-label=${t("inspector.attempts")}>
      <h3>${t("inspector.attempts")} <small class="num">${task.attempt}</small></h3>
      <ol class="events">${attempts.map((each) => html`<${Attempt} key=${each.number} ...${each} task=${task} />`)}</ol>
    </section>`;
}

function Attempt({ number, who, from, end, task }) {
  const [icon, state] = end ? LOOKS[end.kind] ?? ["info"] : [GLYPHS[task.state], task.state];
  return html`
    <li data-state=${state}>
      <span class="event-icon"><${Icon} name=${icon} size=${14} /></span>
      <span class="grow"><span class="num faint">${number}</span>${" "}
        <bdi class="strong">${who ?? t("board.unassigned")}</bdi>${" · "}
        ${end ? html`<${What} activity=${end} />` : stateWord(task.state)}</span>
      <span class="mono faint meta">${hourAndMinute(from)}${end && `–${hourAndMinute(end.at)}`}</span>
    </li>`;
}

// What happened to a task, the latest first.

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
  "task.contract": ["list-checks"], "task.waived": ["shield-alert", "blocked"],
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
  const [icon, state] = LOOKS[activity.kind] ?? ["info"];
  return html`
    <li data-state=${state}>
      <span class="event-icon"><${Icon} name=${icon} size=${14} /></span>
      <span class="grow"><${What} activity=${activity} /></span>
      <span class="mono faint meta"><${Clock} at=${activity.at} /></span>
    </li>`;
}

function What({ activity: { kind, actor, agent, detail } }) {
  const who = actor ?? agent;
  const key = `inspector.event_${kind.replace(".", "_")}`;
  const word = has(key) ? t(key, { percent: detail?.progress ?? "?" }) : kind;
  const said = detail?.reason ?? detail?.text ?? detail?.note;
  return html`<span class="strong">${word}</span>
    ${who && html` <bdi class="muted">${t("inspector.by", { name: who })}</bdi>`}
    ${said && html`: <${Text} value=${said} lines=${3} />`}`;
}
