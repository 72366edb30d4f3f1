// The machines of the project: what each is and how it fares, who works on it, and what people may do there.

import { Fragment, html, useEffect, useRef, useState } from "../vendor/ui.js";
import { parse } from "../model/filter.js";
import { agentsOn } from "../model/states.js";
import { could, inProject, loaded, may, moment, shown } from "../model/store.js";
import { read } from "../hub/endpoints.js";
import { fullTime, t } from "../i18n.js";
import { confirm } from "../shell/dialogs.js";
import { useList } from "../shell/keyboard.js";
import { LazyView } from "../shell/lazy.js";
import { href, route, set } from "../shell/router.js";
import { Card } from "../ui/card.js";
import { Button, Icon, IconButton, Tabs } from "../ui/controls.js";
import { Dialog } from "../ui/dialog.js";
import { Empty, Skeleton } from "../ui/empty.js";
import { Field, Select } from "../ui/form.js";
import { StateWord, Tile } from "../ui/marks.js";
import { openDialog } from "../ui/overlays.js";
import { Ago, Span, Until } from "../ui/text.js";
import { isRunning, stop } from "./agent/actions.js";
import { done, existed, Fetched, useFetched } from "./fetching.js";
import { Once, showOnce } from "./settings/parts.js";

// One machine in the list.

const MOST_TILES = 12;
const GIB = 1024 ** 3;
const BUSY = 0.9; // of the processors

