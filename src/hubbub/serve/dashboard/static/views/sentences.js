// What happens, in sentences: of an activity, of two agents in each other's way, of how an agent is woken.

import { html } from "../vendor/ui.js";
import { shown } from "../model/store.js";
import { has, list, t } from "../i18n.js";
import { href, route } from "../shell/router.js";
import { hueOf, StateWord } from "../ui/marks.js";
import { refOf } from "./task/actions.js";

// One activity as one sentence. Which sentence is pure (`keyOf`); its words are in words/*.json, one for each kind,
// with names, tasks and machines as parts that can be followed.

const HUB = "hub"; // the name of everyone who has none: as an inbox, that of the people
const LONGEST_NAME = 120;
const LONGEST_SAID = 300;
const MOST_NAMES = 3; // of those whom a message to everyone reached

/** Kinds whose reason is what the sentence says. */
const SAID_ALREADY = new Set(["agent.timeout", "agent.checkout"]);

/** Kinds that are told in another way where something is known, or not: kind -> [ending, when]; an ending may
 *  depend on more. */
const VARIANTS = {
  "approval.asked": [({ agent }) => (agent === HUB ? "own" : "said"), ({ detail }) => Boolean(detail.said_node)],
  "approval.approved": ["client", byClient],
  "approval.denied": ["client", byClient],
  "approval.expired": ["unused", ({ detail }) => Boolean(detail.answered_by)],
  "agent.scope_change": ["conflict", (activity) => activity.detail.conflicts?.length > 0],
  "file.claimed": ["conflict", (activity) => activity.detail.conflicts?.length > 0],
  "lease.released": ["waiting", ({ detail }) => !detail.was_held],
  "lease.capacity": ["none", ({ detail }) => detail.capacity === null],
  "lease.rule": ["none", ({ detail }) => !detail.things],
  "task.started": ["by", byAnother],
  "task.blocked": ["by", byAnother],
  "task.sent": ["open", (activity) => !activity.agent],
  "task.progress": ["known", (activity) => typeof activity.detail.progress === "number"],
  "message.sent": ["all", (activity) => !activity.agent],
  "check.ended": ["passed", (activity) => activity.detail.passed === true],
  "memory.updated": ["agent", (activity) => Boolean(activity.agent)],
  "dispatch.ended": ["code", (activity) => Boolean(activity.detail.code)],
  "token.created": ["agent", (activity) => Boolean(activity.agent)],
  "token.revoked": ["agent", (activity) => Boolean(activity.agent)],
};

/** Whether the client that made the call answered, and no person. */
function byClient({ detail }) {
  return detail.answered_by === "elicitation";
}

/** Whether somebody else did it to the task of an agent. */
function byAnother({ actor, agent }) {
  return Boolean(agent) && actor !== agent;
}

/**
 * The key of the sentence for an activity.
 * @param {{kind: string, agent: string|null, detail: object, reached?: string[]}} activity
 */
export function keyOf(activity) {
  const key = `activity.${activity.kind.replace(/\./g, "_")}`;
  if (activity.reached) return `${key}_reached`;
  const [ending, applies] = VARIANTS[activity.kind] ?? [];
  if (applies?.(activity)) return `${key}_${typeof ending === "function" ? ending(activity) : ending}`;
  return has(key) ? key : "activity.other";
}

/** What an activity says in somebody's own words: a title, a reason, a command. @param {object} activity */
export function saidIn(activity) {
  const { detail, kind } = activity;
  if (SAID_ALREADY.has(kind)) return "";
  const card = activity.task_id ? shown.value.tasks.get(activity.task_id) : null;
  const said = detail.shown ?? detail.reason ?? detail.doing ?? detail.command ?? detail.title ?? card?.title;
  return typeof said === "string" ? said.slice(0, LONGEST_SAID) : "";
}

