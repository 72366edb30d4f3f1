// What a machine allows, asks about and denies, as its own policy says. It is changed on the machine, never from here.

import { Fragment, html, useState } from "../../vendor/ui.js";
import { could, machines } from "../../model/store.js";
import { read } from "../../hub/endpoints.js";
import { t } from "../../i18n.js";
import { Icon } from "../../ui/controls.js";
import { Empty } from "../../ui/empty.js";
import { Select } from "../../ui/form.js";
import { Fetched, useFetched } from "../fetching.js";
import { OnlyFor, Part } from "./parts.js";

const LISTS = [["deny", "ban"], ["ask", "hand"], ["allow", "circle-check"]];

function Policy({ policy }) {
  const facts = [
    ["policy_mode", t(`settings.policy_${policy.mode}`)], ["sandbox", policy.sandbox],
    ["network", t(policy.network ? "settings.yes" : "settings.no")], ["roots", policy.roots.join("\n")],
    ["patience", t("settings.seconds", { count: policy.approval_timeout_seconds })],
  ];
  return html`<div class="stack">
    ${policy.fault && html`<p class="refused" role="alert"><bdi>${policy.fault}</bdi></p>`}
    <dl class="facts">${facts.map(([key, value]) => html`<${Fragment} key=${key}>
      <dt>${t(`settings.${key}`)}</dt><dd class="lines-kept"><bdi>${value}</bdi></dd><//>`)}</dl>
    ${LISTS.map(([list, icon]) => html`<section key=${list} class=${`rules is-${list}`}>
      <h3><${Icon} name=${icon} size=${15} /> ${t(`settings.rules_${list}`)}</h3>
      <${RuleList} rules=${policy.rules[list]} />
    </section>`)}
  </div>`;
}

function RuleList({ rules }) {
  if (!rules.length) return html`<p class="small muted">${t("settings.no_rules")}</p>`;
  return html`<ul>${rules.map((rule) => html`<li key=${rule}><code><bdi>${rule}</bdi></code></li>`)}</ul>`;
}

/** The machines that can be asked: first those that are linked, then those that were there last. */
function useNames() {
  const online = [...machines.value.values()].filter((machine) => machine.online);
  const found = useFetched(() => read.machines(), [online.length]);
  if (found.value === null) return null;
  const nodes = found.value.nodes.filter((node) => node.online);
  const ranked = nodes.sort((one, other) =>
    Number(other.linked) - Number(one.linked) || other.seen_at - one.seen_at);
  return ranked.map(({ name }) => name);
}

export function View() {
  if (could.value.write) return html`<${RulesOfAll} />`;
  return html`<${Part} title=${t("settings.tab_rules")} text=${t("settings.rules_text")}>
    <${OnlyFor} whom="members" /><//>`;
}

function RulesOfAll() {
  const names = useNames();
  return names && html`<${RulesOf} names=${names} />`;
}

function RulesOf({ names }) {
  const [chosen, setChosen] = useState(null);
  const name = names.includes(chosen) ? chosen : names[0];
  const policy = useFetched(async () => (name ? read.policy(name) : null), [name]);
  if (!name) return html`<${Empty} icon="shield-check" title=${t("settings.no_machine")}
    command="hubbub node run --join …" />`;
  return html`<${Part} title=${t("settings.tab_rules")} text=${t("settings.rules_text")}>
    ${names.length > 1 && html`<${Select} label=${t("settings.machine")} value=${name}
      onInput=${(event) => setChosen(event.target.value)}
      options=${names.map((value) => ({ value, label: value }))} />`}
    <${Fetched} key=${name} of=${policy}>${(found) => html`<${Policy} policy=${found} />`}<//>
    <p class="small"><a class="link" href="/docs/reference/policy">${t("settings.rules_docs")}</a></p>
  <//>`;
}
