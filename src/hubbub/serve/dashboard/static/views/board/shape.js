// What stands where on the board, made from a picture: no DOM, so that it can be told from a test what goes where.

import { matches } from "../../model/filter.js";
import { COLUMNS, columnOf } from "../../model/states.js";

const RANK = { critical: 0, high: 1, medium: 2, low: 3 };

/** Since when a task is in the state in which it is, as far as its card tells. */
export function since(task, state) {
  switch (columnOf(state)) {
    case "queued": return task.created_at;
    case "running": return task.started_at ?? task.updated_at;
    case "finished": return task.ended_at ?? task.updated_at;
    default: return task.updated_at;
  }
}

/** The columns, left to right: `{name, glyph, cards: [{task, state}]}`, what matters most first. */
export function columnsOf(picture, query) {
  const cards = new Map(COLUMNS.map(({ name }) => [name, []]));
  for (const task of picture.tasks.values()) {
    if (!matches(task, query, picture)) continue;
    cards.get(columnOf(task.state)).push({ task, state: task.state });
  }
  return COLUMNS.map(({ name, glyph }) => ({
    name, glyph, cards: cards.get(name).sort(ORDER[name] ?? oldestFirst),
  }));
}

function oldestFirst(a, b) {
  return since(a.task, a.state) - since(b.task, b.state) || a.task.number - b.task.number;
}

function urgentFirst(a, b) {
  return RANK[a.task.priority] - RANK[b.task.priority] || oldestFirst(a, b);
}

const ORDER = { queued: urgentFirst, finished: (a, b) => oldestFirst(b, a) };

/** Of each task, how many others it is linked with: what it needs, and what needs it. */
export function linksOf(tasks) {
  const links = new Map();
  const count = (id, more) => links.set(id, (links.get(id) ?? 0) + more);
  for (const task of tasks.values()) {
    if (!task.depends_on?.length) continue;
    count(task.id, task.depends_on.length);
    for (const needed of task.depends_on) count(needed, 1);
  }
  return links;
}

/** Of each task, how many letters about it wait for people. */
export function lettersOf(letters) {
  const counts = new Map();
  for (const { in_reply_to: about } of letters.values()) counts.set(about, (counts.get(about) ?? 0) + 1);
  return counts;
}

/** The agents by machine, `[[machine or "", [agent]]]`: by name, those on no known machine last. */
export function byMachine(agents) {
  const machines = new Map();
  for (const agent of agents.values()) {
    const name = agent.machine ?? "";
    if (!machines.has(name)) machines.set(name, []);
    machines.get(name).push(agent);
  }
  const byName = (a, b) => (a === "") - (b === "") || a.localeCompare(b);
  for (const crew of machines.values()) crew.sort((a, b) => a.name.localeCompare(b.name));
  return [...machines].sort(([a], [b]) => byName(a, b));
}
