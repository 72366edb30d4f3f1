// Fleet: every agent, machine by machine. A card opens the agent at the side, the task on it opens the task.

import { computed, html, signal, useEffect, useMemo, useRef, useSignal } from "../vendor/ui.js";
import { isEmpty, matches, parse } from "../model/filter.js";
import { currentTask, isNew, tasksOf } from "../model/states.js";
import { hubNow, install, loaded, machines, moment, now, recent, shown } from "../model/store.js";
import { read } from "../hub/endpoints.js";
import { beside, language, span, t } from "../i18n.js";
import { useList } from "../shell/keyboard.js";
import { href, route } from "../shell/router.js";
import { Card } from "../ui/card.js";
import { Button, Icon } from "../ui/controls.js";
import { Empty, Skeleton } from "../ui/empty.js";
import { useElementCache, useGradual, useThrottled } from "../ui/long_lists.js";
import { runtimeOf, Sparkline, StateWord, stateWord, Tile } from "../ui/marks.js";
import { Ago, Text } from "../ui/text.js";
import { Accounts } from "./accounts.js";
import { Load } from "./machines.js";
import { refOf, taskHref } from "./task/actions.js";

// The fleet machine by machine: who is where, and who has been gone for so long that only a count is left. Pure.

const LONG_GONE = 24 * 60 * 60_000; // milliseconds; who has left and holds nothing is history by then

/**
 * @typedef {{agent: object, state: string, task: object|undefined, isFound: boolean}} Member
 * @typedef {{machine: string|null, members: Member[]}} Group `machine` null: nobody knows where
 */

/** @returns {{groups: Group[], gone: object[]}} machines by name, agents by name; those that are not there last */
function fleet(picture, query, now) {
  const byMachine = new Map();
  const gone = [];
  for (const agent of picture.agents.values()) {
    if (isEmpty(query) && isLongGone(agent, picture, now)) {
      gone.push(agent);
      continue;
    }
    const where = agent.machine ?? null;
    if (!byMachine.has(where)) byMachine.set(where, []);
    byMachine.get(where).push(member(agent, query, picture));
  }
  const groups = [...byMachine].map(([machine, members]) => ({ machine, members: members.sort(byPresence) }));
  return { groups: groups.sort(byMachineName), gone: gone.sort(byName) };
}

const member = (agent, query, picture) => ({
  agent,
  state: agent.state,
  task: currentTask(agent.name, picture),
  isFound: matches(agent, query, picture),
});

function isLongGone(agent, picture, now) {
  return !agent.live && now - (agent.ended_at ?? now) > LONG_GONE && tasksOf(agent.name, picture).length === 0;
}

const compared = (one, other) => (one < other ? -1 : one > other ? 1 : 0);
const byName = (one, other) => compared(one.name, other.name);
const isAway = ({ state }) => Number(state === "offline");

function byPresence(one, other) {
  return isAway(one) - isAway(other) || byName(one.agent, other.agent);
}

function byMachineName(one, other) {
  return Number(one.machine === null) - Number(other.machine === null) || compared(one.machine, other.machine);
}

// How much each agent did in the last 90 minutes, per three of them: what the small bars of the fleet show. Pure.

const BUCKET = 3 * 60_000; // milliseconds
const BUCKETS = 30;

/** Signs of life, and what was done to an agent: no evidence that it works. */
const NO_WORK = new Set(["agent.heartbeat", "agent.met", "agent.checkin", "agent.checkout", "agent.timeout",
  "agent.edited", "agent.renamed", "token.created", "token.revoked"]);

const NOTHING = Object.freeze(Array(BUCKETS).fill(0));

/**
 * @param {object[]} activities oldest first
 * @param {Map<string, object>} agents who is asked about
 * @param {number} now
 * @param {Map<string, number[]>} before the last answer: rows that did not change are the same objects in the next
 * @returns {Map<string, number[]>} counts by agent, oldest first
 */
