// Fleet: every agent, machine by machine. A card opens the agent at the side, the task on it opens the task.

import { computed, html, useMemo, useRef, useSignal } from "../vendor/ui.js";
import { isEmpty, parse } from "../model/filter.js";
import { inProject, loaded, machines, moment, now, shown } from "../model/moment.js";
import { href, route } from "../shell/router.js";
import { useList } from "../shell/moving.js";
import { Button } from "../ui/button.js";
import { Empty, Skeleton } from "../ui/empty.js";
import { Icon } from "../ui/icon.js";
import { language, t } from "../words.js";
import { useCalm } from "./calm.js";
import { AgentCard } from "./fleet/card.js";
import { facts, nodes, useFacts } from "./fleet/facts.js";
import { fleet } from "./fleet/groups.js";
import { activities, useHistory } from "./fleet/history.js";
import { pulseOf, pulses } from "./fleet/pulse.js";
import { useKept } from "./kept.js";
import { Load } from "./machines/card.js";
import { taskHref } from "./task/names.js";

/** Of more agents than these nothing turns and flashes: drawing that would leave no time for what it tells. */
const MOVING = 60;

const minute = computed(() => Math.floor(now.value / 60_000) * 60_000);

let before = new Map();
/** Once a second is often enough: what happens in between does not make it anew. */
const beats = computed(() => (before = pulses(activities(), shown.peek().agents, now.value, before)));

export function View() {
  useFacts();
  useHistory();
  const list = useRef(null);
  useList(list);
  const calm = useCalm(shown);
  const showGone = useSignal(false);
  const kept = useKept();
  const picture = calm.value;
  const query = useMemo(() => parse(route.value.query.q), [route.value.query.q]);
  if (!loaded.value) return html`<div class="view"><${Skeleton} /></div>`;
  const { groups, gone } = fleet(picture, query, minute.value);
  if (groups.length === 0 && gone.length === 0) return html`<${Nobody} filtered=${!isEmpty(query)} />`;
  const card = (member) => agentCard(kept, member, picture);
  return html`<div class=${`view fleet ${picture.agents.size > MOVING ? "is-large" : ""}`} ref=${list}>
    ${groups.map((group) => html`<${Group} key=${group.machine ?? ""} ...${group} card=${card} />`)}
    ${gone.length > 0 && html`<${Gone} agents=${gone} open=${showGone} card=${card} />`}
  </div>`;
}

function agentCard(kept, { agent, state, task }, picture) {
  const { name } = agent;
  const { query } = route.value;
  const fact = moment.value ? undefined : facts.value.get(name);
  const pulse = pulseOf(beats.value, name);
  const current = query.agent === name;
  const address = href("fleet", { ...query, agent: name, task: null });
  const from = [agent, state, task, pulse, fact, current, address, language.value];
  return kept(name, from, () => html`<${AgentCard} key=${name} agent=${agent} state=${state} task=${task}
    pulse=${pulse} fact=${fact} current=${current} href=${address}
    taskHref=${task && taskHref(task)} picture=${picture} />`);
}

function Group({ machine, members, working, card }) {
  const known = machines.value.get(machine);
  const load = moment.value ? null : nodes.value.get(machine)?.load;
  return html`<section class="fleet-group" aria-label=${machine ?? t("fleet.elsewhere")}>
    <h2 class="section-title"><bdi class="clip">${machine ?? t("fleet.elsewhere")}</bdi>
      <small>${t("fleet.agents", { count: members.length })}${", "}${t("fleet.working", { count: working })}</small>
      ${known && !known.online && html`<small class="red row-tight"><${Icon} name="wifi-off" size=${13} />
        ${t("fleet.machine_offline")}</small>`}
      <${Load} load=${load} /></h2>
    <div class="fleet-grid">${members.map(card)}</div>
  </section>`;
}

/** Who left long ago: a line that opens. */
function Gone({ agents, open, card }) {
  return html`<section class="fleet-group" aria-label=${t("fleet.gone", { count: agents.length })}>
    <${Button} kind="quiet" icon=${open.value ? "chevron-down" : "chevron-right"} aria-expanded=${open.value}
      onClick=${() => (open.value = !open.value)}>${t("fleet.gone", { count: agents.length })}<//>
    ${open.value && html`<div class="fleet-grid">
      ${agents.map((agent) => card({ agent, state: "offline", task: undefined }))}</div>`}
  </section>`;
}

function Nobody({ filtered }) {
  if (filtered) return html`<${Empty} icon="filter" title=${t("fleet.none_match")}
    text=${t("fleet.none_match_text")} />`;
  return html`<${Empty} icon="bot" title=${t("fleet.empty")} text=${t("fleet.empty_text")}
    command=${inProject("hubbub work ember --run 'claude -p'")} />`;
}
