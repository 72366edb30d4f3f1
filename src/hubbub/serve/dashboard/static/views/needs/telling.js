// What a need says: `main` is what it is about, `aside` who, where and why.

import { html, useState } from "../../vendor/ui.js";
import { read } from "../../hub/reads.js";
import { now } from "../../model/moment.js";
import { Button } from "../../ui/button.js";
import { Text } from "../../ui/text.js";
import { toast } from "../../ui/toasts.js";
import { list, span, t } from "../../words.js";
import { currentTask } from "../../model/states.js";
import { refOf } from "../task/names.js";

const MOST_PLACES = 5;
const SEEN = 240; // characters of a command that are seen without asking for more

const number = (task) => html`<span class="mono">${refOf(task)}</span>`;
const title = (task) => html`<${Text} value=${task.title} lines=${2} />`;
const name = (text) => html`<bdi>${text}</bdi>`;

/** Parts in one line, with dots between them. */
const line = (...parts) =>
  parts.filter(Boolean).map((part, index) => html`${index > 0 && html`<span class="faint"> · </span>`}${part}`);

const OF_KIND = {
  approval: ({ approval }) => ({
    main: html`<${Command} key=${approval.id} approval=${approval} />`,
    aside: html`${line(!approval.said_node && name(approval.who), name(approval.tool), whereAsked(approval))}
      ${approval.reason && html`<div><${Text} value=${approval.reason} lines=${3} /></div>`}`,
  }),
  question: ({ task, agent }) => ({
    main: task ? title(task) : html`<${Text} value=${agent.doing || t("needs.asks_nothing")} lines=${3} />`,
    aside: html`${line(name(task?.assignee ?? agent.name), task && number(task))}
      ${task && html`<div class="amber"><${Text} value=${task.note || agent?.doing || t("needs.no_reason")}
        lines=${3} /></div>`}`,
  }),
  letter: ({ letter }) => ({
    main: html`<${Text} value=${letter.text} lines=${4} />`,
    aside: html`<bdi>${letter.recipient === "hub" ? t("needs.from", { name: letter.sender })
      : t("needs.from_to", { name: letter.sender, whom: letter.recipient })}</bdi>`,
  }),
  stale: ({ agent, held }) => ({
    main: line(name(agent.name), t("needs.holds", { count: held.length })),
    aside: held.slice(0, 3).map((task) => html`
      <div><span class="mono faint">${refOf(task)}</span> <${Text} value=${task.title} lines=${1} /></div>`),
  }),
  conflict: ({ overlap }, picture) => ({
    main: html`<span class="mono"><${Text} value=${places(overlap)} lines=${2} /></span>`,
    aside: whoMeets(overlap.agents, picture),
  }),
  failed: ({ task, agent }) => ({
    main: title(task),
    aside: html`<div class="need-error"><${Text} value=${task.note || t("needs.no_error")} lines=${4} /></div>
      ${line(task.assignee && name(task.assignee), number(task), agent?.machine && name(agent.machine))}`,
  }),
  late: ({ task }) => ({
    main: title(task),
    aside: line(number(task), task.assignee ? name(task.assignee) : t("board.unassigned"),
      html`<span>${lateBecause(task)}</span>`),
  }),
};

/** The machine that asks; where the agent's own program does, that it is only said. */
function whereAsked({ who, node, said_node: said }) {
  return said ? html`<span class="amber">${name(t("needs.own_program", { who, node: said }))}</span>` : name(node);
}

OF_KIND.expired = OF_KIND.approval;

/** What is asked for: its beginning, and all of it, which only the hub has, for who wants to read it first. */
function Command({ approval: { id, shown: beginning } }) {
  const [whole, setWhole] = useState(null);
  const look = () => read.approval(id).then(({ approval }) => setWhole(approval.shown),
    () => toast(t("errors.unreachable"), { kind: "error" }));
  return html`
    <pre class=${whole === null ? "need-command" : "need-command is-whole"} tabindex="0"><bdi
      class="mono">${whole ?? beginning}</bdi></pre>
    ${whole === null && beginning.length > SEEN && html`
      <${Button} small kind="quiet" icon="chevron-down" onClick=${look}>${t("needs.whole")}<//>`}`;
}

/** @param {import("../../model/waiting.js").Need} need @param {import("../../model/fold.js").Picture} picture */
export const told = (need, picture) => OF_KIND[need.kind](need, picture);

/** What two agents both work on: files, else areas. */
const places = ({ files, areas }) => (files.length ? files : areas).slice(0, MOST_PLACES).join(", ");

/** Two agents, each with the task that it is at. */
function whoMeets(agents, picture) {
  const said = agents.map((agent) => {
    const task = currentTask(agent, picture);
    return task ? `${agent} ${refOf(task)}` : agent;
  });
  return html`<bdi>${list(said)}</bdi>`;
}

/** Why a task is over-age, in one short sentence. */
function lateBecause(task) {
  const age = span(now.value - (task.state === "running" ? task.updated_at : task.created_at));
  if (task.state === "running") return t("needs.late_silent", { age });
  if (task.state === "queued") return t("needs.late_free", { age });
  return t("needs.late_unread", { age, name: task.assignee });
}
