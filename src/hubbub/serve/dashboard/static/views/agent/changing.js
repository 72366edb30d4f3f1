// What people say about an agent: what it is for, and, while it is there, in which area it works.

import { html } from "../../vendor/ui.js";
import { project } from "../../model/store.js";
import { read } from "../../hub/endpoints.js";
import { t } from "../../i18n.js";
import { Button } from "../../ui/controls.js";
import { Dialog } from "../../ui/dialog.js";
import { Field, Select, TextArea } from "../../ui/form.js";
import { openDialog } from "../../ui/overlays.js";
import { done } from "../fetching.js";
import { useForm } from "../settings/parts.js";

/** @param {{name: string}} agent */
export async function change({ name }) {
  const [{ agent }, { areas }] = await Promise.all([read.agent(name), read.areas(project.value)]);
  openDialog((close) => html`<${Change} agent=${agent} areas=${areas} onClose=${close} />`);
}

/** An area that the project lost, or never had, is offered as long as the agent is in it. */
function areaOptions(areas, now) {
  const known = areas.map(({ slug, name }) => ({ value: slug, label: name || slug }));
  const lost = now && !areas.some(({ slug }) => slug === now) ? [{ value: now, label: now }] : [];
  return [{ value: "", label: t("fleet.area_none") }, ...known, ...lost];
}

function Change({ agent, areas, onClose }) {
  const first = { description: agent.description ?? "", area: (agent.live && agent.area) || "" };
  const { given, bind } = useForm(first);
  const put = async () => {
    const changed = Object.fromEntries(Object.entries(given).filter(([key, value]) => value !== first[key]));
    const values = { agent: agent.name, ...changed };
    if (await done("changeAgent", values, t("fleet.changed", { name: agent.name }))) onClose();
  };
  const label = t("fleet.area");
  const footer = html`<${Button} kind="primary" type="submit">${t("settings.save")}<//>`;
  return html`<${Dialog} title=${t("fleet.change_title", { name: agent.name })} onClose=${onClose} onSubmit=${put}
    footer=${footer} draft=${`agent:${agent.name}`}>
    <div class="stack">
      <${TextArea} label=${t("fleet.description")} hint=${t("fleet.description_hint")} rows="2"
        ...${bind("description")} />
      ${areas.length
        ? html`<${Select} label=${label} options=${areaOptions(areas, first.area)} disabled=${!agent.live}
          hint=${t(agent.live ? "fleet.area_hint" : "fleet.area_later")} ...${bind("area")} />`
        : html`<${Field} label=${label} disabled=${!agent.live}
          hint=${t(agent.live ? "fleet.area_hint" : "fleet.area_later")} ...${bind("area")} />`}
    </div><//>`;
}
