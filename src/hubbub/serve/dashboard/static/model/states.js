// The eleven states in which people see a task, the columns they stand in, and the states of an agent. A state is
// a status as the hub knows it, in a shorter word; only "waiting" is made here, from how its holder is.

/** @typedef {import("./fold.js").Picture} Picture */
/** @typedef {import("./fold.js").Task} Task */
/** @typedef {import("./fold.js").Agent} Agent */

/** Status → state, as long as its holder waits for nobody. */
export const STATE_OF_STATUS = {
  queued: "queued",
  delivered: "delivered",
  accepted: "acked",
  working: "running",
  blocked: "blocked",
  in_review: "review",
  completed: "done",
  failed: "failed",
  cancelled: "cancelled",
  expired: "expired",
};

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

/** The statuses of tasks that are over. */
export const ENDED = ["completed", "failed", "cancelled", "expired"];

/** Whether a task is over, as far as anyone can tell. @param {Task} task */
export const isEnded = (task) => ENDED.includes(task.status);

/** Whether somebody has begun and not yet handed in. @param {Task} task */
export const isUnderWay = (task) => ["accepted", "working", "blocked"].includes(task.status);

/** One of the eleven states. @param {Task} task @param {Picture} picture */
export function stateOf(task, picture) {
  const state = STATE_OF_STATUS[task.status] ?? "queued";
  return state === "running" && isWaiting(task.assignee, picture) ? "waiting" : state;
}

/** Whether an agent cannot go on before somebody answers it. */
function isWaiting(name, picture) {
  const agent = picture.agents.get(name);
  return Boolean(agent?.live && agent.condition === "waiting") || approvalsOf(name, picture).length > 0;
}

/**
 * working, idle, blocked, waiting, error, stale or offline. Stale is an agent that fell silent while it held work
 * that it had begun: nobody knows what has become of that.
 * @param {Agent} agent
 * @param {Picture} picture
 */
export function agentState(agent, picture) {
  const work = tasksOf(agent.name, picture);
  if (!agent.live) {
    return agent.end_reason === "silent" && work.some(isUnderWay) ? "stale" : "offline";
  }
  if (isWaiting(agent.name, picture)) return "waiting";
  if (agent.condition !== "idle") return agent.condition;
  if (work.some((task) => task.status === "working")) return "working";
  return work.some((task) => task.status === "blocked") ? "blocked" : "idle";
}

/** Whether an agent is only a name as yet: nothing that is called so was ever there. @param {Agent} agent */
export const isNew = (agent) => !agent.live && agent.ended_at === null;

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
const asker = (approval) => [approval.who];
const needs = (task) => task.depends_on ?? [];
const itsNumber = (task) => [String(task.number)];
const parent = (task) => (task.parent_id ? [task.parent_id] : []);
const machine = (agent) => [agent.machine ?? ""];

/** The open tasks of an agent. @returns {Task[]} */
export const tasksOf = (name, picture) => grouped(picture.tasks, assigneeIfOpen).get(name) ?? [];

/** What an agent has asked people, still unanswered. @returns {import("./fold.js").Approval[]} */
export const approvalsOf = (name, picture) => grouped(picture.approvals, asker).get(name) ?? [];

/** The tasks that need this one. @returns {Task[]} */
export const neededBy = (task, picture) => grouped(picture.tasks, needs).get(task.id) ?? [];

/** The children of a task. @returns {Task[]} */
export const childrenOf = (task, picture) => grouped(picture.tasks, parent).get(task.id) ?? [];

/** The agents of a machine; of none with "". @returns {Agent[]} */
export const agentsOn = (name, picture) => grouped(picture.agents, machine).get(name) ?? [];

/** A task by its id or its number, if the picture has it. @returns {Task|undefined} */
export const findTask = (ref, picture) =>
  picture.tasks.get(ref) ?? grouped(picture.tasks, itsNumber).get(String(ref))?.[0];

/** The task that an agent is at: what it works on, else what it is held up with, else what it has said yes to. */
export function currentTask(name, picture) {
  const work = tasksOf(name, picture);
  for (const status of ["working", "blocked", "accepted"]) {
    const found = work.filter((task) => task.status === status);
    if (found.length) return found.reduce((a, b) => ((b.started_at ?? 0) > (a.started_at ?? 0) ? b : a));
  }
  return undefined;
}