export function pulses(activities, agents, now, before = new Map()) {
  const end = Math.ceil(now / BUCKET) * BUCKET;
  const start = end - BUCKETS * BUCKET;
  const found = new Map();
  for (let index = activities.length - 1; index >= 0 && activities[index].at >= start; index--) {
    const { at, kind, actor, agent } = activities[index];
    const who = agents.has(actor) ? actor : agent;
    if (at > now || NO_WORK.has(kind) || !agents.has(who)) continue;
    if (!found.has(who)) found.set(who, [...NOTHING]);
    found.get(who)[Math.floor((at - start) / BUCKET)] += 1;
  }
  for (const [name, counts] of found) {
    const old = before.get(name);
    if (old && counts.every((count, index) => count === old[index])) found.set(name, old);
  }
  return found;
}

const pulseOf = (found, name) => found.get(name) ?? NOTHING;

// What happened in the last 90 minutes, as far as it goes beyond the few hundred activities that the page begins with.

const SPAN = 90 * 60_000; // milliseconds
const PAGE = 500;
const PAGES = 7; // a busier hub shows less than 90 minutes rather than loading for long

/** Before the first of `recent`, oldest first. */
const earlier = signal([]);
let fetched = false;

/** All that is known, oldest first, without asking to be told of more. */
function activities() {
  const known = recent.peek();
  if (moment.peek() || earlier.value.length === 0) return known;
  const first = known[0]?.id ?? Infinity;
  return [...earlier.value.filter(({ id }) => id < first), ...known];
}

/** Load what is missing, once. */
function useHistory() {
  const isReady = loaded.value && !moment.value;
  useEffect(() => {
    if (!isReady || fetched) return;
    fetched = true;
    load().catch(() => (fetched = false)); // the next visit tries again
  }, [isReady]);
}

async function load() {
  const since = hubNow() - SPAN;
  for (let page = 0; page < PAGES; page++) {
    const oldest = earlier.peek()[0] ?? recent.peek()[0];
    if (!oldest || oldest.at < since) return;
    const { activity } = await read.activity({ before: oldest.id, limit: PAGE });
    if (activity.length === 0) return;
    earlier.value = [...activity.reverse(), ...earlier.peek()];
  }
}

// What the log does not tell of agents and machines: unread letters, the evidence of their work, how they are woken,
// how loaded a machine is. Read anew every few seconds, if anything happened meanwhile and somebody looks.

const PAUSE = 4_000; // milliseconds
const SHARE = 10; // of a large fleet, reading takes long: the hub is to be busy with it a tenth of the time at most

/** By name, as `GET /agents` tells of them. @type {{value: Map<string, object>}} */
const facts = signal(new Map());

/** By name, as `GET /nodes` tells of them. @type {{value: Map<string, object>}} */
const nodes = signal(new Map());

/** Keep `facts` and `nodes` fresh while the component is shown. Nothing is known of them in the past. */
function useFacts() {
  useEffect(() => {
    let until; // the last activity when they were read
    let notBefore = 0;
    const look = async () => {
      const last = recent.peek().at(-1)?.id ?? 0;
      const began = performance.now();
      if (document.hidden || moment.peek() || last === until || began < notBefore) return;
      until = last;
      notBefore = Infinity;
      const [told, linked] = await Promise.all([read.agents(), read.machines()]);
      notBefore = performance.now() + SHARE * (performance.now() - began);
      facts.value = new Map(told.agents.map((agent) => [agent.name, agent]));
      nodes.value = new Map(linked.nodes.map((node) => [node.name, node]));
    };
    const again = () => look().catch(() => (until = notBefore = 0)); // the connection's state is told elsewhere
    again();
    const timer = setInterval(again, PAUSE);
    return () => clearInterval(timer);
  }, []);
}

// One agent of the fleet: how it is, what it is at, what it was seen to do, and how it hears of new work.

