// The head of the inspector: which task, how it is, and what can be done to it.

import { html } from "../../vendor/ui.js";
import { could, isPending, moment } from "../../model/moment.js";
import { href, set } from "../../shell/router.js";
import { Button, IconButton } from "../../ui/button.js";
import { StateWord } from "../../ui/glyph.js";
import { Menu } from "../../ui/menu.js";
import { Text } from "../../ui/text.js";
import { t } from "../../words.js";
import { doingsOf, labelOf, perform } from "../task/doing.js";
import { refOf } from "../task/names.js";

const AT_HAND = 3; // buttons; the others are in the menu

/** Without a task: only the button that closes. */
export function Head({ task, state, picture }) {
  return html`
    <header class="inspector-head">
      <div class="row">
        ${task && html`<span class="mono muted">${refOf(task)}</span><${StateWord} state=${state} />`}
        <span class="end">
          <${IconButton} icon="x" label=${t("dialogs.close")} onClick=${() => set({ task: null })} /></span>
      </div>
      ${task && html`<h2><${Text} value=${task.title} lines=${4} /></h2>
        <${Doings} task=${task} picture=${picture} />`}
    </header>`;
}

const doingsFor = (task) => (could.value.write ? doingsOf(task) : []);

function Doings({ task, picture }) {
  const machine = picture.agents.get(task.assignee)?.machine;
  const busy = isPending(`tasks\n${task.id}`);
  return html`
    <div class="row wrap" role="group" aria-label=${t("inspector.actions")} aria-busy=${busy ? "true" : undefined}>
      ${doingsFor(task).slice(0, AT_HAND).map((doing, index) => html`
        <${Button} key=${doing.id} kind=${isBest(doing, index) ? "primary" : "plain"} small
          disabled=${busy || Boolean(moment.value)}
          onClick=${() => perform(doing.id, task)}>${labelOf(doing, task)}<//>`)}
      ${machine && picture.machines.has(machine) && html`
        <${Button} small href=${href("machines", { machine, agent: task.assignee })}>${t("inspector.terminal")}<//>`}
    </div>`;
}

/** What is done less often. */
function More({ task, picture }) {
  const items = doingsFor(task).slice(AT_HAND).map((doing) => ({
    label: labelOf(doing, task), icon: doing.icon, danger: doing.danger, run: () => perform(doing.id, task),
  }));
  if (!items.length) return null;
  return html`<${Menu} bare small icon="ellipsis" label=${t("inspector.more")} items=${items}
    disabled=${Boolean(moment.value)} />`;
}

/** What helps a task on stands out; handing it to somebody else does not. */
const isBest = ({ id }, index) => index === 0 && ["approve_work", "answer", "retry"].includes(id);
