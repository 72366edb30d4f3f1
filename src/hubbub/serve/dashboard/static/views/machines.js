// The machines of the project: what each is and how it fares, who works on it, and what people may do there.
import { html, useEffect, useRef } from "../vendor/ui.js";
import { t } from "../words.js";
import { read } from "../hub/reads.js";
import { inProject, loaded, may, shown } from "../model/moment.js";
import { parse } from "../model/filter.js";
import { Loaded } from "../shell/loaded.js";
import { useList } from "../shell/moving.js";
import { route, set } from "../shell/router.js";
import { openDialog } from "../ui/dialogs.js";
import { Button } from "../ui/button.js";
import { Empty, Skeleton } from "../ui/empty.js";
import { useFetched } from "./fetched.js";
import { MachineCard } from "./machines/card.js";
import { Detail } from "./machines/detail.js";
import { Invite } from "./machines/invite.js";

const LOOK_AGAIN = 15_000; // ms; how loaded a machine is, is no event

/** What the machines tell beside what the picture has, such as their load: name -> row of GET /nodes. */
function useNodes() {
  const fetched = useFetched(() => read.machines(), [], ["node."]);
  useEffect(() => {
    const timer = setInterval(() => document.hidden || fetched.again(), LOOK_AGAIN);
    return () => clearInterval(timer);
  }, []);
  return new Map((fetched.value?.nodes ?? []).map((node) => [node.name, node]));
}

function matching(machines, words) {
  const meets = (machine) => {
    const text = [machine.name, machine.platform, ...(machine.labels ?? [])].join(" ").toLowerCase();
    return words.every((word) => text.includes(word.toLowerCase()));
  };
  return machines.filter(meets).sort((one, other) => one.name.localeCompare(other.name));
}

export function View() {
  const { query } = route.value;
  const nodes = useNodes();
  const page = useRef(null);
  useList(page);
  if (!loaded.value) return html`<div class="view"><${Skeleton} /></div>`;
  const picture = shown.value;
  const machines = matching([...picture.machines.values()], parse(query.q ?? "").words);
  const chosen = query.node ? picture.machines.get(query.node) : null;
  if (query.terminal) {
    return html`<${Loaded} key=${query.terminal} path="machines/terminal" agent=${query.terminal}
      onClose=${() => set({ terminal: null })} />`;
  }
  const invite = () => openDialog((close) => html`<${Invite} onClose=${close} />`);
  return html`<div class=${`view machines ${chosen ? "is-open" : ""}`} ref=${page}>
    <div class="view-head">
      <span class="muted grow">${t("machines.count", { count: machines.length })}</span>
      ${may.value.write && html`<${Button} icon="plus" onClick=${invite}>${t("machines.invite")}<//>`}
    </div>
    ${machines.length === 0 && html`<${Nothing} isFiltered=${picture.machines.size > 0} />`}
    <div class="machines-both">
      <ul class="machines-list" aria-label=${t("machines.list")}>
        ${machines.map((machine) => html`<li key=${machine.name}><${MachineCard} machine=${machine}
          node=${nodes.get(machine.name)} picture=${picture} isChosen=${machine === chosen} /></li>`)}
      </ul>
      ${chosen && html`<${Detail} key=${chosen.name} machine=${chosen} node=${nodes.get(chosen.name)} />`}
    </div>
  </div>`;
}

function Nothing({ isFiltered }) {
  if (isFiltered) return html`<${Empty} icon="filter" title=${t("activity.no_match")} />`;
  return html`<${Empty} icon="server" title=${t("machines.empty")} text=${t("machines.empty_text")}
    command=${inProject("hubbub node run --name box")} />`;
}
