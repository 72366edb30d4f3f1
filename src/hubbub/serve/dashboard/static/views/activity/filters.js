// The chips and fields above the feed. All of them stand in the address.
import { html } from "../../vendor/ui.js";
import { t } from "../../words.js";
import { agents } from "../../model/moment.js";
import { route, set } from "../../shell/router.js";
import { Button } from "../../ui/button.js";
import { Chip } from "../../ui/chip.js";
import { Field, Select } from "../../ui/field.js";
import { GROUPS } from "../../model/kinds.js";
import { chosenGroups } from "./wanted.js";

const OURS = ["kinds", "routine", "agent", "about"];
const NONE = Object.fromEntries(OURS.map((key) => [key, null]));

const change = (changes) => set(changes, { replace: true });

function toggle(group) {
  const groups = chosenGroups(route.value.query.kinds);
  if (!groups.delete(group)) groups.add(group);
  change({ kinds: [...groups].join(",") });
}

export function Filters() {
  const { query } = route.value;
  const groups = chosenGroups(query.kinds);
  const names = [...agents.value.keys()].sort();
  const options = [
    { value: "", label: t("activity.anyone") },
    ...names.map((name) => ({ value: name, label: name })),
  ];
  if (query.agent && !agents.value.has(query.agent)) options.push({ value: query.agent, label: query.agent });
  return html`<div class="view-head activity-filters">
    <div class="activity-kinds" role="group" aria-label=${t("activity.kinds")}>
      ${Object.keys(GROUPS).map((group) => html`<${Chip} key=${group} pressed=${groups.has(group)}
        onClick=${() => toggle(group)}>${t(`activity.group_${group}`)}<//>`)}
      <${Chip} pressed=${Boolean(query.routine)}
        onClick=${() => change({ routine: query.routine ? null : "1" })}>${t("activity.routine")}<//>
    </div>
    <div class="row">
      <${Select} label=${t("activity.who")} value=${query.agent ?? ""} options=${options}
        onInput=${(event) => change({ agent: event.target.value })} />
      <${Field} label=${t("activity.task")} placeholder="T-12" size="6" value=${query.about ?? ""}
        onChange=${(event) => change({ about: event.target.value.trim().replace(/^T-|^#/i, "") })} />
      ${OURS.some((key) => query[key])
        && html`<${Button} kind="quiet" icon="x" onClick=${() => change(NONE)}>${t("activity.clear")}<//>`}
    </div>
  </div>`;
}
