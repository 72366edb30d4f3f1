// One machine in the list.
import { html } from "../../vendor/ui.js";
import { t } from "../../words.js";
import { agentsOn } from "../../model/states.js";
import { href, route } from "../../shell/router.js";
import { Ago } from "../../ui/ago.js";
import { Card } from "../../ui/card.js";
import { Icon } from "../../ui/icon.js";
import { Tile } from "../../ui/tile.js";

const MOST_TILES = 12;
const GIB = 1024 ** 3;
const BUSY = 0.9; // of the processors

/** Whether a machine is there: a sign, a colour and a word. */
export function Presence({ machine }) {
  const word = t(machine.online ? "machines.online" : "machines.offline");
  return html`<span class=${`presence ${machine.online ? "is-online" : "is-offline"}`}>
    <${Icon} name=${machine.online ? "wifi" : "wifi-off"} size=${14} />${word}</span>`;
}

/** How loaded it is, as far as it tells. */
export function Load({ load }) {
  if (!load) return null;
  const share = load.cpus ? Math.min(1, load.load1 / load.cpus) : 0;
  const words = t("machines.load_now", { load: load.load1.toFixed(2), cpus: load.cpus });
  const memory = load.memory_total
    && t("machines.memory_now", { used: gib(load.memory_used), total: gib(load.memory_total) });
  return html`<span class="load small muted num">
    <span class=${`load-bar ${share > BUSY ? "is-full" : ""}`}>
      <span style=${{ width: `${Math.round(share * 100)}%` }}></span></span>
    ${[words, memory].filter(Boolean).join(" · ")}</span>`;
}

const gib = (bytes) => (bytes / GIB).toFixed(1);

export function MachineCard({ machine, node, picture, isChosen }) {
  const there = agentsOn(machine.name, picture);
  const to = href("machines", { ...route.value.query, node: isChosen ? null : machine.name });
  const state = t(machine.online ? "machines.online" : "machines.offline");
  const facts = [machine.platform, machine.version, machine.sandbox, machine.runtime].filter(Boolean);
  return html`<${Card} item=${`machine:${machine.name}`} href=${to} current=${isChosen}
    name=${`${machine.name}, ${state}`} class="machine">
    <span class="row"><${Icon} name="server" /><strong class="grow clip"><bdi>${machine.name}</bdi></strong>
      <${Presence} machine=${machine} /></span>
    <span class="small muted clip"><bdi>${facts.join(" · ")}</bdi></span>
    <span class="row tiles">
      ${there.slice(0, MOST_TILES).map((agent) => html`<${Tile} key=${agent.name} agent=${agent}
        picture=${picture} />`)}
      <span class="small muted">${t("machines.agents", { count: there.length })}</span>
    </span>
    <${Load} load=${node?.load} />
    ${!machine.online && node
      && html`<span class="small muted">${t("machines.seen")} <${Ago} at=${node.seen_at} /></span>`}
  <//>`;
}
