// The life of a task as a line of steps: what was reached when, and how long each took.

import { html } from "../../vendor/ui.js";
import { now } from "../../model/moment.js";
import { Icon } from "../../ui/icon.js";
import { GLYPHS } from "../../model/states.js";
import { stateWord } from "../../ui/glyph.js";
import { fullTime, hourAndMinute, span, t } from "../../words.js";
import { stepsOf } from "./steps.js";

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