/** What to type to start a client, where that is not its name. */
const PROGRAMS = { "claude-code": "claude", "claude-desktop": "Claude Desktop", cline: "code", vscode: "code" };
const METHOD_ICONS = { stream: "zap", worker: "play", wait: "timer", none: "bell-off" };

/**
 * @param {object} props
 * @param {object} props.agent @param {string} props.state @param {object} [props.task] what it is at
 * @param {number[]} props.pulse @param {object} [props.fact] what `GET /agents` tells of it
 * @param {string} props.href @param {string} [props.taskHref] @param {boolean} props.current
 * @param {import("../model/fold.js").Picture} props.picture
 */
function AgentCard({ agent, state, task, pulse, fact, href, taskHref, current, picture }) {
  const about = [runtimeOf(agent) ?? fact?.runtime, agent.area].filter(Boolean).join(", ");
  return html`<${Card} item=${`agent:${agent.name}`} href=${href} current=${current} class="agent" flash=${state}
    name=${`${agent.name}, ${stateWord(state, true)}`}>
    <div class="row agent-head">
      <${Tile} agent=${agent} picture=${picture} />
      <div class="grow"><${Text} value=${agent.name} lines=${1} class="strong" />
        <div class="meta faint clip">${about || t("fleet.no_runtime")}</div></div>
      <${StateWord} agent state=${state} />
    </div>
    ${fact?.description && html`<div class="small muted"><${Text} value=${fact.description} lines=${2} /></div>`}
    <${Current} task=${task} doing=${state === "idle" || !agent.live ? null : agent.doing} href=${taskHref} />
    <${Sparkline} values=${pulse} label=${pulseWords(pulse)} height=${16} />
    <${Evidence} fact=${fact} agent=${agent} />
  <//>`;
}

function Current({ task, doing, href }) {
  if (!task) {
    return html`<div class="agent-task small muted clip">${doing ? html`<${Text}
      value=${doing} />` : t("fleet.no_task")}</div>`;
  }
  return html`<a class="agent-task above clip" href=${href}>
    <span class="ref mono faint">${refOf(task)}</span> <${Text} value=${task.title} /></a>`;
}

/** What it did last, which its heartbeat says nothing about; what waits for it, and how it would hear of that. */
function Evidence({ fact, agent }) {
  if (!fact) return html`<div class="agent-facts meta faint"></div>`;
  const last = latest(fact);
  return html`<div class="agent-facts meta faint">
    <span class="clip grow">${last ? html`${last.word} <${Ago} at=${last.at} />` : none(agent, fact)}</span>
    ${fact.unread > 0 && html`<span class="row-tight" title=${t("fleet.unread", { count: fact.unread })}>
      <${Icon} name="mail" size=${12} /><span aria-hidden="true" class="num">${fact.unread}</span>
      <span class="sr">${t("fleet.unread", { count: fact.unread })}</span></span>`}
    ${agent.live && html`<${Wake} wake=${fact.wake} isMissed=${fact.unread > 0} />`}
  </div>`;
}

/** Why nothing was seen of it. */
export function none(agent, fact) {
  if (!isNew(agent)) return t("fleet.no_evidence");
  const program = PROGRAMS[fact.runtime] ?? fact.runtime;
  return program ? html`${t("fleet.not_started_but")} <bdi class="mono">${program}</bdi>` : t("fleet.not_started");
}

/** @returns {{word: any, at: number}|null} the younger of its last call of a tool and its last line of output */
function latest(fact) {
  const tool = fact.last_tool_at ?? 0;
  const output = fact.last_output_at ?? 0;
  if (!tool && !output) return null;
  if (output > tool) return { word: t("fleet.put_out"), at: output };
  return { word: html`${t("fleet.ran")} <bdi class="mono">${fact.last_tool}</bdi>`, at: tool };
}

