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

function toggle(group) {
  const groups = chosenGroups(route.value.query.kinds);
  if (!groups.delete(group)) groups.add(group);
  set({ kinds: [...groups].join(",") }, { replace: true });
}

export function Filters() {
  const { query } = route.value;
  const groups = chosenGroups(query.kinds);
  const names = [...agents.value.keys()].sort();
  const options = [{ value: "", label: t("activity.anyone") }, ...names.map((name) => ({ value: name,
    label: name }))];
  if (query.agent && !agents.value.has(query.agent)) options.push({ value: query.agent, label: query.agent });
  return html`<div class="view-head activity-filters">
    <div class="activity-kinds" role="group" aria-label=${t("activity.kinds")}>
      ${Object.keys(GROUPS).map((group) => html`<${Chip} key=${group} pressed=${groups.has(group)}
        onClick=${() => toggle(group)}>${t(`activity.group_${group}`)}<//>`)}
      <${Chip} pressed=${Boolean(query.routine)}
        onClick=${() => set({ routine: query.routine ? null : "1" }, { replace: true })}>
          ${t("activity.routine")}<//>
    </div>
    <div class="row">
      <${Select} label=${t("activity.who")} value=${query.agent ?? ""} options=${options}
        onInput=${(event) => set({ agent: event.target.value }, { replace: true })} />
      <${Field} label=${t("activity.task")} placeholder="T-12" size="6" value=${query.about ?? ""}
        onChange=${(event) => set({ about: event.target.value.trim().replace(/^T-|^#/i, "") },
          { replace: true })} />
      ${OURS.some((key) => query[key]) && html`<${Button} kind="quiet" icon="x"
        onClick=${() => set(Object.fromEntries(OURS.map((key) => [key, null])), { replace: true })}>
          ${t("activity.clear")}<//>`}
    </div>
  </div>`;
}
