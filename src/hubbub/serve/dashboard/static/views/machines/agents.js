// The agents on a machine: how each fares, and starting, stopping and reading those that were placed there.
import { html, useState } from "../../vendor/ui.js";
import { t } from "../../words.js";
import { could, may } from "../../model/moment.js";
import { agentsOn } from "../../model/states.js";
import { href, route } from "../../shell/router.js";
import { Ago } from "../../ui/ago.js";
import { Button } from "../../ui/button.js";
import { Dialog } from "../../ui/dialog.js";
import { Empty } from "../../ui/empty.js";
import { Field } from "../../ui/field.js";
import { StateWord } from "../../ui/glyph.js";
import { Tile } from "../../ui/tile.js";
import { done, existed } from "../fetched.js";
import { isRunning, stop } from "../fleet/doings.js";

/** How the agent fares that was started here. */
function Placed({ placed }) {
  return html`<span class="small muted">${t(`machines.placed_${placed.status}`)}
    ${" · "}<${Ago} at=${placed.since} />
    ${placed.restarts > 0 && ` · ${t("machines.restarts", { count: placed.restarts })}`}
    ${placed.exit_code !== null && ` · ${t("machines.exit_code", { code: placed.exit_code })}`}</span>`;
}

function Row({ name, agent, placed, picture }) {
  const terminal = href("machines", { ...route.value.query, terminal: name });
  return html`<li class="agent-row">
    ${agent && html`<${Tile} agent=${agent} picture=${picture} />`}
    <div class="grow stack tight">
      <span class="row">
        <a class="part strong clamp" href=${href("fleet", { agent: name })}><bdi>${name}</bdi></a>
        ${agent && html`<${StateWord} agent state=${agent.state} />`}</span>
      ${placed && html`<${Placed} placed=${placed} />`}
      ${placed && html`<code class="small clamp">${placed.command}</code>`}
    </div>
    ${placed && could.value.write && html`<div class="row">
      <${Button} small icon="terminal" href=${terminal}>${t("machines.terminal")}<//>
      ${isRunning(placed) && html`<${Button} small kind="danger" disabled=${!may.value.write}
        onClick=${() => stop(name)}>${t("fleet.stop")}<//>`}</div>`}
  </li>`;
}

export function Agents({ machine, picture, placements }) {
  const placed = existed(placements.value?.placements ?? [], "since").filter(({ node }) => node === machine.name);
  const byName = new Map(placed.map((one) => [one.agent, one]));
  const names = new Set([...agentsOn(machine.name, picture).map((agent) => agent.name), ...byName.keys()]);
  if (names.size === 0) {
    return html`<${Empty} icon="bot" title=${t("machines.no_agents")} text=${t("machines.no_agents_text")}
      command=${`hubbub agent start ember --node ${machine.name} --run …`} />`;
  }
  return html`<ul class="agent-rows">${[...names].map((name) => html`<${Row} key=${name} name=${name}
    agent=${picture.agents.get(name)} placed=${byName.get(name)} picture=${picture} />`)}</ul>`;
}

/** What is to run where; the machine's gate decides whether it may, and may ask a person first. */
export function Start({ node, onClose }) {
  const [given, setGiven] = useState({ name: "", run: "", folder: "", concurrency: "1" });
  const [isWaiting, setIsWaiting] = useState(false);
  const bind = (key) => ({
    name: key, value: given[key], onInput: ({ target }) => setGiven((before) => ({ ...before, [key]: target.value })),
  });
  const start = async () => {
    setIsWaiting(true);
    const body = { agent: given.name.trim(), node, run: given.run, concurrency: Number(given.concurrency) };
    if (given.folder.trim()) body.folder = given.folder.trim();
    const started = await done("start", body, t("machines.started", { name: body.agent }));
    setIsWaiting(false);
    if (started) onClose();
  };
  const footer = html`
    <${Button} kind="primary" type="submit" disabled=${isWaiting}>${t("machines.start")}<//>`;
  return html`<${Dialog} title=${t("machines.start_title", { name: node })} onClose=${onClose} onSubmit=${start}
    footer=${footer}>
    <div class="stack">
      <${Field} label=${t("machines.agent_name")} required ...${bind("name")} />
      <${Field} label=${t("machines.run")} hint=${t("machines.run_hint")} required class="input mono"
        ...${bind("run")} />
      <${Field} label=${t("machines.folder")} hint=${t("machines.folder_hint")} class="input mono"
        ...${bind("folder")} />
      <${Field} label=${t("machines.concurrency")} type="number" min="1" max="100" ...${bind("concurrency")} />
      ${isWaiting && html`<p class="small muted" role="status">${t("machines.waiting")}</p>`}
    </div>
  <//>`;
}