/** How it hears of a letter, and how that went last time. It is missed where something waits and nothing listens. */
function Wake({ wake, isMissed }) {
  if (!wake) return null;
  const words = wakeWords(wake);
  return html`<span class=${`row-tight ${isMissed && wake.method === "none" ? "amber" : ""}`} title=${words}>
    <${Icon} name=${METHOD_ICONS[wake.method] ?? "bell"} size=${12} />
    <span aria-hidden="true">${t(`fleet.wake_${wake.method}`)}</span><span class="sr">${words}</span></span>`;
}

/** Both in one sentence. */
export function wakeWords(wake) {
  const last = wake.last_wake;
  const status = last && t(`fleet.wake_is_${last.status}`);
  const woken = last ? ` ${t("fleet.wake_last", { client: last.client, status })}` : "";
  const method = t(`fleet.wake_${wake.method}_long`) + woken;
  if (!wake.last) return `${method} ${t("fleet.wake_never")}`;
  return `${method} ${t(`fleet.woken_${wake.last.kind}`, { after: seconds(wake.last.after_ms) })}`;
}

/** Under a second nobody counts. */
const seconds = (milliseconds) => span(Math.max(1000, milliseconds));

function pulseWords(pulse) {
  return t("fleet.pulse", { count: pulse.reduce((sum, count) => sum + count, 0) });
}

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
  const calm = useThrottled(shown);
  const showGone = useSignal(false);
  const kept = useElementCache();
  const gradual = useGradual();
  const picture = calm.value;
  const query = useMemo(() => parse(route.value.query.q), [route.value.query.q]);
  const { groups, gone } = fleet(picture, query, minute.value);
  if (!loaded.value) return html`<div class="view"><${Skeleton} /></div>`;
  const found = groups.flatMap(({ members }) => members.filter(({ isFound }) => isFound));
  const drawn = gradual(found.map(({ agent }) => agent.name));
  const isEmptied = found.length === 0 && gone.length === 0;
  const card = (member) => drawn.has(member.agent.name) && place(kept, member, picture);
  return html`${isEmptied && html`<${Nobody} filtered=${!isEmpty(query)} />`}
  <div class=${`view fleet ${picture.agents.size > MOVING ? "is-large" : ""}`} ref=${list} hidden=${isEmptied}>
    <${Accounts} picture=${picture} />
    ${groups.map((group) => html`<${Group} key=${group.machine ?? ""} ...${group} card=${card} />`)}
    ${gone.length > 0 && html`<${Gone} agents=${gone} open=${showGone}
      card=${(member) => place(kept, member, picture)} />`}
  </div>`;
}

/** A card in its place; what the filter leaves out stays as it was, unseen, as making it anew takes long. */
function place(kept, member, picture) {
  const { agent: { name }, isFound } = member;
  return html`<div class="agent-place" key=${name} hidden=${!isFound}>
    ${isFound ? agentCard(kept, member, picture) : kept(name)}</div>`;
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

function Group({ machine, members, card }) {
  const found = members.filter(({ isFound }) => isFound);
  const working = found.filter(({ state }) => state === "working").length;
  const known = machines.value.get(machine);
  const load = moment.value ? null : nodes.value.get(machine)?.load;
  return html`<section class="fleet-group" aria-label=${machine ?? t("fleet.elsewhere")} hidden=${found.length === 0}>
    <h2 class="section-title"><bdi class="clip">${machine ?? t("fleet.elsewhere")}</bdi>
      <small>${beside(t("fleet.agents", { count: found.length }), t("fleet.working", { count: working }))}</small>
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
      ${agents.map((agent) => card({ agent, state: "offline", task: undefined, isFound: true }))}</div>`}
  </section>`;
}

function Nobody({ filtered }) {
  if (filtered) return html`<${Empty} icon="filter" title=${t("fleet.none_match")}
    text=${t("fleet.none_match_text")} />`;
  return html`<${Empty} icon="bot" title=${t("fleet.empty")} text=${t("fleet.empty_text")}
    command=${install()} />`;
}
