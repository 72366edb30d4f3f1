// The filter field: `state:blocked agent:ember is:unassigned "two words" api`. Words of different keys must all
// hold, values of one key are alternatives. A key that is not known makes a plain word, and is told.

import { isEnded, SPELLED } from "./states.js";

/** @typedef {Record<"words"|"state"|"agent"|"area"|"priority"|"is", string[]>} Query */

/** What may stand before a colon. */
export const KEYS = ["state", "agent", "area", "priority", "is"];

/** What `is:` may say, and of which cards it is true. */
const IS = {
  open: (card) => card.status !== undefined && !isEnded(card),
  ended: (card) => card.status !== undefined && isEnded(card),
  unassigned: (card) => card.status !== undefined && !card.assignee,
  conflict: (card, picture) => [...picture.overlaps.values()].some((overlap) => isIn(card, overlap)),
};

const TOKEN = /([a-z]+):(?:"([^"]*)"?|(\S*))|"([^"]*)"?|(\S+)/giu;

/** What was typed, taken apart. @returns {Query} */
export function parse(typed) {
  const query = { words: [], state: [], agent: [], area: [], priority: [], is: [] };
  for (const [whole, key, quoted, plain, words, word] of (typed ?? "").matchAll(TOKEN)) {
    const values = (quoted ?? plain ?? "").toLowerCase();
    if (!key) query.words.push((words ?? word).toLowerCase());
    else if (!KEYS.includes(key.toLowerCase())) query.words.push(whole.toLowerCase());
    else query[key.toLowerCase()].push(...(quoted === undefined ? values.split(",") : [values]).filter(Boolean));
  }
  query.words = query.words.filter(Boolean);
  return query;
}

/** What stands before a colon and means nothing here. @param {string|undefined} typed */
export function unknownKeys(typed) {
  const keys = [...(typed ?? "").matchAll(TOKEN)].map(([, key]) => key?.toLowerCase());
  return [...new Set(keys)].filter((key) => key && !KEYS.includes(key));
}

/** Whether nothing is asked for, so that everything matches. */
export const isEmpty = (query) => KEYS.every((key) => !query[key].length) && !query.words.length;

/** What was typed, with `key:value` taken out if it was there, else put in. */
export function toggle(typed, key, value) {
  const term = `${key}:${/\s/u.test(value) ? `"${value}"` : value}`;
  const terms = [...(typed ?? "").matchAll(TOKEN)].map(([whole]) => whole);
  const others = terms.filter((each) => each.toLowerCase() !== term.toLowerCase());
  return (others.length < terms.length ? others : [...terms, term]).join(" ");
}

/**
 * Whether a task, an agent or a file (its path, or `{path, agents}`) is asked for.
 * @param {object|string} card
 * @param {Query} query
 * @param {import("./fold.js").Picture} picture
 */
export function matches(card, query, picture) {
  if (isEmpty(query)) return true;
  const file = typeof card === "string" ? { path: card, agents: [] } : card;
  return (
    any(query.state, (value) => stateIs(file, value)) &&
    any(query.agent, (value) => namesOf(file).some((name) => nameIs(name, value, picture))) &&
    any(query.area, (value) => (file.area ?? "").toLowerCase() === value) &&
    any(query.priority, (value) => file.priority?.startsWith(value === "urgent" ? "critical" : value)) &&
    any(query.is, (value) => IS[value]?.(file, picture) ?? false) &&
    query.words.every((word) => textOf(file).includes(word))
  );
}

// Which ended tasks are shown: those of today, of the last days, or from one day to another, both included, in the time
// zone of the browser.

const DATES = /^(\d{4}-\d\d-\d\d)?\.\.(\d{4}-\d\d-\d\d)?$/;
const WEEK = 7;

/**
 * The time in which a task must have ended, as the address says it: `today`, `7d`, `2026-11-01..2026-11-07`.
 * @param {string|undefined} said @param {number} now
 * @returns {{since: number, until: number}|null} null: at any time
 */
export function finishedIn(said, now) {
  const dates = DATES.exec(said ?? "");
  const days = { today: 1, "7d": WEEK }[said];
  if (days) return { since: midnight(now, 1 - days), until: Infinity };
  if (!dates || !(dates[1] || dates[2])) return null;
  const since = dates[1] ? Date.parse(`${dates[1]}T00:00`) : 0;
  const until = dates[2] ? midnight(Date.parse(`${dates[2]}T00:00`), 1) : Infinity;
  return Number.isNaN(since) || Number.isNaN(until) ? null : { since, until };
}

/** The beginning of a day, so many days later. */
const midnight = (at, days) => new Date(at).setHours(24 * days, 0, 0, 0);

const any = (values, holds) => !values.length || values.some(holds);

/** A state by either of its names, or by the beginning of one while it is typed. */
const stateIs = ({ state }, value) => [state, SPELLED[state]].some((name) => name?.startsWith(value));

/** An agent by its name, or by the beginning of it if nobody has that name. */
function nameIs(name, value, picture) {
  const lower = name.toLowerCase();
  return lower === value || (lower.startsWith(value) && !lowerNames(picture.agents).has(value));
}

function namesOf(card) {
  if (card.agents) return card.agents;
  const name = card.status === undefined ? card.name : card.assignee;
  return name ? [name] : [];
}

/** Whether an overlap is about this very file or area, or about whoever has the task or is the agent. */
function isIn(card, { agents, files, areas }) {
  if (card.path === undefined) return namesOf(card).some((name) => agents.includes(name));
  return (card.area ? areas : files).includes(card.path);
}

const lowered = new WeakMap();

function lowerNames(agents) {
  if (!lowered.has(agents)) lowered.set(agents, new Set([...agents.keys()].map((name) => name.toLowerCase())));
  return lowered.get(agents);
}

const texts = new WeakMap();

/** Everything of a card in which words are looked for; made once for each card. */
function textOf(card) {
  let text = texts.get(card);
  if (text === undefined) {
    text = textParts(card).filter(Boolean).join("\n").toLowerCase();
    texts.set(card, text);
  }
  return text;
}

function textParts(card) {
  if (card.status !== undefined) {
    const numbers = [`t-${card.number}`, `#${card.number}`];
    const people = [card.assignee, card.author ?? card.sender];
    return [...numbers, card.title, ...people, card.area, card.issue, card.note, ...(card.files ?? [])];
  }
  if (card.condition !== undefined) {
    const where = [card.machine, card.runtime, card.model, card.area];
    return [card.name, card.doing, ...where, ...(card.files ?? [])];
  }
  return [card.path, ...card.agents];
}