/** The parts of a sentence as they are shown; what is no part here stands in the detail. @param {object} activity */
function parts(activity) {
  const { detail } = activity;
  return {
    actor: () => who(activity.actor),
    agent: () => (activity.agent === HUB ? toPeople(detail.addressee) : who(activity.agent)),
    sender: () => who(detail.sender === HUB ? activity.actor : (detail.sender ?? activity.actor)),
    task: () => taskLink(activity),
    node: () => place(detail.node, "machines", { node: detail.node }) ?? t("activity.a_machine"),
    others: () => isolated((detail.conflicts ?? []).slice(0, 5).join(", ")),
    account: () => isolated(detail.account),
    budget: () => isolated(detail.budget),
    reached: () => isolated(someOf(activity.reached ?? [])),
    stopped: () => isolated((detail.agents ?? []).slice(0, 5).join(", ")),
    state: () => isolated(detail.state),
    holder: () => who(detail.holder),
    rule: () => isolated(detail.command),
    agents: () => isolated((detail.agents ?? []).slice(0, 5).join(", ")),
    files: () => isolated((detail.files ?? []).slice(0, 5).join(", ")),
    things: () => isolated((detail.things ?? []).slice(0, 5).join(" ")),
    kind: () => activity.kind,
    condition: () => html`<${StateWord} agent state=${detail.condition} />`,
    host: () => isolated(detail.host ?? t("activity.somewhere")),
    target: () => isolated(detail.target ?? t("activity.somewhere")),
  };
}

const isolated = (text) => html`<bdi class="strong">${String(text).slice(0, LONGEST_NAME)}</bdi>`;

/** A person by their name, else all people. @param {string|null} [addressee] */
const toPeople = (addressee) => (addressee ? isolated(addressee) : t("activity.people"));

/** The first names, and how many more there are. @param {string[]} names */
function someOf(names) {
  const more = names.length - MOST_NAMES;
  return list(more > 0 ? [...names.slice(0, MOST_NAMES), t("activity.more", { count: more })] : names);
}

function place(name, view, query) {
  if (!name) return null;
  return html`<a class="part" href=${href(view, query)}><bdi>${String(name).slice(0, LONGEST_NAME)}</bdi></a>`;
}

function who(name) {
  if (!name || name === HUB) return t("activity.hub");
  if (!shown.value.agents.has(name)) return isolated(name);
  return html`<span class="of-agent" style=${{ "--hue": hueOf(name) }}>${place(name, "fleet", { agent: name })}</span>`;
}

function taskLink({ task_id: id, detail }) {
  const number = (id && shown.value.tasks.get(id)?.number) ?? detail.number;
  if (!id) return t("activity.a_task");
  const { view, query } = route.value;
  const name = number ? refOf({ number }) : t("activity.a_task");
  return html`<a class="part mono" href=${href(view, { ...query, task: number ?? id })}>${name}</a>`;
}

/** A sentence begins with a capital letter, unless with somebody's name. @param {any[]} told */
const capitalised = ([first, ...rest]) =>
  [typeof first === "string" ? first[0].toUpperCase() + first.slice(1) : first, ...rest];

/** The sentence, with its parts. @param {{activity: object}} props */
export function Sentence({ activity }) {
  const known = parts(activity);
  const told = t(keyOf(activity)).split(/\{(\w+)\}/).map((piece, index) => {
    if (index % 2 === 0) return piece;
    return known[piece]?.() ?? isolated(activity.detail[piece] ?? "?");
  }).filter(Boolean);
  return html`<span class="sentence">${capitalised(told)}</span>`;
}

// What is said of claims, in sentences.

const MOST = 3; // names in one sentence

/** Who overlaps, and on what. @param {{agents: string[], files: string[], areas: string[]}} overlap */
export function clashWords({ agents, files, areas }) {
  const places = [...files, ...areas.map((area) => t("files.area", { name: area }))];
  const named = places.slice(0, MOST);
  const more = places.length - named.length;
  const where = list(more > 0 ? [...named, t("files.more_places", { count: more })] : named);
  return t("files.clash", { agents: list(agents), where });
}
