// One machine: what is known of it, its agents, what it was ordered of late, and the links to look at it.
import { Fragment, html, useState } from "../../vendor/ui.js";
import { fullTime, t } from "../../words.js";
import { read } from "../../hub/reads.js";
import { could, may, moment, shown } from "../../model/moment.js";
import { Loaded } from "../../shell/loaded.js";
import { set } from "../../shell/router.js";
import { confirm } from "../../shell/asked.js";
import { Button, IconButton } from "../../ui/button.js";
import { openDialog } from "../../ui/dialogs.js";
import { Tabs } from "../../ui/tabs.js";
import { done, useFetched } from "../fetched.js";
import { Agents, Start } from "./agents.js";
import { Load, Presence } from "./card.js";
import { Orders } from "./orders.js";
import { Links } from "./links.js";

function Facts({ machine, node }) {
  const facts = [
    ["platform", machine.platform], ["version", machine.version], ["sandbox", machine.sandbox],
    ["runtime", machine.runtime], ["labels", machine.labels?.join(", ")],
    ["link", node && t(`machines.${node.own ? "own" : node.linked ? "linked" : "not_linked"}`)],
    ["first_seen", fullTime(machine.first_seen_at)],
    ["last_seen", node && !moment.value && fullTime(node.seen_at)],
    ["load", node?.load && !moment.value && html`<${Load} load=${node.load} />`],
  ];
  return html`<dl class="facts">${facts.filter(([, value]) => value).map(([key, value]) => html`
    <${Fragment} key=${key}><dt>${t(`machines.fact_${key}`)}</dt><dd><bdi>${value}</bdi></dd><//>`)}</dl>`;
}

async function remove(machine) {
  const title = t("machines.remove_title", { name: machine.name });
  const isSure = await confirm({
    title, text: t("machines.remove_text"), action: t("machines.remove"), danger: true,
  });
  if (!isSure) return;
  const gone = await done("removeMachine", { machine: machine.name }, t("machines.removed"));
  if (gone) set({ node: null });
}

function Actions({ machine, onTakeOver }) {
  if (!could.value.write) return null;
  const start = () => openDialog((close) => html`<${Start} node=${machine.name} onClose=${close} />`);
  const off = !may.value.write;
  return html`<div class="row wrap">
    <${Button} icon="circle-play" disabled=${off || !machine.online} onClick=${start}>
      ${t("machines.start")}<//>
    <${Button} icon="square-terminal" disabled=${off || !machine.online} onClick=${onTakeOver}>
      ${t("machines.take_over")}<//>
    <${Button} kind="danger" icon="trash-2" disabled=${off} onClick=${() => remove(machine)}>
      ${t("machines.remove")}<//>
  </div>`;
}

const TABS = { agents: Agents, orders: Orders, links: Links };

export function Detail({ machine, node }) {
  const [tab, setTab] = useState("agents");
  const [isTaken, setIsTaken] = useState(false);
  const placements = useFetched(() => read.placements(), [], ["placement."]);
  const takeOver = async () => {
    const title = t("machines.take_over_title", { name: machine.name });
    const text = t("machines.take_over_text");
    setIsTaken(await confirm({ title, text, action: t("machines.take_over_sure"), danger: true }));
  };
  const Panel = TABS[tab];
  const tabs = Object.keys(TABS).map((id) => ({ id, label: t(`machines.tab_${id}`) }));
  return html`<section class="panel machine-detail" aria-label=${machine.name}>
    <div class="row">
      <h2 class="grow clip"><bdi>${machine.name}</bdi></h2>
      <${Presence} machine=${machine} />
      <${IconButton} kind="quiet" icon="x" label=${t("machines.close")} onClick=${() => set({ node: null })} />
    </div>
    <${Actions} machine=${machine} onTakeOver=${takeOver} />
    ${isTaken && html`<${Loaded} path="machines/take_over" node=${machine.name} onClose=${() => setIsTaken(false)} />`}
    <${Facts} machine=${machine} node=${node} />
    <${Tabs} label=${machine.name} tabs=${tabs} current=${tab} onChange=${setTab}>
      <${Panel} machine=${machine} picture=${shown.value} placements=${placements} />
    <//>
  </section>`;
}
