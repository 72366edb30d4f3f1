// The first steps in a project, with a tick at each that is done, until two agents have talked to each other; and an
// echo to try them with before any program is installed.

import { html, useEffect, useState } from "../vendor/ui.js";
import { could, inProject, install, isGuest, may, project } from "../model/store.js";
import { read } from "../hub/endpoints.js";
import { t } from "../i18n.js";
import { compose } from "../shell/dialogs.js";
import { Button, Icon } from "../ui/controls.js";
import { Command, Skeleton } from "../ui/empty.js";
import { written } from "../ui/form.js";
import { done, useFetched } from "./fetching.js";
import { NothingWaits } from "./nothing_waits.js";
import { OwnTerminal } from "./own_terminal.js";

/** What changes how far one has come. */
const KINDS = ["agent.", "message.", "task.", "file.", "token."];

/** The steps in order: whether it is done, and the command that does it. */
const STEPS = {
  hub: { isDone: () => true },
  install: {
    isDone: ({ installed }) => installed.length > 0,
    command: install,
  },
  start: { isDone: ({ started }) => started.length > 0, command: () => "claude" },
  message: {
    isDone: ({ has_message: isDone }) => isDone,
    command: (name) => inProject(`hubbub send ${name} 'What are you working on?'`),
  },
  claim: {
    isDone: ({ has_claim: isDone }) => isDone,
    command: (name) => inProject(`hubbub task add 'Review the last commit' --to ${name}`),
  },
  talk: {
    isDone: ({ has_talk: isDone }) => isDone,
    command: (name) => inProject(`hubbub send ${name} 'Ask the others what they are working on.'`),
  },
};

/** @param {{alone?: boolean}} props `alone`: nothing else is on the page */
export function View({ alone = false }) {
  const [isOver, setIsOver] = useState(false); // then nothing that happens matters any more, and nothing is asked
  const steps = useFetched(() => read.firstSteps(), [project.value], isOver ? [] : KINDS);
  useEffect(() => setIsOver(Boolean(steps.value?.has_talk)), [steps.value]);
  if (steps.error) return alone && html`<${NothingWaits} />`;
  if (steps.value === null) return alone && html`<${Skeleton} lines=${6} />`;
  return steps.value.has_talk ? alone && html`<${NothingWaits} />` : html`<${Steps} steps=${steps.value} />`;
}

/** What comes next: whoever tries it with the echo first writes to it. @param {object} steps */
function nextOf(steps) {
  const open = Object.keys(STEPS).filter((name) => !STEPS[name].isDone(steps));
  const first = steps.has_echo && !steps.started.length && open.find((name) => name === "message" || name === "claim");
  return first || open[0];
}

function Steps({ steps }) {
  const next = nextOf(steps);
  const step = (name) => html`<${Step} key=${name} name=${name} steps=${steps} isNext=${name === next} />`;
  const [done, open] = [true, false].map((is) => Object.keys(STEPS).filter((name) => STEPS[name].isDone(steps) === is));
  return html`<section class="first-steps" aria-label=${t("steps.title")}>
    <h2>${t("steps.title")}</h2>
    <p class="muted">${t("steps.text")}${" "}
      <a class="link" href="/docs/quickstart">${t("steps.more")}</a></p>
    ${isGuest() && html`<${OwnTerminal} />`}
    ${done.length > 1 ? html`<details><summary>${t("steps.done_all", { count: done.length })}</summary>
      <ol>${done.map(step)}</ol></details>` : html`<ol>${done.map(step)}</ol>`}
    <ol>${open.map(step)}</ol>
    <${Echo} steps=${steps} />
  </section>`;
}

function Step({ name, steps, isNext }) {
  const { isDone, command } = STEPS[name];
  const ticked = isDone(steps);
  const names = { install: steps.installed, start: steps.started }[name] ?? [];
  const agent = steps.started[0] ?? (steps.has_echo ? "echo" : steps.installed[0] ?? "ember");
  return html`<li class=${ticked ? "is-done" : ""} aria-current=${isNext ? "step" : undefined}>
    <${Icon} name=${ticked ? "circle-check" : "circle-dashed"} size=${18} />
    <div class="grow stack tight">
      <span>${t(`steps.${name}`)}
        <span class="sr">${t(ticked ? "steps.done" : "steps.open")}</span>
        ${ticked && names.length > 0 && html` <bdi class="muted">${names.join(", ")}</bdi>`}</span>
      ${isNext && html`<span class="muted small">${t(`steps.${name}_how`, { key: written("mod+k") })}</span>
        <${Command} text=${command(agent)} />`}
    </div>
  </li>`;
}

/** An agent of the hub's own that answers: who manages the project has it come and go, others write to it. */
function Echo({ steps: { has_echo: isThere, has_message: isWritten } }) {
  if (!could.value[isThere ? "write" : "manage"]) return null;
  return html`<div class="first-echo">
    <span class="grow">${t(isThere ? "steps.echo_there" : "steps.echo_text")}</span>
    ${isThere ? html`${could.value.manage && html`<${Button} disabled=${!may.value.manage}
      onClick=${() => done("removeEcho", {}, t("steps.echo_removed"))}>${t("steps.echo_remove")}<//>`}
    <${Button} kind=${isWritten ? "plain" : "primary"} icon="send" disabled=${!may.value.write}
      onClick=${() => compose(["echo"])}>${t("steps.echo_write")}<//>
    <${Button} kind=${isWritten ? "primary" : "plain"} icon="plus" disabled=${!may.value.write}
      onClick=${() => compose(["echo"], "task")}>${t("steps.echo_task")}<//>`
      : html`<${Button} icon="play" disabled=${!may.value.manage}
          onClick=${() => done("startEcho", {}, t("steps.echo_started"))}>${t("steps.echo_start")}<//>`}
  </div>`;
}
