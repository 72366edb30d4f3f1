// Who is to do a task: anybody that the project knows, those who are there first.

import { html, useState } from "../../vendor/ui.js";
import { shown } from "../../model/moment.js";
import { tasksOf } from "../../model/states.js";
import { Button } from "../../ui/button.js";
import { Dialog } from "../../ui/dialog.js";
import { Select } from "../../ui/field.js";
import { stateWord } from "../../ui/glyph.js";
import { t } from "../../words.js";
import { refOf } from "./names.js";

const RANK = ["idle", "working", "waiting", "blocked", "error", "offline", "stale"];

/** @param {{tasks: object[], onSay: (said: {to: string}) => void, onClose: () => void}} props */
export function Reassign({ tasks, onSay, onClose }) {
  const options = agentOptions(shown.value, tasks.length === 1 ? tasks[0].assignee : null);
  const [to, setTo] = useState(options[0]?.value ?? "");
  const words = { count: tasks.length, ref: refOf(tasks[0]) };
  const footer = html`
    <${Button} kind="primary" type="submit" disabled=${!to}>${t("inspector.reassign")}<//>`;
  return html`
    <${Dialog} title=${t("inspector.reassign_title", words)} onClose=${onClose} footer=${footer}
      onSubmit=${() => to && onSay({ to })}>
      ${options.length
        ? html`<${Select} label=${t("inspector.reassign_label")} options=${options} value=${to}
            hint=${t("inspector.reassign_hint")} onChange=${(event) => setTo(event.currentTarget.value)} />`
        : html`<p>${t("inspector.reassign_nobody")}</p>`}
    <//>`;
}

/** The agents of a picture, for a field: who is free first, who is gone last, with how they are. */
export function agentOptions(picture, except = null) {
  return [...picture.agents.values()]
    .filter((agent) => agent.name !== except)
    .map((agent) => ({ agent, state: agent.state, busy: tasksOf(agent.name, picture).length }))
    .sort((a, b) => RANK.indexOf(a.state) - RANK.indexOf(b.state) || a.busy - b.busy
      || a.agent.name.localeCompare(b.agent.name))
    .map(({ agent, state, busy }) => ({
      value: agent.name,
      label: [agent.name, stateWord(state, true), busy ? t("inspector.open_tasks", { count: busy }) : null]
        .filter(Boolean).join(" · "),
    }));
}
