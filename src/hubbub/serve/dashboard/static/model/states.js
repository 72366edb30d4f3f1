// The states of tasks and agents as people see them: their icons and columns, and what stands beside what in a picture.
// Which state something is in, and what may be done to it, is the hub's word: each card says it.

/** @typedef {import("./fold.js").Picture} Picture */
/** @typedef {import("./fold.js").Task} Task */
/** @typedef {import("./fold.js").Agent} Agent */

/** State → icon of the sprite. */
export const GLYPHS = {
  queued: "circle-dashed",
  delivered: "circle",
  acked: "circle-dot",
  running: "loader",
  blocked: "circle-pause",
  waiting: "hand",
  review: "eye",
  done: "circle-check",
  failed: "circle-x",
  cancelled: "circle-slash",
  expired: "clock",
};

export const STATES = Object.keys(GLYPHS);

/** What people call a state where they write it, if that is not its own name: as everywhere else in the hub. */
export const SPELLED = { acked: "accepted", running: "working", review: "in_review", done: "completed" };

/** The columns of the board, from left to right, and the states that stand in each. */
export const COLUMNS = [
  { name: "queued", glyph: "queued", states: ["queued", "delivered", "acked"] },
  { name: "running", glyph: "running", states: ["running"] },
  { name: "blocked", glyph: "blocked", states: ["blocked", "waiting"] },
  { name: "review", glyph: "review", states: ["review"] },
  { name: "finished", glyph: "done", states: ["done", "failed", "cancelled", "expired"] },
];

const COLUMN_OF = new Map(COLUMNS.flatMap(({ name, states }) => states.map((state) => [state, name])));

/** The name of the column where a state stands. */
export const columnOf = (state) => COLUMN_OF.get(state) ?? "queued";

/** Whether a task is over, as far as anyone can tell. @param {Task} task */
export const isEnded = (task) => task.ended_at !== null;

const TITLE_LENGTH = 80; // characters: of a task given as one text the title is the first line, as far as that

/** A task's title; where it was cut off, with the sign for that. @param {{title: string}} task */
export const titleOf = ({ title }) => ([...title].length === TITLE_LENGTH ? `${title}…` : title);

/** Whether an agent is only a name as yet: nothing that is called so was ever there. @param {Agent} agent */
export const isNew = (agent) => !agent.live && agent.ended_at === null;

/** What the hub runs itself, which takes only what is sent to it. @param {Agent} agent */
export const isBuiltIn = (agent) => agent.runtime === "echo, built in";

/** Whether somebody is there who could take a task from the open queue. @param {Picture} picture */
export const isQueueServed = ({ agents }) =>
  agents.values().some((agent) => agent.live && !isBuiltIn(agent));

// Lookups are made once for each map: the next picture brings another map only where something changed.
const lookups = new WeakMap();

function grouped(map, keysOf) {
  let groups = lookups.get(map)?.get(keysOf);
  if (groups) return groups;
  groups = new Map();
  for (const card of map.values()) {
    for (const key of keysOf(card)) {
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(card);
    }
  }
  if (!lookups.has(map)) lookups.set(map, new Map());
  lookups.get(map).set(keysOf, groups);
  return groups;
}

const assigneeIfOpen = (task) => (task.assignee && !isEnded(task) ? [task.assignee] : []);
const needs = (task) => task.depends_on ?? [];
const itsNumber = (task) => [String(task.number)];
const parent = (task) => (task.parent_id ? [task.parent_id] : []);
const machine = (agent) => [agent.machine ?? ""];

/** The open tasks of an agent. @returns {Task[]} */
export const tasksOf = (name, picture) => grouped(picture.tasks, assigneeIfOpen).get(name) ?? [];

/** The tasks that need this one. @returns {Task[]} */
export const neededBy = (task, picture) => grouped(picture.tasks, needs).get(task.id) ?? [];

/** The children of a task. @returns {Task[]} */
export const childrenOf = (task, picture) => grouped(picture.tasks, parent).get(task.id) ?? [];

/** The agents of a machine; of none with "". @returns {Agent[]} */
export const agentsOn = (name, picture) => grouped(picture.agents, machine).get(name) ?? [];

/** A task by its id or its number, if the picture has it. @returns {Task|undefined} */
export const findTask = (ref, picture) =>
  picture.tasks.get(ref) ?? grouped(picture.tasks, itsNumber).get(String(ref))?.[0];

/** What an agent has begun and not handed in, what it is at first. @returns {Task[]} */
export const heldBy = (name, picture) =>
  (picture.agents.get(name)?.holds ?? []).map((id) => picture.tasks.get(id)).filter(Boolean);

/** The task that an agent is at. @returns {Task|undefined} */
export const currentTask = (name, picture) => picture.tasks.get(picture.agents.get(name)?.holds[0]);

/** The paused account that keeps a task's agent from going on. @param {Task} task @param {Picture} picture */
export function pausing(task, picture) {
  const account = isEnded(task) ? null : picture.accounts.get(picture.agents.get(task.assignee)?.account);
  return account?.paused_at != null ? account : null;
}
