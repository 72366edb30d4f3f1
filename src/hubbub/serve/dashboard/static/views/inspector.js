// One task at the side: what can be done to it, its life so far, why it is as it is, what was said, what happened.

import { html, useState } from "../vendor/ui.js";
import { moment, shown } from "../model/moment.js";
import { findTask } from "../model/states.js";
import { Empty, Skeleton } from "../ui/empty.js";
import { Tabs } from "../ui/tabs.js";
import { t } from "../words.js";
import { Artifacts } from "./inspector/artifacts.js";
import { useDetails } from "./inspector/details.js";
import { Events } from "./inspector/events.js";
import { Facts } from "./inspector/facts.js";
import { Files } from "./inspector/files.js";
import { Head } from "./inspector/head.js";
import { Rail } from "./inspector/rail.js";
import { Reply } from "./inspector/reply.js";
import { Raw, Result } from "./inspector/result.js";
import { Thread } from "./inspector/thread.js";
import { Why } from "./task/why.js";

/** @param {{id: string}} props  the id or the number of a task */
export function View({ id }) {
  const picture = shown.value;
  const details = useDetails(id);
  const card = findTask(id, picture) ?? (moment.value ? undefined : details.task);
  if (!card) return html`<div class="inspector">${absent(id, details)}</div>`;
  return html`
    <div class="inspector">
      <${Head} task=${card} state=${card.state} picture=${picture} />
      <${Body} key=${card.id} task=${card} details=${details} picture=${picture} />
      <${Reply} key=${`reply ${card.id}`} task=${card} />
    </div>`;
}

function absent(id, { status }) {
  if (status === "loading") return html`<div class="inspector-part"><${Skeleton} lines=${8} /></div>`;
  const text = moment.value ? t("inspector.not_yet") : t("inspector.absent_text");
  return html`<${Head} /><${Empty} icon="circle-help" title=${t("inspector.absent", { ref: id })} text=${text} />`;
}

function Body({ task, details, picture }) {
  const [tab, setTab] = useState("overview");
  const tabs = [
    { id: "overview", label: t("inspector.tab_overview") },
    { id: "result", label: t("inspector.tab_result") },
    { id: "artifacts", label: t("inspector.tab_artifacts"), count: details.artifacts.length },
    { id: "raw", label: t("inspector.tab_raw") },
  ];
  const panels = {
    overview: () => html`<${Overview} task=${task} details=${details} picture=${picture} />`,
    result: () => html`<${Result} task=${task} details=${details} />`,
    artifacts: () => html`<${Artifacts} details=${details} />`,
    raw: () => html`<${Raw} task=${task} details=${details} />`,
  };
  return html`
    <div class="inspector-body">
      <${Tabs} label=${t("inspector.tabs")} tabs=${tabs} current=${tab} onChange=${setTab}>${panels[tab]()}<//>
    </div>`;
}

function Overview({ task, details, picture }) {
  return html`
    <${Rail} task=${task} details=${details} />
    ${!moment.value && html`
      <section class="inspector-part"><h3>${t("needs.why")}</h3>
        <${Why} of=${{ ref: task.number, kind: "task" }} at=${details.at} /></section>`}
    <${Facts} task=${task} details=${details} picture=${picture} />
    <${Files} task=${task} picture=${picture} />
    <${Thread} task=${task} details=${details} picture=${picture} />
    <${Events} details=${details} />`;
}