/** Whether a machine is there: a sign, a colour and a word. */
function Presence({ machine }) {
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

function MachineCard({ machine, node, picture, isChosen }) {
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

// The agents on a machine: how each fares, and starting, stopping and reading those that were placed there.

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

function Agents({ machine, picture, placements }) {
  const placed = existed(placements.value?.placements ?? [], "since").filter(({ node }) => node === machine.name);
  const byName = new Map(placed.map((one) => [one.agent, one]));
  const names = new Set([...agentsOn(machine.name, picture).map((agent) => agent.name), ...byName.keys()]);
  if (names.size === 0) {
    return html`<${Empty} icon="bot" title=${t("machines.no_agents")} text=${t("machines.no_agents_text")}
      command=${`hubbub agent start ember --node ${machine.name} --run 'claude -p'`} />`;
  }
  return html`<ul class="agent-rows">${[...names].map((name) => html`<${Row} key=${name} name=${name}
    agent=${picture.agents.get(name)} placed=${byName.get(name)} picture=${picture} />`)}</ul>`;
}

/** What is to run where; the machine's gate decides whether it may, and may ask a person first. */
function Start({ node, onClose }) {
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

// What a machine was ordered of late, and what came of it; nothing of what was said in it.

const HEADINGS = ["tool", "who", "outcome", "when", "took"];

/** Done, not done and why, or still on its way: with a colour that says which. */
function Outcome({ order }) {
  const isBad = Boolean(order.code) || order.status === "lost";
  const tone = isBad ? "is-failed" : order.ended_at ? "is-done" : "is-running";
  const words = [t(`machines.order_${order.status}`), order.code].filter(Boolean).join(": ");
  return html`<span class=${`outcome ${tone}`}>${words}</span>`;
}

function Orders({ machine }) {
  const orders = useFetched(() => read.orders(machine.name), [machine.name], ["dispatch."]);
  return html`<${Fetched} of=${orders}>${({ dispatches }) => {
    const rows = existed(dispatches);
    if (!rows.length) return html`<${Empty} icon="list-checks" title=${t("machines.no_orders")}
      text=${t("machines.no_orders_text")} />`;
    return html`<div class="table-scroll" tabindex="0" role="region" aria-label=${t("machines.tab_orders")}>
      <table class="table"><thead><tr>
        ${HEADINGS.map((key) => html`<th key=${key}>${t(`machines.order_${key}`)}</th>`)}
      </tr></thead><tbody>${rows.map((order) => html`<tr key=${order.id}>
        <td class="mono">${order.tool}</td><td><bdi>${order.who}</bdi></td>
        <td><${Outcome} order=${order} /></td>
        <td><${Ago} at=${order.created_at} /></td>
        <td>${order.ended_at && html`<${Span} from=${order.created_at} to=${order.ended_at} />`}</td>
      </tr>`)}</tbody></table></div>`;
  }}<//>`;
}

// Inviting a machine: a code that is told once, with the command that uses it.

const HOUR = 3600;

/** For how long a code or a link may be good. */
const lasting = () => [
  { value: String(HOUR), label: t("machines.hour") },
  { value: String(24 * HOUR), label: t("machines.day") },
  { value: String(7 * 24 * HOUR), label: t("machines.week") },
];

function Invite({ onClose }) {
  const [name, setName] = useState("");
  const [seconds, setSeconds] = useState(String(HOUR));
  const [made, setMade] = useState(null);
  const invite = async () => {
    const body = { expires_in_seconds: Number(seconds), ...(name.trim() && { name: name.trim() }) };
    setMade(await done("inviteMachine", body));
  };
  if (made) {
    return html`<${Dialog} title=${t("machines.invited")} onClose=${onClose}
      footer=${html`<${Button} kind="primary" onClick=${onClose}>${t("machines.copied")}<//>`}>
      <${Once} text=${`hubbub node run --join ${made.code}`} said=${t("machines.invited_text")} />
      <p class="small muted">${t("machines.good_until")} <${Until} at=${made.expires_at} /></p>
    <//>`;
  }
  return html`<${Dialog} title=${t("machines.invite")} onClose=${onClose} onSubmit=${invite}
    footer=${html`<${Button} kind="primary" type="submit">${t("machines.make_code")}<//>`}>
    <div class="stack">
      <p>${t("machines.invite_text")}</p>
      <${Field} label=${t("machines.name")} hint=${t("machines.name_hint")} name="name" value=${name}
        onInput=${(event) => setName(event.target.value)} />
      <${Select} label=${t("machines.lasts")} name="lasts" value=${seconds} options=${lasting()}
        onInput=${(event) => setSeconds(event.target.value)} />
    </div>
  <//>`;
}

// Links by which anyone who has one may look at one machine: made, told once, and taken back.

async function revoke(share) {
  const isSure = await confirm({
    title: t("machines.link_revoke_title"), text: t("machines.link_revoke_text"),
    action: t("machines.link_revoke"), danger: true,
  });
  if (isSure) await done("unshare", { share: share.id }, t("machines.link_revoked"));
}

function Make({ machine }) {
  const options = lasting();
  const [seconds, setSeconds] = useState(options[0].value);
  const make = async () => {
    const made = await done("share", { node: machine.name, expires_in_seconds: Number(seconds) });
    if (made) showOnce(t("machines.link_made"), t("machines.link_text"), made.url);
  };
  return html`<div class="row wrap bottom">
    <${Select} label=${t("machines.lasts")} value=${seconds} options=${options}
      onInput=${(event) => setSeconds(event.target.value)} />
    <${Button} icon="link" disabled=${!may.value.write} onClick=${make}>${t("machines.link_make")}<//>
  </div>`;
}

function Links({ machine }) {
  const shares = useFetched(() => read.shares(), [], ["share."]);
  return html`<div class="stack">
    ${could.value.write && html`<${Make} machine=${machine} />`}
    <${Fetched} of=${shares}>${(found) => {
      const rows = existed(found.shares).filter((share) => share.machine === machine.name);
      if (!rows.length) return html`<${Empty} icon="link" title=${t("machines.no_links")}
        text=${t("machines.no_links_text")} />`;
      return html`<ul class="lines">${rows.map((share) => html`<${Link} key=${share.id} share=${share} />`)}</ul>`;
    }}<//>
  </div>`;
}

function Link({ share }) {
  return html`<li class="row">
    <span class="grow small">
      ${t("machines.link_by", { name: share.created_by })} <${Ago} at=${share.created_at} />${" · "}
      ${t("machines.good_until")} <${Until} at=${share.expires_at} /></span>
    ${could.value.write && html`<${Button} small kind="danger" disabled=${!may.value.write}
      onClick=${() => revoke(share)}>${t("machines.link_revoke")}<//>`}
  </li>`;
}

// One machine: what is known of it, its agents, what it was ordered of late, and the links to look at it.

function Facts({ machine, node }) {
  const facts = [
    ["platform", machine.platform], ["version", machine.version], ["sandbox", machine.sandbox],
    ["policy", node?.policy_fault && !moment.value && t("machines.policy_fault", { fault: node.policy_fault })],
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

function Actions({ machine, isOwn, onTakeOver }) {
  if (!could.value.write) return null;
  const start = () => openDialog((close) => html`<${Start} node=${machine.name} onClose=${close} />`);
  const off = !may.value.write;
  const online = { disabled: off || !machine.online, title: machine.online ? undefined : t("machines.needs_online") };
  return html`<div class="row wrap">
    <${Button} icon="circle-play" ...${online} onClick=${start}>
      ${t("machines.start")}<//>
    <${Button} icon="square-terminal" ...${online} onClick=${onTakeOver}>
      ${t("machines.take_over")}<//>
    <${Button} kind="danger" icon="trash-2" disabled=${off || isOwn}
      title=${isOwn ? t("machines.own_stays") : undefined} onClick=${() => remove(machine)}>
      ${t("machines.remove")}<//>
  </div>`;
}

const TABS = { agents: Agents, orders: Orders, links: Links };

function Detail({ machine, node }) {
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
    <${Actions} machine=${machine} isOwn=${Boolean(node?.own && machine.online)} onTakeOver=${takeOver} />
    ${isTaken && html`<${LazyView} path="terminal" name="TakeOver" node=${machine.name}
      onClose=${() => setIsTaken(false)} />`}
    <${Facts} machine=${machine} node=${node} />
    <${Tabs} label=${machine.name} tabs=${tabs} current=${tab} onChange=${setTab}>
      <${Panel} machine=${machine} picture=${shown.value} placements=${placements} />
    <//>
  </section>`;
}

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
    return html`<${LazyView} key=${query.terminal} path="terminal" name="Terminal" agent=${query.terminal}
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
