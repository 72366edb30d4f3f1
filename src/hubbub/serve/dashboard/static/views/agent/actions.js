// What a person can do to an agent: write to it, give it work, take claims and work from it, give it another
// name, and, where it was started on a machine from here, stop it and start it again.

import { html } from "../../vendor/ui.js";
import { could, may } from "../../model/store.js";
import { act } from "../../hub/actions.js";
import { read } from "../../hub/endpoints.js";
import { t } from "../../i18n.js";
import { ask, compose, confirm } from "../../shell/dialogs.js";
import { lazy } from "../../shell/lazy.js";
import { href } from "../../shell/router.js";
import { Button } from "../../ui/controls.js";
import { openDialog, toast } from "../../ui/overlays.js";
import { done } from "../fetching.js";
import { refOf } from "../task/actions.js";
import { change } from "./changing.js";

/** Whether what was started on a machine runs there, or is to. */
export const isRunning = ({ status }) => ["starting", "running", "restarting"].includes(status);

/** Take a task from whoever has it: it goes back into the open queue. */
export async function releaseTask(task) {
  const reason = await ask({
    title: t("fleet.release_task", { ref: refOf(task) }), label: t("fleet.reason"), hint: t("fleet.reason_hint"),
    action: t("fleet.release"), danger: true,
  });
  if (reason && await act("release", { task: task.id, reason })) toast(t("fleet.task_released", { ref: refOf(task) }));
}

/** Open a new task for an agent. @param {string} to */
async function giveTask(to) {
  const CreateTask = (await lazy("forms"))?.CreateTask;
  if (CreateTask) openDialog((close) => html`<${CreateTask} given=${{ to }} onClose=${close} />`);
}

/** Free what an agent claims to work on. */
export async function releaseScope(name) {
  const reason = await ask({
    title: t("fleet.release_scope_title", { name }), label: t("fleet.reason"), hint: t("fleet.reason_hint"),
    action: t("fleet.release_scope"), danger: true,
  });
  if (reason && await act("releaseScope", { agent: name, reason })) toast(t("fleet.scope_released", { name }));
}

/** Give an agent that is not there another name, which its panel then follows. */
async function rename(name) {
  const to = await ask({
    title: t("fleet.rename_title", { name }), label: t("fleet.rename_to"), hint: t("fleet.rename_hint"),
    action: t("fleet.rename"), short: true,
  });
  if (to && await act("rename", { agent: name, to })) toast(t("fleet.renamed", { name, to }));
}

/** End the program of an agent that was started on a machine. */
export async function stop(name) {
  const sure = await confirm({
    title: t("fleet.stop_title", { name }), text: t("fleet.stop_text"), action: t("fleet.stop"), danger: true,
  });
  if (sure) await done("stop", { agent: name }, t("fleet.stopped", { name }));
}

/** With the command that it ran before, which the list of placements knows. */
async function startAgain(name) {
  const { placements } = await read.placements();
  const placed = placements.find(({ agent }) => agent === name);
  if (!placed) return;
  const sure = await confirm({
    title: t("fleet.start_title", { name }), action: t("fleet.start"),
    text: html`${t("fleet.start_text", { node: placed.node })} <code>${placed.command}</code>`,
  });
  if (sure && await act("start", { agent: name, node: placed.node, run: placed.command })) {
    toast(t("fleet.started", { name }));
  }
}

/** @param {{agent: object, placed: object|null|undefined}} props */
export function AgentActions({ agent, placed }) {
  const { name } = agent;
  const off = !may.value.write;
  return html`<div class="row wrap">
    <${Button} small icon="message-square" disabled=${off} onClick=${() => compose([name])}>${t("fleet.message")}<//>
    <${Button} small icon="plus" disabled=${off} onClick=${() => giveTask(name)}>${t("fleet.give_task")}<//>
    ${agent.may.includes("release-scope") && html`<${Button} small icon="unlink" disabled=${off}
      onClick=${() => releaseScope(name)}>${t("fleet.release_scope")}<//>`}
    <${Button} small icon="file-text" disabled=${off} onClick=${() => change(agent)}>${t("fleet.change")}<//>
    ${could.value.manage && html`<${Button} small icon="pencil" disabled=${off || agent.live || !may.value.manage}
      title=${agent.live ? t("fleet.rename_live") : undefined} onClick=${() => rename(name)}>${t("fleet.rename")}<//>`}
    ${placed && html`<${Button} small icon="square-terminal" href=${href("machines", { terminal: name })}>
      ${t("fleet.logs")}<//>
      ${isRunning(placed)
        ? html`<${Button} small kind="danger" icon="pause" disabled=${off}
          onClick=${() => stop(name)}>${t("fleet.stop")}<//>`
        : html`<${Button} small icon="play" disabled=${off}
          onClick=${() => startAgain(name)}>${t("fleet.start")}<//>`}`}
  </div>`;
}
